#pragma once
// Random names, shapes and expressions over the tensors that a program text can see.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "exec/executor.h"

namespace solar::exec {

struct Visible {
  std::string name;
  std::string type;  // f32, i64 or bool
  std::vector<int64_t> shape;
};

class RandomText {
 public:
  explicit RandomText(uint64_t seed) : random_(seed) {}

  bool chance(double p) { return std::uniform_real_distribution<double>(0, 1)(random_) < p; }
  int64_t between(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  std::string name(const char* stem) { return stem + std::to_string(names_++); }
  std::vector<int64_t> shape(int64_t rank) {
    std::vector<int64_t> result;
    for (int64_t i = 0; i < rank; ++i) result.push_back(between(1, 5));
    return result;
  }
  static std::string typed(const Visible& x) {
    return fmt::format("{}[{}]", x.type, fmt::join(x.shape, ", "));
  }
  TensorData data(const Visible& x) {
    auto result = TensorData::make(*ir::element_type_named(x.type), x.shape);
    for (int64_t i = 0; i < result->count(); ++i)
      result->set_integer(i, chance(0.05) ? between(-9, 9) : between(0, 3));
    return std::move(*result);
  }

  /// A visible tensor that fits; one is made if there is none.
  template <class Fits>
  const Visible* find(Fits fits) {
    std::vector<const Visible*> found;
    for (const Visible& one : visible_) {
      if (fits(one)) found.push_back(&one);
    }
    return found.empty() ? nullptr : found[static_cast<size_t>(between(0, std::ssize(found) - 1))];
  }
  Visible any() {
    return *find([](const Visible& x) { return x.type != "bool"; });
  }
  Visible with_axis() {
    return *find([](const Visible& x) { return x.type != "bool" && !x.shape.empty(); });
  }
  std::optional<Visible> like(const Visible& wanted) {
    const Visible* found = find([&](const Visible& x) {
      return x.type == wanted.type && x.shape == wanted.shape && x.name != wanted.name;
    });
    return found == nullptr ? std::nullopt : std::optional(*found);
  }
  /// A vector of integers, for subscripts.
  Visible indices(std::string& text, const std::string& indent) {
    const Visible* found =
        find([](const Visible& x) { return x.type == "i64" && x.shape.size() == 1; });
    if (found != nullptr && chance(0.7)) return *found;
    const Visible made = {name("k"), "i64", {between(1, 6)}};
    text += fmt::format("{}kernel {}: {} {{ for i:{}  {}[i] = (i * {} + {}) % {} }}\n", indent,
                        made.name, typed(made), made.shape[0], made.name, between(1, 3),
                        step_or(between(0, 3)), between(1, 4));
    return made;
  }
  std::string step_or(int64_t constant) {
    if (steps_.empty() || chance(0.5)) return std::to_string(constant);
    return steps_[static_cast<size_t>(between(0, std::ssize(steps_) - 1))].first;
  }
  static std::string loops(const std::vector<int64_t>& shape) {
    std::string result;
    for (size_t i = 0; i < shape.size(); ++i)
      result += fmt::format("{}l{}:{}", i == 0 ? "for " : ", ", i, shape[i]);
    return result;
  }
  static std::string subscripts(size_t rank) {
    std::string result;
    for (size_t i = 0; i < rank; ++i) result += fmt::format("{}l{}", i == 0 ? "" : ", ", i);
    return result;
  }
  /// A value of the type, small.
  std::string term(const Visible& like_this) {
    const auto other = like(like_this);
    if (other && chance(0.6))
      return fmt::format("{}[{}]", other->name, subscripts(other->shape.size()));
    const std::string index = step_or(between(-2, 2));
    return like_this.type == "i64" ? index : fmt::format("f32({})", index);
  }

  std::string add(const std::string& text, Visible made) {
    visible_.push_back(std::move(made));
    return text;
  }

  std::mt19937_64 random_;
  std::vector<Visible> visible_ = {};
  std::vector<std::pair<std::string, int64_t>> steps_ = {};
  int names_ = 0;
};

}  // namespace solar::exec
