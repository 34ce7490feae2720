// What the trace notes of each read and each stored result.

#include <algorithm>

#include "base/checked.h"
#include "einsum/tracer.h"

namespace solar::einsum {

namespace {

// A subscript's terms that data decides, and the others.
struct Parts {
  LoopMask data = 0;  // loops that the former depend on
  Linear rest = {};
};

Parts parts_of(const Nest& nest, const Linear& subscript) {
  Parts parts{0, constant(subscript.constant)};
  for (const ir::Term& term : subscript.terms) {
    if (nest.reads_data(single(term.atom))) {
      parts.data |= nest.support(term.atom);
    } else {
      parts.rest = add(parts.rest, scale(single(term.atom), term.coefficient));
    }
  }
  return parts;
}

// Whether the loops `rest` vary freely of the loops that data depends on.
bool varies_freely(LoopMask rest, LoopMask data, const Region& points) {
  if (rest & data) return false;
  return std::none_of(points.groups().begin(), points.groups().end(),
                      [&](const RegionGroup& group) {
                        LoopMask mask = 0;
                        for (const int32_t loop : group.axes) mask |= loop_bit(loop);
                        return (mask & rest) != 0 && (mask & data) != 0;
                      });
}

}  // namespace

void Tracer::merge(Touched& touched, const Region& region) const {
  Region& mine = touched.regions[static_cast<size_t>(mode_)];
  mine = unite(mine, region);
}

void Tracer::need_output(ir::TensorId output) {
  const WholeRead read = whole_read(index_, output);
  const ir::TensorId base = read.access.base;
  if (index_.is_port(base)) return;  // an alias of an input is neither read nor written
  for (const Linear& subscript : read.access.subscripts) {
    if (read.nest->reads_data(subscript)) result_.one_row_gathers = true;
  }
  const Region region = image(*read.nest, Region::full(read.nest->extents()),
                              read.access.subscripts, index_.shape(base));
  need_result(base, region);
}

void Tracer::need_update(const ir::Update& update) {
  const WholeRead read = whole_read(index_, update.value);
  const ir::TensorId base = read.access.base;
  const Region region = image(*read.nest, Region::full(read.nest->extents()),
                              read.access.subscripts, index_.shape(base));
  if (index_.is_port(base)) {
    if (base != update.state) merge(result_.ports[base], region);
    return;
  }
  const auto memory = memory_of(base);
  if (!memory || *memory == update.state) return need_result(base, region);
  need_copy(base, region);
}

// In a donated base nothing is copied: what is not overwritten stands there already.
void Tracer::need_result(ir::TensorId base, const Region& region) {
  if (!memory_of(base)) return need_copy(base, region);
  if (!trials_.empty() && !index_.is_in(base, trials_.back().block)) return;
  const auto [at, added] = stored_.try_emplace(base, region);
  if (!added) at->second = unite(at->second, region);
}

void Tracer::need_copy(ir::TensorId base, const Region& region) {
  need(base, region);
  if (on_trial() || is_still_a_port(base)) return;
  merge(result_.written[base], region);
  merge(result_.outside[base], region);
}

void Tracer::need(ir::TensorId base, const Region& region) {
  if (!trials_.empty() && !index_.is_in(base, trials_.back().block)) {
    if (trials_.back().outside == nullptr) return;
    const auto [at, added] = trials_.back().outside->try_emplace(base, region);
    if (!added) at->second = unite(at->second, region);
    return;
  }
  if (index_.is_port(base)) return;
  Region& mine = demand_[ir::index(base)];
  mine = unite(mine, region);
}

void Tracer::read(const Piece& piece, const Use& use, const Region& domain, const Region& wanted) {
  const ir::TensorId base = use.access.base;
  if (domain.empty() || (prepared_.generated[ir::index(base)] && !index_.is_port(base))) return;
  if (use.chosen) result_.both_branches_read = true;
  const Region* points = &domain;
  Region conditional;
  if (!use.when.empty()) {
    std::vector<Constraint> all = piece.constraints;
    all.insert(all.end(), use.when.begin(), use.when.end());
    conditional = restricted(piece, std::move(all), nullptr, wanted);
    points = &conditional;
  }
  if (points->empty()) return;
  read_points(piece, use.access, *points);
}

Tracer::Reach Tracer::reach(const Nest& nest, const std::vector<Linear>& subscripts,
                            const std::vector<int64_t>& shape, const Region& points) const {
  Reach reach;
  std::vector<bool> by_data(shape.size(), false);
  std::vector<Parts> parts(shape.size());
  LoopMask data = 0;
  bool known = true;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (!nest.reads_data(subscripts[axis])) continue;
    reach.by_data = by_data[axis] = true;
    parts[axis] = parts_of(nest, subscripts[axis]);
    data |= parts[axis].data;
    known = known && nest.has_values_for(subscripts[axis]);
  }
  reach.at_example = reach.by_data && known && mode_ == Mode::Example;
  if (!reach.by_data || reach.at_example) {
    reach.region = image(nest, points, subscripts, shape);
    return reach;
  }
  // The least: all data alike. What moves with a subscript beside the data counts where it does so
  // for every value of the data alike.
  std::vector<Linear> first = subscripts;
  bool clipped = false;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (!by_data[axis]) continue;
    const LoopMask rest = nest.support(parts[axis].rest);
    bool free = data == 0 || varies_freely(rest, data, points);
    for (size_t other = 0; other < shape.size() && data != 0; ++other) {
      if (other != axis && (nest.support(subscripts[other]) & rest) != 0) free = false;
    }
    const Range range = nest.range(parts[axis].rest);
    first[axis] = free ? add(parts[axis].rest, constant(-range.low)) : Linear{};
    clipped = clipped || (free && range.high - range.low >= shape[axis]);
    if (!free) data |= rest;
  }
  reach.region = image(nest, points, first, shape);
  reach.whole = image(nest, points, subscripts, shape, by_data);
  reach.least = reach.region.count().value_or(INT64_MAX);
  const int64_t rows = count_projection(points, data).value_or(INT64_MAX);
  reach.most = reach.whole.count().value_or(INT64_MAX);
  if (!clipped) reach.most = std::min(reach.most, saturating_mul(reach.least, rows));
  return reach;
}

bool Tracer::is_outside(ir::TensorId base) const {
  const int32_t producer = index_.producer(base);
  return producer < 0 || operator_ < 0 ||
         grouping_.of_statement[static_cast<size_t>(producer)] != operator_;
}

void Tracer::read_points(const Piece& piece, const FoldedAccess& access, const Region& points) {
  const ir::TensorId base = access.base;
  const std::vector<int64_t>& shape = index_.shape(base);
  const bool port = index_.is_port(base);
  const Reach all = reach(*piece.nest, access.subscripts, shape, points);
  const bool open = all.by_data && !all.at_example;
  if (all.by_data) result_.depends_on_data = true;
  if (open && !port) result_.one_row_gathers = true;
  // A port's elements at an unknown place are no region; they are counted below.
  if (!open || !port) need(base, open && mode_ != Mode::Min ? all.whole : all.region);
  if (on_trial()) return;
  if (port) account(result_.ports[base], all, true);
  if (!is_outside(base)) return;
  if (!port && !memory_of(base)) account(result_.outside[base], all, false);
  if (operator_ < 0) return;
  auto& reads = result_.reads[static_cast<size_t>(operator_)];
  std::vector<Linear> subscripts = access.subscripts;
  std::vector<int64_t> extents = shape;
  const size_t steps = grouping_.steps[static_cast<size_t>(operator_)];
  for (size_t step = index_.loops(base).size(); step < steps; ++step) {
    subscripts.push_back(single(piece.steps[step]));
    extents.push_back(piece.nest->extent(piece.steps[step]));
  }
  Reach each =
      extents.size() == shape.size() ? all : reach(*piece.nest, subscripts, extents, points);
  if (index_.carried_of(base) != nullptr && starts_generated(base)) {
    // What the first step gets is made of nothing.
    Region later = Region::full(extents);
    const size_t axis = shape.size() - 1;
    later.restrict({static_cast<int32_t>(axis)}, RunSet::interval(1, shape[axis]));
    each.region = intersect(each.region, later);
  }
  account(reads[base], each, port);
}

// A value that a `while` got from a port and gives back after no step.
bool Tracer::is_still_a_port(ir::TensorId id) const {
  if (index_.carried_of(id) == nullptr || index_.shape(id).back() > 1) return false;
  const Statement& carry = prepared_.statements[static_cast<size_t>(index_.producer(id))];
  return index_.is_port(carry.pieces[0].uses.back().access.base);
}

bool Tracer::starts_generated(ir::TensorId inside) const {
  const Statement& carry = prepared_.statements[static_cast<size_t>(index_.producer(inside))];
  return prepared_.generated[ir::index(carry.pieces[0].uses.back().access.base)];
}

// The port in whose memory a tensor stands, after scatters into donated bases.
std::optional<ir::TensorId> Tracer::memory_of(ir::TensorId id) {
  if (index_.donated_scatter_of(id) == nullptr && index_.carried_of(id) == nullptr) return {};
  const auto [at, added] = memory_.try_emplace(id);
  if (added) {
    Nest nest(index_.shape(id));
    std::vector<Linear> axes;
    for (int32_t axis = 0; axis < nest.loop_count(); ++axis) axes.push_back(single(axis));
    if (const auto storage = index_.storage_of(nest, id, std::move(axes)))
      at->second = storage->base;
  }
  return at->second;
}

// `counted`: elements at an unknown place as numbers; else as if all data were 0.
void Tracer::account(Touched& touched, const Reach& reach, bool counted) const {
  if (!reach.by_data || reach.at_example) return merge(touched, reach.region);
  if (mode_ == Mode::Example) {
    touched.example_known = false;
    if (!counted) merge(touched, reach.whole);
    return;
  }
  if (!counted) return merge(touched, mode_ == Mode::Min ? reach.region : reach.whole);
  if (mode_ == Mode::Min) {
    touched.data_min = std::max(touched.data_min, reach.least);
  } else {
    touched.data_max = saturating_add(touched.data_max, reach.most);
    touched.data_whole = unite(touched.data_whole, reach.whole);
  }
}

}  // namespace solar::einsum
