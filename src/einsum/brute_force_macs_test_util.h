#pragma once
// For brute force: the multiply-accumulates of a sum of products of two reads.

#include <optional>
#include <set>
#include <vector>

#include "einsum/brute_force_test_util.h"

namespace solar::einsum {

class BruteForceMacs {
 public:
  using Loops = std::vector<bool>;

  /// nullopt: the kernel is something else, or views or small axes could hide that a read does not
  /// depend on a loop.
  static std::optional<int64_t> count(const BruteForce& truth, const ir::Program& program,
                                      size_t statement, const ir::Kernel& kernel) {
    const ir::ScalarNode& value = kernel.nodes[static_cast<size_t>(kernel.value)];
    if (kernel.reduction != ir::Reduction::Sum || value.op != ir::ScalarOp::Mul) return {};
    const auto a = loops_read(truth, program, kernel, value.a);
    const auto b = loops_read(truth, program, kernel, value.b);
    if (!a || !b || kernel.accesses.size() != 2) return {};
    return BruteForceMacs(truth.points(statement), kernel, *a, *b).count();
  }

 private:
  using Points = std::vector<std::vector<int64_t>>;

  static std::optional<Loops> loops_read(const BruteForce& truth, const ir::Program& program,
                                         const ir::Kernel& kernel, int32_t id) {
    const ir::ScalarNode& node = kernel.nodes[static_cast<size_t>(id)];
    if (node.op != ir::ScalarOp::Load) return {};
    const ir::Access& access = kernel.accesses[static_cast<size_t>(node.reference)];
    if (truth.is_view(access.tensor)) return {};
    Loops loops(kernel.loops.size(), false);
    for (size_t axis = 0; axis < access.subscripts.size(); ++axis) {
      const ir::Linear& subscript = access.subscripts[axis];
      if (!subscript.terms.empty() && program.tensor(access.tensor).shape[axis] < 3) return {};
      for (const ir::Term& term : subscript.terms) {
        if (static_cast<size_t>(term.atom) >= loops.size()) return {};
        loops[static_cast<size_t>(term.atom)] = true;
      }
    }
    return loops;
  }

  BruteForceMacs(Points points, const ir::Kernel& kernel, const Loops& a, const Loops& b)
      : points_(std::move(points)), a_(a), b_(b), reduced_(kernel.loops.size(), true) {
    for (const int32_t target : kernel.target_loops) reduced_[static_cast<size_t>(target)] = false;
  }

  // What only one factor depends on is summed before the product, unless the points are no product.
  int64_t count() {
    Loops kept(a_.size());
    for (size_t loop = 0; loop < kept.size(); ++loop) {
      if (!reduced_[loop] || a_[loop] || b_[loop]) continue;
      for (auto& point : points_) point[loop] = 0;  // only repeats
    }
    for (size_t loop = 0; loop < kept.size(); ++loop) {
      kept[loop] = a_[loop] || b_[loop];
      const bool alone = reduced_[loop] && a_[loop] != b_[loop];
      if (!alone || !is_product(a_[loop] ? a_ : b_, loop)) continue;
      kept[loop] = false;
      for (auto& point : points_) point[loop] = 0;
    }
    for (size_t loop = 0; loop < kept.size(); ++loop) {
      if (reduced_[loop] && kept[loop]) return static_cast<int64_t>(projected(kept).size());
    }
    return 0;
  }

  std::set<std::vector<int64_t>> projected(const Loops& kept) const {
    std::set<std::vector<int64_t>> all;
    for (const auto& point : points_) all.insert(at(point, kept));
    return all;
  }

  static std::vector<int64_t> at(const std::vector<int64_t>& point, const Loops& kept) {
    std::vector<int64_t> some = {point.back()};  // the run
    for (size_t i = 0; i < kept.size(); ++i) some.push_back(kept[i] ? point[i] : 0);
    return some;
  }

  // Whether the points are all combinations of those of a factor and those without the loop.
  bool is_product(const Loops& factor, size_t loop) const {
    Loops others(factor.size(), true), both = factor;
    others[loop] = both[loop] = false;
    // Per rest of the factor's loops: how many values of the loop go with it, and how many others.
    std::map<std::vector<int64_t>, int64_t> own, rest;
    for (const auto& one : projected(factor)) ++own[cleared(one, loop)];
    for (const auto& one : projected(others)) ++rest[at_rest(one, both)];
    int64_t combinations = 0;
    for (const auto& [key, count] : own) combinations += count * rest[key];
    return combinations == static_cast<int64_t>(projected(Loops(factor.size(), true)).size());
  }

  static std::vector<int64_t> cleared(std::vector<int64_t> point, size_t loop) {
    point[loop + 1] = 0;
    return point;
  }

  // Of a projected point, whose run comes first.
  static std::vector<int64_t> at_rest(std::vector<int64_t> point, const Loops& kept) {
    for (size_t i = 0; i < kept.size(); ++i) point[i + 1] = kept[i] ? point[i + 1] : 0;
    return point;
  }

  Points points_;
  Loops a_, b_, reduced_;
};

}  // namespace solar::einsum
