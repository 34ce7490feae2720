#pragma once
// What workers do, as typed calls: read a source's constants, trace it, run the original for golden
// tensors.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "frontend/worker_pool.h"

namespace solar::frontend {

/// A source as the user names it (`file.py` or `file.py:name`), with integer constants replaced.
struct SourceRequest {
  std::string source;
  std::map<std::string, int64_t> overrides = {};
};

/// An integer constant of a source that an override may replace. `kind`: module, init_input, input,
/// default, field.
struct SourceConstant {
  std::string name;
  int64_t value = 0;
  int line = 0;
  std::string kind;
  std::vector<std::string> aliases;  // further names of the same number: `height = width = 128`
  int64_t step = 1;                  // it stays a multiple of this: an image is whole patches
};

struct SourceFacts {
  std::string path;
  std::string member;
  std::vector<std::string> defines;
  std::vector<SourceConstant> constants;
};

/// Where the value of one port comes from: a leaf of the example inputs, a tensor of the model, or
/// neither.
struct Port {
  std::string name;
  std::string role;
  std::optional<int64_t> index = std::nullopt;
  std::string key = "";
  std::string dtype = "";
  friend bool operator==(const Port&, const Port&) = default;
};

struct TracedProgram {
  std::string alir;  // the program's text
  std::string path;  // the file that holds it
  std::string name;
  std::string form;  // model, callable, module, factory
  std::string mode;  // train, eval, mixed, as exported; empty: none
  std::vector<Port> ports;
  std::vector<std::string> warnings;
  std::string constants_path;  // tensors that the tracer lifted out of the program, or empty
  std::string steps_path;      // what read_steps reads
  bool recorded_path = false;  // it branches on data; this is the way that its example inputs go
  bool isolated = false;
  double seconds = 0;
  int64_t peak_rss = 0;
};

/// A source operator of a trace. `tensors` are the names in the text of what the call returns;
/// empty for what the text does not have.
struct TraceStep {
  std::string node;
  std::string op;
  std::string at;
  std::string module;
  std::vector<std::string> tensors;
};

/// How example inputs of floating type are replaced; `example` keeps those of the source.
inline constexpr const char* kDistributions[] = {"example",  "normal",   "large",
                                                 "negative", "constant", "zeros"};

struct GoldenRequest {
  SourceRequest program;
  std::vector<Port> ports;
  bool resolve = false;  // the ports have neither index nor key: they are found by their names
  std::string constants_path = "";
  int64_t seed = 0;
  std::string distribution = "example";
  bool want_f64 = true;
  double nearby = 0;  // the share of itself by which every value is moved; without in/PORT
  std::string out;    // the .safetensors to write
};

struct GoldenOutput {
  std::string dtype;  // the framework's name: float32
  std::vector<int64_t> shape;
};

/// The file holds in/PORT, out/0.., state/PORT and, where `has_f64`, f64/0...
struct GoldenFile {
  std::string path;
  std::vector<GoldenOutput> outputs;
  bool has_f64 = false;
  std::string mode;
  std::vector<std::string> warnings;
  bool isolated = false;
  double seconds = 0;
  int64_t peak_rss = 0;
};

/// Reads the file without running it.
Result<SourceFacts> inspect(WorkerPool& pool, const std::string& source, const Limits& limits = {},
                            const Control& control = {});

/// Traces on shapes alone; nothing of the program's size is allocated. Writes `out` and reads it
/// back.
Result<TracedProgram> trace(WorkerPool& pool, const SourceRequest& program, const std::string& out,
                            const Limits& limits = {}, const Control& control = {});

/// A trace's source operators in their order.
Result<std::vector<TraceStep>> read_steps(const TracedProgram& traced);

/// Runs the original for real, operator by operator, with the request's ports, seed and
/// distribution. The path of a file with in/PORT and, for the nodes named, node/NODE/0...
Result<std::string> run_steps(WorkerPool& pool, const GoldenRequest& request,
                              const std::vector<std::string>& nodes, const Limits& limits = {},
                              const Control& control = {});

/// Runs the original for real.
Result<GoldenFile> golden(WorkerPool& pool, const GoldenRequest& request, const Limits& limits = {},
                          const Control& control = {});

}  // namespace solar::frontend
