#include "einsum/edges.h"

#include <algorithm>
#include <cstdlib>

#include "einsum/linear.h"

namespace solar::einsum {

namespace {

/// The axis of a piece's output that loop `loop` runs along by itself, or -1.
int32_t axis_of_loop(const Piece& piece, int32_t loop) {
  for (size_t axis = 0; axis < piece.target.size(); ++axis) {
    const Linear& subscript = piece.target[axis];
    if (subscript.terms.size() == 1 && subscript.terms[0].atom == loop)
      return static_cast<int32_t>(axis);
  }
  return -1;
}

LoopMask written_loops(const Piece& piece) {
  LoopMask mask = 0;
  for (const Linear& subscript : piece.target) mask |= piece.nest->support(subscript);
  return mask;
}

/// Whether the summed loops lead from one value of the others to the next: windows overlap.
bool overlaps(const Nest& nest, const Linear& subscript, LoopMask written) {
  int64_t span = 0;
  int64_t stride = INT64_MAX;
  for (const ir::Term& term : subscript.terms) {
    const int64_t factor = std::abs(term.coefficient);
    const Range range = nest.range(single(term.atom));
    if ((nest.support(single(term.atom)) & written) == 0) {
      span += factor * (range.high - range.low);
    } else {
      stride = std::min(stride, factor);
    }
  }
  return stride <= span;
}

}  // namespace

std::string_view name(Obstacle obstacle) {
  switch (obstacle) {
    case Obstacle::Reduction:
      return "reduction";
    case Obstacle::SoftmaxLike:
      return "softmax-like";
    case Obstacle::Halo:
      return "halo";
    case Obstacle::DataDependent:
      return "data-dependent";
    case Obstacle::Order:
      return "order";
  }
  return "?";
}

void EdgeReader::Fate::add(const Fate& other) {
  reduction = reduction || other.reduction;
  halo = halo || other.halo;
  data = data || other.data;
  order = order || other.order;
}

EdgeReader::EdgeReader(const ProgramIndex& index, const Prepared& prepared,
                       std::vector<int32_t> operators)
    : index_(index), prepared_(prepared), operators_(std::move(operators)) {
  for (size_t i = 0; i < operators_.size(); ++i) {
    if (operators_[i] < 0) continue;
    const Statement& statement = prepared_.statements[i];
    for (const Piece& piece : statement.pieces) {
      const auto at = static_cast<int32_t>(i);
      add_uses(at, piece, piece.uses);
      if (&piece != statement.pieces.data()) continue;
      for (const auto* uses : {&statement.guard_uses, &statement.ragged_uses, &statement.init_uses,
                               &statement.otherwise_uses}) {
        add_uses(at, piece, *uses);
      }
    }
  }
}

void EdgeReader::add_uses(int32_t statement, const Piece& piece, const std::vector<Use>& uses) {
  const int32_t op = operators_[static_cast<size_t>(statement)];
  for (const Use& use : uses) {
    readers_[{op, use.access.base}].push_back({statement, &piece, &use});
  }
}

EdgeReader::Fate EdgeReader::fate(int32_t op, ir::TensorId tensor, int32_t axis,
                                  std::map<Key, Fate>& known) const {
  const Key key = {tensor, axis};
  const auto [at, fresh] = known.emplace(key, Fate{.order = true});  // a carried value meets itself
  if (!fresh) return at->second;
  Fate result;
  const auto readers = readers_.find({op, tensor});
  if (readers != readers_.end()) {
    for (const Reader& reader : readers->second) result.add(fate_in(op, reader, axis, known));
  }
  known[key] = result;
  return result;
}

EdgeReader::Fate EdgeReader::fate_in(int32_t op, const Reader& reader, int32_t axis,
                                     std::map<Key, Fate>& known) const {
  const Piece& piece = *reader.piece;
  const Nest& nest = *piece.nest;
  const Linear& subscript = reader.use->access.subscripts[static_cast<size_t>(axis)];
  if (nest.reads_data(subscript)) return {.data = true};
  const LoopMask loops = nest.support(subscript);
  if (loops == 0)
    return {.order = index_.shape(reader.use->access.base)[static_cast<size_t>(axis)] > 1};
  const LoopMask written = written_loops(piece);
  if ((loops & written) == 0) return {.reduction = true};
  if ((loops & ~written) != 0) {
    const bool apart = nest.loops_only(subscript) && !overlaps(nest, subscript, written);
    return apart ? Fate{.reduction = true} : Fate{.halo = true};
  }
  if (subscript.terms.size() != 1 || !nest.loops_only(subscript)) return {.order = true};
  const int32_t loop = subscript.terms[0].atom;
  const int32_t output_axis = axis_of_loop(piece, loop);
  if (output_axis < 0) return {.order = true};
  const bool is_step = std::find(piece.steps.begin(), piece.steps.end(), loop) != piece.steps.end();
  const Placed& placed = index_.placed(reader.statement);
  const auto* kernel =
      placed.statement == nullptr ? nullptr : std::get_if<ir::Kernel>(&placed.statement->body);
  const bool ordered = kernel != nullptr && loop < static_cast<int32_t>(kernel->loops.size()) &&
                       kernel->loops[static_cast<size_t>(loop)].order != ir::Loop::Order::Any;
  Fate result{.order = is_step || ordered || placed.statement == nullptr};
  if (result.kept()) result.add(fate(op, piece.output, output_axis, known));
  return result;
}

// x - mean(x), exp(x) / sum(exp(x)): the element and a sum over its axis meet.
bool EdgeReader::is_softmax_like(int32_t op, ir::TensorId tensor, int32_t axis) const {
  const int32_t producer = index_.producer(tensor);
  for (const Piece& piece : prepared_.statements[static_cast<size_t>(producer)].pieces) {
    const Linear& target = piece.target[static_cast<size_t>(axis)];
    const LoopMask along = piece.nest->support(target);
    bool meets_sum = false;
    for (const Use& use : piece.uses) {
      const int32_t made = index_.producer(use.access.base);
      if (made < 0 || operators_[static_cast<size_t>(made)] != op) continue;
      LoopMask loops = 0;
      for (const Linear& subscript : use.access.subscripts) loops |= piece.nest->support(subscript);
      meets_sum = meets_sum || (loops & along) == 0;
    }
    if (!meets_sum) continue;
    for (const Use& use : piece.uses) {
      for (size_t i = 0; i < use.access.subscripts.size(); ++i) {
        if ((piece.nest->support(use.access.subscripts[i]) & along) == 0) continue;
        std::map<Key, Fate> known;
        if (fate(op, use.access.base, static_cast<int32_t>(i), known).reduction) return true;
      }
    }
  }
  return false;
}

void EdgeReader::classify(Edge& edge) const {
  const auto producer = static_cast<int32_t>(edge.producer);
  const auto consumer = static_cast<int32_t>(edge.consumer);
  const auto axes = static_cast<int32_t>(index_.shape(edge.tensor).size());
  std::map<Key, Fate> known;
  Fate all;
  bool softmax = false;
  for (int32_t axis = 0; axis < axes; ++axis) {
    const Fate there = fate(consumer, edge.tensor, axis, known);
    all.add(there);
    const bool sums = is_softmax_like(producer, edge.tensor, axis);
    softmax = softmax || sums;
    if (there.kept() && !sums) edge.tileable.push_back(axis);
  }
  const auto note = [&](bool there, Obstacle obstacle) {
    if (there) edge.obstacles.push_back(obstacle);
  };
  note(all.reduction, Obstacle::Reduction);
  note(softmax, Obstacle::SoftmaxLike);
  note(all.halo, Obstacle::Halo);
  note(all.data, Obstacle::DataDependent);
  note(all.order, Obstacle::Order);
}

}  // namespace solar::einsum
