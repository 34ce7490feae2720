#include "driver/sweep.h"

#include <fmt/format.h>

#include <algorithm>

#include "arch/library.h"
#include "base/checked.h"
#include "base/text.h"
#include "driver/fill_report.h"
#include "driver/retrace.h"
#include "ir/verify.h"
#include "roofline/rates.h"

namespace solar::driver {
namespace {

using report::SweepRow;

constexpr int64_t kMostRows = 10'000;

Diagnostic usage(std::string message, std::string hint) {
  return {.kind = DiagnosticKind::Usage, .message = std::move(message), .hint = std::move(hint)};
}

Result<Done> check_dims(const std::vector<DimSizes>& sizes, const ir::Program& program) {
  std::vector<std::string> free;
  for (const ir::Dim& dim : program.dims) {
    if (dim.expression.empty()) free.push_back(dim.name);
  }
  int64_t rows = 1;
  for (const auto& [name, values] : sizes) {
    if (std::find(free.begin(), free.end(), name) == free.end()) {
      const std::vector<std::string> near = nearest_names(name, free);
      return usage(fmt::format("the program has no free dim `{}`", name),
                   free.empty() ? "it has none"
                                : fmt::format("{} {}", near.empty() ? "it has" : "did you mean",
                                              quoted_choices(near.empty() ? free : near)));
    }
    rows = checked_mul(rows, static_cast<int64_t>(values.size())).value_or(INT64_MAX);
  }
  if (rows > kMostRows) {
    return usage(fmt::format("{} combinations of sizes, at most {} are swept", rows, kMostRows),
                 "name fewer sizes");
  }
  return Done{};
}

class Sweeper {
 public:
  Sweeper(const Loaded& loaded, const std::vector<arch::Machine>& machines,
          const roofline::Policy& policy, const Environment& environment)
      : loaded_(loaded), machines_(machines), policy_(policy), environment_(environment) {
    loaded_.example = {};  // is of the traced size
  }

  /// A row, with its error where the program does not hold at these sizes.
  Result<SweepRow> row(const report::Sizes& sizes) {
    SweepRow row;
    row.sizes = sizes;
    report::Report report;
    const auto done = analyze(sizes, report);
    SOLAR_TRY([[maybe_unused]] const Done going_on, environment_.check_cancelled());
    if (!done) {
      const Diagnostic& why = done.error().front();
      if (why.kind == DiagnosticKind::MissingRate || why.kind == DiagnosticKind::MissingCapacity)
        return done.error();  // at every size
      row.error = why.message;
      return row;
    }
    row.macs = report.totals.macs;
    row.macs_useful = report.totals.macs_useful;
    for (size_t i = 0; i + 1 < report.bounds.size(); i += 2) {
      const report::Bound& unfused = report.bounds[i];
      const report::Bound& fused = report.bounds[i + 1];
      row.traffic_bytes = fused.traffic_bytes;
      row.times.push_back(
          {fused.arch, unfused.time_s, fused.time_s, fused.limiter, fused.operational_intensity});
      roofline::add_once(assumptions_, fused.assumptions);
    }
    return row;
  }

  const std::vector<std::string>& assumptions() const { return assumptions_; }

 private:
  Result<Done> analyze(const report::Sizes& sizes, report::Report& report) {
    ir::VerifyOptions options;
    for (const auto& [name, value] : sizes) options.bindings[name] = value;
    SOLAR_TRY(loaded_.program, ir::verify(loaded_.file, options));
    SOLAR_TRY(const einsum::Graph graph, lift(loaded_, environment_.cancel));
    fill_counts(report, loaded_, graph);
    return add_bounds(report, graph, machines_, policy_);
  }

  Loaded loaded_;
  const std::vector<arch::Machine>& machines_;
  const roofline::Policy& policy_;
  const Environment& environment_;
  std::vector<std::string> assumptions_ = {};
};

/// The limiter of one architecture in a row; empty where there is none.
std::string limiter_in(const SweepRow& row, size_t machine) {
  return machine < row.times.size() ? row.times[machine].limiter : "";
}

/// Halves the way between two sizes with different limiters until they are neighbours.
Result<std::optional<report::Crossover>> crossover(Sweeper& sweeper, const std::string& dim,
                                                   const SweepRow& a, const SweepRow& b,
                                                   size_t machine) {
  report::Crossover found = {a.times[machine].arch, dim, limiter_in(a, machine),
                             a.sizes[0].second,     "",  b.sizes[0].second};
  found.after = limiter_in(b, machine);
  while (found.first - found.last > 1) {
    const int64_t middle = found.last + (found.first - found.last) / 2;
    SOLAR_TRY(const SweepRow row, sweeper.row({{dim, middle}}));
    const std::string limiter = limiter_in(row, machine);
    if (limiter.empty()) return std::optional<report::Crossover>{};
    if (limiter == found.before) {
      found.last = middle;
    } else {
      found.first = middle;
      found.after = limiter;
    }
  }
  return std::optional(std::move(found));
}

}  // namespace

Result<report::Sweep> sweep(const Loaded& loaded, const std::vector<arch::Machine>& machines,
                            const roofline::Policy& policy, const std::vector<DimSizes>& sizes,
                            const Environment& environment) {
  if (auto known = check_dims(sizes, **loaded.program); !known)
    return with_retrace(std::move(known.error()), loaded.source);
  report::Sweep out;
  out.source = loaded.source;
  out.program = (*loaded.program)->name;
  out.precision = roofline::name(policy.precision);
  out.strict = policy.strict;
  out.validation = loaded.validation;
  out.warnings = loaded.warnings;
  if (!loaded.source.ends_with(".alir")) {
    const std::string again = retrace_text(loaded.source);
    out.warnings.push_back(
        fmt::format("the source was traced at its own sizes; at others Python might take another "
                    "way, and what it computes from them stays as it was{}{}",
                    again.empty() ? "" : "; ", again));
  }
  for (const auto& [name, values] : sizes) out.dims.push_back(name);

  Sweeper sweeper(loaded, machines, policy, environment);
  std::vector<size_t> at(sizes.size(), 0);
  for (bool more = true; more;) {
    report::Sizes bound;
    std::string shown;
    for (size_t i = 0; i < sizes.size(); ++i) {
      bound.emplace_back(sizes[i].first, sizes[i].second[at[i]]);
      shown += fmt::format(" {}={}", bound.back().first, bound.back().second);
    }
    if (environment.progress) environment.progress("sweep:" + shown);
    SOLAR_TRY(SweepRow row, sweeper.row(bound));
    out.rows.push_back(std::move(row));
    more = false;
    for (size_t i = sizes.size(); i-- > 0 && !more;) {
      more = ++at[i] < sizes[i].second.size();
      if (!more) at[i] = 0;
    }
  }
  if (sizes.size() == 1) {
    std::vector<const SweepRow*> ordered;
    for (const SweepRow& row : out.rows) {
      if (row.error.empty()) ordered.push_back(&row);
    }
    std::stable_sort(ordered.begin(), ordered.end(), [](const SweepRow* a, const SweepRow* b) {
      return a->sizes[0].second < b->sizes[0].second;
    });
    for (size_t machine = 0; machine < machines.size(); ++machine) {
      for (size_t i = 0; i + 1 < ordered.size(); ++i) {
        if (limiter_in(*ordered[i], machine) == limiter_in(*ordered[i + 1], machine)) continue;
        SOLAR_TRY(auto one,
                  crossover(sweeper, sizes[0].first, *ordered[i], *ordered[i + 1], machine));
        if (one) out.crossovers.push_back(std::move(*one));
      }
    }
  }
  out.assumptions = sweeper.assumptions();
  return out;
}

Result<report::Sweep> sweep(const AnalyzeOptions& options, const std::vector<DimSizes>& sizes,
                            const Environment& environment) {
  AnalyzeOptions at_own_size = options;
  at_own_size.bindings = {};
  at_own_size.rebinds = true;
  SOLAR_TRY([[maybe_unused]] const Done found_root, environment.check_root());
  SOLAR_TRY(const std::vector<arch::Machine> machines,
            arch::load_all(options.archs, environment.arch_library()));
  SOLAR_TRY(const Loaded loaded, load(at_own_size, environment));
  return sweep(loaded, machines, options.policy, sizes, environment);
}

}  // namespace solar::driver
