// Counts of different kinds do not add up.
// EXPECT: no match for .operator\+.
#include "base/units.h"

#ifdef SOLAR_MUST_NOT_COMPILE
auto sum() { return solar::Macs{1} + solar::Flops{2}; }
#else
auto sum() { return checked_add(solar::Macs{1}, solar::Macs{2}); }
#endif
