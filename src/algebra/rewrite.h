#pragma once
// The rewrites. Each finds where it applies, changes the working program, and says what it did.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "algebra/slice.h"
#include "algebra/terms.h"
#include "algebra/working.h"

namespace solar::algebra {

/// One change, as it is reported. `kind`: constant, common, push-sum, reorder, cancel.
struct Rewrite {
  std::string kind;
  std::string tensor;  // whose computation changed
  std::string op = {};
  std::string at = {};
  std::string module = {};
  std::string what = {};
  std::vector<std::string> products = {};  // contractions that went into it
};

/// How a kernel was written out: what was done at full size is done again at small ones, where
/// another choice might be cheaper.
struct Choice {
  Expansion how = {};
  std::vector<std::vector<uint32_t>> left = {};  // Order::left, per term
};

/// By Log::name_of.
using Choices = std::map<std::string, Choice>;

/// What may be done, and what was done.
class Log {
 public:
  /// `forbidden`: kind and tensor of rewrites that were found wrong. `only`: nothing else is done.
  /// `wanted`: kernels are written out as said there or not at all.
  explicit Log(std::set<std::string> forbidden = {}, std::optional<std::string> only = {},
               const Choices* wanted = nullptr)
      : forbidden_(std::move(forbidden)), only_(std::move(only)), wanted_(wanted) {}

  static std::string name_of(const Rewrite& rewrite) { return rewrite.kind + " " + rewrite.tensor; }
  bool allows(const std::string& kind, const std::string& tensor) const {
    const std::string name = kind + " " + tensor;
    if (only_) return name == *only_;
    return !forbidden_.contains(name);
  }
  /// Places the rewrite in its source operator; called before the program changes.
  Rewrite& add(const Working& working, ir::TensorId tensor, std::string kind, std::string what);
  const std::vector<Rewrite>& all() const { return all_; }
  const Choices* wanted() const { return wanted_; }
  Choices choices = {};
  bool wants_slices = false;
  std::map<std::string, Slice> slices = {};  // by name_of, of kernels that were written out

 private:
  std::set<std::string> forbidden_;
  std::optional<std::string> only_;
  const Choices* wanted_;
  std::vector<Rewrite> all_ = {};
};

/// Tensors that are the same number at every element, whatever the inputs: x - x, a softmax over
/// one element, what a clamp leaves of a range (constants.cpp).
void fold_constants(Working& working, Log& log);
/// Kernels that compute what an earlier one does (common.cpp).
void share_common(Working& working, Log& log);
/// Sums of products written out in terms of what their operands are sums of, at the best order of
/// their products; kept where that takes fewer multiply-accumulates (sums.cpp).
void reorder_sums(Working& working, Log& log);

}  // namespace solar::algebra
