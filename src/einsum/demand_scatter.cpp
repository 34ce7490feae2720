// Demand through a scatter: updates whose element is wanted, and the base where it shows.

#include <algorithm>

#include "einsum/tracer.h"

namespace solar::einsum {

namespace {

// Memberships of the target in `wanted` that can be decided; `decided` turns false where data that
// is not known decides.
std::vector<Constraint> target_in(const Piece& piece, const Region& wanted,
                                  const std::vector<bool>& by_data, bool at_example,
                                  bool& decided) {
  if (wanted.empty()) return {Constraint{}};
  std::vector<Constraint> all;
  for (const RegionGroup& group : wanted.groups()) {
    std::vector<Linear> inside;
    bool known = true;
    for (const int32_t axis : group.axes) {
      const Linear& subscript = piece.target[static_cast<size_t>(axis)];
      known = known && (!by_data[static_cast<size_t>(axis)] ||
                        (at_example && piece.nest->has_values_for(subscript)));
      inside.push_back(subscript);
    }
    decided = decided && known;
    if (known) all.push_back(membership(*piece.nest, inside, group, wanted.shape()));
  }
  return all;
}

}  // namespace

void Tracer::trace_scatter(int32_t id, const Statement& statement) {
  const auto at = static_cast<size_t>(id);
  const ScatterParts& parts = *statement.scatter;
  const ir::TensorId output = statement.outputs[0];
  const std::vector<int64_t>& shape = index_.shape(output);
  const Region read_later = demand_[ir::index(output)];
  const auto stored = stored_.find(output);
  const Region in_place = stored == stored_.end() ? Region::none(shape) : stored->second;
  const Region wanted = unite(read_later, in_place);
  if (wanted.empty()) return;
  const bool by_data =
      std::find(parts.by_data.begin(), parts.by_data.end(), true) != parts.by_data.end();
  if (by_data || statement.data_guarded) result_.depends_on_data = true;

  // The updates.
  const Piece& piece = statement.pieces[0];
  bool decided = true;
  std::vector<Constraint> constraints =
      target_in(piece, wanted, parts.by_data, mode_ == Mode::Example, decided);
  const std::vector<Constraint> target = constraints;
  constraints.insert(constraints.end(), piece.constraints.begin(), piece.constraints.end());
  Region domain = solve(*piece.nest, constraints);
  if (!wanted.exact()) domain.mark_inexact();
  const bool skipped = mode_ == Mode::Min && (statement.data_guarded || !decided);
  if (skipped) domain = Region::none(piece.nest->extents());
  if (mode_ == Mode::Min && !on_estimate()) {
    result_.live[at] = true;
    result_.wanted[at] = wanted;
    result_.useful_domain[at] = domain;
    result_.exact[at] = !skipped && domain.exact() && !statement.left_out_reads;
  }
  if (statement.generated) return;
  const auto guards_and = [&](const std::vector<Constraint>& guards) {
    std::vector<Constraint> all = target;
    all.insert(all.end(), guards.begin(), guards.end());
    return solve(*piece.nest, all);
  };
  const Region guarded = statement.guard_uses.empty() ? Region{} : guards_and(piece.guards);
  for (const Use& use : statement.guard_uses) read(piece, use, guarded, wanted);
  const Region plain = statement.ragged_uses.empty() ? Region{} : guards_and(piece.plain_guards);
  for (const Use& use : statement.ragged_uses) read(piece, use, plain, wanted);
  for (const Use& use : piece.uses) {
    if (use.when.empty()) {
      read(piece, use, domain, wanted);
      continue;
    }
    std::vector<Constraint> when = constraints;
    when.insert(when.end(), use.when.begin(), use.when.end());
    const Region points = skipped ? domain : solve(*piece.nest, when);
    read(piece, {use.access, {}, use.source, use.chosen}, points, wanted);
  }
  if (statement.pieces.size() < 2) return;
  trace_scatter_base(statement, read_later, in_place, domain, by_data);
}

void Tracer::trace_scatter_base(const Statement& statement, const Region& read_later,
                                const Region& in_place, const Region& updates, bool by_data) {
  const ScatterParts& parts = *statement.scatter;
  const Piece& piece = statement.pieces[0];
  const Piece& base = statement.pieces[1];
  const ir::TensorId output = statement.outputs[0];
  const FoldedAccess& from = base.uses.back().access;
  const bool port = index_.is_port(from.base);

  // What is read of the output later shows the base where nothing is set: if all of it is read,
  // as many elements fewer as there are updates.
  const bool sets_each_once = parts.sets && read_later.is_full() && piece.steps.empty() &&
                              piece.domain.exact() && !statement.data_guarded;
  Region shown = read_later;
  bool unknown_place = false;
  if (parts.sets && !read_later.empty() && !statement.data_guarded) {
    const bool at_example = mode_ == Mode::Example && known_target(piece);
    if (!by_data || at_example) {
      const Region set = image(*piece.nest, updates, piece.target, read_later.shape());
      const bool proved = set.exact() || mode_ != Mode::Min;
      shown = proved ? subtract(read_later, set) : Region::none(read_later.shape());
    } else {
      unknown_place = mode_ == Mode::Min || (port && sets_each_once);
    }
  } else if (parts.sets && statement.data_guarded && mode_ == Mode::Min) {
    unknown_place = true;
  }
  if (!unknown_place) {
    const Region points = restricted(base, {}, &base.domain, shown);
    for (const Use& use : base.uses) read(base, use, points, shown);
  } else if (port && !on_trial()) {
    // Each point sets one element at most.
    const Region points_set =
        piece.domain.exact() ? piece.domain : Region::full(piece.nest->extents());
    const int64_t set = points_set.count().value_or(INT64_MAX);
    const Region points = restricted(base, {}, &base.domain, read_later);
    Reach rest = reach(*base.nest, from.subscripts, index_.shape(from.base), points);
    const int64_t all = rest.by_data ? rest.least : rest.region.count().value_or(0);
    if (!rest.by_data) rest.whole = rest.region;
    rest.by_data = true;
    rest.least = std::max<int64_t>(all - set, 0);
    rest.most = sets_each_once ? rest.least : all;
    account(result_.ports[from.base], rest, true);
    const auto op = static_cast<size_t>(operator_);
    if (operator_ >= 0 && grouping_.steps[op] <= index_.loops(from.base).size())
      account(result_.reads[op][from.base], rest, true);
  }

  // In a donated base only the updated elements move.
  if (!parts.storage) return;
  if (!in_place.empty() && !parts.sets)
    read(piece, {parts.base_at_target, {}, -1}, updates, in_place);
  if (!in_place.empty() && !port)
    need_result(from.base, image(*base.nest, restricted(base, {}, &base.domain, in_place),
                                 from.subscripts, index_.shape(from.base)));
  if (on_trial() || updates.empty()) return;
  const FoldedAccess& storage = *parts.storage;
  // `=` promises that every point has an element of its own.
  const auto set_once = [&](Reach& reached) {
    const auto points = updates.count();
    if (parts.sets && reached.by_data && points) reached.least = reached.most = *points;
  };
  if (!in_place.empty()) {
    Reach reached = reach(*piece.nest, storage.subscripts, index_.shape(storage.base), updates);
    if (piece.steps.empty()) set_once(reached);
    account(result_.written[storage.base], reached, true);
  }
  Reach written = reach(*piece.nest, piece.target, index_.shape(output), updates);
  set_once(written);
  account(result_.outside[output], written, true);
}

bool Tracer::known_target(const Piece& piece) {
  return std::all_of(piece.target.begin(), piece.target.end(), [&](const Linear& subscript) {
    return !piece.nest->reads_data(subscript) || piece.nest->has_values_for(subscript);
  });
}

}  // namespace solar::einsum
