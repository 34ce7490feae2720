#pragma once
// `solar flops`: the counts of the graph by module.

#include <cstdint>
#include <optional>
#include <string_view>

#include "driver/pipeline.h"
#include "report/flops.h"

namespace solar::driver {

enum class FlopsOrder : uint8_t { Source, Parameters, Macs, MacsUseful, Bytes };

struct FlopsOptions {
  std::optional<int64_t> depth = {};      // levels of modules that are shown
  FlopsOrder order = FlopsOrder::Source;  // of the modules in one; the others: largest first
};

/// A parameter belongs to the module that holds it, where the source says so, else to the first
/// that reads it; one that several use counts once.
Result<report::Flops> flops(const AnalyzeOptions& options, const FlopsOptions& shown,
                            const Environment& environment);

/// Of what is loaded and lifted already.
Result<report::Flops> flops(const Loaded& loaded, const einsum::Graph& graph,
                            const FlopsOptions& shown);

}  // namespace solar::driver
