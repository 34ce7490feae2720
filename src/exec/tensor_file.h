#pragma once
// Tensors in files: safetensors (.safetensors) and NumPy archives (.npz). Readers trust nothing in
// a file; every problem is a tensor-file diagnostic that names the file, the tensor and what was
// found. Writers replace the file only once it is complete.

#include <map>
#include <string>

#include "base/result.h"
#include "exec/tensor.h"

namespace solar::exec {

using NamedTensors = std::map<std::string, TensorData>;

struct ReadLimits {
  int64_t bytes = int64_t{64} << 30;  // of all tensors together, in memory
};

/// By the file's extension.
Result<NamedTensors> read_tensors(const std::string& path, const ReadLimits& limits = {});
Result<Done> write_tensors(const std::string& path, const NamedTensors& tensors);

Result<NamedTensors> read_safetensors(const std::string& path, const ReadLimits& limits = {});
Result<Done> write_safetensors(const std::string& path, const NamedTensors& tensors);

Result<NamedTensors> read_npz(const std::string& path, const ReadLimits& limits = {});
Result<Done> write_npz(const std::string& path, const NamedTensors& tensors);

}  // namespace solar::exec
