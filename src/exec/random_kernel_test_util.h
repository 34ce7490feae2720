#pragma once
// Random kernels over small tensors, for tests that compare ways of running them.

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "exec/kernel_run.h"
#include "exec/reference_test_util.h"

namespace solar::exec::random_kernels {

using ir::Atom;
using ir::Guard;
using ir::Kernel;
using ir::Linear;
using ir::Reduction;
using ir::ScalarNode;
using ir::ScalarOp;
using ir::TensorId;

struct Case {
  Kernel kernel;
  std::map<int, TensorData> inputs;
  std::map<int, TensorData> outputs;
};

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  Case make() {
    case_ = {};
    contraction_ = chance(0.4);
    ordered_ = !contraction_ && chance(0.15);
    make_loops();
    make_atoms();
    make_guards();
    const ElementType type =
        contraction_
            ? pick({ElementType::F32, ElementType::F32, ElementType::F64, ElementType::F16})
            : pick({ElementType::F32, ElementType::F64, ElementType::BF16, ElementType::I64,
                    ElementType::I32, ElementType::U8, ElementType::Bool});
    make_value(type);
    make_output(type);
    return std::move(case_);
  }

 private:
  Kernel& kernel() { return case_.kernel; }
  bool chance(double p) { return std::uniform_real_distribution<double>(0, 1)(random_) < p; }
  int64_t between(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  template <class T>
  T pick(std::initializer_list<T> choices) {
    return choices.begin()[between(0, static_cast<int64_t>(choices.size()) - 1)];
  }

  void make_loops() {
    const int64_t count = contraction_ ? between(3, 5) : between(0, 4);
    int64_t room = contraction_ ? 40000 : 3000;
    for (int64_t i = 0; i < count; ++i) {
      int64_t extent = contraction_ ? between(2, 24) : between(1, 6);
      if (!contraction_ && chance(0.2)) extent = between(7, 1200);
      extent = std::clamp<int64_t>(extent, 1, std::max<int64_t>(room, 1));
      room /= extent;
      kernel().loops.push_back({.name = "l", .extent = extent});
      kernel().atoms.push_back({.kind = Atom::Kind::Loop});
    }
    std::vector<int32_t> order;
    for (int32_t i = 0; i < count; ++i) order.push_back(i);
    std::shuffle(order.begin(), order.end(), random_);
    int64_t targets = contraction_ ? between(2, count - 1) : between(0, count);
    if (ordered_) targets = count;
    if (ordered_ && count == 0) ordered_ = false;
    kernel().target_loops.assign(order.begin(), order.begin() + targets);
    if (ordered_) {
      kernel().loops[0].order =
          chance(0.5) ? ir::Loop::Order::Ascending : ir::Loop::Order::Descending;
      if (kernel().loops[0].extent > 40) kernel().loops[0].extent = 40;
    }
  }

  Linear linear(bool simple) {
    Linear result = {.constant = between(-3, 3)};
    const auto atoms = static_cast<int64_t>(simple ? kernel().loops.size() : kernel().atoms.size());
    const auto atom_loops = loops_of_atoms(kernel().atoms);
    for (int64_t atom = 0; atom < atoms; ++atom) {
      if ((atom_loops[static_cast<size_t>(atom)] & ~allowed_) != 0) continue;
      const int64_t coefficient = chance(0.4) ? pick<int64_t>({1, 1, 1, -1, 2, 3}) : 0;
      if (coefficient != 0) result.terms.push_back({static_cast<int32_t>(atom), coefficient});
    }
    return result;
  }
  Guard guard() {
    const auto kind = pick({Guard::Kind::NonNegative, Guard::Kind::NonNegative,
                            Guard::Kind::NonNegative, Guard::Kind::NonZero, Guard::Kind::Zero});
    return {kind, linear(chance(0.5))};
  }

  void make_atoms() {
    if (kernel().loops.empty()) return;
    for (int64_t n = chance(0.4) ? between(1, 3) : 0; n > 0; --n) {
      Atom atom;
      atom.kind = pick({Atom::Kind::FloorDiv, Atom::Kind::Mod, Atom::Kind::Min, Atom::Kind::Max,
                        Atom::Kind::Select, Atom::Kind::DataRead});
      if (contraction_ && atom.kind == Atom::Kind::DataRead && chance(0.8))
        atom.kind = Atom::Kind::FloorDiv;
      if (atom.kind == Atom::Kind::DataRead) {
        kernel().indexed = true;
        atom.operands = {linear(false)};
        const auto range = range_of(atom.operands[0]);
        if (range.second - range.first > 5000) continue;
        atom.operands[0].constant -= range.first;
        auto ids = TensorData::make(pick({ElementType::I64, ElementType::I32, ElementType::I8}),
                                    {range.second - range.first + 1});
        for (int64_t i = 0; i < ids->count(); ++i) ids->set_integer(i, between(0, 4));
        atom.tensor = add_input(std::move(*ids));
      } else {
        for (int i = 0; i < 2; ++i) atom.operands.push_back(linear(false));
        if (atom.kind == Atom::Kind::FloorDiv || atom.kind == Atom::Kind::Mod) {
          atom.operands.resize(1);
          atom.divisor = between(1, 4);
        }
        if (atom.kind == Atom::Kind::Select) atom.conditions = {guard()};
      }
      kernel().atoms.push_back(std::move(atom));
    }
  }

  void make_guards() {
    for (int64_t n = chance(0.5) ? between(1, 2) : 0; n > 0; --n)
      kernel().guards.push_back(guard());
  }

  TensorId add_input(TensorData data) {
    const int id = static_cast<int>(case_.inputs.size());
    case_.inputs.emplace(id, std::move(data));
    return static_cast<TensorId>(id);
  }

  template <class Visit>
  void for_points(Visit visit) {
    std::vector<int64_t> point(kernel().loops.size(), 0);
    while (true) {
      visit(point);
      size_t i = point.size();
      while (i > 0 && ++point[i - 1] == kernel().loops[i - 1].extent) point[--i] = 0;
      if (i == 0) return;
    }
  }
  reference::KernelEvaluator evaluator() {
    return {kernel(),
            [this](TensorId id) -> TensorData& { return case_.inputs.at(static_cast<int>(id)); }};
  }
  std::pair<int64_t, int64_t> range_of(const Linear& linear, bool guarded = false) {
    int64_t low = INT64_MAX, high = INT64_MIN;
    auto at = evaluator();
    for_points([&](const std::vector<int64_t>& point) {
      if (guarded && !at.guards_hold(point)) return;
      const int64_t value = at.linear_at(linear, point);
      low = std::min(low, value), high = std::max(high, value);
    });
    return low > high ? std::pair<int64_t, int64_t>{0, 0} : std::pair{low, high};
  }

  bool reads_data(const Linear& linear) {
    return std::any_of(linear.terms.begin(), linear.terms.end(), [&](const ir::Term& term) {
      return kernel().atoms[static_cast<size_t>(term.atom)].kind == Atom::Kind::DataRead;
    });
  }

  int32_t add(ScalarNode node) {
    kernel().nodes.push_back(node);
    return static_cast<int32_t>(kernel().nodes.size()) - 1;
  }
  int32_t index_node(const Linear& linear) {
    kernel().linears.push_back(linear);
    return add({.op = ScalarOp::Index,
                .type = ElementType::I64,
                .reference = static_cast<int32_t>(kernel().linears.size()) - 1});
  }
  int32_t integer_node(int64_t value) { return add({.type = ElementType::I64, .integer = value}); }

  TensorData random_data(ElementType type, std::vector<int64_t> shape) {
    auto data = TensorData::make(type, std::move(shape));
    const bool special = chance(0.1);
    for (int64_t i = 0; i < data->count(); ++i) {
      double value = static_cast<double>(between(-16, 16)) / 8;
      if (special && chance(0.02))
        value = pick<double>({std::numeric_limits<double>::infinity(), std::nan(""), -0.0});
      data->set(i, value);
    }
    return std::move(*data);
  }

  /// A load whose subscripts stay inside wherever the guards hold, or, conditional, inside a select
  /// on them.
  int32_t load(ElementType type, bool targets_only = false) {
    std::vector<Linear> subscripts;
    std::vector<int64_t> shape;
    for (int64_t axis = between(0, 3); axis > 0; --axis) {
      Linear subscript = linear(chance(0.6));
      if (targets_only) {
        subscript.terms.clear();
        for (const int32_t loop : kernel().target_loops) {
          if (kernel().loops[static_cast<size_t>(loop)].order == ir::Loop::Order::Any &&
              chance(0.5))
            subscript.terms.push_back({loop, 1});
        }
        std::sort(subscript.terms.begin(), subscript.terms.end(),
                  [](auto a, auto b) { return a.atom < b.atom; });
      }
      const auto range = range_of(subscript, !targets_only);
      subscript.constant -= range.first;
      int64_t extent = range.second - range.first + 1;
      if (kernel().indexed && reads_data(subscript) && extent > 1 && chance(0.1))
        --extent;  // leaves its axis
      int64_t elements = extent;
      for (const int64_t n : shape) elements *= n;
      if (elements > 200000) continue;
      subscripts.push_back(subscript);
      shape.push_back(extent);
    }
    const bool conditional = !targets_only && !shape.empty() && chance(0.2);
    if (conditional) {
      subscripts[0].constant += between(-2, 2);
      shape[0] = std::max<int64_t>(shape[0] - between(0, 2), 1);
    }
    kernel().accesses.push_back({add_input(random_data(type, shape)), subscripts, conditional});
    const auto reference = static_cast<int32_t>(kernel().accesses.size()) - 1;
    if (!conditional) return add({.op = ScalarOp::Load, .type = type, .reference = reference});
    const int32_t at = index_node(subscripts[0]);
    const int32_t low = add(
        {.op = ScalarOp::GreaterEqual, .type = ElementType::Bool, .a = at, .b = integer_node(0)});
    const int32_t high = add(
        {.op = ScalarOp::Less, .type = ElementType::Bool, .a = at, .b = integer_node(shape[0])});
    const int32_t both = add({.op = ScalarOp::And, .type = ElementType::Bool, .a = low, .b = high});
    const int32_t taken = add({.op = ScalarOp::Load, .type = type, .reference = reference});
    const int32_t other = constant(type);
    return add({.op = ScalarOp::Select, .type = type, .a = both, .b = taken, .c = other});
  }

  int32_t constant(ElementType type) {
    const int64_t value = type == ElementType::Bool ? between(0, 1) : between(-3, 3);
    return add({.type = type, .constant = static_cast<double>(value) / 2, .integer = value});
  }

  int32_t expression(ElementType type, int depth) {
    const double leaf = depth == 0 ? 1.0 : 0.3;
    if (chance(leaf)) {
      if (chance(0.2)) return constant(type);
      if (type == ElementType::I64 && chance(0.3)) return index_node(linear(false));
      return load(type);
    }
    if (chance(0.2)) {
      const int32_t a = expression(ElementType::Bool, depth - 1);
      const int32_t b = expression(type, depth - 1), c = expression(type, depth - 1);
      return add({.op = ScalarOp::Select, .type = type, .a = a, .b = b, .c = c});
    }
    if (type == ElementType::Bool) {
      if (chance(0.5)) {
        const auto of = pick({ElementType::F32, ElementType::I64, ElementType::F64});
        const int32_t a = expression(of, depth - 1), b = expression(of, depth - 1);
        const auto op = pick({ScalarOp::Less, ScalarOp::LessEqual, ScalarOp::Greater,
                              ScalarOp::GreaterEqual, ScalarOp::Equal, ScalarOp::NotEqual});
        return add({.op = op, .type = type, .a = a, .b = b});
      }
      const int32_t a = expression(type, depth - 1);
      if (chance(0.3)) return add({.op = ScalarOp::Not, .type = type, .a = a});
      const int32_t b = expression(type, depth - 1);
      return add({.op = pick({ScalarOp::And, ScalarOp::Or, ScalarOp::Equal}),
                  .type = type,
                  .a = a,
                  .b = b});
    }
    if (chance(0.2)) {
      const int32_t a = expression(pick({ElementType::F32, ElementType::F64, ElementType::I64,
                                         ElementType::Bool, ElementType::I32}),
                                   depth - 1);
      return add({.op = ScalarOp::Cast, .type = type, .a = a});
    }
    const bool real = ir::is_float(type);
    if (chance(0.3)) {
      const auto op =
          real ? pick({ScalarOp::Neg, ScalarOp::Abs, ScalarOp::Sign, ScalarOp::Exp, ScalarOp::Tanh,
                       ScalarOp::Sigmoid, ScalarOp::Floor, ScalarOp::Round})
               : pick({ScalarOp::Neg, ScalarOp::Abs, ScalarOp::Sign});
      return add({.op = op, .type = type, .a = expression(type, depth - 1)});
    }
    const auto op =
        real ? pick({ScalarOp::Add, ScalarOp::Sub, ScalarOp::Mul, ScalarOp::Max, ScalarOp::Min,
                     ScalarOp::Fmax, ScalarOp::Fmin})
             : pick({ScalarOp::Add, ScalarOp::Sub, ScalarOp::Mul, ScalarOp::FloorDiv, ScalarOp::Mod,
                     ScalarOp::Max, ScalarOp::Min, ScalarOp::BitAnd, ScalarOp::BitXor});
    const int32_t a = expression(type, depth - 1), b = expression(type, depth - 1);
    return add({.op = op, .type = type, .a = a, .b = b});
  }

  void make_value(ElementType type) {
    Kernel& k = kernel();
    if (contraction_) {
      k.reduction = Reduction::Sum;
      // Most target loops stand in one factor only.
      uint64_t only_a = 0, only_b = 0;
      for (size_t i = 0; i < k.target_loops.size(); ++i) {
        uint64_t& side = i % 2 == 0 ? only_a : only_b;
        if (i < 2 || chance(0.7)) side |= loop_bit(k.target_loops[i]);
      }
      allowed_ = ~only_b;
      const int32_t a = chance(0.7) ? load(type) : expression(type, 1);
      allowed_ = ~only_a;
      const int32_t b = chance(0.7) ? load(type) : expression(type, 1);
      allowed_ = ~uint64_t{0};
      k.value = add({.op = ScalarOp::Mul, .type = type, .a = a, .b = b});
    } else if (ordered_) {
      const int32_t previous = add({.op = ScalarOp::Prev, .type = type});
      const int32_t other = expression(type, 1);
      const auto op =
          type == ElementType::Bool ? ScalarOp::And : pick({ScalarOp::Add, ScalarOp::Max});
      k.value = add({.op = op, .type = type, .a = previous, .b = other});
    } else {
      k.value = expression(type, 2);
      if (k.target_loops.size() < k.loops.size()) {
        k.reduction = type == ElementType::Bool
                          ? pick({Reduction::And, Reduction::Or})
                          : pick({Reduction::Sum, Reduction::Sum, Reduction::Max, Reduction::Min,
                                  Reduction::ArgMax, Reduction::ArgMin, Reduction::Product});
        if (k.reduction == Reduction::ArgMax || k.reduction == Reduction::ArgMin)
          k.second_value = index_node(linear(false));
      }
    }
    const bool arg = k.second_value >= 0;
    if (!contraction_ && chance(0.15) && k.indexed) k.data_guard = expression(ElementType::Bool, 1);
    const bool needs_else =
        k.reduction == Reduction::None && (!k.guards.empty() || k.data_guard >= 0);
    if (ordered_ || (!arg && k.reduction != Reduction::None && chance(0.4)))
      k.init = chance(0.5) ? load(type, true) : constant(type);
    if (needs_else || chance(0.3)) k.otherwise = chance(0.5) ? load(type, true) : constant(type);
  }

  void make_output(ElementType type) {
    Kernel& k = kernel();
    std::vector<int64_t> shape;
    for (const int32_t loop : k.target_loops)
      shape.push_back(k.loops[static_cast<size_t>(loop)].extent);
    k.output = static_cast<TensorId>(1000);
    case_.outputs.emplace(1000, *TensorData::make(type, shape));
    if (k.second_value >= 0) {
      k.second_output = static_cast<TensorId>(1001);
      case_.outputs.emplace(1001, *TensorData::make(ElementType::I64, shape));
    }
  }

  std::mt19937_64 random_;
  Case case_;
  bool contraction_ = false, ordered_ = false;
  uint64_t allowed_ = ~uint64_t{0};  // loops that index expressions may use
};

inline FindData finder(Case& c, std::map<int, TensorData>& outputs) {
  return [&c, &outputs](TensorId id) {
    const int i = static_cast<int>(id);
    TensorData& data = i >= 1000 ? outputs.at(i) : c.inputs.at(i);
    return DataRef{data.mutable_data(), data.type(), data.shape(), row_major_strides(data.shape()),
                   id};
  };
}

/// Sums are rounded differently, so floats agree to a tolerance that grows with the terms' size.
inline ::testing::AssertionResult agree(const TensorData& a, const TensorData& b, double scale) {
  for (int64_t i = 0; i < a.count(); ++i) {
    if (!ir::is_float(a.type())) {
      if (a.get_integer(i) == b.get_integer(i)) continue;
      return ::testing::AssertionFailure()
             << "element " << i << ": " << a.get_integer(i) << ", expected " << b.get_integer(i);
    }
    const double x = a.get(i), y = b.get(i);
    if (std::isnan(x) && std::isnan(y)) continue;
    if (x == y) continue;
    const double tolerance =
        4 * std::max(ir::epsilon(a.type()), 1e-6) * std::max({std::fabs(x), std::fabs(y), scale});
    if (std::fabs(x - y) <= tolerance) continue;
    return ::testing::AssertionFailure() << "element " << i << ": " << x << ", expected " << y;
  }
  return ::testing::AssertionSuccess();
}

inline uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* given = std::getenv(name);
  return given == nullptr ? otherwise : std::strtoull(given, nullptr, 10);
}

}  // namespace solar::exec::random_kernels
