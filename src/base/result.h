#pragma once
// Result<T>: a value or the diagnostics that say why there is none. The interface is a subset of
// std::expected.

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <variant>

#include "base/diagnostic.h"

namespace solar {

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Diagnostics errors) : state_(std::in_place_index<1>, std::move(errors)) {}
  Result(Diagnostic error) : state_(std::in_place_index<1>, Diagnostics{std::move(error)}) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Diagnostics& error() const { return std::get<1>(state_); }
  Diagnostics& error() { return std::get<1>(state_); }

 private:
  std::variant<T, Diagnostics> state_;
};

/// The value of a step that yields nothing.
struct Done {};

}  // namespace solar

#define SOLAR_CONCAT_INNER(a, b) a##b
#define SOLAR_CONCAT(a, b) SOLAR_CONCAT_INNER(a, b)

/// SOLAR_TRY(Type name, expression): defines `name` from the Result, or returns its diagnostics.
#define SOLAR_TRY(declaration, ...)                                  \
  auto SOLAR_CONCAT(solar_result_, __LINE__) = (__VA_ARGS__);        \
  if (!SOLAR_CONCAT(solar_result_, __LINE__))                        \
    return std::move(SOLAR_CONCAT(solar_result_, __LINE__).error()); \
  declaration = std::move(SOLAR_CONCAT(solar_result_, __LINE__).value())

/// A bug of ours: says where and aborts (the program exits with 70).
#define SOLAR_CHECK(condition, what)                                               \
  do {                                                                             \
    if (!(condition)) ::solar::check_failed(__FILE__, __LINE__, #condition, what); \
  } while (false)

namespace solar {
[[noreturn]] void check_failed(const char* file, int line, const char* condition, const char* what);
}  // namespace solar
