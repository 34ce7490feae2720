#pragma once
// Random small programs with loops, branches, scatters and sorting.

#include <fmt/format.h>

#include <string>
#include <vector>

#include "einsum/random_program_test_util.h"
#include "exec/executor.h"

namespace solar::einsum {

class RandomLoopProgram : public RandomProgram {
 public:
  using RandomProgram::RandomProgram;
  /// Which way a run goes, per control; filled by text().
  const std::vector<exec::ControlPath>& paths() const { return paths_; }

 protected:
  std::string step() override {
    last_is_kernel_ = false;
    switch (pick(0, 7)) {
      case 0:
      case 1:
        return depth_ < 2 ? repeat() : RandomProgram::step();
      case 2:
        return depth_ == 0 && chance(50) ? loop() : RandomProgram::step();
      case 3:
        return depth_ == 0 && chance(50) ? branch() : RandomProgram::step();
      case 4:
        return chance(50) ? scatter() : best();
      default:
        return RandomProgram::step();
    }
  }

 private:
  // Of the body's tensors, only the last ones stay known.
  std::string body(int least, int most) {
    std::string text;
    const int count = pick(least, most);
    for (int i = 0; i < count; ++i) text += chance(25) ? moving_slice() : step();
    return text;
  }

  std::string zeros(const Tensor& tensor) {
    const Header head = header(tensor, 0);
    return finish(head, {}, static_cast<int>(tensor.shape.size()), "=", "0", "");
  }

  // A slice whose place is the step.
  std::string moving_slice() {
    const Tensor from = any();
    if (steps_.empty() || from.shape[0] < extents_.back()) return RandomProgram::step();
    Tensor to{fmt::format("t{}", next_++), from.shape};
    to.shape[0] = pick(1, from.shape[0] - extents_.back() + 1);
    std::string rest;
    for (size_t axis = 1; axis < from.shape.size(); ++axis) rest += ", :";
    tensors_.push_back(to);
    last_is_kernel_ = false;
    return fmt::format("  slice {} = {}[{} : {} + {}{}]\n", to.name, from.name, steps_.back(),
                       steps_.back(), to.shape[0], rest);
  }

  std::string repeat() {
    std::string before;
    Tensor initial = any();
    if (chance(50)) {
      initial = fresh(pick(1, 2));
      before = zeros(initial);
    }
    const std::vector<Tensor> outer = tensors_;
    const Tensor inside{fmt::format("t{}", next_++), initial.shape};
    const std::string variable = fmt::format("s{}", next_++);
    const int extent = pick(1, 4);
    ++depth_;
    steps_.push_back(variable);
    extents_.push_back(extent);
    tensors_.push_back(inside);
    std::string text = body(1, 3);
    const Tensor next{fmt::format("t{}", next_++), initial.shape};
    text += pointwise(next);
    const Tensor stacked = any_after(outer.size());
    steps_.pop_back();
    extents_.pop_back();
    --depth_;
    tensors_ = outer;
    const Tensor result{fmt::format("t{}", next_++), initial.shape};
    Tensor stack{fmt::format("t{}", next_++), stacked.shape};
    stack.shape.insert(stack.shape.begin(), extent);
    tensors_.push_back(result);
    const bool stacks = chance(60) && stack.shape.size() <= 4;
    if (stacks) tensors_.push_back(stack);
    last_is_kernel_ = false;
    return fmt::format("{}  let {}{} = repeat {}{}:{} with ({} = {}) {{\n{}  next {}{}\n  }}\n",
                       before, result.name, stacks ? " stack " + stack.name : "",
                       chance(30) ? "revseq " : "", variable, extent, inside.name, initial.name,
                       text, next.name, stacks ? " stack " + stacked.name : "");
  }

  Tensor any_after(size_t first) {
    const int count = static_cast<int>(tensors_.size() - first);
    return tensors_[first + static_cast<size_t>(pick(0, count - 1))];
  }

  std::string condition(const std::string& name) {
    const Tensor from = any();
    std::vector<int> place;
    for (const auto extent : from.shape) place.push_back(extent > 1 ? 1 : 0);
    return fmt::format("  kernel {}: bool[] {{ {}[] = {}[{}] > 0 }}\n", name, name, from.name,
                       fmt::join(place, ", "));
  }

  std::string loop() {
    const int32_t control = static_cast<int32_t>(paths_.size());
    paths_.push_back({.entered = 1, .steps = pick(1, 3)});
    const Tensor initial = any();
    const std::vector<Tensor> outer = tensors_;
    const Tensor inside{fmt::format("t{}", next_++), initial.shape};
    const std::string go = fmt::format("go{}", control);
    ++depth_;
    tensors_.push_back(inside);
    std::string text = body(0, 2);
    text += condition(go) + fmt::format("  test {}\n", go) + body(0, 2);
    const Tensor next{fmt::format("t{}", next_++), initial.shape};
    text += pointwise(next);
    --depth_;
    tensors_ = outer;
    const Tensor result{fmt::format("t{}", next_++), initial.shape};
    tensors_.push_back(result);
    last_is_kernel_ = false;
    return fmt::format("  let {} = while limit 5 with ({} = {}) {{\n{}  next {}\n  }}\n",
                       result.name, inside.name, initial.name, text, next.name);
  }

  std::string branch() {
    const int32_t control = static_cast<int32_t>(paths_.size());
    const bool taken = chance(50);
    paths_.push_back({.taken = taken, .not_taken = !taken});
    const std::string p = fmt::format("p{}", control);
    const std::string test = condition(p);
    const Tensor result = fresh(pick(1, 2));
    const std::vector<Tensor> outer = tensors_;
    ++depth_;
    std::string bodies[2];
    for (std::string& text : bodies) {
      text = body(0, 2);
      const Tensor value{fmt::format("t{}", next_++), result.shape};
      text += pointwise(value);
      text += fmt::format("  next {}\n", value.name);
      tensors_ = outer;
    }
    --depth_;
    tensors_.push_back(result);
    last_is_kernel_ = false;
    return fmt::format("{}  let {} = if {} {{\n{}  }} else {{\n{}  }}\n", test, result.name, p,
                       bodies[0], bodies[1]);
  }

  // Sums at places that indices decide.
  std::string scatter() {
    const Tensor output = fresh(pick(1, 2));
    const std::vector<std::string> names = {"i", "j", "k"};
    std::vector<std::string> loops;
    std::string header;
    const int count = pick(1, 3);
    for (int i = 0; i < count; ++i) {
      loops.push_back(names[static_cast<size_t>(i)]);
      header +=
          fmt::format("{}{}:{}", i > 0 ? ", " : "", names[static_cast<size_t>(i)], pick(2, 5));
    }
    std::vector<std::string> guards;
    std::string base;
    for (const Tensor& tensor : tensors_) {
      if (tensor.shape == output.shape && chance(70)) base = "  base " + tensor.name;
    }
    std::vector<std::string> target;
    for (const int extent : output.shape) target.push_back(subscript(loops, extent, guards));
    std::string value = read(loops, guards);
    if (chance(50)) value += " * " + read(loops, guards);
    if (chance(40)) guards.push_back(triangle(loops));
    std::string where;
    if (!guards.empty()) where = fmt::format("    where {}\n", fmt::join(guards, ", "));
    tensors_.push_back(output);
    return fmt::format("  scatter {}: f32[{}] {{ for {}\n{}    {}[{}] += {}{} }}\n", output.name,
                       list(output.shape), header, where, output.name, fmt::join(target, ", "),
                       value, base);
  }

  std::string best() {
    const Tensor from = any();
    Tensor to{fmt::format("t{}", next_++), from.shape};
    const auto axis = static_cast<size_t>(pick(0, static_cast<int>(from.shape.size()) - 1));
    to.shape[axis] = pick(1, from.shape[axis]);
    tensors_.push_back(to);
    return fmt::format("  let ({}, x{}) = topk({}; axis = {}, k = {})\n", to.name, to.name,
                       from.name, axis, to.shape[axis]);
  }

  std::vector<exec::ControlPath> paths_ = {};
  std::vector<int> extents_ = {};
  int depth_ = 0;
};

}  // namespace solar::einsum
