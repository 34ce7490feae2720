// How much work and room a statement takes, before it is run.

#include <algorithm>
#include <bit>

#include "base/checked.h"
#include "exec/element.h"
#include "exec/executor.h"
#include "exec/memory_plan.h"

namespace solar::exec {
namespace {

int64_t elements(const ir::Tensor& tensor) {
  return checked_product(tensor.shape).value_or(INT64_MAX);
}

/// The loops that an index expression depends on, as bits.
uint64_t loops_under(const ir::Kernel& kernel, const ir::Linear& linear) {
  uint64_t loops = 0;
  for (const ir::Term& term : linear.terms) {
    const ir::Atom& atom = kernel.atoms[static_cast<size_t>(term.atom)];
    if (atom.kind == ir::Atom::Kind::Loop) loops |= uint64_t{1} << term.atom;
    for (const ir::Linear& operand : atom.operands) loops |= loops_under(kernel, operand);
    for (const ir::Guard& guard : atom.conditions) loops |= loops_under(kernel, guard.value);
  }
  return loops;
}

int64_t nest_points(const ir::Kernel& kernel) {
  uint64_t shares = 0;  // loops whose values have a range each
  for (const ir::Loop& loop : kernel.loops) {
    if (!loop.ragged) continue;
    shares |= loops_under(kernel, loop.ragged->begin) | loops_under(kernel, loop.ragged->end);
  }
  int64_t whole = 1, shared = 1, ragged = 1;
  for (size_t i = 0; i < kernel.loops.size(); ++i) {
    const ir::Loop& loop = kernel.loops[i];
    int64_t& part = loop.ragged ? ragged : ((shares >> i) & 1U) != 0 ? shared : whole;
    part = saturating_mul(part, loop.extent);
  }
  return saturating_mul(whole, std::max(ragged, shared));
}

int64_t block_points(const ir::Program& program, const std::vector<ir::Statement>& body) {
  int64_t points = 0;
  for (const ir::Statement& statement : body)
    points = saturating_add(points, statement_points(program, statement));
  return points;
}

/// n elements compared about log n times each.
int64_t sort_points(int64_t count, int64_t line) {
  return saturating_mul(count, std::bit_width(static_cast<uint64_t>(std::max<int64_t>(line, 1))));
}

}  // namespace

int64_t saturating_bytes(const ir::Tensor& tensor) {
  return saturating_mul(elements(tensor), memory_bytes(tensor.type));
}

int64_t statement_points(const ir::Program& program, const ir::Statement& statement) {
  if (const auto* kernel = std::get_if<ir::Kernel>(&statement.body)) return nest_points(*kernel);
  if (const auto* concat = std::get_if<ir::Concat>(&statement.body))
    return elements(program.tensor(concat->output));
  if (const auto* scatter = std::get_if<ir::Scatter>(&statement.body))
    return saturating_add(nest_points(scatter->nest),
                          elements(program.tensor(scatter->nest.output)));
  if (const auto* sort = std::get_if<ir::Sort>(&statement.body)) {
    const ir::Tensor& input = program.tensor(sort->input);
    return sort_points(elements(input), input.shape[static_cast<size_t>(sort->axis)]);
  }
  if (const auto* compact = std::get_if<ir::Compact>(&statement.body)) {
    const int64_t count = elements(program.tensor(compact->input));
    return compact->kind == ir::Compact::Kind::Unique ? sort_points(count, count) : count;
  }
  if (const auto* repeat = std::get_if<ir::Repeat>(&statement.body)) {
    const int64_t steps = program.steps[static_cast<size_t>(repeat->step)].extent;
    return saturating_mul(steps, saturating_add(block_points(program, repeat->body), 1));
  }
  if (const auto* loop = std::get_if<ir::While>(&statement.body))
    return saturating_mul(loop->limit, saturating_add(block_points(program, loop->body), 1));
  if (const auto* branches = std::get_if<ir::If>(&statement.body)) {
    return std::max(block_points(program, branches->taken.body),
                    block_points(program, branches->otherwise.body));
  }
  return 0;  // views, and what does not run
}

int64_t work_bytes(const ir::Program& program, const ir::Statement& statement) {
  constexpr int64_t kKeyBytes = 16, kFewMiB = int64_t{4} << 20, kSortThreads = 4;
  if (const auto* scatter = std::get_if<ir::Scatter>(&statement.body)) {
    const ir::Tensor& output = program.tensor(scatter->nest.output);
    if (scatter->nest.reduction == ir::Reduction::None) return elements(output) / 8;
    const bool narrow = ir::is_float(output.type) && memory_bytes(output.type) < 4;
    return narrow ? saturating_mul(elements(output), 4) : 0;
  }
  if (const auto* sort = std::get_if<ir::Sort>(&statement.body)) {
    const int64_t line = program.tensor(sort->input).shape[static_cast<size_t>(sort->axis)];
    const int64_t bytes = saturating_mul(line, kKeyBytes);
    return bytes <= kFewMiB ? 0 : saturating_mul(bytes, kSortThreads);
  }
  if (const auto* compact = std::get_if<ir::Compact>(&statement.body)) {
    if (compact->kind == ir::Compact::Kind::Nonzero) return 0;
    return saturating_mul(elements(program.tensor(compact->input)), kKeyBytes);
  }
  return 0;
}

int64_t estimate_points(const ir::VerifiedProgram& program) {
  return block_points(*program, program->statements);
}

}  // namespace solar::exec
