// What a lane loop costs, in rough nanoseconds; only the order of the choices matters.

#include <algorithm>
#include <cstdlib>

#include "exec/kernel_run.h"

namespace solar::exec {

int64_t loop_points(const Nest& nest) {
  int64_t points = 1;
  for (const int64_t n : nest.extents) points *= n;
  return points;
}

std::vector<int32_t> accesses_under(const Nest& nest, const std::vector<int32_t>& roots) {
  const auto& nodes = nest.kernel->nodes;
  std::vector<bool> live(nodes.size(), false);
  for (const int32_t root : roots) live[static_cast<size_t>(root)] = true;
  std::vector<int32_t> result;
  for (size_t i = nodes.size(); i-- > 0;) {
    if (!live[i]) continue;
    for (const int32_t operand : {nodes[i].a, nodes[i].b, nodes[i].c}) {
      if (operand >= 0) live[static_cast<size_t>(operand)] = true;
    }
    if (nodes[i].op == ScalarOp::Load) result.push_back(nodes[i].reference);
  }
  return result;
}

namespace {

/// How many values a loop visits at a time; ragged ranges are taken to share the extent out.
int64_t typical_length(const Nest& nest, int loop) {
  int64_t length = nest.extents[static_cast<size_t>(loop)];
  if (!nest.has_ragged || !nest.ragged[static_cast<size_t>(loop)]) return length;
  const uint64_t ranges = range_loops(nest);
  for (size_t other = 0; other < nest.extents.size(); ++other) {
    if (((ranges >> other) & 1U) != 0) length /= nest.extents[other];
  }
  return std::max<int64_t>(length, 1);
}

}  // namespace

double lane_cost(const Nest& nest, int lane, const std::vector<int32_t>& roots) {
  constexpr double kPerStrip = 60, kPerAtom = 3, kScattered = 1.5, kNear = 0.8, kUnit = 0.2;
  const auto atom_loops = loops_of_atoms(nest.atoms);
  const auto varies = [&](const ir::Linear& linear) {
    return ((loops_of(linear, atom_loops) >> lane) & 1U) != 0;
  };
  const auto cost_of = [&](int64_t stride, ElementType type) {
    if (stride == 0) return 0.02;
    if (stride == 1) return kUnit;
    return std::abs(stride) * memory_bytes(type) <= 64 ? kNear : kScattered;
  };
  double cost =
      kPerStrip / static_cast<double>(std::min<int64_t>(typical_length(nest, lane), kStripLanes));
  for (const int32_t index : accesses_under(nest, roots)) {
    const NestAccess& access = nest.accesses[static_cast<size_t>(index)];
    int64_t stride = 0;
    bool affine = true;
    for (const ir::Term& term : access.position.terms) {
      if (term.atom == lane) stride = term.coefficient;
      const bool derived = nest.atoms[static_cast<size_t>(term.atom)].kind != ir::Atom::Kind::Loop;
      affine =
          affine && !(derived && ((atom_loops[static_cast<size_t>(term.atom)] >> lane) & 1U) != 0);
    }
    cost += affine ? cost_of(stride, access.from.type) : kScattered + kPerAtom;
  }
  for (const ir::Guard& guard : nest.guards) {
    const bool ranged =
        std::all_of(guard.value.terms.begin(), guard.value.terms.end(), [&](const ir::Term& term) {
          return nest.atoms[static_cast<size_t>(term.atom)].kind == ir::Atom::Kind::Loop;
        });
    if (varies(guard.value) && (!ranged || guard.kind == ir::Guard::Kind::NonZero))
      cost += kPerAtom;
  }
  if (nest.target[static_cast<size_t>(lane)]) {
    double reduced = 1;
    for (size_t loop = 0; loop < nest.extents.size(); ++loop) {
      if (!nest.target[loop]) reduced *= static_cast<double>(nest.extents[loop]);
    }
    cost += cost_of(nest.output_strides[static_cast<size_t>(lane)], nest.output.type) * 2 / reduced;
  }
  return cost;
}

}  // namespace solar::exec
