#pragma once
// What can be said of a source's name without starting a worker.

#include <string>

#include "base/result.h"

namespace solar::frontend {

/// Whether it names a model, which a worker knows, rather than a file.
inline bool is_model(const std::string& source) { return source.starts_with("hf:"); }

struct SourceName {
  std::string file;
  std::string member = {};  // `:NAME`, or empty
};

/// The parts of a name that is no model's. A file whose own name has a colon is found as it is.
SourceName split_source_name(const std::string& source);

/// Refuses what cannot be a source for a worker: `FILE.py`, `FILE.py:NAME` or `FILE.pt2` of a
/// readable file, or `hf:MODEL`.
Result<Done> check_source_name(const std::string& source);

}  // namespace solar::frontend
