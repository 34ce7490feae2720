#pragma once
// A nest as LLVM IR. One function computes a range of tasks:
//
//   i32 @KERNEL(ptr pointers, ptr constants, i64 begin, i64 end)
//
// `pointers`: the output, the second output, every access, every atom's source (see pointers_of);
// `constants`: the constant of every access' position, the value of every step. Strides, extents
// and guards are literal. It returns 1 when a data-dependent subscript left its axis; what was
// written then is of no use.

#include <optional>
#include <string>
#include <vector>

#include "exec/jit/loop_order.h"
#include "exec/jit/target.h"
#include "exec/jit/text.h"
#include "exec/lanes.h"

namespace solar::exec::native {

/// The module's text, or nothing when the nest holds something that is not compiled.
std::optional<std::string> emit_module(const Nest& nest, const LoopOrder& order,
                                       const Target& target);

std::vector<void*> pointers_of(const Nest& nest);
std::vector<int64_t> constants_of(const Nest& nest);

class Emitter {
 public:
  Emitter(const Nest& nest, const LoopOrder& order, const Target& target);
  std::optional<std::string> emit();

 private:
  struct Range {
    int64_t low = 0, high = 0;
  };
  struct Cache {
    std::vector<Value> atoms = {};
    std::vector<Value> nodes = {};
  };
  /// Values computed inside are forgotten at its end: they would not dominate what follows.
  class Scope {
   public:
    explicit Scope(Emitter& emitter) : emitter_(emitter), saved_(emitter.cache_) {}
    ~Scope() { emitter_.cache_ = std::move(saved_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Emitter& emitter_;
    Cache saved_;
  };
  /// A guard of the nest, and where in the loop order it is decided.
  struct PlacedGuard {
    const ir::Guard* guard = nullptr;
    int decider = -1;     // the innermost loop it depends on, or -1
    bool ranged = false;  // a bound on that loop
  };
  struct Bounds {
    Value lo, hi;
  };
  /// What a reduction keeps: `count` of each, in memory that becomes registers when count is 1.
  struct Accumulators {
    int64_t count = 1;
    Value total = {}, second = {}, reached = {};
  };

  // emit_index.cpp
  std::optional<Range> range_of(const ir::Linear& linear) const;
  std::optional<Range> range_of_atom(const ir::Atom& atom) const;
  void find_ranges();
  Value linear(const ir::Linear& linear);
  Value atom(int32_t index);
  Value divided(const ir::Linear& operand, int64_t divisor, bool remainder);
  Value data_read(int32_t index);
  Value holds(const ir::Guard& guard);
  Value all_hold(const std::vector<ir::Guard>& guards);
  Value address(int32_t access);
  Value checked_position(const std::vector<ir::Linear>& subscripts, const DataRef& from);
  bool reads_data(const ir::Linear& linear) const;
  Value floor_divided(const Value& a, int64_t divisor);

  // emit_memory.cpp
  Value load(ElementType type, const Value& pointer);
  void store(ElementType type, const Value& value, const Value& pointer);
  Value cast(const Value& value, ComputeType from, ElementType to);
  Value cast_to_integer(const Value& value, ComputeType from, ElementType to);
  Value rounded(const Value& value, ComputeType from, ElementType to);
  Value as_stored(ElementType type, const Value& value);
  Value from_stored(ElementType type, const Value& stored);
  Value encoded_bf16(const Value& value);
  Value float_constant(ComputeType type, double value) const;

  // emit_scalar.cpp
  Value node(int32_t index);
  Value compute(const ir::ScalarNode& n);
  Value select(const ir::ScalarNode& n);
  Value constant(const ir::ScalarNode& n) const;
  bool is_number(int32_t node) const;  // a literal that is no NaN
  ComputeType type_of(int32_t node) const;
  void find_delicate_nodes();

  // emit_operations.cpp
  Value float_unary(ir::ScalarOp op, ComputeType type, const Value& x);
  Value integer_unary(ir::ScalarOp op, const Value& x);
  Value float_binary(const ir::ScalarNode& n, ComputeType type, const Value& x, const Value& y);
  Value integer_binary(ir::ScalarOp op, const Value& x, const Value& y);
  Value bool_binary(ir::ScalarOp op, const Value& x, const Value& y);
  Value comparison(ir::ScalarOp op, ComputeType type, const Value& x, const Value& y);
  Value math(const std::string& function, ComputeType type, const std::vector<Value>& operands);
  Value intrinsic(const char* name, ComputeType type, const std::vector<Value>& operands);
  Value host(const char* name, const char* result, const std::string& operands,
             const std::string& signature);

  // emit_rows.cpp
  void place_guards();
  void row(const Value& first, const Value& last);
  void map_row(const Value& first, const Value& last, const Value& previous);
  void ordered_row(const Value& first, const Value& last);
  void strip_row(const Value& first, const Value& last);
  void window_row(const Value& first, const Value& last);
  void point_row();
  std::optional<Bounds> interior_of(Bounds bounds);
  void window_points(const Accumulators& to, size_t depth, const std::vector<ir::Guard>& guards);
  void reduce(const Accumulators& to, size_t depth, const Value& first, const Value& last);
  void reduce_all(const Accumulators& to, const Value& first, const Value& last);
  void accumulate(const Accumulators& to, const Value& lane);
  void accumulate_arg(const Accumulators& to, const Value& lane);
  void start(const Accumulators& to, const Value& lane);
  void finish(const Accumulators& to, const Value& lane);
  Accumulators make_accumulators(int64_t count);
  Value combined(const Value& old, const Value& value);
  Value summand();
  Value initial_value();
  Bounds bounds_of(int loop, Bounds bounds);
  Value conditions_of(int loop);
  Value lane_slot(const Value& base, const char* type, const Value& lane);
  void set_lane(const Value& value) {
    if (order_.lane >= 0) loops_[static_cast<size_t>(order_.lane)] = value;
  }
  void store_output(const Value& value);
  Value output_position(const std::vector<int64_t>& strides);

  // emit.cpp
  void tasks();
  void task(const Value& number);
  void outer_loops(size_t depth, const Value& first, const Value& last);
  std::string attributes(const std::string& text);

  void unsupported() { supported_ = false; }
  int64_t extent(int loop) const { return nest_.extents[static_cast<size_t>(loop)]; }

  const Nest& nest_;
  const ir::Kernel& kernel_;
  const LoopOrder& order_;
  const Target& target_;
  Text text_;
  bool supported_ = true;
  std::vector<Value> loops_;  // their present values
  std::vector<uint64_t> atom_loops_;
  std::vector<std::optional<Range>> ranges_;  // per atom
  Cache cache_;
  std::vector<bool> delicate_;  // per node: only to be evaluated where its value is used
  std::vector<PlacedGuard> guards_;
  ComputeType output_type_;
  bool tracks_reached_ = false;
  Value previous_ = {};   // the slot that Prev reads
  Value row_first_ = {};  // the strip's first lane
  std::vector<std::string> attribute_groups_ = {};
  std::set<std::string> vector_symbols_ = {}, constants_ = {};
};

const char* llvm_type(ComputeType type);
const char* stored_type(ElementType type);

}  // namespace solar::exec::native
