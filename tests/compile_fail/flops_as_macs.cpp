// Flops come from MACs by to_flops alone.
// EXPECT: could not convert
#include "base/units.h"

#ifdef SOLAR_MUST_NOT_COMPILE
solar::Flops flops() { return solar::Macs{1}; }
#else
solar::Flops flops() { return to_flops(solar::Macs{1}).value_or(solar::Flops{}); }
#endif
