// One row of the output: the loops under the outer target loops.

#include <algorithm>
#include <cstring>

#include "exec/jit/emit.h"
#include "exec/kernel_run.h"

namespace solar::exec::native {

using ir::Guard;
using ir::Reduction;

namespace {

bool is_arg(Reduction reduction) {
  return reduction == Reduction::ArgMax || reduction == Reduction::ArgMin;
}

}  // namespace

void Emitter::place_guards() {
  std::vector<int> order = order_.parallel;
  order.insert(order.end(), order_.outer.begin(), order_.outer.end());
  order.insert(order.end(), order_.inner.begin(), order_.inner.end());
  if (order_.lane >= 0) order.push_back(order_.lane);
  for (const Guard& guard : nest_.guards) {
    PlacedGuard placed = {&guard, -1, false};
    const uint64_t loops = loops_of(guard.value, atom_loops_);
    for (const int loop : order) {
      if (((loops >> loop) & 1U) != 0) placed.decider = loop;
    }
    // A bound on the decider if it stands there by itself and nothing derived depends on it.
    placed.ranged = placed.decider >= 0 && guard.kind != Guard::Kind::NonZero;
    for (const ir::Term& term : guard.value.terms) {
      const auto atom = static_cast<size_t>(term.atom);
      if (placed.decider >= 0 && term.atom != placed.decider &&
          ((atom_loops_[atom] >> placed.decider) & 1U) != 0) {
        placed.ranged = false;
      }
    }
    guards_.push_back(placed);
  }
}

namespace {

int64_t coefficient_of(const ir::Linear& linear, int loop) {
  for (const ir::Term& term : linear.terms) {
    if (term.atom == loop) return term.coefficient;
  }
  return 0;
}

ir::Linear without(const ir::Linear& linear, int loop) {
  ir::Linear rest = linear;
  std::erase_if(rest.terms, [&](const ir::Term& term) { return term.atom == loop; });
  return rest;
}

}  // namespace

/// Tightens lo <= loop < hi by the guards that are bounds on it.
Emitter::Bounds Emitter::bounds_of(int loop, Bounds bounds) {
  for (const PlacedGuard& placed : guards_) {
    if (placed.decider != loop || !placed.ranged) continue;
    const int64_t step = coefficient_of(placed.guard->value, loop);
    const Value rest = linear(without(placed.guard->value, loop));
    const bool both = placed.guard->kind == Guard::Kind::Zero;
    // step * loop + rest >= 0, and for Zero also <= 0
    if (step > 0 || both) {
      const Value from = step > 0 ? text_.sub("0", rest) : rest;
      const int64_t by = std::abs(step);
      const Value least = floor_divided(text_.add(from, fmt::format("{}", by - 1)), by);
      bounds.lo = text_.maximum(bounds.lo, least);
    }
    if (step < 0 || both) {
      const Value to = step < 0 ? rest : text_.sub("0", rest);
      const Value most = floor_divided(to, std::abs(step));
      bounds.hi = text_.minimum(bounds.hi, text_.add(most, "1"));
    }
  }
  return bounds;
}

/// Whether the guards decided at `loop` hold that are no bounds on it. For a reduction -1 stands
/// for all target loops.
Value Emitter::conditions_of(int loop) {
  std::vector<Guard> wanted;
  for (const PlacedGuard& placed : guards_) {
    if (placed.decider == loop && !placed.ranged) wanted.push_back(*placed.guard);
  }
  return all_hold(wanted);
}

Value Emitter::output_position(const std::vector<int64_t>& strides) {
  Value position = "0";
  for (size_t loop = 0; loop < strides.size(); ++loop) {
    if (nest_.target[loop] && nest_.extents[loop] > 1) {
      position = text_.add(position, text_.scaled(loops_[loop], strides[loop]));
    }
  }
  return position;
}

void Emitter::store_output(const Value& value) {
  const Value position = output_position(nest_.output_strides);
  const Value pointer = text_.let("getelementptr inbounds {}, ptr %out, i64 {}",
                                  stored_type(nest_.output.type), position);
  store(nest_.output.type, value, pointer);
}

Value Emitter::lane_slot(const Value& base, const char* type, const Value& lane) {
  const Value offset = text_.sub(lane, row_first_);
  return text_.let("getelementptr inbounds {}, ptr {}, i64 {}", type, base, offset);
}

void Emitter::row(const Value& first, const Value& last) {
  row_first_ = first;
  switch (order_.shape) {
    case RowShape::Map:
      return map_row(first, last, {});
    case RowShape::Ordered:
      return ordered_row(first, last);
    case RowShape::Strip:
      return strip_row(first, last);
    case RowShape::Window:
      return window_row(first, last);
    case RowShape::Point:
      return point_row();
  }
}

/// Each lane's value, or `otherwise` where a guard fails. `previous`: the row of an ordered loop's
/// last values, or empty.
void Emitter::map_row(const Value& first, const Value& last, const Value& previous) {
  const auto put = [&](const Value& lane, int32_t root) {
    Value value = node(root);
    if (!previous.empty()) {
      const char* type = llvm_type(output_type_);
      const Value slot = order_.lane >= 0 ? lane_slot(previous, type, lane) : previous;
      value = cast(value, output_type_, nest_.output.type);
      text_.line("store {} {}, ptr {}", type, value, slot);
    }
    store_output(value);
  };
  const auto over = [&](const Value& lo, const Value& hi, auto body) {
    text_.loop(lo, hi, "", [&](const Value& lane) {
      const Scope scope(*this);
      set_lane(lane);
      if (!previous.empty()) {
        previous_ =
            order_.lane >= 0 ? lane_slot(previous, llvm_type(output_type_), lane) : previous;
      }
      body(lane);
    });
  };
  std::vector<Guard> row_guards;
  for (const PlacedGuard& placed : guards_) {
    if (order_.lane < 0 || placed.decider != order_.lane) row_guards.push_back(*placed.guard);
  }
  if (guards_.empty() && kernel_.data_guard < 0) {
    return over(first, last, [&](const Value& lane) { put(lane, kernel_.value); });
  }
  Bounds bounds = {first, last};
  if (order_.lane >= 0) bounds = bounds_of(order_.lane, bounds);
  const Value applies = all_hold(row_guards);
  Value begin = text_.minimum(bounds.lo, last);
  Value end = text_.maximum(bounds.hi, begin);
  if (applies != "true") end = text_.let("select i1 {}, i64 {}, i64 {}", applies, end, begin);
  if (kernel_.otherwise >= 0) {
    over(first, begin, [&](const Value& lane) { put(lane, kernel_.otherwise); });
  }
  over(begin, end, [&](const Value& lane) {
    Value holds = order_.lane >= 0 ? conditions_of(order_.lane) : Value("true");
    const auto fill = [&] {
      const Scope scope(*this);
      if (kernel_.otherwise >= 0) put(lane, kernel_.otherwise);
    };
    const auto checked = [&] {
      const Scope scope(*this);
      if (kernel_.data_guard < 0) return put(lane, kernel_.value);
      const Value wanted = node(kernel_.data_guard);
      text_.when(
          wanted,
          [&] {
            const Scope inside(*this);
            put(lane, kernel_.value);
          },
          fill);
    };
    if (holds == "true") {
      checked();
    } else {
      text_.when(holds, checked, fill);
    }
  });
  if (kernel_.otherwise >= 0) {
    over(end, last, [&](const Value& lane) { put(lane, kernel_.otherwise); });
  }
}

void Emitter::ordered_row(const Value& first, const Value& last) {
  const auto loop = static_cast<size_t>(nest_.ordered);
  const bool ascending = kernel_.loops[loop].order == ir::Loop::Order::Ascending;
  const int64_t steps = nest_.extents[loop];
  const char* type = llvm_type(output_type_);
  const Value previous = text_.room(fmt::format("[{} x {}]", order_.strip, type));
  loops_[loop] = ascending ? "0" : fmt::format("{}", steps - 1);
  text_.loop(first, last, "", [&](const Value& lane) {
    const Scope scope(*this);
    set_lane(lane);
    const Value value = node(kernel_.init);
    const Value slot = order_.lane >= 0 ? lane_slot(previous, type, lane) : previous;
    text_.line("store {} {}, ptr {}", type, value, slot);
  });
  text_.loop("0", fmt::format("{}", steps), "", [&](const Value& step) {
    const Scope scope(*this);
    loops_[loop] = ascending ? step : text_.sub(fmt::format("{}", steps - 1), step);
    map_row(first, last, previous);
  });
  loops_[loop].clear();
}

Emitter::Accumulators Emitter::make_accumulators(int64_t count) {
  const auto room = [&](const char* type) {
    return text_.room(count == 1 ? std::string(type) : fmt::format("[{} x {}]", count, type));
  };
  Accumulators result;
  result.count = count;
  result.total = room(llvm_type(output_type_));
  if (kernel_.second_output) {
    result.second = room(llvm_type(ir::compute_type(nest_.second_output.type)));
  }
  if (tracks_reached_) result.reached = room("i8");
  return result;
}

/// init, or what the reduction starts from.
Value Emitter::initial_value() {
  if (kernel_.init >= 0) return node(kernel_.init);
  const int64_t bits = identity_bits(kernel_.reduction, nest_.output.type);
  switch (output_type_) {
    case ComputeType::F32: {
      float value = 0;
      std::memcpy(&value, &bits, sizeof value);
      return float_constant(ComputeType::F32, value);
    }
    case ComputeType::F64: {
      double value = 0;
      std::memcpy(&value, &bits, sizeof value);
      return float_constant(ComputeType::F64, value);
    }
    case ComputeType::I64:
      return fmt::format("{}", bits);
    case ComputeType::Bool:
      break;
  }
  return bits != 0 ? "true" : "false";
}

void Emitter::start(const Accumulators& to, const Value& lane) {
  const auto put = [&](const Value& base, const char* type, const Value& value) {
    const Value slot = to.count == 1 ? base : lane_slot(base, type, lane);
    text_.line("store {} {}, ptr {}", type, value, slot);
  };
  put(to.total, llvm_type(output_type_), initial_value());
  if (!to.second.empty()) {
    const ComputeType type = ir::compute_type(nest_.second_output.type);
    const Value zero = type == ComputeType::I64    ? Value("0")
                       : type == ComputeType::Bool ? Value("false")
                                                   : float_constant(type, 0);
    put(to.second, llvm_type(type), zero);
  }
  if (!to.reached.empty()) put(to.reached, "i8", "0");
}

void Emitter::finish(const Accumulators& to, const Value& lane) {
  const auto get = [&](const Value& base, const char* type) {
    const Value slot = to.count == 1 ? base : lane_slot(base, type, lane);
    return text_.let("load {}, ptr {}", type, slot);
  };
  const char* type = llvm_type(output_type_);
  Value total = get(to.total, type);
  if (!to.reached.empty() && kernel_.otherwise >= 0) {
    const Value reached = get(to.reached, "i8");
    const Value any = text_.let("icmp ne i8 {}, 0", reached);
    const Value otherwise = node(kernel_.otherwise);
    total = text_.let("select i1 {}, {} {}, {} {}", any, type, total, type, otherwise);
  }
  store_output(total);
  if (to.second.empty()) return;
  const Value second = get(to.second, llvm_type(ir::compute_type(nest_.second_output.type)));
  const Value position = output_position(nest_.second_strides);
  const Value pointer = text_.let("getelementptr inbounds {}, ptr %out2, i64 {}",
                                  stored_type(nest_.second_output.type), position);
  store(nest_.second_output.type, second, pointer);
}

/// The value to be added; the product of a sum of products may be fused with its addition.
Value Emitter::summand() {
  const ir::ScalarNode& value = kernel_.nodes[static_cast<size_t>(kernel_.value)];
  if (kernel_.reduction != Reduction::Sum || value.op != ScalarOp::Mul ||
      !ir::is_float(value.type)) {
    return node(kernel_.value);
  }
  const Value x = node(value.a), y = node(value.b);
  return text_.let("fmul contract {} {}, {}", llvm_type(type_of(value.a)), x, y);
}

/// Reductions are the one place where the order of operations is free.
Value Emitter::combined(const Value& old, const Value& value) {
  const char* type = llvm_type(output_type_);
  if (output_type_ == ComputeType::Bool) {
    const bool both = kernel_.reduction == Reduction::And || kernel_.reduction == Reduction::Min;
    return text_.let("{} i1 {}, {}", both ? "and" : "or", old, value);
  }
  const bool real = output_type_ != ComputeType::I64;
  switch (kernel_.reduction) {
    case Reduction::Sum:
      return text_.let("{} {} {}, {}", real ? "fadd reassoc contract" : "add", type, old, value);
    case Reduction::Product:
      return text_.let("{} {} {}, {}", real ? "fmul reassoc" : "mul", type, old, value);
    default:
      break;
  }
  const bool max = kernel_.reduction == Reduction::Max;
  const std::string name = real ? fmt::format("llvm.{}.{}", max ? "maximum" : "minimum",
                                              output_type_ == ComputeType::F32 ? "f32" : "f64")
                                : fmt::format("llvm.{}.i64", max ? "smax" : "smin");
  text_.declare(fmt::format("declare {0} @{1}({0}, {0})", type, name));
  return text_.let("call {0}{1} @{2}({1} {3}, {1} {4})", real ? "nsz " : "", type, name, old,
                   value);
}

void Emitter::accumulate(const Accumulators& to, const Value& lane) {
  const auto add = [&] {
    const Scope scope(*this);
    if (is_arg(kernel_.reduction)) return accumulate_arg(to, lane);
    const char* type = llvm_type(output_type_);
    const Value value = summand();
    const Value slot = to.count == 1 ? to.total : lane_slot(to.total, type, lane);
    const Value old = text_.let("load {}, ptr {}", type, slot);
    const Value now = combined(old, value);
    text_.line("store {} {}, ptr {}", type, now, slot);
    if (to.reached.empty()) return;
    const Value reached = to.count == 1 ? to.reached : lane_slot(to.reached, "i8", lane);
    text_.line("store i8 1, ptr {}", reached);
  };
  if (kernel_.data_guard < 0) return add();
  const Value wanted = node(kernel_.data_guard);
  text_.when(wanted, add);
}

void Emitter::accumulate_arg(const Accumulators& to, const Value& lane) {
  const auto slot = [&](const Value& base, const char* type) {
    return to.count == 1 ? base : lane_slot(base, type, lane);
  };
  const char* type = llvm_type(output_type_);
  const char* second_type = llvm_type(ir::compute_type(nest_.second_output.type));
  const Value value = node(kernel_.value), second = node(kernel_.second_value);
  const Value best_slot = slot(to.total, type), second_slot = slot(to.second, second_type),
              reached_slot = slot(to.reached, "i8");
  const Value held = text_.let("load {}, ptr {}", type, best_slot);
  const bool max = kernel_.reduction == Reduction::ArgMax;
  Value better;
  if (output_type_ == ComputeType::F32 || output_type_ == ComputeType::F64) {
    // Unordered or beyond, unless the held one is a NaN.
    const Value beyond = text_.let("fcmp {} {} {}, {}", max ? "ugt" : "ult", type, value, held);
    const Value number = text_.let("fcmp ord {} {}, 0.0", type, held);
    better = text_.let("and i1 {}, {}", beyond, number);
  } else {
    const char* sign = output_type_ == ComputeType::Bool ? "u" : "s";
    better = text_.let("icmp {}{} {} {}, {}", sign, max ? "gt" : "lt", type, value, held);
  }
  const Value reached = text_.let("load i8, ptr {}", reached_slot);
  const Value fresh = text_.let("icmp eq i8 {}, 0", reached);
  const Value take = text_.let("or i1 {}, {}", better, fresh);
  const Value old_second = text_.let("load {}, ptr {}", second_type, second_slot);
  const Value best = text_.let("select i1 {0}, {1} {2}, {1} {3}", take, type, value, held);
  const Value at =
      text_.let("select i1 {0}, {1} {2}, {1} {3}", take, second_type, second, old_second);
  text_.line("store {} {}, ptr {}", type, best, best_slot);
  text_.line("store {} {}, ptr {}", second_type, at, second_slot);
  text_.line("store i8 1, ptr {}", reached_slot);
}

/// The reduced loops from `depth` on, then the lane loop.
void Emitter::reduce(const Accumulators& to, size_t depth, const Value& first, const Value& last) {
  const bool innermost = depth == order_.inner.size();
  const int loop = innermost ? order_.lane : order_.inner[depth];
  if (loop < 0) return accumulate(to, "0");
  Bounds bounds = {"0", fmt::format("{}", extent(loop))};
  if (innermost && order_.lane_is_target) bounds = {first, last};
  bounds = bounds_of(loop, bounds);
  text_.loop(bounds.lo, bounds.hi, "", [&](const Value& value) {
    const Scope scope(*this);
    loops_[static_cast<size_t>(loop)] = value;
    const auto inside = [&] {
      const Scope here(*this);
      if (innermost) return accumulate(to, value);
      reduce(to, depth + 1, first, last);
    };
    const Value holds = conditions_of(loop);
    if (holds == "true") return inside();
    text_.when(holds, inside);
  });
}

/// All points of a row, if the guards over the target loops hold.
void Emitter::reduce_all(const Accumulators& to, const Value& first, const Value& last) {
  std::vector<Guard> outer;
  for (const PlacedGuard& placed : guards_) {
    const bool inside =
        placed.decider == order_.lane ||
        std::find(order_.inner.begin(), order_.inner.end(), placed.decider) != order_.inner.end();
    if (placed.decider < 0 || !inside) outer.push_back(*placed.guard);
  }
  const Value applies = all_hold(outer);
  if (applies == "true") return reduce(to, 0, first, last);
  text_.when(applies, [&] {
    const Scope scope(*this);
    reduce(to, 0, first, last);
  });
}

void Emitter::strip_row(const Value& first, const Value& last) {
  const Accumulators sums = make_accumulators(order_.strip);
  const auto each = [&](auto body) {
    text_.loop(first, last, "", [&](const Value& lane) {
      const Scope scope(*this);
      set_lane(lane);
      body(lane);
    });
  };
  each([&](const Value& lane) { start(sums, lane); });
  reduce_all(sums, first, last);
  each([&](const Value& lane) { finish(sums, lane); });
}

void Emitter::point_row() {
  const Accumulators sum = make_accumulators(1);
  start(sum, "0");
  reduce_all(sum, "0", "1");
  finish(sum, "0");
}

}  // namespace solar::exec::native
