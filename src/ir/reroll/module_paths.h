#pragma once
// Module paths of copies of a block: what all of them share, and the one part that differs from
// copy to copy. Private to ir/.

#include <optional>
#include <string>
#include <vector>

namespace solar::ir {

/// For instance h.0.attn, h.1.attn and h.0, h.1: `*` is h.0 in the first copy, h.1 in the second.
class ModulePaths {
 public:
  /// Adds one operator's path in each copy. False if it is not the same in all and differs in
  /// another part than those before.
  bool add(const std::vector<std::string>& paths);

  /// The path of the `i`-th operator added: with `*` where the call's module stands.
  std::string in_function(size_t i) const;
  /// The module of each call; empty if no path differs.
  std::vector<std::string> of_calls() const;

 private:
  struct Path {
    std::string whole = {};  // the same in all copies
    std::string before = {}, after = {};
    bool differs = false;
  };
  bool same_start() const;

  std::vector<Path> paths_;
  std::vector<std::string> parts_;  // what differs, of each copy
};

}  // namespace solar::ir
