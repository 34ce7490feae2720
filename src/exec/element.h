#pragma once
// One element of each type: how it is kept in memory, and the exact conversions between that and
// the type it is computed in. Narrowing rounds to nearest even. f8e4m3 has no infinity (it
// gives +-448); f4e2m1 has neither infinity nor NaN (both give +-6). f4e2m1 and i4 take one byte in
// memory, in its low four bits.

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "ir/types.h"

namespace solar::exec {

using ir::ElementType;

/// A float format of at most 16 bits. Codes are without the sign bit.
struct SmallFloat {
  int mantissa_bits = 0;
  int bias = 0;
  int largest = 0;   // code of the largest finite value
  int overflow = 0;  // what anything beyond it becomes
  int nan = 0;
  int sign = 0;  // the sign bit
};

inline constexpr SmallFloat kF16 = {10, 15, 0x7bff, 0x7c00, 0x7e00, 0x8000};
inline constexpr SmallFloat kBf16 = {7, 127, 0x7f7f, 0x7f80, 0x7fc0, 0x8000};
inline constexpr SmallFloat kF8E4M3 = {3, 7, 0x7e, 0x7e, 0x7f, 0x80};
inline constexpr SmallFloat kF8E5M2 = {2, 15, 0x7b, 0x7c, 0x7f, 0x80};
inline constexpr SmallFloat kF4E2M1 = {1, 1, 7, 7, 7, 8};

/// Rounds a double once. The code of a value is its exponent and mantissa read as one integer, so a
/// mantissa that rounds up to the next power of two carries into the exponent by itself.
inline uint16_t encode_small(double x, const SmallFloat& format) {
  const int sign = std::signbit(x) ? format.sign : 0;
  if (std::isnan(x)) return static_cast<uint16_t>(sign | format.nan);
  if (std::isinf(x)) return static_cast<uint16_t>(sign | format.overflow);
  const double magnitude = std::fabs(x);
  if (magnitude == 0) return static_cast<uint16_t>(sign);
  const int exponent = std::max(std::ilogb(magnitude), 1 - format.bias);
  if (exponent > format.bias + 1) return static_cast<uint16_t>(sign | format.overflow);
  const int scaled =
      static_cast<int>(std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent)));
  const int code = ((exponent + format.bias - 1) << format.mantissa_bits) + scaled;
  return static_cast<uint16_t>(sign | (code > format.largest ? format.overflow : code));
}

constexpr float decode_small(int code, const SmallFloat& format) {
  const bool negative = (code & format.sign) != 0;
  const int magnitude = code & (format.sign - 1);
  float value = 0;
  if (magnitude > format.largest) {
    value = magnitude == format.overflow && format.overflow != format.nan
                ? std::numeric_limits<float>::infinity()
                : std::numeric_limits<float>::quiet_NaN();
  } else {
    const int fraction = magnitude & ((1 << format.mantissa_bits) - 1);
    int exponent = magnitude >> format.mantissa_bits;
    int mantissa = exponent == 0 ? fraction : fraction + (1 << format.mantissa_bits);
    exponent = (exponent == 0 ? 1 : exponent) - format.bias - format.mantissa_bits;
    value = static_cast<float>(mantissa);
    for (; exponent > 0; --exponent) value *= 2.0F;
    for (; exponent < 0; ++exponent) value *= 0.5F;
  }
  return negative ? -value : value;
}

template <int N>
constexpr std::array<float, N> decode_table(const SmallFloat& format) {
  std::array<float, N> table = {};
  for (int code = 0; code < N; ++code)
    table[static_cast<size_t>(code)] = decode_small(code, format);
  return table;
}
inline constexpr std::array<float, 256> kF8E4M3Values = decode_table<256>(kF8E4M3);
inline constexpr std::array<float, 256> kF8E5M2Values = decode_table<256>(kF8E5M2);
inline constexpr std::array<float, 16> kF4E2M1Values = decode_table<16>(kF4E2M1);

// Branch-free forms for the two formats that fill whole tensors.

inline float decode_f16(uint16_t code) {
  const uint32_t magnitude = static_cast<uint32_t>(code & 0x7fff) << 13;
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112F;
  uint32_t bits = std::bit_cast<uint32_t>(scaled);
  bits = magnitude >= (0x7c00U << 13) ? (magnitude | 0x7f800000U) : bits;
  return std::bit_cast<float>(bits | (static_cast<uint32_t>(code & 0x8000) << 16));
}

inline uint16_t encode_f16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t sign = (bits >> 16) & 0x8000U;
  const uint32_t magnitude = bits & 0x7fffffffU;
  // 0.5 has the spacing of f16's subnormals, so adding it rounds them.
  const uint32_t subnormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude < 0x38800000U ? magnitude : 0U) +
                              0.5F) -
      0x3f000000U;
  const uint32_t normal = (magnitude + 0xfffU + ((magnitude >> 13) & 1U) - (112U << 23)) >> 13;
  uint32_t code = magnitude < 0x38800000U ? subnormal : normal;
  code = magnitude >= 0x477ff000U ? 0x7c00U : code;
  code = magnitude > 0x7f800000U ? 0x7e00U : code;
  return static_cast<uint16_t>(code | sign);
}

inline float decode_bf16(uint16_t code) {
  return std::bit_cast<float>(static_cast<uint32_t>(code) << 16);
}

inline uint16_t encode_bf16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  const bool nan = (bits & 0x7fffffffU) > 0x7f800000U;
  return static_cast<uint16_t>(nan ? ((bits >> 16) & 0x8000U) | 0x7fc0U : rounded);
}

/// Truncates and saturates; NaN gives 0.
template <class Float>
int64_t to_integer(Float x, int64_t lowest, int64_t highest) {
  if (std::isnan(x)) return 0;
  // Both limits plus or minus one are powers of two, or 2^63, and so exact or correctly compared as
  // floats.
  if (x >= static_cast<Float>(highest)) return highest;
  if (x <= static_cast<Float>(lowest)) return lowest;
  return static_cast<int64_t>(x);
}

/// Storage: the type in memory. Compute: float, double, int64_t, or uint8_t for bool.
template <ElementType>
struct Codec;

template <class T>
struct PlainCodec {
  using Storage = T;
  using Compute = T;
  static T load(T x) { return x; }
  static T store(T x) { return x; }
};
template <>
struct Codec<ElementType::F64> : PlainCodec<double> {};
template <>
struct Codec<ElementType::F32> : PlainCodec<float> {};
template <>
struct Codec<ElementType::I64> : PlainCodec<int64_t> {};

template <class T>
struct IntegerCodec {
  using Storage = T;
  using Compute = int64_t;
  static int64_t load(T x) { return x; }
  static T store(int64_t x) { return static_cast<T>(x); }
};
template <>
struct Codec<ElementType::I32> : IntegerCodec<int32_t> {};
template <>
struct Codec<ElementType::I16> : IntegerCodec<int16_t> {};
template <>
struct Codec<ElementType::I8> : IntegerCodec<int8_t> {};
template <>
struct Codec<ElementType::U8> : IntegerCodec<uint8_t> {};
template <>
struct Codec<ElementType::I4> {
  using Storage = int8_t;
  using Compute = int64_t;
  static int64_t load(int8_t x) { return ((x & 15) ^ 8) - 8; }
  static int8_t store(int64_t x) { return static_cast<int8_t>(((x & 15) ^ 8) - 8); }
};
template <>
struct Codec<ElementType::Bool> {
  using Storage = uint8_t;
  using Compute = uint8_t;
  static uint8_t load(uint8_t x) { return x != 0; }
  static uint8_t store(uint8_t x) { return x != 0; }
};
template <>
struct Codec<ElementType::F16> {
  using Storage = uint16_t;
  using Compute = float;
  static float load(uint16_t x) { return decode_f16(x); }
  static uint16_t store(float x) { return encode_f16(x); }
};
template <>
struct Codec<ElementType::BF16> {
  using Storage = uint16_t;
  using Compute = float;
  static float load(uint16_t x) { return decode_bf16(x); }
  static uint16_t store(float x) { return encode_bf16(x); }
};
template <>
struct Codec<ElementType::F8E4M3> {
  using Storage = uint8_t;
  using Compute = float;
  static float load(uint8_t x) { return kF8E4M3Values[x]; }
  static uint8_t store(float x) { return static_cast<uint8_t>(encode_small(x, kF8E4M3)); }
};
template <>
struct Codec<ElementType::F8E5M2> {
  using Storage = uint8_t;
  using Compute = float;
  static float load(uint8_t x) { return kF8E5M2Values[x]; }
  static uint8_t store(float x) { return static_cast<uint8_t>(encode_small(x, kF8E5M2)); }
};
template <>
struct Codec<ElementType::F4E2M1> {
  using Storage = uint8_t;
  using Compute = float;
  static float load(uint8_t x) { return kF4E2M1Values[x & 15]; }
  static uint8_t store(float x) { return static_cast<uint8_t>(encode_small(x, kF4E2M1)); }
};

/// Calls `function` with Codec<type>{}.
template <class Function>
__attribute__((always_inline)) inline decltype(auto) with_codec(ElementType type,
                                                                Function&& function) {
  switch (type) {
    case ElementType::F64:
      return function(Codec<ElementType::F64>{});
    case ElementType::F32:
      return function(Codec<ElementType::F32>{});
    case ElementType::F16:
      return function(Codec<ElementType::F16>{});
    case ElementType::BF16:
      return function(Codec<ElementType::BF16>{});
    case ElementType::F8E4M3:
      return function(Codec<ElementType::F8E4M3>{});
    case ElementType::F8E5M2:
      return function(Codec<ElementType::F8E5M2>{});
    case ElementType::F4E2M1:
      return function(Codec<ElementType::F4E2M1>{});
    case ElementType::I64:
      return function(Codec<ElementType::I64>{});
    case ElementType::I32:
      return function(Codec<ElementType::I32>{});
    case ElementType::I16:
      return function(Codec<ElementType::I16>{});
    case ElementType::I8:
      return function(Codec<ElementType::I8>{});
    case ElementType::I4:
      return function(Codec<ElementType::I4>{});
    case ElementType::U8:
      return function(Codec<ElementType::U8>{});
    case ElementType::Bool:
      break;
  }
  return function(Codec<ElementType::Bool>{});
}

/// Bytes of one element in memory (not in DRAM: see ir::storage_bits).
inline int64_t memory_bytes(ElementType type) {
  return with_codec(type, [](auto codec) {
    return static_cast<int64_t>(sizeof(typename decltype(codec)::Storage));
  });
}

struct IntegerRange {
  int64_t lowest = 0;
  int64_t highest = 0;
};
inline IntegerRange integer_range(ElementType type) {
  switch (type) {
    case ElementType::I32:
      return {INT32_MIN, INT32_MAX};
    case ElementType::I16:
      return {INT16_MIN, INT16_MAX};
    case ElementType::I8:
      return {INT8_MIN, INT8_MAX};
    case ElementType::I4:
      return {-8, 7};
    case ElementType::U8:
      return {0, UINT8_MAX};
    default:
      return {INT64_MIN, INT64_MAX};
  }
}

/// The value of an explicit cast, in the compute type of `type`.
template <ElementType type, class From>
auto cast_value(From x) {
  using Target = Codec<type>;
  using Compute = typename Target::Compute;
  if constexpr (type == ElementType::Bool) {
    return static_cast<uint8_t>(x != 0);
  } else if constexpr (std::is_same_v<Compute, int64_t>) {
    if constexpr (std::is_floating_point_v<From>) {
      constexpr auto range = [] {
        using S = typename Target::Storage;
        return type == ElementType::I4
                   ? IntegerRange{-8, 7}
                   : IntegerRange{std::numeric_limits<S>::min(), std::numeric_limits<S>::max()};
      }();
      return to_integer(x, range.lowest, range.highest);
    } else {
      return Target::load(Target::store(static_cast<int64_t>(x)));
    }
  } else if constexpr (std::is_same_v<Compute, double>) {
    return static_cast<double>(x);
  } else if constexpr (type == ElementType::F32) {
    return static_cast<float>(x);
  } else if constexpr (std::is_same_v<From, float> || std::is_same_v<From, uint8_t>) {
    return Target::load(Target::store(static_cast<float>(x)));
  } else {  // double and integers: rounded once, from the exact value
    constexpr const SmallFloat& format = type == ElementType::F16      ? kF16
                                         : type == ElementType::BF16   ? kBf16
                                         : type == ElementType::F8E4M3 ? kF8E4M3
                                         : type == ElementType::F8E5M2 ? kF8E5M2
                                                                       : kF4E2M1;
    return Target::load(
        static_cast<typename Target::Storage>(encode_small(static_cast<double>(x), format)));
  }
}

}  // namespace solar::exec
