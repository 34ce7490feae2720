#include "validate/validate.h"

#include <fmt/format.h>

#include <algorithm>

#include "exec/executor.h"
#include "ir/parser.h"
#include "ir/simplify.h"
#include "ir/verify.h"
#include "validate/per_op.h"
#include "validate/run.h"
#include "validate/same_program.h"
#include "validate/shrink.h"
#include "validate/sizes.h"

namespace solar::validate {
namespace {

constexpr int kMaxTraces = 64;

Diagnostic interrupted() {
  Diagnostic diagnostic;
  diagnostic.kind = DiagnosticKind::Interrupted;
  diagnostic.message = "validation was interrupted";
  return diagnostic;
}

/// Searches two small bindings at which the program is the same and covers what the full one does.
class TwoTrace {
 public:
  TwoTrace(frontend::WorkerPool& pool, const frontend::SourceRequest& request, const Traced& full,
           const std::string& folder, const Options& options, const std::vector<Overrides>& failing)
      : pool_(pool),
        request_(request),
        full_(full),
        folder_(folder),
        options_(options),
        failing_(failing) {}

  struct Small {
    frontend::SourceRequest request = {};
    Traced traced = {};
    std::vector<DifferingLiteral> literals = {};
  };

  Result<std::vector<Small>> run() {
    SOLAR_TRY(const frontend::SourceFacts facts,
              frontend::inspect(pool_, request_.source, options_.limits, {options_.cancel, {}}));
    constants_ = facts.constants;
    for (frontend::SourceConstant& constant : constants_) {
      const auto at = request_.overrides.find(constant.name);
      if (at != request_.overrides.end()) constant.value = at->second;
    }
    std::vector<Small> found = search({}, Batch::Tiny);
    if (found.size() < 2) found = search_quotients(Batch::Tiny);
    if (found.size() < 2 && has_shared_batch(constants_)) {
      found = search({}, Batch::LikeOthers);
      if (found.size() < 2) found = search_quotients(Batch::LikeOthers);
    }
    if (found.size() < 2) found = search_quotients(Batch::Kept);
    if (found.size() < 2) {
      const std::vector<std::string> kept = kept_alone();
      if (kept.size() < constants_.size()) found = search(kept, Batch::Tiny);
    }
    if (options_.cancel != nullptr && *options_.cancel) {
      return interrupted();
    }
    return found;
  }

  const std::string& last_reason() const { return reason_; }

 private:
  /// Two accepted small programs with different sizes, or fewer.
  std::vector<Small> search(const std::vector<std::string>& kept, Batch batch) {
    std::vector<Small> found;
    for (const int64_t cap : {16, 32, 64, 128, 256}) {
      for (const bool distinct : {true, false}) {
        for (int variant = 0; variant < 2; ++variant)
          try_sizes(shrink(constants_, cap, distinct, variant, kept, batch), found);
      }
    }
    return found;
  }

  std::vector<Small> search_quotients(Batch batch) {
    std::vector<Small> found;
    for (const int64_t divisor : {4, 8, 2, 16}) {
      for (int variant = 0; variant < 2; ++variant)
        try_sizes(divide(constants_, divisor, variant, batch), found);
    }
    return found;
  }

  void try_sizes(const Overrides& overrides, std::vector<Small>& found) {
    if (found.size() == 2 || overrides.empty()) return;
    const Overrides all = merged(overrides);
    const bool known = std::any_of(found.begin(), found.end(),
                                   [&](const Small& s) { return s.request.overrides == all; }) ||
                       std::find(failing_.begin(), failing_.end(), all) != failing_.end();
    if (known) return;
    if (auto small = attempt(overrides)) found.push_back(std::move(*small));
  }

  /// The constants that cannot shrink even alone.
  std::vector<std::string> kept_alone() {
    std::vector<std::string> kept;
    for (const frontend::SourceConstant& constant : constants_) {
      std::vector<std::string> others;
      for (const frontend::SourceConstant& other : constants_) {
        if (other.value != constant.value) others.push_back(other.name);
      }
      bool shrinks = false;
      for (const int64_t cap : {32, 128}) {
        const Overrides overrides = shrink(constants_, cap, false, 0, others);
        if (overrides.empty()) break;
        if (!attempt(overrides, false)) continue;
        shrinks = true;
        break;
      }
      if (!shrinks) kept.push_back(constant.name);
    }
    return kept;
  }

  Overrides merged(const Overrides& overrides) const {
    Overrides all = request_.overrides;
    for (const auto& [name, value] : overrides) all[name] = value;
    return all;
  }

  std::optional<Small> attempt(const Overrides& overrides, bool small_enough = true) {
    if (options_.cancel != nullptr && *options_.cancel) return std::nullopt;
    if (++traces_ > kMaxTraces) return std::nullopt;
    if (options_.progress)
      options_.progress(fmt::format("validate: trace at small size ({})", traces_));
    Small small;
    small.request = {request_.source, merged(overrides)};
    auto traced = trace_source(pool_, small.request, folder_, options_);
    if (!traced) {
      reason_ = traced.error().empty() ? "" : traced.error().front().message;
      return std::nullopt;
    }
    small.traced = std::move(*traced);
    Sameness same = compare_programs(full_.file, small.traced.file);
    if (same.difference) {
      reason_ = *same.difference;
      return std::nullopt;
    }
    if (auto missing = uncovered(**full_.program, **small.traced.program)) {
      reason_ = *missing;
      return std::nullopt;
    }
    if (small_enough && (exec::estimate_points(*small.traced.program) > options_.small_points ||
                         predicted_peak(*small.traced.program) > options_.full_bytes)) {
      reason_ = "the smallest program that covers the full one is too large to run";
      return std::nullopt;
    }
    small.literals = std::move(same.literals);
    return small;
  }

  frontend::WorkerPool& pool_;
  const frontend::SourceRequest& request_;
  const Traced& full_;
  const std::string& folder_;
  const Options& options_;
  const std::vector<Overrides>& failing_;  // sizes at which the original does not run
  std::vector<frontend::SourceConstant> constants_;
  std::string reason_;
  int traces_ = 0;
};

void note_literals(const std::vector<DifferingLiteral>& literals, Outcome& outcome) {
  if (literals.empty()) return;
  std::vector<std::string> shown;
  for (const DifferingLiteral& l : literals) {
    const std::string text = fmt::format("{:g} (small: {:g})", l.full, l.small);
    if (std::find(shown.begin(), shown.end(), text) == shown.end()) shown.push_back(text);
  }
  outcome.notes.push_back(
      fmt::format("value literals that differ by size: {}", fmt::join(shown, ", ")));
}

void note_equal_dims(const ir::Program& program, Outcome& outcome) {
  std::map<int64_t, std::vector<std::string>> by_value;
  for (const ir::Dim& dim : program.dims) {
    if (dim.expression.empty() && dim.value > kSmallConstant)
      by_value[dim.value].push_back(dim.name);
  }
  std::vector<std::string> shared;
  for (const auto& [value, names] : by_value) {
    if (names.size() > 1)
      shared.push_back(fmt::format("{} ({} and {} more)", value, names.front(), names.size() - 1));
  }
  if (shared.empty()) return;
  outcome.notes.push_back(
      fmt::format("independent dims with one small value: {}", fmt::join(shared, ", ")));
}

}  // namespace

Result<Traced> trace_source(frontend::WorkerPool& pool, const frontend::SourceRequest& request,
                            const std::string& folder, const Options& options) {
  Traced traced;
  static std::atomic<int> serial = 0;
  const std::string out = fmt::format("{}/trace-{}.alir", folder, serial++);
  SOLAR_TRY(traced.trace,
            frontend::trace(pool, request, out, options.limits, {options.cancel, {}}));
  SOLAR_TRY(const ir::ast::File raw, ir::parse_text(traced.trace.name, traced.trace.alir));
  SOLAR_TRY(ir::Simplified simple, ir::simplify(raw));
  traced.file = std::move(simple.file);
  if (simple.not_rerolled) {  // not for the user to mend: the program as it was traced is as good
    const Diagnostics& why = *simple.not_rerolled;
    traced.trace.warnings.push_back(
        fmt::format("the trace was not re-rolled: {}", why.empty() ? "" : why.front().message));
  }
  SOLAR_TRY(ir::VerifiedProgram program, ir::verify(traced.file));
  traced.program = std::move(program);
  return traced;
}

namespace {

bool original_failed(const Diagnostics& problems) {
  return !problems.empty() &&
         std::all_of(problems.begin(), problems.end(), [](const Diagnostic& problem) {
           return problem.kind == DiagnosticKind::SourceRaised;
         });
}

/// Sizes at which the original raises are added to `failing`.
Result<Outcome> validate_small_but(frontend::WorkerPool& pool,
                                   const frontend::SourceRequest& request, const Traced& traced,
                                   const std::string& folder, const Options& options,
                                   std::vector<Overrides>& failing) {
  TwoTrace search(pool, request, traced, folder, options, failing);
  SOLAR_TRY(std::vector<TwoTrace::Small> smalls, search.run());
  Outcome outcome;
  if (smalls.size() < 2) {
    outcome.reason = fmt::format(
        "too large to run at full size ({} predicted; `--memory-limit` is {:.3g} GiB), and no two "
        "small sizes of it are the same program: {}",
        predicted_text(*traced.program), static_cast<double>(options.full_bytes) / 0x1p30,
        search.last_reason().empty() ? "none of its constants can be made smaller"
                                     : search.last_reason());
    return outcome;
  }
  outcome.method = "two-trace";
  for (size_t i = 0; i < smalls.size(); ++i) {
    const TwoTrace::Small& small = smalls[i];
    const std::vector<Run> runs =
        i == 0 ? runs_for(*small.traced.program) : std::vector<Run>{{4, "example"}};
    auto compared = run_and_compare(std::move(outcome), pool, small.request, small.traced.trace,
                                    *small.traced.program, runs, folder, options);
    if (!compared) {
      if (original_failed(compared.error())) failing.push_back(small.request.overrides);
      return compared.error();
    }
    outcome = std::move(*compared);
    if (outcome.status != "passed") break;
  }
  if (outcome.status == "skipped" && outcome.seeds == 0) {
    auto by_itself =
        validate_operators(pool, smalls[0].request, smalls[0].traced.trace, folder, options);
    if (by_itself && by_itself->status != "skipped") outcome = std::move(*by_itself);
  }
  for (const ir::Dim& dim : (*smalls[0].traced.program)->dims) {
    if (dim.expression.empty()) outcome.bindings[dim.name] = dim.value;
  }
  note_literals(smalls[0].literals, outcome);
  note_equal_dims(**smalls[0].traced.program, outcome);
  if (!outcome.example.empty())
    outcome.small = SmallRun{*smalls[0].traced.program, std::move(outcome.example)};
  outcome.example = {};
  return outcome;
}

/// Sizes that belong together may not fit once each is made smaller by itself: others are tried.
Result<Outcome> validate_small(frontend::WorkerPool& pool, const frontend::SourceRequest& request,
                               const Traced& traced, const std::string& folder,
                               const Options& options) {
  constexpr size_t kMaxFailing = 6;
  std::vector<Overrides> failing;
  while (true) {
    const size_t before = failing.size();
    auto outcome = validate_small_but(pool, request, traced, folder, options, failing);
    if (outcome || failing.size() == before) return outcome;
    if (failing.size() == kMaxFailing) {
      Outcome skipped;
      skipped.reason = fmt::format(
          "too large to run at full size, and the original fails at the small sizes tried: {}",
          outcome.error().front().message);
      return skipped;
    }
  }
}

bool hit_a_limit(const Diagnostics& problems) {
  return !problems.empty() &&
         std::all_of(problems.begin(), problems.end(), [](const Diagnostic& problem) {
           return problem.kind == DiagnosticKind::WorkerLimit;
         });
}

/// After runs at full size that tell nothing: small sizes, unless they were tried, and operators by
/// themselves. What fails of that leaves `full` as it is.
Outcome look_closer(Outcome full, bool small_tried, frontend::WorkerPool& pool,
                    const frontend::SourceRequest& request, const Traced& traced,
                    const std::string& folder, const Options& options) {
  if (!small_tried) {
    auto small = validate_small(pool, request, traced, folder, options);
    if (small && small->status != "skipped") {
      small->notes.push_back(fmt::format("not validated at full size: {}", full.reason));
      return std::move(*small);
    }
  }
  auto by_itself = validate_operators(pool, request, traced.trace, folder, options);
  if (by_itself && by_itself->status != "skipped") return std::move(*by_itself);
  full.notes.push_back(
      fmt::format("operator by operator: {}",
                  by_itself ? by_itself->reason : by_itself.error().front().message));
  return full;
}

}  // namespace

Result<Outcome> validate_trace(frontend::WorkerPool& pool, const frontend::SourceRequest& request,
                               const Traced& traced, const std::string& folder,
                               const Options& options) {
  std::optional<Outcome> small_skip;  // where the small sizes were tried first
  if (!fits_full(*traced.program, options)) {
    SOLAR_TRY(Outcome small, validate_small(pool, request, traced, folder, options));
    const bool none = small.status == "skipped" && small.method.empty();
    if (!none || !can_be_run(*traced.program, options)) return small;
    small_skip = std::move(small);
  }
  Result<Outcome> full =
      run_and_compare({.method = "full"}, pool, request, traced.trace, *traced.program,
                      runs_for(*traced.program), folder, options);
  if (full && full->status == "skipped")
    return look_closer(std::move(*full), small_skip.has_value(), pool, request, traced, folder,
                       options);
  if (full || !hit_a_limit(full.error())) return full;
  if (small_skip) return std::move(*small_skip);
  // The original took more than was predicted; what the small sizes can say is better than nothing.
  Result<Outcome> small = validate_small(pool, request, traced, folder, options);
  if (!small || small->method.empty()) return full;
  small->notes.push_back(
      fmt::format("not validated at full size: {}", full.error().front().message));
  return small;
}

}  // namespace solar::validate
