#pragma once
// Branch and bound over the ways to split all groups of dims, for one order of the storage nodes.

#include <cstdint>
#include <vector>

#include "bound/skyline.h"
#include "bound/splits.h"

namespace solar::bound {

/// Which option each group takes, in which search.
struct Choice {
  uint32_t search = 0;
  std::vector<uint32_t> options = {};
};

class OrderSearch {
 public:
  OrderSearch(const Einsum& einsum, const CostModel& model, const Order& order,
              std::vector<std::vector<Option>> groups);

  /// Adds every way that the skyline does not beat, by the product of its factors: not less than
  /// what it costs. A way is known by its place in `choices`, where it gets `index` as its search.
  void run(uint32_t index, std::vector<Choice>& choices, Skyline<uint32_t>& skyline);
  /// Adds every way with every order of its loops, costed exactly.
  void run_thoroughly(Skyline<Mapping>& skyline) const;

  Mapping mapping(const Choice& choice) const;

 private:
  // Options [from, to), and the least of their factors.
  struct Branch {
    uint32_t from = 0, to = 0;
    uint32_t left = 0, right = 0;  // halves, where there are several options
    bool all_keep = false;
  };
  struct State {
    std::vector<int64_t> held = {}, entered = {};
    std::vector<int32_t> last = {};
    const Option* keeping = nullptr;
  };
  // What the elements of one tensor weigh.
  struct Weights {
    int64_t distinct = 0, untouched = 0;
    Width on_chip = {}, dram = {}, partial = {};
    bool is_output = false;
    int64_t capacity(int64_t held) const;
    int64_t traffic(int64_t entered) const;
  };
  using Gaps = std::vector<std::vector<Step>>;

  // The least factors of a branch, position by position.
  int64_t* held_of(size_t group, size_t branch) {
    return &factors_[group][2 * branch * weights_.size()];
  }
  int64_t* kept_of(size_t group, size_t branch) { return held_of(group, branch) + weights_.size(); }
  uint32_t grow(size_t group, uint32_t from, uint32_t to);
  void visit(size_t group, uint32_t branch, Skyline<uint32_t>& skyline);
  void take(size_t group, uint32_t option, Skyline<uint32_t>& skyline);
  void finish(Skyline<uint32_t>& skyline);
  void enumerate(size_t group, std::vector<const Option*>& chosen, Skyline<Mapping>& skyline) const;
  void permute(size_t gap, Gaps& gaps, const std::vector<const Option*>& chosen,
               Skyline<Mapping>& skyline) const;
  Gaps gaps_of(const std::vector<const Option*>& chosen) const;
  Mapping mapping_of(const Gaps& gaps, const std::vector<const Option*>& chosen) const;

  const Einsum* einsum_;
  const CostModel* model_;
  Order order_;
  std::vector<std::vector<Option>> groups_;
  std::vector<std::vector<Branch>> branches_ = {};  // by group; the whole is the last
  std::vector<std::vector<int64_t>> factors_ = {};
  std::vector<bool> twin_ = {};        // groups with the same options as the one before
  std::vector<bool> everywhere_ = {};  // dims that every tensor has, outside of windows
  std::vector<Weights> weights_ = {};  // by position
  std::vector<State> states_ = {};     // by the number of groups decided
  // What the groups from there on multiply by at least.
  std::vector<std::vector<int64_t>> least_held_ = {}, least_kept_ = {};
  Choice choice_ = {};
  std::vector<Choice>* choices_ = nullptr;
};

}  // namespace solar::bound
