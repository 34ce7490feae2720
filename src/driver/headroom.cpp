#include "driver/headroom.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "driver/measured.h"
#include "driver/suite_folder.h"
#include "driver/suite_problems.h"

namespace solar::driver {
namespace {

using report::HeadroomGroup;
using report::HeadroomTime;

Diagnostic usage(std::string message, std::string hint) {
  return {.kind = DiagnosticKind::Usage, .message = std::move(message), .hint = std::move(hint)};
}

/// Files that do not fit each other.
Diagnostic misfit(std::string message, std::string hint) {
  return {
      .kind = DiagnosticKind::SourceFile, .message = std::move(message), .hint = std::move(hint)};
}

/// `wanted`, or the only one there is.
Result<std::string> choose(const std::optional<std::string>& wanted,
                           const std::set<std::string>& there, const char* what,
                           const char* option) {
  const std::vector<std::string> names(there.begin(), there.end());
  if (!wanted) {
    if (names.size() == 1) return names.front();
    return usage(fmt::format("there are times of several {}: {}", what, quoted_choices(names)),
                 fmt::format("choose one with {}", option));
  }
  if (there.contains(*wanted)) return *wanted;
  return usage(fmt::format("there is nothing of `{}`", *wanted),
               names.empty() ? "" : fmt::format("the {} are {}", what, quoted_choices(names)));
}

std::string without_py(const std::string& name) {
  return name.ends_with(".py") ? name.substr(0, name.size() - 3) : name;
}

/// The run's problems by all names that mean one of them only.
class Names {
 public:
  explicit Names(const std::vector<report::SuiteResult>& results) {
    for (const report::SuiteResult& result : results) {
      add(result.problem, &result);
      add(without_py(result.problem), &result);
      const std::string file = result.problem.substr(result.problem.rfind('/') + 1);
      add(file, &result);
      add(without_py(file), &result);
    }
  }

  const report::SuiteResult* find(const std::string& name) const {
    const auto at = by_name_.find(name);
    return at == by_name_.end() ? nullptr : at->second;
  }

 private:
  void add(const std::string& name, const report::SuiteResult* result) {
    const auto [at, fresh] = by_name_.try_emplace(name, result);
    if (!fresh && at->second != result) at->second = nullptr;
  }
  std::map<std::string, const report::SuiteResult*> by_name_ = {};
};

const report::SuiteBound* bound_of(const report::SuiteResult& result, const std::string& arch,
                                   const char* mode) {
  for (const report::SuiteBound& bound : result.bounds) {
    if (bound.arch == arch && bound.mode == mode && bound.time_s > 0) return &bound;
  }
  return nullptr;
}

Result<std::vector<Measured>> read_all(const std::vector<std::string>& files) {
  std::vector<Measured> all;
  for (const std::string& named : files) {
    const size_t equals = named.find('=');
    const bool has_name = equals != std::string::npos && named.find('/') > equals;
    const std::string file = has_name ? named.substr(equals + 1) : named;
    const std::string name =
        has_name ? named.substr(0, equals) : std::filesystem::path(file).stem().string();
    SOLAR_TRY(const std::string text, read_file(file));
    SOLAR_TRY(std::vector<Measured> some, parse_measured(text, file, name));
    all.insert(all.end(), std::make_move_iterator(some.begin()),
               std::make_move_iterator(some.end()));
  }
  return all;
}

std::string folder_of(const std::string& problem) {
  const size_t slash = problem.find('/');
  return slash == std::string::npos ? "" : problem.substr(0, slash);
}

HeadroomGroup group_of(const std::string& folder, const std::string& implementation,
                       std::vector<const HeadroomTime*> times) {
  HeadroomGroup group;
  group.folder = folder;
  group.implementation = implementation;
  group.problems = static_cast<int64_t>(times.size());
  group.violations = static_cast<int64_t>(
      std::erase_if(times, [](const HeadroomTime* time) { return time->headroom() < 1; }));
  if (times.empty()) return group;
  const auto mean = [&](double (HeadroomTime::*ratio)() const) {
    double sum = 0;
    for (const HeadroomTime* time : times) sum += std::log((time->*ratio)());
    return std::exp(sum / static_cast<double>(times.size()));
  };
  group.headroom = mean(&HeadroomTime::headroom);
  group.overhead = mean(&HeadroomTime::overhead);
  group.fusion = mean(&HeadroomTime::fusion);
  group.algorithm = mean(&HeadroomTime::algorithm);
  std::vector<double> shares;
  for (const HeadroomTime* time : times) shares.push_back(1 / time->headroom());
  std::sort(shares.begin(), shares.end());
  const size_t half = shares.size() / 2;
  group.median_share =
      shares.size() % 2 == 1 ? shares[half] : (shares[half - 1] + shares[half]) / 2;
  group.above_80_percent =
      std::count_if(shares.begin(), shares.end(), [](double share) { return share >= 0.8; });
  return group;
}

/// The words of a device's or architecture's name, in lower case.
std::vector<std::string> words_of(const std::string& name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      words.back() += static_cast<char>(std::tolower(byte));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

/// The architecture of the library that a device's name means, where that is surely not `arch`:
/// `H100 PCIe` is not a6000, and not h100-sxm.
std::optional<std::string> other_arch(const std::string& device, const std::string& arch,
                                      const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), arch) == known.end()) return std::nullopt;
  constexpr const char* kDigits = "0123456789";
  const std::vector<std::string> said = words_of(device);
  // How many of a name's words the device has; none without those that tell the chip.
  const auto matching = [&](const std::string& name) {
    const std::vector<std::string> words = words_of(name);
    const auto has = [&](const std::string& word) {  // SXM5 is an SXM
      const bool letters = word.find_first_of(kDigits) == std::string::npos;
      return std::any_of(said.begin(), said.end(), [&](const std::string& other) {
        return letters ? other.starts_with(word) : other == word;
      });
    };
    const bool numbered =
        words.size() > 1 && words[1].find_first_not_of(kDigits) == std::string::npos;
    if (!has(words[0]) || (numbered && !has(words[1]))) return std::ptrdiff_t{0};
    return std::count_if(words.begin(), words.end(), has);
  };
  std::optional<std::string> best;
  for (const std::string& name : known) {
    if (matching(name) > (best ? matching(*best) : matching(arch))) best = name;
  }
  return best;
}

}  // namespace

Result<report::Headroom> headroom(const HeadroomOptions& options) {
  SOLAR_TRY(const RunFolder run, read_run(options.run));
  SOLAR_TRY(const std::vector<Measured> measured, read_all(options.measured));
  std::set<std::string> archs;
  for (const report::SuiteResult& result : run.results) {
    for (const report::SuiteBound& bound : result.bounds) archs.insert(bound.arch);
  }
  if (archs.empty()) {
    return misfit(fmt::format("the run in `{}` has no bounds", options.run),
                  "run `solar suite` with --arch");
  }
  std::set<std::string> devices;
  for (const Measured& each : measured) devices.insert(each.device);
  if (devices.size() > 1) devices.erase("");  // files that name no device are of the chosen one
  report::Headroom found;
  found.run = options.run;
  SOLAR_TRY(found.arch, choose(options.arch, archs, "architectures", "--arch"));
  SOLAR_TRY(const std::string device, choose(options.device, devices, "devices", "--device"));
  found.precision = run.precision;
  found.strict = run.strict;
  found.statistic = options.statistic;

  const Names names(run.results);
  std::set<std::string> timed;
  std::set<std::pair<std::string, std::string>> seen;
  std::set<std::string> named;
  for (const Measured& each : measured) {
    if (!each.device.empty() && each.device != device) continue;
    for (const std::string& name : {each.device, each.hardware}) {
      if (!named.insert(name).second) continue;
      if (const auto other = other_arch(name, found.arch, options.known_archs)) {
        found.warnings.push_back(fmt::format("the times are of `{}`, which is {}, the floors of {}",
                                             name, *other, found.arch));
      }
    }
    const report::SuiteResult* result = names.find(each.problem);
    const report::SuiteBound* fused =
        result == nullptr ? nullptr : bound_of(*result, found.arch, "fused");
    const report::SuiteBound* unfused =
        result == nullptr ? nullptr : bound_of(*result, found.arch, "unfused");
    if (fused == nullptr || unfused == nullptr) {
      found.without_floor.push_back(each.problem);
      continue;
    }
    if (!seen.emplace(result->problem, each.implementation).second) {
      return misfit(
          fmt::format("`{}` is measured twice for `{}`", result->problem, each.implementation),
          "name the implementations: --measured NAME=FILE");
    }
    timed.insert(result->problem);
    const bool first = options.statistic == "min";
    const auto& wanted = first ? each.min_s : each.mean_s;
    HeadroomTime time = {.problem = result->problem, .implementation = each.implementation};
    time.measured_s = wanted ? *wanted : first ? *each.mean_s : *each.min_s;
    time.unfused_s = unfused->time_s;
    time.fused_s = fused->time_s;
    if (const auto* algebraic = bound_of(*result, found.arch, "algebraic")) {
      time.algebraic_s = algebraic->time_s;
      found.algebraic = true;
    }
    time.limiter = fused->limiter;
    found.times.push_back(std::move(time));
  }
  if (found.times.empty()) {
    return misfit("none of the measured problems has bounds in the run",
                  fmt::format("the file names `{}`, the run `{}`", measured.front().problem,
                              run.results.front().problem));
  }
  std::stable_sort(
      found.times.begin(), found.times.end(),
      [](const HeadroomTime& a, const HeadroomTime& b) { return a.headroom() > b.headroom(); });
  for (auto at = found.times.rbegin(); at != found.times.rend() && at->headroom() < 1; ++at)
    found.violations.push_back(*at);
  const auto unique = [](std::vector<std::string>& list) {
    std::sort(list.begin(), list.end(), natural_less);
    list.erase(std::unique(list.begin(), list.end()), list.end());
  };
  for (const report::SuiteResult& result : run.results) {
    if (bound_of(result, found.arch, "fused") == nullptr) continue;
    if (!timed.contains(result.problem)) found.not_measured.push_back(result.problem);
  }
  unique(found.not_measured);
  unique(found.without_floor);

  std::map<std::pair<std::string, std::string>, std::vector<const HeadroomTime*>> groups;
  std::set<std::string> folders;
  for (const HeadroomTime& time : found.times) {
    const std::string folder = folder_of(time.problem);
    folders.insert(folder);
    if (!folder.empty()) groups[{folder, time.implementation}].push_back(&time);
    groups[{"", time.implementation}].push_back(&time);
  }
  for (const auto& [key, times] : groups) {
    // The whole comes last, and only where it is more than a folder.
    if (!key.first.empty()) found.groups.push_back(group_of(key.first, key.second, times));
  }
  if (folders.size() != 1 || folders.contains("")) {
    for (const auto& [key, times] : groups) {
      if (key.first.empty()) found.groups.push_back(group_of("", key.second, times));
    }
  }
  return found;
}

}  // namespace solar::driver
