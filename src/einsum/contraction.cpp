#include "einsum/contraction.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>

#include "base/checked.h"

namespace solar::einsum {

namespace {

using ir::ScalarNode;
using ir::ScalarOp;

constexpr size_t kMaximumFactors = 8;
constexpr size_t kMaximumProducts = 64;

LoopMask loops_of_one_point(const Nest& nest) {
  LoopMask mask = 0;
  for (int32_t loop = 0; loop < nest.loop_count(); ++loop) {
    if (nest.extent(loop) == 1) mask |= loop_bit(loop);
  }
  return mask;
}

void collect_reads(const KernelReader& reader, int32_t id, LoopMask single_point, Factor& factor,
                   std::vector<bool>& visited) {
  if (id < 0 || visited[static_cast<size_t>(id)]) return;
  visited[static_cast<size_t>(id)] = true;
  const ScalarNode& node = reader.node(id);
  if (node.op == ScalarOp::Load) {
    const FoldedAccess& access = reader.folded(node.reference);
    if (std::find(factor.reads.begin(), factor.reads.end(), access) == factor.reads.end()) {
      factor.reads.push_back(access);
      factor.accesses.push_back(node.reference);
    }
    for (const Linear& subscript : access.subscripts)
      factor.loops |= reader.nest().support(subscript);
    // A view gives an axis of extent 1 no variable.
    for (const Linear& subscript : reader.plain_subscripts(node.reference))
      factor.loops |= reader.nest().support(subscript) & single_point;
  }
  if (node.op == ScalarOp::Index)
    factor.loops |= reader.nest().support(reader.linear(node.reference));
  collect_reads(reader, node.a, single_point, factor, visited);
  collect_reads(reader, node.b, single_point, factor, visited);
  collect_reads(reader, node.c, single_point, factor, visited);
}

// The factors of a product, through casts, signs, scaling by constants and selects against zero. A
// power written as shared squares would have too many; then there are none.
void collect_factors(const KernelReader& reader, int32_t id, size_t& budget,
                     std::vector<Factor>& factors) {
  if (budget == 0) return factors.clear();
  --budget;
  const ScalarNode& node = reader.node(id);
  switch (node.op) {
    case ScalarOp::Mul:
      collect_factors(reader, node.a, budget, factors);
      collect_factors(reader, node.b, budget, factors);
      return;
    case ScalarOp::Cast:
    case ScalarOp::Neg:
      return collect_factors(reader, node.a, budget, factors);
    case ScalarOp::Div:
      if (reader.node(node.b).op == ScalarOp::Constant)
        return collect_factors(reader, node.a, budget, factors);
      break;
    case ScalarOp::Select:
      if (reader.is_constant(node.c, 0)) return collect_factors(reader, node.b, budget, factors);
      if (reader.is_constant(node.b, 0)) return collect_factors(reader, node.c, budget, factors);
      break;
    default:
      break;
  }
  Factor factor;
  std::vector<bool> visited(reader.kernel().nodes.size(), false);
  collect_reads(reader, id, loops_of_one_point(reader.nest()), factor, visited);
  if (!factor.reads.empty()) factors.push_back(std::move(factor));
}

bool same_reads(const Factor& a, const Factor& b) {
  return a.reads.size() == b.reads.size() &&
         std::all_of(a.reads.begin(), a.reads.end(), [&](const FoldedAccess& read) {
           return std::find(b.reads.begin(), b.reads.end(), read) != b.reads.end();
         });
}

// The addends of a sum; a sum of products is several contractions.
bool collect_products(const KernelReader& reader, int32_t id, LoopMask reduced,
                      std::vector<Contraction>& products) {
  if (products.size() > kMaximumProducts) return false;
  const ScalarNode& node = reader.node(id);
  if (node.op == ScalarOp::Add || node.op == ScalarOp::Sub) {
    return collect_products(reader, node.a, reduced, products) &&
           collect_products(reader, node.b, reduced, products);
  }
  if (node.op == ScalarOp::Cast || node.op == ScalarOp::Neg) {
    return collect_products(reader, node.a, reduced, products);
  }
  std::vector<Factor> factors;
  size_t budget = kMaximumProducts;
  collect_factors(reader, id, budget, factors);
  if (budget == 0) return false;
  Contraction product;
  product.products = static_cast<int32_t>(factors.size()) - 1;
  int summed = 0;
  for (Factor& factor : factors) {
    const bool repeated =
        std::any_of(product.factors.begin(), product.factors.end(),
                    [&](const Factor& other) { return same_reads(factor, other); });
    if (repeated) continue;
    summed += (factor.loops & reduced) != 0;
    product.factors.push_back(std::move(factor));
  }
  if (summed < 2) return false;
  products.push_back(std::move(product));
  return true;
}

// Best pairwise order by dynamic programming over subsets of factors.
class BestOrder {
 public:
  BestOrder(const Contraction& contraction, LoopMask targets, const Region& domain)
      : factors_(contraction.factors), targets_(targets), domain_(domain) {
    for (const RegionGroup& group : domain.groups()) {
      LoopMask mask = 0;
      for (const int32_t loop : group.axes) mask |= loop_bit(loop);
      coupled_.push_back({mask, &group});
    }
  }

  std::optional<int64_t> run() {
    const auto all = (uint32_t{1} << factors_.size()) - 1;
    std::vector<int64_t> best(all + 1, std::numeric_limits<int64_t>::max());
    for (uint32_t subset = 1; subset <= all; ++subset) {
      if (std::has_single_bit(subset)) {
        best[subset] = 0;
        continue;
      }
      for (uint32_t left = (subset - 1) & subset; left > 0; left = (left - 1) & subset) {
        const uint32_t right = subset & ~left;
        if (left < right) continue;
        const auto step = cost(left, right);
        if (!step) return std::nullopt;
        const auto total = checked_add(best[left], best[right]);
        const auto sum = total ? checked_add(*total, *step) : std::nullopt;
        if (sum) best[subset] = std::min(best[subset], *sum);
      }
    }
    return best[all];
  }

 private:
  LoopMask loops(uint32_t subset) const {
    LoopMask mask = 0;
    for (size_t i = 0; i < factors_.size(); ++i) {
      if (subset >> i & 1) mask |= factors_[i].loops;
    }
    return mask;
  }

  struct Coupled {
    LoopMask loops = 0;
    const RegionGroup* group = nullptr;
  };

  // Loops that the subset's product still has after summing what nothing else needs.
  LoopMask kept(uint32_t subset) {
    const auto known = kept_.find(subset);
    if (known != kept_.end()) return known->second;
    return kept_[subset] = find_kept(subset);
  }

  LoopMask find_kept(uint32_t subset) const {
    const auto all = (uint32_t{1} << factors_.size()) - 1;
    const LoopMask inside = loops(subset);
    LoopMask needed = targets_ | loops(all & ~subset);
    // A condition over several loops can be applied once the product has all of them.
    const LoopMask alone = inside & ~needed;
    for (const Coupled& coupled : coupled_) {
      const LoopMask outside = coupled.loops & (loops(all) | targets_) & ~inside;
      if (subset == all || outside == 0 || (coupled.loops & alone) == 0) continue;
      needed |= inseparable(*coupled.group, inside, alone & coupled.loops);
    }
    return inside & needed;
  }

  // Those of `alone`, one after the other, that cannot be summed before a product: the condition on
  // them is not one on `inside` and one on all others. Loops that no factor depends on only repeat.
  LoopMask inseparable(const RegionGroup& group, LoopMask inside, LoopMask alone) const {
    Region points = Region::full(domain_.shape());
    points.restrict(group.axes, group.set);
    const auto every = (uint32_t{1} << factors_.size()) - 1;
    points = projected(points, group, loops(every) | targets_);
    LoopMask found = 0;
    for (const int32_t loop : group.axes) {
      if ((alone & loop_bit(loop)) == 0) continue;
      Region without = projected(points, group, ~loop_bit(loop));
      const Region join = intersect(projected(points, group, inside), without);
      if (join.exact() && points.exact() && join.count() == points.count()) {
        points = std::move(without);
      } else {
        found |= loop_bit(loop);
      }
    }
    return found;
  }

  // `all` with any values of the group's loops that are not in `kept`.
  static Region projected(const Region& all, const RegionGroup& group, LoopMask kept) {
    std::vector<int32_t> loops;
    std::vector<int64_t> extents;
    std::vector<Linear> subscripts;
    for (const int32_t loop : group.axes) {
      if (!(kept & loop_bit(loop))) continue;
      loops.push_back(loop);
      extents.push_back(all.shape()[static_cast<size_t>(loop)]);
      subscripts.push_back(single(loop));
    }
    const Region some = image(Nest(all.shape()), all, subscripts, extents);
    Region result = Region::full(all.shape());
    if (!some.exact()) result.mark_inexact();
    for (const RegionGroup& part : some.groups()) {
      std::vector<int32_t> axes;
      for (const int32_t axis : part.axes) axes.push_back(loops[static_cast<size_t>(axis)]);
      result.restrict(std::move(axes), part.set);
    }
    return result;
  }

  std::optional<int64_t> cost(uint32_t left, uint32_t right) {
    const LoopMask pair = kept(left) | kept(right);
    const bool sums = (pair & ~kept(left | right)) != 0;
    if (!sums) return 0;
    const auto known = counts_.find(pair);
    if (known != counts_.end()) return known->second;
    const auto count = count_projection(domain_, pair);
    if (count) counts_.emplace(pair, *count);
    return count;
  }

  const std::vector<Factor>& factors_;
  LoopMask targets_;
  const Region& domain_;
  std::vector<Coupled> coupled_ = {};
  std::map<LoopMask, int64_t> counts_ = {};
  std::map<uint32_t, LoopMask> kept_ = {};
};

int width(ir::ElementType type) { return ir::storage_bits(type); }

}  // namespace

std::vector<Contraction> contractions_of(const KernelReader& reader) {
  const ir::Kernel& kernel = reader.kernel();
  if (kernel.reduction != ir::Reduction::Sum) return {};
  LoopMask reduced = 0;
  for (int32_t loop = 0; loop < reader.nest().loop_count(); ++loop) reduced |= loop_bit(loop);
  reduced &= ~reader.target_mask();
  std::vector<Contraction> products;
  if (!collect_products(reader, kernel.value, reduced, products)) return {};
  return products;
}

std::optional<int64_t> useful_macs(const Contraction& contraction, const KernelReader& reader,
                                   const Region& domain) {
  if (domain.empty() || contraction.factors.size() > kMaximumFactors) return 0;
  return BestOrder(contraction, reader.target_mask(), domain).run();
}

LoopMask partitioning_loops(const KernelReader& reader) {
  const Nest& nest = reader.nest();
  const auto read_of = [&](const Linear& value) -> const Atom* {
    const int32_t atom = sole_atom(value);
    const bool data = atom >= nest.loop_count() && nest.atom(atom).kind == Atom::Kind::DataRead;
    return data ? &nest.atom(atom) : nullptr;
  };
  LoopMask mask = 0;
  const std::vector<Guard>& guards = reader.ragged_guards();
  size_t at = 0;
  for (size_t loop = 0; loop < reader.kernel().loops.size(); ++loop) {
    if (!reader.kernel().loops[loop].ragged) continue;
    const Linear variable = single(static_cast<int32_t>(loop));
    const Atom* begin = read_of(subtract(variable, guards[at].value));
    const Atom* end = read_of(add(add(guards[at + 1].value, variable), constant(1)));
    at += 2;
    if (begin == nullptr || end == nullptr || begin->tensor != end->tensor) continue;
    LoopMask moved = 0;
    bool plain = true;
    for (size_t axis = 0; axis < begin->operands.size(); ++axis) {
      const Linear& operand = begin->operands[axis];
      if (operand == end->operands[axis]) continue;
      const bool next = add(operand, constant(1)) == end->operands[axis];
      plain = plain && moved == 0 && next && nest.loops_only(operand) &&
              operand.terms.size() == 1 && operand.terms[0].coefficient == 1;
      moved = nest.support(operand);
    }
    if (plain) mask |= moved;
  }
  return mask;
}

std::optional<int64_t> nominal_macs(const Contraction& contraction, const KernelReader& reader,
                                    int64_t executions) {
  std::vector<Constraint> periodic;
  const Nest& nest = reader.nest();
  for (const Guard& guard : reader.guards()) {
    if (guard.kind != Guard::Kind::Zero || nest.reads_data(guard.value)) continue;
    const bool remainder =
        std::any_of(guard.value.terms.begin(), guard.value.terms.end(), [&](const ir::Term& term) {
          return term.atom >= nest.loop_count() && nest.atom(term.atom).kind == Atom::Kind::Mod;
        });
    if (remainder) periodic.push_back(guard_constraint(nest, guard));
  }
  const LoopMask left_out = partitioning_loops(reader);
  LoopMask kept = 0;
  std::optional<int64_t> steps = 1;
  for (int32_t loop = 0; loop < nest.loop_count(); ++loop) {
    if (!(left_out & loop_bit(loop))) kept |= loop_bit(loop);
    const bool step = static_cast<size_t>(loop) >= reader.kernel().loops.size();
    if (step && steps) steps = checked_mul(*steps, nest.extent(loop));
  }
  auto points = count_projection(solve(nest, periodic), kept);
  if (!points || !steps) return std::nullopt;
  points = checked_mul(*points / *steps, executions);  // periods over steps: on average
  if (!points) return std::nullopt;
  return checked_mul(*points, static_cast<int64_t>(contraction.factors.size()) - 1);
}

std::optional<int64_t> nominal_box(const KernelReader& reader) {
  const Nest& nest = reader.nest();
  const LoopMask left_out = partitioning_loops(reader);
  std::optional<int64_t> points = 1;
  for (int32_t loop = 0; loop < nest.loop_count() && points; ++loop) {
    if (!(left_out & loop_bit(loop))) points = checked_mul(*points, nest.extent(loop));
  }
  return points;
}

bool has_window(const Contraction& contraction, const KernelReader& reader) {
  const Nest& nest = reader.nest();
  const LoopMask targets = reader.target_mask();
  for (const Factor& factor : contraction.factors) {
    for (const int32_t access : factor.accesses) {
      for (const Linear& subscript : reader.plain_subscripts(access)) {
        const LoopMask support = nest.support(subscript);
        if ((support & targets) == 0 || (support & ~targets) == 0) continue;
        if (!nest.loops_only(subscript)) return true;
        // Tiles that do not overlap, h*D + d, are a split axis.
        int64_t step = std::numeric_limits<int64_t>::max();
        int64_t span = 1;
        for (const ir::Term& term : subscript.terms) {
          const int64_t factor_size = std::abs(term.coefficient);
          if (targets & loop_bit(term.atom)) {
            step = std::min(step, factor_size);
          } else {
            span = wrapping_add(span, wrapping_mul(factor_size, nest.extent(term.atom) - 1));
          }
        }
        if (span > step) return true;
      }
    }
  }
  return false;
}

ir::ElementType mac_type(const Contraction& contraction,
                         const std::function<ir::ElementType(ir::TensorId)>& values_of,
                         const std::function<bool(ir::TensorId)>& is_inside) {
  std::optional<ir::ElementType> outside;
  std::optional<ir::ElementType> inside;
  for (const Factor& factor : contraction.factors) {
    for (const FoldedAccess& read : factor.reads) {
      const ir::ElementType type = values_of(read.base);
      auto& widest = is_inside(read.base) ? inside : outside;
      if (!widest || width(type) > width(*widest)) widest = type;
    }
  }
  return outside ? *outside : inside.value_or(ir::ElementType::F32);
}

}  // namespace solar::einsum
