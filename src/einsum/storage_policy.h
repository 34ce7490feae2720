#pragma once
// How floating-point tensors are kept in memory where that is not as the program is written.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/core.h"

namespace solar::einsum {

/// An element type, in blocks with scales if `format` names one of ir::storage_named.
struct Stored {
  ir::ElementType type = ir::ElementType::F32;
  std::string_view format = {};
  friend bool operator==(const Stored&, const Stored&) = default;
};

/// By what a tensor is: weights and buffers, state (a cache that is updated), everything else.
/// Integers and bool are kept as written.
struct StoragePolicy {
  std::optional<Stored> params = {};
  std::optional<Stored> state = {};
  std::optional<Stored> activations = {};

  bool as_written() const { return !params && !state && !activations; }
  /// How a tensor is kept; nullopt: as written.
  std::optional<Stored> of(const ir::Tensor& tensor) const;
  friend bool operator==(const StoragePolicy&, const StoragePolicy&) = default;
};

/// as-written, fp32, bf16, ..., int4, nvfp4, mxfp8, ...
std::vector<std::string> storage_names();

/// `bf16`, `params=nvfp4`, `params=int4,state=fp8,activations=bf16`, `as-written`. nullopt: not of
/// this form.
std::optional<StoragePolicy> storage_policy_named(std::string_view text);
/// The same text, in one order; `as-written` if nothing is asked.
std::string name(const StoragePolicy& policy);

}  // namespace solar::einsum
