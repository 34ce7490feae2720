#pragma once
// A core program as ALIR text: calls inlined, views as kernels or slices of their own, extents as
// numbers. What the verifier makes of the text computes the same values.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/core.h"

namespace solar::algebra {

struct EmitOptions {
  /// Every float is f64: both sides of a comparison in (nearly) real arithmetic.
  bool in_f64 = false;
};

struct Emitted {
  std::string text = {};
  std::vector<std::string> names = {};  // per tensor: what it is called in the text
};

/// nullopt: the program has a statement that is not written out (`unique`, `nonzero`, `if`,
/// `while`, holes).
std::optional<Emitted> emit(const ir::Program& program, const EmitOptions& options = {});

struct Vocabulary;

/// Equal texts compute equal tensors: a kernel with its output and loops renamed.
class KernelKeys {
 public:
  explicit KernelKeys(const ir::Program& program);
  ~KernelKeys();
  std::string of(const ir::Kernel& kernel) const;

 private:
  std::unique_ptr<Vocabulary> words_;
};

}  // namespace solar::algebra
