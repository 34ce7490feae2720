#pragma once
// One program at many sizes, as pure data: filled by driver/sweep.h, rendered here. Field names are
// those of the JSON (schema solar.sweep/1) and the CSV.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/report.h"
#include "report/text.h"

namespace solar::report {

using Sizes = std::vector<std::pair<std::string, int64_t>>;  // dim, value

/// The floors of one architecture at one size.
struct SweepTimes {
  std::string arch;
  double unfused_s = 0;
  double fused_s = 0;
  std::string limiter = {};  // of `fused`
  std::optional<double> operational_intensity = {};
};

struct SweepRow {
  Sizes sizes = {};
  std::string error = {};  // why there is nothing else
  int64_t macs = 0;
  int64_t macs_useful = 0;
  int64_t traffic_bytes = 0;  // of `fused`
  std::vector<SweepTimes> times = {};
};

/// Where what limits the fused floor changes between two sizes of the sweep. It may change there
/// more than once.
struct Crossover {
  std::string arch;
  std::string dim;
  std::string before;
  int64_t last = 0;  // the size that `before` limits,
  std::string after;
  int64_t first = 0;  // and the next one
};

struct Sweep {
  std::string source;
  std::string program;
  std::string precision;
  bool strict = false;
  Validation validation = {};
  std::vector<std::string> dims = {};
  std::vector<SweepRow> rows = {};
  std::vector<Crossover> crossovers = {};  // where one dim is swept
  std::vector<std::string> assumptions = {};
  std::vector<std::string> warnings = {};
};

std::string render_text(const Sweep& sweep, const TextOptions& options = {});
std::string render_json(const Sweep& sweep);
/// RFC 4180, with a line of titles: a line for each size and architecture.
std::string render_csv(const Sweep& sweep);

}  // namespace solar::report
