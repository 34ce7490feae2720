// Programs written by somebody else, compared with an original.

#include <algorithm>
#include <iterator>

#include "validate/first_wrong.h"
#include "validate/run.h"
#include "validate/sizes.h"
#include "validate/validate.h"

namespace solar::validate {
namespace {

/// The original's tensors for a program written by hand, found by the ports' names. A program that
/// holds what only the tracer names (constants lifted out of the code) needs the trace.
class Original {
 public:
  Original(frontend::WorkerPool& pool, const frontend::SourceRequest& request,
           const ir::Program& program, const std::string& folder, const Options& options)
      : pool_(pool),
        request_(request),
        folder_(folder),
        options_(options),
        source_(ports_of(program)) {}

  Result<Golden> run(const Run& run) {
    Result<Golden> golden = run_original(pool_, request_, source_, run, folder_, options_);
    if (golden || !source_.resolve || !names_unknown_port(golden.error())) return golden;
    const auto traced = trace_source(pool_, request_, folder_, options_);
    if (!traced) return golden;
    source_ = ports_of(traced->trace);
    return run_original(pool_, request_, source_, run, folder_, options_);
  }

  std::optional<FirstWrong> first_wrong(const ir::VerifiedProgram& program, const Run& run) const {
    if (options_.progress) options_.progress("validate: look for the first operator that differs");
    return first_wrong_by_name(pool_, request_, program, run, folder_, options_);
  }

 private:
  static bool names_unknown_port(const Diagnostics& problems) {
    return std::any_of(problems.begin(), problems.end(), [](const Diagnostic& problem) {
      return problem.kind == DiagnosticKind::UnknownName;
    });
  }

  frontend::WorkerPool& pool_;
  const frontend::SourceRequest& request_;
  const std::string& folder_;
  const Options& options_;
  PortSource source_;
};

bool same_ports(const ir::Program& a, const ir::Program& b) {
  return ports_of(a).ports == ports_of(b).ports;
}

/// The programs of `members`, which have the same ports, on the original's tensors.
Result<Done> check_group(frontend::WorkerPool& pool, Original& original,
                         const std::vector<ir::VerifiedProgram>& programs,
                         const std::vector<size_t>& members, const Options& options,
                         std::vector<Result<Outcome>>& outcomes) {
  for (const Run& run : runs_for(programs[members.front()])) {
    const auto pending = [&](size_t i) { return outcomes[i] && outcomes[i]->status != "failed"; };
    if (std::none_of(members.begin(), members.end(), pending)) break;
    SOLAR_TRY(Golden golden, original.run(run));
    std::vector<size_t> compared;
    std::copy_if(members.begin(), members.end(), std::back_inserter(compared), pending);
    for (const size_t i : compared) {
      auto done = compare_run(pool, programs[i], golden, options, *outcomes[i]);
      if (!done) outcomes[i] = std::move(done.error());
    }
    golden.tensors.clear();
    for (const size_t i : compared) {
      if (outcomes[i] && outcomes[i]->status == "failed")
        outcomes[i]->first_wrong = original.first_wrong(programs[i], run);
    }
  }
  for (const size_t i : members) {
    if (outcomes[i]) conclude(*outcomes[i]);
  }
  return Done{};
}

}  // namespace

Result<std::vector<Result<Outcome>>> check_against(frontend::WorkerPool& pool,
                                                   const frontend::SourceRequest& request,
                                                   const std::vector<ir::VerifiedProgram>& programs,
                                                   const std::string& folder,
                                                   const Options& options) {
  std::vector<Result<Outcome>> outcomes;
  std::vector<std::vector<size_t>> groups;
  for (size_t i = 0; i < programs.size(); ++i) {
    if (!fits_full(programs[i], options)) {
      outcomes.push_back(too_large(programs[i], options));
      continue;
    }
    outcomes.emplace_back(Outcome{.method = "full"});
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& members) {
      return same_ports(*programs[members.front()], *programs[i]);
    });
    if (group == groups.end()) {
      groups.push_back({i});
    } else {
      group->push_back(i);
    }
  }
  for (const std::vector<size_t>& members : groups) {
    Original original(pool, request, *programs[members.front()], folder, options);
    SOLAR_TRY(const Done done, check_group(pool, original, programs, members, options, outcomes));
    static_cast<void>(done);
  }
  return outcomes;
}

}  // namespace solar::validate
