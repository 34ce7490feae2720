#include "einsum/program_index.h"

#include "base/checked.h"

namespace solar::einsum {

ProgramIndex::ProgramIndex(const ir::Program& program, std::vector<exec::ControlPath> paths)
    : program_(&program),
      paths_(std::move(paths)),
      producers_(program.tensors.size(), -1),
      block_of_tensor_(program.tensors.size(), 0),
      aliases_(program.tensors.size()) {
  if (!program.steps.empty() || !program.controls.empty()) shapes_.resize(program.tensors.size());
  placed_.reserve(program.statements.size());
  blocks_.emplace_back();
  add_block(0, program.statements, 1);
  // Carries come last, so that statements have the numbers they have in the program.
  const auto statements = static_cast<int32_t>(placed_.size());
  for (Block& block : blocks_) {
    for (int32_t& carry : block.carries) carry += statements;
  }
  for (size_t i = 0; i < carries_.size(); ++i) {
    producers_[ir::index(carries_[i].carried->inside)] = statements + static_cast<int32_t>(i);
    placed_.push_back(std::move(carries_[i]));
  }
  carries_.clear();
}

void ProgramIndex::add_block(int32_t id, const std::vector<ir::Statement>& statements,
                             int64_t executions) {
  for (const ir::Statement& statement : statements) {
    const auto at = static_cast<int32_t>(placed_.size());
    placed_.push_back({.statement = &statement, .block = id, .executions = executions});
    blocks_[static_cast<size_t>(id)].statements.push_back(at);
    std::visit([&](const auto& body) { add(at, body); }, statement.body);
  }
  blocks_[static_cast<size_t>(id)].end = static_cast<int32_t>(blocks_.size());
}

int32_t ProgramIndex::open_block(const Block& parent, int32_t loop) {
  Block block;
  block.loops = parent.loops;
  block.alternative = parent.alternative;
  if (loop >= 0) block.loops.push_back(loop);
  blocks_.push_back(std::move(block));
  return static_cast<int32_t>(blocks_.size() - 1);
}

template <class Other>
void ProgramIndex::add(int32_t id, const Other&) {
  const Placed& placed = placed_[static_cast<size_t>(id)];
  for (const ir::TensorId output : ir::outputs_of(*placed.statement)) {
    define(output, id, placed.block);
  }
}

void ProgramIndex::define(ir::TensorId id, int32_t producer, int32_t block) {
  producers_[ir::index(id)] = producer;
  block_of_tensor_[ir::index(id)] = block;
  const std::vector<int32_t>& loops = this->block(block).loops;
  if (loops.empty()) return;
  std::vector<int64_t>& shape = shapes_[ir::index(id)];
  shape = program_->tensor(id).shape;
  for (const int64_t extent : extents(loops)) shape.push_back(extent);
}

void ProgramIndex::add(int32_t id, const ir::View& view) {
  define(view.output, id, placed(id).block);
  alias(view.output) = {.kind = Alias::Kind::View, .to = view.input, .view = &view};
}

void ProgramIndex::add_carries(int32_t id, int32_t body, const std::vector<ir::Carried>& carried) {
  for (const ir::Carried& one : carried) {
    blocks_[static_cast<size_t>(body)].carries.push_back(static_cast<int32_t>(carries_.size()));
    Placed carry;
    carry.carried = &one;
    carry.block = body;
    carry.owner = id;
    define(one.inside, id, body);
    carries_.push_back(std::move(carry));
  }
}

void ProgramIndex::add(int32_t id, const ir::Repeat& repeat) {
  const ir::Step& step = program_->steps[static_cast<size_t>(repeat.step)];
  const int32_t outer = placed(id).block;
  const auto loop = static_cast<int32_t>(step_loops_.size());
  step_loops_.push_back({step.name, step.extent_text, step.extent, repeat.step, step.descending});
  const int32_t body = open_block(Block(block(outer)), loop);
  placed_[static_cast<size_t>(id)].bodies = {body};
  add_carries(id, body, repeat.carried);
  const auto executions = checked_mul(placed(id).executions, step.extent);
  add_block(body, repeat.body, executions.value_or(INT64_MAX));
  for (const ir::Carried& one : repeat.carried) {
    define(one.result, id, outer);
    alias(one.result) = {.kind = Alias::Kind::AtStep, .to = one.next, .step = step.extent - 1};
  }
  for (const ir::Stacked& one : repeat.stacked) {
    define(one.result, id, outer);
    alias(one.result) = {.kind = Alias::Kind::Stacked, .to = one.element, .loop = loop};
  }
}

int64_t ProgramIndex::steps_of(const ir::While& loop) {
  const auto at = static_cast<size_t>(loop.control);
  if (at >= paths_.size()) {
    path_missing_ = true;
    return 0;
  }
  const exec::ControlPath& path = paths_[at];
  uses_recorded_path_ = true;
  if (path.entered <= 1) return path.steps;
  if (path.steps == 0) return 0;
  const auto longest = checked_mul(path.entered, loop.limit);
  if (longest && path.steps == *longest) return loop.limit;
  path_missing_ = true;  // how the steps spread over the times it was entered
  return 0;
}

void ProgramIndex::add(int32_t id, const ir::While& loop) {
  const int64_t steps = steps_of(loop);
  const int32_t outer = placed(id).block;
  const auto number = static_cast<int32_t>(step_loops_.size());
  const std::string& name = program_->controls[static_cast<size_t>(loop.control)].name;
  step_loops_.push_back({.name = "step_" + name, .extent = steps + 1});
  const int32_t body = open_block(Block(block(outer)), number);
  placed_[static_cast<size_t>(id)].bodies = {body};
  add_carries(id, body, loop.carried);
  const int64_t entered = placed(id).executions;
  const auto before = static_cast<int32_t>(placed_.size());
  add_block(body, loop.body, checked_mul(entered, steps).value_or(INT64_MAX));
  // What the test needs runs once more.
  size_t place = 0;
  for (int32_t at = before; at < static_cast<int32_t>(placed_.size()); ++at) {
    Placed& inside = placed_[static_cast<size_t>(at)];
    if (inside.block != body) continue;
    if (place++ < loop.before_test)
      inside.executions = checked_mul(entered, steps + 1).value_or(INT64_MAX);
  }
  for (const ir::Carried& one : loop.carried) {
    define(one.result, id, outer);
    alias(one.result) = {.kind = Alias::Kind::AtStep, .to = one.inside, .step = steps};
  }
}

std::optional<bool> ProgramIndex::choice_of(const ir::If& branch) {
  const auto at = static_cast<size_t>(branch.control);
  if (at < paths_.size()) {
    const exec::ControlPath& path = paths_[at];
    uses_recorded_path_ = true;
    if (path.not_taken == 0 && path.taken > 0) return true;
    if (path.taken == 0) return false;
  }
  path_missing_ = true;
  return std::nullopt;
}

void ProgramIndex::add(int32_t id, const ir::If& branch) {
  const std::optional<bool> choice = choice_of(branch);
  const int32_t outer = placed(id).block;
  const int64_t executions = placed(id).executions;
  // Both are numbered, so that a statement's number does not depend on the path.
  for (const bool taken : {true, false}) {
    const int32_t body = open_block(Block(block(outer)), -1);
    const bool may_run = !choice || *choice == taken;
    if (may_run) placed_[static_cast<size_t>(id)].bodies.push_back(body);
    if (!choice) blocks_[static_cast<size_t>(body)].alternative = true;
    add_block(body, (taken ? branch.taken : branch.otherwise).body, executions);
  }
  for (size_t i = 0; i < branch.results.size(); ++i) {
    define(branch.results[i], id, outer);
    if (!choice) continue;
    alias(branch.results[i]) = {.kind = Alias::Kind::Same,
                                .to = (*choice ? branch.taken : branch.otherwise).values[i]};
  }
}

std::vector<int64_t> ProgramIndex::extents(const std::vector<int32_t>& loops) const {
  std::vector<int64_t> extents;
  for (const int32_t loop : loops) extents.push_back(step_loop(loop).extent);
  return extents;
}

const ir::Kernel* ProgramIndex::kernel_of(ir::TensorId id) const {
  const int32_t at = producer(id);
  if (at < 0 || placed(at).statement == nullptr) return nullptr;
  return std::get_if<ir::Kernel>(&placed(at).statement->body);
}

const ir::Carried* ProgramIndex::carried_of(ir::TensorId id) const {
  const int32_t at = producer(id);
  return at < 0 ? nullptr : placed(at).carried;
}

const ir::Scatter* ProgramIndex::donated_scatter_of(ir::TensorId id) const {
  const int32_t at = producer(id);
  if (at < 0 || placed(at).statement == nullptr) return nullptr;
  const auto* scatter = std::get_if<ir::Scatter>(&placed(at).statement->body);
  return scatter != nullptr && scatter->donated && scatter->base ? scatter : nullptr;
}

const std::vector<int64_t>& ProgramIndex::shape(ir::TensorId id) const {
  const bool extended = !shapes_.empty() && !loops(id).empty();
  return extended ? shapes_[ir::index(id)] : program_->tensor(id).shape;
}

const std::vector<int32_t>& ProgramIndex::loops(ir::TensorId id) const {
  return block(block_of_tensor_[ir::index(id)]).loops;
}

bool ProgramIndex::is_in(ir::TensorId id, int32_t block) const {
  const int32_t mine = block_of_tensor_[ir::index(id)];
  return mine >= block && mine < this->block(block).end;
}

std::vector<ir::TensorId> ProgramIndex::tensors_in(int32_t id) const {
  std::vector<ir::TensorId> tensors;
  std::vector<int32_t> open = {id};
  while (!open.empty()) {
    const Block& block = this->block(open.back());
    open.pop_back();
    for (const int32_t carry : block.carries) tensors.push_back(placed(carry).carried->inside);
    for (const int32_t at : block.statements) {
      for (const ir::TensorId output : ir::outputs_of(*placed(at).statement)) {
        tensors.push_back(output);
      }
      open.insert(open.end(), placed(at).bodies.begin(), placed(at).bodies.end());
    }
  }
  return tensors;
}

}  // namespace solar::einsum
