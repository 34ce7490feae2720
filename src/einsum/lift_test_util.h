#pragma once
// Lifting ALIR text in tests.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "einsum/lift.h"
#include "ir/verify.h"

namespace solar::einsum {

inline std::string messages(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    text += std::string(slug(diagnostic.kind)) + ": " + diagnostic.message + "\n";
  }
  return text;
}

inline Graph lift_text(const std::string& text, const LiftOptions& options = {}) {
  const auto program = ir::verify_text(text);
  if (!program) {
    ADD_FAILURE() << messages(program.error()) << text;
    return {};
  }
  const auto graph = lift(*program, options);
  if (!graph) {
    ADD_FAILURE() << messages(graph.error()) << text;
    return {};
  }
  return *graph;
}

/// Bytes surely read of the port with this place in the signature; 0 if it is not read.
inline int64_t read_bytes(const Graph& graph, int32_t port) {
  for (const Footprint& read : graph.reads) {
    if (read.tensor == ir::TensorId{port}) return read.bytes.min.value;
  }
  return 0;
}

inline const Operator* find_operator(const Graph& graph, const std::string& name) {
  for (const Operator& op : graph.operators) {
    if (op.name == name) return &op;
  }
  return nullptr;
}

inline bool assumes(const Graph& graph, const std::string& what) {
  return std::find(graph.assumptions.begin(), graph.assumptions.end(), what) !=
         graph.assumptions.end();
}

}  // namespace solar::einsum
