// Pieces of the statements that have no kernel of their own.

#include <algorithm>

#include "einsum/prepare.h"

namespace solar::einsum {

Piece& MovePreparation::add_piece(Statement& statement, ir::TensorId output, Loops loops) const {
  Piece piece;
  piece.output = output;
  std::vector<int64_t> extents = std::move(loops.own);
  for (const int64_t step : loops.steps) {
    piece.steps.push_back(static_cast<int32_t>(extents.size()));
    extents.push_back(step);
  }
  statement.nests.push_back(std::make_unique<Nest>(std::move(extents)));
  piece.nest = statement.nests.back().get();
  piece.domain = Region::full(piece.nest->extents());
  statement.pieces.push_back(std::move(piece));
  return statement.pieces.back();
}

// Of the piece added last.
void MovePreparation::add_read(Statement& statement, ir::TensorId input,
                               std::vector<Linear> subscripts) const {
  Nest& nest = *statement.nests.back();
  std::vector<Use>& uses = statement.pieces.back().uses;
  FoldedAccess access = index_.fold(nest, input, std::move(subscripts));
  for (const Linear& subscript : access.subscripts) data_uses(nest, subscript, {}, uses);
  uses.push_back({std::move(access), {}, -1});
}

void MovePreparation::concat(const Placed& placed, const ir::Concat& concat,
                             Statement& statement) const {
  statement.outputs = {concat.output};
  const std::vector<int64_t> steps = index_.extents(index_.block_of(placed).loops);
  int64_t offset = 0;
  for (const ir::TensorId input : concat.inputs) {
    const std::vector<int64_t>& shape = index_.program().tensor(input).shape;
    Piece& piece = add_piece(statement, concat.output, {shape, steps});
    std::vector<Linear> own;
    std::vector<Linear> step;
    for (int32_t axis = 0; axis < piece.nest->loop_count(); ++axis) {
      (own.size() < shape.size() ? own : step).push_back(single(axis));
      piece.target.push_back(add(single(axis), constant(axis == concat.axis ? offset : 0)));
    }
    add_read(statement, input, index_.with_steps(input, std::move(own), step));
    offset += shape[static_cast<size_t>(concat.axis)];
  }
}

void MovePreparation::carry(const Placed& placed, Statement& statement) const {
  const ir::Carried& carried = *placed.carried;
  statement.outputs = {carried.inside};
  const std::vector<int64_t>& shape = index_.program().tensor(carried.inside).shape;
  std::vector<int64_t> outer = index_.extents(index_.block_of(placed).loops);
  const int64_t steps = outer.back();
  outer.pop_back();
  const auto add_part = [&](ir::TensorId from, bool first) {
    Loops loops{shape, outer};
    if (!first) loops.steps.push_back(steps - 1);
    Piece& piece = add_piece(statement, carried.inside, std::move(loops));
    std::vector<Linear> own;
    std::vector<Linear> step;
    for (int32_t axis = 0; axis < piece.nest->loop_count(); ++axis) {
      (own.size() < shape.size() ? own : step).push_back(single(axis));
      piece.target.push_back(single(axis));
    }
    if (first) {
      piece.target.push_back({});
    } else {
      piece.target.back() = add(piece.target.back(), constant(1));
    }
    add_read(statement, from, index_.with_steps(from, std::move(own), step));
  };
  add_part(carried.initial, true);
  if (steps > 1) add_part(carried.next, false);
}

void MovePreparation::sort(const Placed& placed, const ir::Sort& sort, Statement& statement) const {
  statement.outputs = {sort.values, sort.positions};
  Loops loops{index_.program().tensor(sort.input).shape,
              index_.extents(index_.block_of(placed).loops)};
  const auto rank = static_cast<int32_t>(loops.own.size());
  loops.own.push_back(sort.count);  // the place in the output
  Piece& piece = add_piece(statement, sort.values, std::move(loops));
  std::vector<Linear> own;
  std::vector<Linear> steps;
  for (int32_t axis = 0; axis < rank; ++axis) {
    own.push_back(single(axis));
    piece.target.push_back(single(axis == sort.axis ? rank : axis));
  }
  for (const int32_t step : piece.steps) steps.push_back(single(step));
  piece.target.insert(piece.target.end(), steps.begin(), steps.end());
  add_read(statement, sort.input, index_.with_steps(sort.input, std::move(own), steps));
}

// Any element of the output needs all of the input.
void MovePreparation::add_whole_input(const Placed& placed, ir::TensorId output, ir::TensorId input,
                                      Statement& statement) const {
  const std::vector<int64_t>& shape = index_.program().tensor(output).shape;
  const std::vector<int64_t>& read = index_.program().tensor(input).shape;
  Loops loops{shape, index_.extents(index_.block_of(placed).loops)};
  loops.own.insert(loops.own.end(), read.begin(), read.end());
  Piece& piece = add_piece(statement, output, std::move(loops));
  std::vector<Linear> own;
  std::vector<Linear> steps;
  for (size_t loop = 0; loop < shape.size() + read.size(); ++loop) {
    (loop < shape.size() ? piece.target : own).push_back(single(static_cast<int32_t>(loop)));
  }
  for (const int32_t step : piece.steps) steps.push_back(single(step));
  piece.target.insert(piece.target.end(), steps.begin(), steps.end());
  add_read(statement, input, index_.with_steps(input, std::move(own), steps));
}

void MovePreparation::compact(const Placed& placed, const ir::Compact& compact,
                              Statement& statement) const {
  statement.outputs = {compact.output, compact.count};
  for (const ir::TensorId output : statement.outputs) {
    add_whole_input(placed, output, compact.input, statement);
  }
}

void MovePreparation::opaque(const Placed& placed, const ir::Opaque& opaque,
                             Statement& statement) const {
  statement.outputs = opaque.outputs;
  for (const ir::TensorId output : opaque.outputs) {
    for (const ir::TensorId input : opaque.inputs) {
      add_whole_input(placed, output, input, statement);
    }
  }
}

void MovePreparation::scatter_base(const Placed& placed, const ir::Scatter& scatter,
                                   Statement& statement) const {
  const std::vector<int64_t>& shape = index_.program().tensor(scatter.nest.output).shape;
  Piece& piece = add_piece(statement, scatter.nest.output,
                           {shape, index_.extents(index_.block_of(placed).loops)});
  std::vector<Linear> own;
  std::vector<Linear> steps;
  for (int32_t axis = 0; axis < piece.nest->loop_count(); ++axis) {
    (own.size() < shape.size() ? own : steps).push_back(single(axis));
    piece.target.push_back(single(axis));
  }
  add_read(statement, *scatter.base, index_.with_steps(*scatter.base, std::move(own), steps));
}

}  // namespace solar::einsum
