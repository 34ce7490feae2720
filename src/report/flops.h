#pragma once
// Counts by module, as pure data: filled by driver/flops.h, rendered here. Field names are those of
// the JSON (schema solar.flops/1) and the CSV.

#include <cstdint>
#include <string>
#include <vector>

#include "report/report.h"
#include "report/text.h"

namespace solar::report {

struct FlopsCounts {
  int64_t parameters = 0;  // elements of the trained weights that the program has
  int64_t macs = 0;
  int64_t macs_useful = 0;
  int64_t elementwise_ops = 0;
  int64_t special_ops = 0;
  int64_t bytes_in = 0;  // of each operator by itself, added up
  int64_t bytes_out = 0;
  friend bool operator==(const FlopsCounts&, const FlopsCounts&) = default;
};

/// Rows are in the order of a tree: a module before what is in it. A module's row is the sum of the
/// rows one level below it.
struct FlopsRow {
  enum class Kind : uint8_t { Total, Module, Own };
  Kind kind = Kind::Module;
  std::string module;  // its path; of Own: of the module that the operators are directly in
  int64_t depth = 0;   // of the total: 0
  std::vector<std::string> operators = {};  // Own: their names, each once
  FlopsCounts counts = {};
};

struct FlopsOmission {
  std::string op;
  std::string at = {};  // file:line; of a view outside any operator: its tensor
  std::string module = {};
  std::string why = {};
};

struct Flops {
  std::string source;
  std::string program;
  Validation validation = {};
  std::vector<FlopsRow> rows = {};
  std::vector<FlopsOmission> not_counted = {};
  std::vector<std::string> warnings = {};
};

std::string render_text(const Flops& flops, const TextOptions& options = {});
std::string render_json(const Flops& flops);
/// RFC 4180, with a line of titles.
std::string render_csv(const Flops& flops);

}  // namespace solar::report
