#pragma once
// Quantities as types. Counts are exact 64-bit integers; rates and times are doubles and appear
// first in roofline/.

#include <compare>
#include <cstdint>
#include <optional>

#include "base/checked.h"

namespace solar {

/// An exact count of one kind. Counts of different kinds do not mix.
template <class Tag>
struct Count {
  int64_t value = 0;
  friend constexpr auto operator<=>(const Count&, const Count&) = default;
};

using Macs = Count<struct MacTag>;    // multiply-accumulates
using Flops = Count<struct FlopTag>;  // floating-point operations
using Elements = Count<struct ElementTag>;
using Bytes = Count<struct ByteTag>;

template <class Tag>
std::optional<Count<Tag>> checked_add(Count<Tag> a, Count<Tag> b) {
  const auto sum = checked_add(a.value, b.value);
  if (!sum) return std::nullopt;
  return Count<Tag>{*sum};
}

/// 1 MAC = 2 flop; the only conversion between the two.
inline std::optional<Flops> to_flops(Macs macs) {
  const auto flops = checked_mul(macs.value, 2);
  if (!flops) return std::nullopt;
  return Flops{*flops};
}

/// A physical quantity, a double of one unit.
template <class Tag>
struct Quantity {
  double value = 0;
  friend constexpr auto operator<=>(const Quantity&, const Quantity&) = default;
};

using Seconds = Quantity<struct SecondTag>;
using BytesPerSecond = Quantity<struct BytesPerSecondTag>;
using MacsPerSecond = Quantity<struct MacsPerSecondTag>;
using FlopsPerByte = Quantity<struct FlopsPerByteTag>;  // operational intensity

inline Seconds operator/(Bytes bytes, BytesPerSecond rate) {
  return {static_cast<double>(bytes.value) / rate.value};
}
inline Seconds operator/(Macs macs, MacsPerSecond rate) {
  return {static_cast<double>(macs.value) / rate.value};
}
inline Seconds operator+(Seconds a, Seconds b) { return {a.value + b.value}; }

}  // namespace solar
