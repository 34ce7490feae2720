// Elements to rows and back, casts, and rows of index values.

#include "exec/lanes_inline.h"
// (first: it sets the optimiser's floating-point mode for everything below)
#include <cstring>

#include "base/checked.h"

namespace solar::exec {

size_t bytes_of(ComputeType type) {
  switch (type) {
    case ComputeType::F32:
      return 4;
    case ComputeType::Bool:
      return 1;
    default:
      return 8;
  }
}

namespace {

template <ElementType to, class From>
SOLAR_INLINE void cast_row(const void* in, void* out, int count) {
  using Compute = typename Codec<to>::Compute;
  map1<From, Compute>({in}, out, count, [](From x) { return cast_value<to>(x); });
}

template <class From>
SOLAR_INLINE void cast_from(ElementType to, const void* in, void* out, int count) {
  switch (to) {
    case ElementType::F64:
      return cast_row<ElementType::F64, From>(in, out, count);
    case ElementType::F32:
      return cast_row<ElementType::F32, From>(in, out, count);
    case ElementType::F16:
      return cast_row<ElementType::F16, From>(in, out, count);
    case ElementType::BF16:
      return cast_row<ElementType::BF16, From>(in, out, count);
    case ElementType::F8E4M3:
      return cast_row<ElementType::F8E4M3, From>(in, out, count);
    case ElementType::F8E5M2:
      return cast_row<ElementType::F8E5M2, From>(in, out, count);
    case ElementType::F4E2M1:
      return cast_row<ElementType::F4E2M1, From>(in, out, count);
    case ElementType::I64:
      return cast_row<ElementType::I64, From>(in, out, count);
    case ElementType::I32:
      return cast_row<ElementType::I32, From>(in, out, count);
    case ElementType::I16:
      return cast_row<ElementType::I16, From>(in, out, count);
    case ElementType::I8:
      return cast_row<ElementType::I8, From>(in, out, count);
    case ElementType::I4:
      return cast_row<ElementType::I4, From>(in, out, count);
    case ElementType::U8:
      return cast_row<ElementType::U8, From>(in, out, count);
    case ElementType::Bool:
      return cast_row<ElementType::Bool, From>(in, out, count);
  }
}

}  // namespace

SOLAR_VECTORISED void run_cast(ComputeType from, ElementType to, const void* in, void* out,
                               int count) {
  with_any(from, [&](auto tag) { cast_from<decltype(tag)>(to, in, out, count); });
}

SOLAR_VECTORISED void load_strided(ElementType type, const std::byte* data, int64_t first,
                                   int64_t stride, int count, void* out) {
  with_codec(type, [&](auto codec) {
    using C = decltype(codec);
    const auto* __restrict in = reinterpret_cast<const typename C::Storage*>(data) + first;
    auto* __restrict to = static_cast<typename C::Compute*>(out);
    if (stride == 1) {
      for (int j = 0; j < count; ++j) to[j] = C::load(in[j]);
    } else {
      for (int j = 0; j < count; ++j) to[j] = C::load(in[j * stride]);
    }
  });
}

SOLAR_VECTORISED void load_indexed(ElementType type, const std::byte* data,
                                   const int64_t* positions, int count, void* out) {
  with_codec(type, [&](auto codec) {
    using C = decltype(codec);
    const auto* __restrict in = reinterpret_cast<const typename C::Storage*>(data);
    auto* __restrict to = static_cast<typename C::Compute*>(out);
    for (int j = 0; j < count; ++j) to[j] = C::load(in[positions[j]]);
  });
}

SOLAR_VECTORISED void store_strided(ElementType type, std::byte* data, int64_t first,
                                    int64_t stride, Operand in, int count) {
  with_codec(type, [&](auto codec) {
    using C = decltype(codec);
    const auto* __restrict from = row<typename C::Compute>(in);
    auto* __restrict to = reinterpret_cast<typename C::Storage*>(data) + first;
    if (in.uniform) {
      const auto value = C::store(from[0]);
      for (int j = 0; j < count; ++j) to[j * stride] = value;
    } else if (stride == 1) {
      for (int j = 0; j < count; ++j) to[j] = C::store(from[j]);
    } else {
      for (int j = 0; j < count; ++j) to[j * stride] = C::store(from[j]);
    }
  });
}

SOLAR_VECTORISED void store_indexed(ElementType type, std::byte* data, const int64_t* positions,
                                    Operand in, int count) {
  with_codec(type, [&](auto codec) {
    using C = decltype(codec);
    const auto* __restrict from = row<typename C::Compute>(in);
    auto* __restrict to = reinterpret_cast<typename C::Storage*>(data);
    for (int j = 0; j < count; ++j) to[positions[j]] = C::store(from[in.uniform ? 0 : j]);
  });
}

// Index values made from data may wrap; what comes of it is checked like any other.
using Wrapping = uint64_t;

SOLAR_VECTORISED void fill_linear(int64_t* out, int64_t first, int64_t step, int count) {
  const auto start = static_cast<Wrapping>(first), by = static_cast<Wrapping>(step);
  for (int j = 0; j < count; ++j)
    out[j] = static_cast<int64_t>(start + by * static_cast<Wrapping>(j));
}

SOLAR_VECTORISED void fill_listed(int64_t* out, int64_t first, int64_t step, const int32_t* lanes,
                                  int count) {
  const auto start = static_cast<Wrapping>(first), by = static_cast<Wrapping>(step);
  for (int j = 0; j < count; ++j)
    out[j] = static_cast<int64_t>(start + by * static_cast<Wrapping>(lanes[j]));
}

SOLAR_VECTORISED void add_scaled(int64_t* __restrict out, const int64_t* __restrict in,
                                 int64_t factor, int count) {
  const auto by = static_cast<Wrapping>(factor);
  for (int j = 0; j < count; ++j) {
    out[j] =
        static_cast<int64_t>(static_cast<Wrapping>(out[j]) + by * static_cast<Wrapping>(in[j]));
  }
}

void divide_linear(int64_t* out, int64_t first, int64_t step, int64_t divisor, bool remainder,
                   int count) {
  // Carries quotient and remainder from lane to lane: no division per lane.
  int64_t quotient = floor_div(first, divisor), rest = floor_mod(first, divisor);
  const int64_t quotient_step = floor_div(step, divisor), rest_step = floor_mod(step, divisor);
  for (int j = 0; j < count; ++j) {
    out[j] = remainder ? rest : quotient;
    rest += rest_step;
    const bool carry = rest >= divisor;
    rest -= carry ? divisor : 0;
    quotient += quotient_step + (carry ? 1 : 0);
  }
}

void divide(int64_t* values, int64_t divisor, bool remainder, int count) {
  for (int j = 0; j < count; ++j) {
    values[j] = remainder ? floor_mod(values[j], divisor) : floor_div(values[j], divisor);
  }
}

SOLAR_VECTORISED void scatter(ComputeType type, void* to, const int32_t* lanes, Operand from,
                              int count) {
  with_any(type, [&](auto tag) {
    using T = decltype(tag);
    auto* out = static_cast<T*>(to);
    const T* in = row<T>(from);
    if (lanes == nullptr && !from.uniform) {
      std::memcpy(out, in, sizeof(T) * static_cast<size_t>(count));
    } else {
      for (int j = 0; j < count; ++j)
        out[lanes == nullptr ? j : lanes[j]] = in[from.uniform ? 0 : j];
    }
  });
}

SOLAR_VECTORISED void gather(ComputeType type, void* to, const int32_t* lanes, const void* from,
                             int count) {
  with_any(type, [&](auto tag) {
    using T = decltype(tag);
    for (int j = 0; j < count; ++j) static_cast<T*>(to)[j] = static_cast<const T*>(from)[lanes[j]];
  });
}

void fill(ComputeType type, void* to, Operand value, int count) {
  scatter(type, to, nullptr, value, count);
}

}  // namespace solar::exec
