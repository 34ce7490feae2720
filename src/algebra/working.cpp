#include "algebra/working.h"

#include <algorithm>

#include "algebra/prepare.h"

namespace solar::algebra {
namespace {

void exchange(ir::Kernel& kernel, ir::TensorId old, ir::TensorId other) {
  for (ir::Access& access : kernel.accesses) {
    if (access.tensor == old) access.tensor = other;
  }
  for (ir::Atom& atom : kernel.atoms) {
    if (atom.kind == ir::Atom::Kind::DataRead && atom.tensor == old) atom.tensor = other;
  }
}

void exchange(std::vector<ir::Statement>& statements, ir::TensorId old, ir::TensorId other) {
  const auto swap = [&](ir::TensorId& id) {
    if (id == old) id = other;
  };
  for (ir::Statement& statement : statements) {
    if (auto* kernel = std::get_if<ir::Kernel>(&statement.body)) {
      exchange(*kernel, old, other);
    } else if (auto* view = std::get_if<ir::View>(&statement.body)) {
      swap(view->input);
      for (ir::Atom& atom : view->atoms) {
        if (atom.kind == ir::Atom::Kind::DataRead) swap(atom.tensor);
      }
    } else if (auto* concat = std::get_if<ir::Concat>(&statement.body)) {
      for (ir::TensorId& id : concat->inputs) swap(id);
    } else if (auto* scatter = std::get_if<ir::Scatter>(&statement.body)) {
      exchange(scatter->nest, old, other);
      if (scatter->base) swap(*scatter->base);
    } else if (auto* sort = std::get_if<ir::Sort>(&statement.body)) {
      swap(sort->input);
    } else if (auto* compact = std::get_if<ir::Compact>(&statement.body)) {
      swap(compact->input);
    } else if (auto* opaque = std::get_if<ir::Opaque>(&statement.body)) {
      for (ir::TensorId& id : opaque->inputs) swap(id);
    } else if (auto* repeat = std::get_if<ir::Repeat>(&statement.body)) {
      for (ir::Carried& carried : repeat->carried) {
        swap(carried.initial);
        swap(carried.next);
      }
      for (ir::Stacked& stacked : repeat->stacked) swap(stacked.element);
      exchange(repeat->body, old, other);
    }
  }
}

bool same_nest(const ir::Kernel& a, const ir::Kernel& b) {
  return a.loops.size() == b.loops.size() && a.nodes.size() == b.nodes.size() &&
         a.reduction == b.reduction && a.output == b.output &&
         a.accesses.size() == b.accesses.size() && a.guards.size() == b.guards.size();
}

bool same_blocks(const std::vector<ir::Statement>& a, const std::vector<ir::Statement>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].body.index() != b[i].body.index()) return false;
    if (const auto* kernel = std::get_if<ir::Kernel>(&a[i].body)) {
      const auto& other = std::get<ir::Kernel>(b[i].body);
      if (!same_nest(*kernel, other)) return false;
      for (size_t loop = 0; loop < other.loops.size(); ++loop) {
        if ((kernel->loops[loop].extent == 1) != (other.loops[loop].extent == 1)) return false;
      }
    }
    if (const auto* repeat = std::get_if<ir::Repeat>(&a[i].body)) {
      if (!same_blocks(repeat->body, std::get<ir::Repeat>(b[i].body).body)) return false;
    }
  }
  return true;
}

}  // namespace

Working::Working(ir::Program program, bool frozen) : program_(std::move(program)), frozen_(frozen) {
  rebuild();
}

void Working::add_block(std::vector<ir::Statement>& statements) {
  const auto block = static_cast<int32_t>(blocks_.size());
  blocks_.push_back(&statements);
  for (size_t i = 0; i < statements.size(); ++i) {
    const std::vector<ir::TensorId> outputs = ir::outputs_of(statements[i]);
    for (const ir::TensorId id : outputs) places_[ir::index(id)] = {block, static_cast<int32_t>(i)};
    for (const ir::TensorId id : ir::inputs_of(statements[i])) {
      std::vector<ir::TensorId>& readers = readers_[ir::index(id)];
      if (!outputs.empty() &&
          std::find(readers.begin(), readers.end(), outputs[0]) == readers.end())
        readers.push_back(outputs[0]);
    }
    if (auto* repeat = std::get_if<ir::Repeat>(&statements[i].body)) {
      for (const ir::Carried& carried : repeat->carried) leaves_[ir::index(carried.next)] = true;
      for (const ir::Stacked& stacked : repeat->stacked) leaves_[ir::index(stacked.element)] = true;
      add_block(repeat->body);
    }
  }
}

void Working::rebuild() {
  blocks_.clear();
  places_.assign(program_.tensors.size(), {});
  readers_.assign(program_.tensors.size(), {});
  leaves_.assign(program_.tensors.size(), false);
  for (const ir::TensorId id : program_.outputs) leaves_[ir::index(id)] = true;
  for (const ir::Update& update : program_.updates) leaves_[ir::index(update.value)] = true;
  add_block(program_.statements);
  fixed_ = frozen_ ? fixed_tensors(program_) : std::vector<bool>(program_.tensors.size(), false);
}

const ir::Statement* Working::producer(ir::TensorId id) const {
  const Place at = places_[ir::index(id)];
  if (at.block < 0) return nullptr;
  return &(*blocks_[static_cast<size_t>(at.block)])[static_cast<size_t>(at.position)];
}

const ir::Kernel* Working::kernel(ir::TensorId id) const {
  const ir::Statement* statement = producer(id);
  if (statement == nullptr) return nullptr;
  const auto* kernel = std::get_if<ir::Kernel>(&statement->body);
  return kernel != nullptr && kernel->output == id ? kernel : nullptr;
}

const ir::View* Working::view(ir::TensorId id) const {
  const ir::Statement* statement = producer(id);
  return statement == nullptr ? nullptr : std::get_if<ir::View>(&statement->body);
}

ir::TensorId Working::add_tensor(std::string name, ir::ElementType type,
                                 std::vector<int64_t> shape) {
  ir::Tensor tensor;
  tensor.name = std::move(name);
  tensor.type = type;
  tensor.shape = std::move(shape);
  program_.tensors.push_back(std::move(tensor));
  places_.emplace_back();
  readers_.emplace_back();
  leaves_.push_back(false);
  fixed_.push_back(false);
  return static_cast<ir::TensorId>(program_.tensors.size() - 1);
}

void Working::replace(ir::TensorId output, std::vector<ir::Statement> statements) {
  const Place at = place(output);
  std::vector<ir::Statement>& block = *blocks_[static_cast<size_t>(at.block)];
  const ir::Statement old = block[static_cast<size_t>(at.position)];
  for (ir::Statement& statement : statements) {
    statement.group = old.group;
    statement.span = old.span;
  }
  const auto where = block.erase(block.begin() + at.position);
  block.insert(where, std::make_move_iterator(statements.begin()),
               std::make_move_iterator(statements.end()));
  rebuild();
}

void Working::substitute(ir::TensorId old, ir::TensorId other) {
  exchange(program_.statements, old, other);
  for (ir::TensorId& id : program_.outputs) {
    if (id == old) id = other;
  }
  for (ir::Update& update : program_.updates) {
    if (update.value == old) update.value = other;
  }
  rebuild();
}

void Working::remove_dead() {
  for (bool changed = true; changed;) {
    changed = false;
    for (std::vector<ir::Statement>* block : blocks_) {
      const auto dead = [&](const ir::Statement& statement) {
        const std::vector<ir::TensorId> outputs = ir::outputs_of(statement);
        return std::all_of(outputs.begin(), outputs.end(),
                           [&](ir::TensorId id) { return !leaves(id) && readers(id).empty(); });
      };
      const auto end = std::remove_if(block->begin(), block->end(), dead);
      if (end == block->end()) continue;
      block->erase(end, block->end());
      changed = true;
      break;
    }
    if (changed) rebuild();
  }
}

bool same_structure(const ir::Program& a, const ir::Program& b) {
  return a.tensors.size() == b.tensors.size() && same_blocks(a.statements, b.statements);
}

}  // namespace solar::algebra
