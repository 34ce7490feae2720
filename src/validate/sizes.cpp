#include "validate/sizes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.h"
#include "exec/executor.h"

namespace solar::validate {
namespace {

constexpr int64_t kCheapPoints = 2'500'000'000;  // below: every distribution and several seeds

constexpr int64_t kProductShare =
    10;  // a point of a matrix product takes a tenth of another's time

/// Whether a kernel sums products of two tensors' elements.
bool sums_products(const ir::Kernel& kernel) {
  const auto behind_casts = [&](int32_t id) {
    const ir::ScalarNode* node = &kernel.nodes[static_cast<size_t>(id)];
    while (node->op == ir::ScalarOp::Cast) node = &kernel.nodes[static_cast<size_t>(node->a)];
    return node;
  };
  const ir::ScalarNode* value = behind_casts(kernel.value);
  return kernel.reduction == ir::Reduction::Sum && value->op == ir::ScalarOp::Mul &&
         behind_casts(value->a)->op == ir::ScalarOp::Load &&
         behind_casts(value->b)->op == ir::ScalarOp::Load;
}

}  // namespace

int64_t weighted_points(const ir::VerifiedProgram& program) {
  int64_t products = 0;
  for (const ir::Statement& statement : program->statements) {
    const auto* kernel = std::get_if<ir::Kernel>(&statement.body);
    if (kernel == nullptr || !sums_products(*kernel)) continue;
    int64_t points = 1;
    for (const ir::Loop& loop : kernel->loops)
      points = checked_mul(points, loop.extent).value_or(INT64_MAX);
    products = checked_add(products, points).value_or(INT64_MAX);
  }
  const int64_t all = exec::estimate_points(program);  // saturates too
  return all == INT64_MAX ? all : all - products + products / kProductShare;
}

int64_t predicted_peak(const ir::VerifiedProgram& program) {
  return checked_mul(exec::predict_peak_bytes(program), 3).value_or(INT64_MAX);
}

bool fits_full(const ir::VerifiedProgram& program, const Options& options) {
  return predicted_peak(program) <= options.full_bytes &&
         weighted_points(program) <= options.full_points;
}

bool can_be_run(const ir::VerifiedProgram& program, const Options& options) {
  return predicted_peak(program) <= options.full_bytes &&
         weighted_points(program) <= options.last_points;
}

std::string predicted_text(const ir::VerifiedProgram& program) {
  return fmt::format("{:.3g} GiB and {:.3g} Gpoints",
                     static_cast<double>(predicted_peak(program)) / 0x1p30,
                     static_cast<double>(exec::estimate_points(program)) / 1e9);
}

Diagnostic too_large(const ir::VerifiedProgram& program, const Options& options) {
  const bool memory = predicted_peak(program) > options.full_bytes;
  Diagnostic diagnostic;
  diagnostic.kind = DiagnosticKind::MemoryLimit;
  diagnostic.message = fmt::format(
      "running the program at this size is predicted to take {}, more than {}",
      predicted_text(program),
      memory
          ? fmt::format("the {:.3g} GiB of `--memory-limit`",
                        static_cast<double>(options.full_bytes) / 0x1p30)
          : fmt::format("the {:.3g} Gpoints that a comparison takes (a tenth counts of products)",
                        static_cast<double>(options.full_points) / 1e9));
  diagnostic.hint = fmt::format(
      "{}compare at smaller sizes: `--set CONSTANT=N` for the source and `--bind DIM=N` for the "
      "program",
      memory ? "raise `--memory-limit`, or " : "");
  return diagnostic;
}

namespace {

/// Whether a program sorts: at which positions equal elements come is the original's affair.
bool sorts(const std::vector<ir::Statement>& statements) {
  return std::any_of(statements.begin(), statements.end(), [](const ir::Statement& statement) {
    if (const auto* repeat = std::get_if<ir::Repeat>(&statement.body)) return sorts(repeat->body);
    if (const auto* loop = std::get_if<ir::While>(&statement.body)) return sorts(loop->body);
    if (const auto* branches = std::get_if<ir::If>(&statement.body))
      return sorts(branches->taken.body) || sorts(branches->otherwise.body);
    return std::holds_alternative<ir::Sort>(statement.body);
  });
}

}  // namespace

std::vector<Run> runs_for(const ir::VerifiedProgram& program) {
  std::vector<Run> runs = {{0, "example"}, {1, "normal"}};
  if (weighted_points(program) > kCheapPoints) return runs;
  std::vector<std::string> distributions = {"large", "negative"};
  if (!sorts(program->statements)) {
    distributions.insert(distributions.end(), {"constant", "zeros"});
  }
  for (const std::string& distribution : distributions) runs.push_back({2, distribution});
  runs.push_back({3, "example"});
  return runs;
}

}  // namespace solar::validate
