#pragma once
// Random small programs as ALIR text: guarded kernels, windows, triangles, views, slices, concats.

#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

namespace solar::einsum {

class RandomProgram {
 public:
  explicit RandomProgram(uint32_t seed) : random_(seed) {}
  virtual ~RandomProgram() = default;

  std::string text() {
    std::string ports;
    const int inputs = pick(2, 3);
    for (int i = 0; i < inputs; ++i) {
      const Tensor tensor = fresh(pick(1, 3));
      ports +=
          fmt::format("{}input {}: f32[{}]", i > 0 ? ", " : "", tensor.name, list(tensor.shape));
      tensors_.push_back(tensor);
    }
    std::string body;
    const int steps = pick(2, 5);
    for (int i = 0; i < steps; ++i) body += step();
    while (!last_is_kernel_) body += pointwise();
    std::string outputs = tensors_.back().name;
    return fmt::format("program random({}) -> ({}) {{\n{}}}\n", ports, outputs, body);
  }

 protected:
  struct Tensor {
    std::string name;
    std::vector<int> shape;
  };

  int pick(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<uint32_t>(high - low + 1));
  }
  bool chance(int percent) { return pick(1, 100) <= percent; }

  // The latest tensors are the likeliest, so that programs are deep.
  const Tensor& any() {
    const int count = static_cast<int>(tensors_.size());
    return tensors_[static_cast<size_t>(chance(60) ? count - 1 : pick(0, count - 1))];
  }

  Tensor fresh(int rank) {
    Tensor tensor{fmt::format("t{}", next_++), {}};
    for (int i = 0; i < rank; ++i) tensor.shape.push_back(pick(2, 6));
    return tensor;
  }

  template <class Values>
  static std::string list(const Values& values) {
    return fmt::format("{}", fmt::join(values, ", "));
  }

  virtual std::string step() {
    last_is_kernel_ = false;
    switch (pick(0, 7)) {
      case 0:
        return view();
      case 1:
        return slice();
      case 2:
        return concat();
      case 3:
      case 4:
        return pointwise();
      default:
        return reduction();
    }
  }

  std::vector<std::string> letters(size_t rank) const {
    std::vector<std::string> names;
    for (size_t i = 0; i < rank; ++i) names.push_back(std::string(1, static_cast<char>('a' + i)));
    return names;
  }

  std::string view() {
    const Tensor from = any();
    Tensor to{fmt::format("t{}", next_++), {}};
    auto left = letters(from.shape.size());
    std::vector<std::pair<std::string, int>> axes;
    std::string pattern;
    for (size_t i = 0; i < left.size(); ++i) {
      const int extent = from.shape[i];
      if (extent % 2 == 0 && chance(40)) {
        axes.push_back({"x" + left[i], 2});
        axes.push_back({"y" + left[i], extent / 2});
        pattern += fmt::format("{}(x{}:2, y{})", i > 0 ? ", " : "", left[i], left[i]);
      } else {
        axes.push_back({left[i], extent});
        pattern += (i > 0 ? ", " : "") + left[i];
      }
    }
    std::shuffle(axes.begin(), axes.end(), random_);
    if (chance(20)) axes.push_back({"r:3", 3});
    std::string right;
    for (size_t i = 0; i < axes.size(); ++i) {
      right += i > 0 ? ", " : "";
      if (i + 1 < axes.size() && chance(30)) {
        right += fmt::format("({}, {})", axes[i].first, axes[i + 1].first);
        to.shape.push_back(axes[i].second * axes[i + 1].second);
        ++i;
      } else {
        right += axes[i].first;
        to.shape.push_back(axes[i].second);
      }
    }
    tensors_.push_back(to);
    return fmt::format("  view {} = {} {{ {} -> {} }}\n", to.name, from.name, pattern, right);
  }

  std::string slice() {
    const Tensor from = any();
    Tensor to{fmt::format("t{}", next_++), {}};
    std::vector<std::string> items;
    for (size_t i = 0; i < from.shape.size(); ++i) {
      const int extent = from.shape[i];
      const int kind = pick(0, 4);
      if (kind == 0) {
        items.push_back("reverse");
        to.shape.push_back(extent);
      } else if (kind == 1 && from.shape.size() > 1 && (i > 0 || !to.shape.empty())) {
        items.push_back(std::to_string(pick(0, extent - 1)));
      } else if (kind <= 3) {
        const int begin = pick(0, extent - 1);
        const int end = pick(begin + 1, extent);
        const int stride = pick(1, 2);
        items.push_back(fmt::format("{}:{}:{}", begin, end, stride));
        to.shape.push_back((end - begin + stride - 1) / stride);
      } else {
        items.push_back(":");
        to.shape.push_back(extent);
      }
    }
    tensors_.push_back(to);
    return fmt::format("  slice {} = {}[{}]\n", to.name, from.name, fmt::join(items, ", "));
  }

  std::string concat() {
    const Tensor from = any();
    Tensor to{fmt::format("t{}", next_++), from.shape};
    const size_t axis = static_cast<size_t>(pick(0, static_cast<int>(from.shape.size()) - 1));
    std::string other = from.name;
    for (const Tensor& tensor : tensors_) {
      if (tensor.shape == from.shape) other = tensor.name;
    }
    to.shape[axis] *= 2;
    tensors_.push_back(to);
    return fmt::format("  let {} = concat({}, {}; axis = {})\n", to.name, other, from.name, axis);
  }

  // One of the loops, or of the steps around.
  std::string one_of(const std::vector<std::string>& loops) {
    const int steps = static_cast<int>(steps_.size());
    const int at = pick(0, static_cast<int>(loops.size()) + steps - 1);
    const auto inner = static_cast<size_t>(at - steps);
    return at < steps ? steps_[static_cast<size_t>(at)] : loops[inner];
  }

  // An index expression of the loops, and the guard that keeps it inside `extent`.
  std::string subscript(const std::vector<std::string>& loops, int extent,
                        std::vector<std::string>& guards) {
    const auto loop = [&] { return one_of(loops); };
    std::string text;
    switch (pick(0, 9)) {
      case 0:
        text = fmt::format("{} + {} - {}", loop(), loop(), pick(0, 2));
        break;
      case 1:
        text = fmt::format("{}*{} + {} - 1", pick(1, 3), loop(), loop());
        break;
      case 2:
        text = fmt::format("{} - {}", extent - 1, loop());
        break;
      case 3:
        text = fmt::format("{} // 2", loop());
        break;
      case 4:
        text = fmt::format("({} + {}) % {}", loop(), loop(), extent);
        return text;
      case 5:
        text = fmt::format("min(max({} - 1, 0), {})", loop(), extent - 1);
        return text;
      case 6: {
        const std::string e = fmt::format("{} + 1 - {}", loop(), loop());
        guards.push_back(fmt::format("({}) % 2 == 0", e));
        guards.push_back(fmt::format("0 <= {} < {}", e, 2 * extent));
        return fmt::format("({}) // 2", e);
      }
      default:
        text = loop();
        break;
    }
    guards.push_back(fmt::format("0 <= {} < {}", text, extent));
    return text;
  }

  std::string read(const std::vector<std::string>& loops, std::vector<std::string>& guards) {
    const Tensor& from = any();
    std::vector<std::string> subscripts;
    for (const int extent : from.shape) subscripts.push_back(subscript(loops, extent, guards));
    return fmt::format("{}[{}]", from.name, fmt::join(subscripts, ", "));
  }

  std::string triangle(const std::vector<std::string>& loops) {
    const auto loop = [&] { return one_of(loops); };
    const char* const relations[] = {"<=", "<", ">=", "!=", "=="};
    return fmt::format("{} {} {} + {}", loop(), relations[pick(0, 4)], loop(), pick(0, 2));
  }

  struct Header {
    Tensor output;
    std::vector<std::string> loops;
    std::string text;
  };

  Header header(int targets, int reduced) { return header(fresh(targets), reduced); }

  Header header(const Tensor& output, int reduced) {
    const int targets = static_cast<int>(output.shape.size());
    Header result{output, {}, {}};
    std::vector<std::string> parts;
    const auto names = std::vector<std::string>{"i", "j", "k", "l", "m"};
    for (int i = 0; i < targets + reduced; ++i) {
      const auto& name = names[static_cast<size_t>(i)];
      result.loops.push_back(name);
      parts.push_back(fmt::format(
          "{}:{}", name, i < targets ? result.output.shape[static_cast<size_t>(i)] : pick(2, 5)));
    }
    result.text = fmt::format("  kernel {}: f32[{}] {{ for {}\n", result.output.name,
                              list(result.output.shape), fmt::join(parts, ", "));
    return result;
  }

  std::string finish(const Header& head, std::vector<std::string> guards, int targets,
                     const std::string& assign, const std::string& value, const std::string& tail) {
    std::string text = head.text;
    if (!guards.empty()) text += fmt::format("    where {}\n", fmt::join(guards, ", "));
    const std::vector<std::string> target(head.loops.begin(), head.loops.begin() + targets);
    text += fmt::format("    {}[{}] {} {}{} }}\n", head.output.name, fmt::join(target, ", "),
                        assign, value, tail);
    tensors_.push_back(head.output);
    last_is_kernel_ = true;
    return text;
  }

  std::string pointwise() { return pointwise(fresh(pick(1, 3))); }

  std::string pointwise(const Tensor& output) {
    const int targets = static_cast<int>(output.shape.size());
    const Header head = header(output, 0);
    std::vector<std::string> guards;
    if (chance(40)) guards.push_back(triangle(head.loops));
    const std::string a = read(head.loops, guards);
    std::string value;
    switch (pick(0, 3)) {
      case 0:
        value = a + " * " + read(head.loops, guards);
        break;
      case 1:
        value = "max(" + a + ", 0)";
        break;
      case 2:
        value =
            "select(" + triangle(head.loops) + " and " + triangle(head.loops) + ", " + a + ", 0)";
        break;
      default:
        value = a + " + " + read(head.loops, guards);
        break;
    }
    return finish(head, guards, targets, "=", value, chance(80) ? " else 0" : " else 1");
  }

  std::string reduction() {
    const int targets = pick(1, 2);
    const Header head = header(targets, pick(1, 2));
    std::vector<std::string> guards;
    if (chance(40)) guards.push_back(triangle(head.loops));
    std::string value = read(head.loops, guards);
    if (chance(70)) value += " * " + read(head.loops, guards);
    const bool sum = chance(80);
    return finish(head, guards, targets, sum ? "+=" : "max=", value, sum ? "" : " else 0");
  }

  std::mt19937 random_;
  std::vector<Tensor> tensors_ = {};
  std::vector<std::string> steps_ = {};
  int next_ = 0;
  bool last_is_kernel_ = false;
};

}  // namespace solar::einsum
