#pragma once
// An architecture's roofline as text: rates, ridge points, memory and storage. What `solar arch
// show` prints.

#include <string>

#include "arch/machine.h"

namespace solar::roofline {

/// Lines of at most 100 columns, except for long source addresses.
std::string summary(const arch::Machine& machine);

}  // namespace solar::roofline
