#pragma once
// Which statements are spoken for, and how much planning is left. Private to ir/.

#include <algorithm>
#include <cstddef>
#include <vector>

namespace solar::ir {

class Room {
 public:
  explicit Room(size_t statements)
      : taken_(statements, false), budget_(kPlanned * (statements + 1)) {}

  bool is_free(size_t begin, size_t end) const {
    return std::none_of(at(begin), at(end), [](bool taken) { return taken; });
  }
  void take(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) taken_[i] = true;
  }
  /// Whether another `statements` may be planned with: all planning is linear in the program.
  bool spend(size_t statements) {
    if (budget_ < statements) return false;
    budget_ -= statements;
    return true;
  }

 private:
  static constexpr size_t kPlanned = 32;  // statements planned with, for each of the program
  std::vector<bool>::const_iterator at(size_t i) const {
    return taken_.begin() + static_cast<std::ptrdiff_t>(i);
  }

  std::vector<bool> taken_;
  size_t budget_;
};

}  // namespace solar::ir
