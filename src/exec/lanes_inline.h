#pragma once
// Loop templates shared by the lanes_*.cpp files, each of which compiles them for two instruction
// sets. -fno-trapping-math and -fno-math-errno change no value; without them comparisons and sqrt
// stay scalar.

#pragma GCC optimize("no-trapping-math", "no-math-errno")

#include "exec/lanes.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define SOLAR_VECTORISED __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define SOLAR_VECTORISED
#endif
#define SOLAR_INLINE __attribute__((always_inline)) inline

namespace solar::exec {

template <class T>
const T* row(Operand operand) {
  return static_cast<const T*>(operand.data);
}

/// Calls `function` with a value of the compute type.
template <class Function>
SOLAR_INLINE void with_float(ComputeType type, Function&& function) {
  if (type == ComputeType::F32) return function(float{});
  if (type == ComputeType::F64) return function(double{});
}
template <class Function>
SOLAR_INLINE void with_number(ComputeType type, Function&& function) {
  if (type == ComputeType::I64) return function(int64_t{});
  with_float(type, function);
}
template <class Function>
SOLAR_INLINE void with_any(ComputeType type, Function&& function) {
  if (type == ComputeType::Bool) return function(uint8_t{});
  with_number(type, function);
}

template <class T, class R, class F>
SOLAR_INLINE void map1(Operand a, void* out, int count, F f) {
  const T* __restrict x = row<T>(a);
  R* __restrict y = static_cast<R*>(out);
  for (int j = 0; j < count; ++j) y[j] = f(x[j]);
}

template <class T, class R, class F>
SOLAR_INLINE void map2(Operand a, Operand b, void* out, int count, F f) {
  const T* __restrict x = row<T>(a);
  const T* __restrict y = row<T>(b);
  R* __restrict z = static_cast<R*>(out);
  if (!a.uniform && !b.uniform) {
    for (int j = 0; j < count; ++j) z[j] = f(x[j], y[j]);
  } else if (a.uniform && !b.uniform) {
    const T left = x[0];
    for (int j = 0; j < count; ++j) z[j] = f(left, y[j]);
  } else {
    const T right = y[0];
    const int step = a.uniform ? 0 : 1;
    if (step == 0) count = 1;
    for (int j = 0; j < count; ++j) z[j] = f(x[j], right);
  }
}

template <class T>
SOLAR_INLINE bool is_nan(T x) {
  return x != x;
}
/// NaN wins.
template <class T>
SOLAR_INLINE T maximum(T a, T b) {
  return (a > b || is_nan(a)) ? a : b;
}
template <class T>
SOLAR_INLINE T minimum(T a, T b) {
  return (a < b || is_nan(a)) ? a : b;
}

// Integers wrap.
SOLAR_INLINE float add(float a, float b) { return a + b; }
SOLAR_INLINE double add(double a, double b) { return a + b; }
SOLAR_INLINE int64_t add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
SOLAR_INLINE float multiply(float a, float b) { return a * b; }
SOLAR_INLINE double multiply(double a, double b) { return a * b; }
SOLAR_INLINE int64_t multiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

/// Calls `function` with the reduction's operator for T, if it has one.
template <class T, class Function>
SOLAR_INLINE void with_reduction(Reduction reduction, Function&& function) {
  if constexpr (std::is_same_v<T, uint8_t>) {
    if (reduction == Reduction::And || reduction == Reduction::Min) {
      function([](T a, T b) { return static_cast<T>(a & b); });
    } else {
      function([](T a, T b) { return static_cast<T>(a | b); });
    }
  } else {
    switch (reduction) {
      case Reduction::Sum:
        return function([](T a, T b) { return add(a, b); });
      case Reduction::Product:
        return function([](T a, T b) { return multiply(a, b); });
      case Reduction::Max:
        return function([](T a, T b) { return maximum(a, b); });
      case Reduction::Min:
        return function([](T a, T b) { return minimum(a, b); });
      default:
        return;
    }
  }
}

}  // namespace solar::exec
