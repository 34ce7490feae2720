#pragma once
// The innermost loops of the interpreter: each function works on a row of lanes. Rows are
// contiguous arrays of the lanes' compute type (float, double, int64_t, uint8_t for bool); a
// uniform operand holds one value for all lanes. Compiled for two instruction sets, chosen when the
// program starts; no reassociation outside reduce() and dot().

#include <cstddef>
#include <cstdint>

#include "exec/element.h"
#include "ir/core.h"

namespace solar::exec {

using ir::ComputeType;
using ir::Reduction;
using ir::ScalarOp;

inline constexpr int kStripLanes = 512;

struct Operand {
  const void* data = nullptr;
  bool uniform = false;
};

/// out[j] = op(a[j], b[j], c[j]); `type` is the compute type of the operands (of b and c for
/// Select).
void run_operation(ScalarOp op, ComputeType type, Operand a, Operand b, Operand c, void* out,
                   int count);
/// An explicit cast of a row of `from` to `to`.
void run_cast(ComputeType from, ElementType to, const void* in, void* out, int count);

// Elements to rows and back; positions are in elements from `data`.
void load_strided(ElementType type, const std::byte* data, int64_t first, int64_t stride, int count,
                  void* out);
void load_indexed(ElementType type, const std::byte* data, const int64_t* positions, int count,
                  void* out);
void store_strided(ElementType type, std::byte* data, int64_t first, int64_t stride, Operand in,
                   int count);
void store_indexed(ElementType type, std::byte* data, const int64_t* positions, Operand in,
                   int count);

void fill_linear(int64_t* out, int64_t first, int64_t step, int count);
void fill_listed(int64_t* out, int64_t first, int64_t step, const int32_t* lanes, int count);
void add_scaled(int64_t* out, const int64_t* in, int64_t factor, int count);
/// Flooring quotients or remainders of first + step * j, divisor > 0.
void divide_linear(int64_t* out, int64_t first, int64_t step, int64_t divisor, bool remainder,
                   int count);
void divide(int64_t* values, int64_t divisor, bool remainder, int count);

/// to[lanes[j]] = from[j], or to[j] = from[j] without a list.
void scatter(ComputeType type, void* to, const int32_t* lanes, Operand from, int count);
/// to[j] = from[lanes[j]]
void gather(ComputeType type, void* to, const int32_t* lanes, const void* from, int count);
void fill(ComputeType type, void* to, Operand value, int count);

/// row[lane] (op)= value[j], lane = lanes[j] or j.
void accumulate(Reduction reduction, ComputeType type, void* row, const int32_t* lanes,
                Operand value, int count);
/// row[lane] += a[j] * b[j] for floats.
void accumulate_product(ComputeType type, void* row, const int32_t* lanes, Operand a, Operand b,
                        int count);
/// *total (op)= all values, by partial results combined pairwise.
void reduce(Reduction reduction, ComputeType type, void* total, Operand value, int count);
/// *total += sum of a[j] * b[j] for floats.
void dot(ComputeType type, void* total, Operand a, Operand b, int count);

/// Where an arg reduction keeps its state: rows of best values, of what was at them, and whether
/// any was seen.
struct ArgRows {
  void* best = nullptr;
  void* second = nullptr;
  uint8_t* reached = nullptr;
};
/// Takes the values in order. `lanes`: as in accumulate(); `single`: all go to element 0.
void accumulate_arg(bool maximum, ComputeType type, ComputeType second_type, const ArgRows& rows,
                    const int32_t* lanes, bool single, Operand value, Operand second, int count);

size_t bytes_of(ComputeType type);

}  // namespace solar::exec
