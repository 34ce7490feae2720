// Bytes are divided by a bandwidth, never by an arithmetic rate.
// EXPECT: no match for .operator/.
#include "base/units.h"

#ifdef SOLAR_MUST_NOT_COMPILE
solar::Seconds time() { return solar::Bytes{1} / solar::MacsPerSecond{2}; }
#else
solar::Seconds time() { return solar::Bytes{1} / solar::BytesPerSecond{2}; }
#endif
