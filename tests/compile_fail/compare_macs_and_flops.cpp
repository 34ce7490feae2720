// Counts of different kinds do not compare.
// EXPECT: no match for .operator<.
#include "base/units.h"

#ifdef SOLAR_MUST_NOT_COMPILE
bool less() { return solar::Macs{1} < solar::Flops{2}; }
#else
bool less() { return solar::Macs{1} < solar::Macs{2}; }
#endif
