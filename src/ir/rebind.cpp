#include "ir/rebind.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/checked.h"
#include "ir/core.h"

namespace solar::ir {
namespace {

constexpr size_t kValuesPerDim = 2;

/// Other values to try for a dim bound to `value`: a neighbour breaks divisions, a multiple keeps
/// most.
std::vector<int64_t> candidates(int64_t value) {
  std::vector<int64_t> values;
  for (const auto next : {checked_add(value, int64_t{1}), checked_mul(value, int64_t{2}),
                          checked_add(value, int64_t{-1}), checked_mul(value, int64_t{3}),
                          checked_add(value, int64_t{2})}) {
    if (next && *next >= 1 && *next != value &&
        std::find(values.begin(), values.end(), *next) == values.end()) {
      values.push_back(*next);
    }
  }
  return values;
}

bool admitted(const Diagnostics& problems) {
  return std::none_of(problems.begin(), problems.end(), [](const Diagnostic& problem) {
    return problem.kind == DiagnosticKind::RequireFailed;
  });
}

}  // namespace

Result<std::vector<Rebinding>> rebind(const ast::File& file, const VerifyOptions& options) {
  SOLAR_TRY(const VerifiedProgram program, verify(file, options));
  std::vector<Rebinding> result;
  for (const Dim& dim : program->dims) {
    if (!dim.expression.empty()) continue;
    size_t tried = 0;
    for (const int64_t value : candidates(dim.value)) {
      VerifyOptions other = options;
      other.bindings[dim.name] = value;
      const auto verified = verify(file, other);
      if (!verified && !admitted(verified.error())) continue;
      result.push_back({dim.name, value, verified ? Diagnostics{} : verified.error()});
      if (++tried == kValuesPerDim) break;
    }
  }
  return result;
}

Diagnostics coincidences(const std::vector<Rebinding>& rebindings) {
  Diagnostics result;
  std::set<std::pair<int32_t, std::string>> seen;  // one value of a dim is enough for each place
  for (const Rebinding& rebinding : rebindings) {
    for (const Diagnostic& problem : rebinding.problems) {
      if (!seen.emplace(problem.span.begin, rebinding.dim).second) continue;
      Diagnostic warning = problem;
      warning.severity = Severity::Warning;
      warning.fixes.clear();
      warning.message =
          fmt::format("with {} = {}: {}", rebinding.dim, rebinding.value, problem.message);
      result.push_back(std::move(warning));
    }
  }
  sort_by_position(result);
  return result;
}

}  // namespace solar::ir
