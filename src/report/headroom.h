#pragma once
// How far measured times are above the floors, as pure data: filled by driver/headroom.h, rendered
// here. Field names are those of the JSON (schema solar.headroom/1) and the CSV.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/text.h"

namespace solar::report {

/// One measured time against the floors of its problem. Ratios are measured / floor.
struct HeadroomTime {
  std::string problem;
  std::string implementation;  // eager, compile, ...
  double measured_s = 0;
  double unfused_s = 0;
  double fused_s = 0;
  std::optional<double> algebraic_s = {};  // where the run has it
  std::string limiter = {};                // of the fused floor
  double headroom() const { return measured_s / fused_s; }
  double overhead() const { return measured_s / unfused_s; }
  double fusion() const { return unfused_s / fused_s; }
  double algorithm() const { return algebraic_s ? fused_s / *algebraic_s : 1; }
};

/// The problems of one folder under one implementation; all ratios are geometric means. Violations
/// are in none of them.
struct HeadroomGroup {
  std::string folder;  // empty: of all folders
  std::string implementation;
  int64_t problems = 0;          // violations too
  int64_t violations = 0;        // of them; where all are, there are no means
  double headroom = 0;           // measured / fused
  double overhead = 0;           // measured / unfused: below 1 where kernels are fused already
  double fusion = 0;             // unfused / fused
  double algorithm = 1;          // fused / algebraic
  double median_share = 0;       // fused / measured
  int64_t above_80_percent = 0;  // problems at 0.8 of the floor's speed or more
};

struct Headroom {
  std::string run;
  std::string arch;
  std::string precision;
  bool strict = false;
  std::string statistic;                       // min or mean: which of the measured times counts
  bool algebraic = false;                      // whether any of the problems has that floor
  std::vector<HeadroomTime> violations = {};   // below the fused floor, the worst first
  std::vector<HeadroomGroup> groups = {};      // by folder, then implementation
  std::vector<HeadroomTime> times = {};        // the largest headroom first; violations too
  std::vector<std::string> not_measured = {};  // problems of the run without a time
  std::vector<std::string> without_floor =
      {};  // measured, but not bounded in the run, or not in it
  std::vector<std::string> warnings = {};
};

std::string render_text(const Headroom& headroom, const TextOptions& options = {});
std::string render_json(const Headroom& headroom);
/// RFC 4180, with a line of titles: all times. The algebraic columns come last.
std::string render_csv(const Headroom& headroom);

}  // namespace solar::report
