#include "exec/memory_plan.h"

#include <algorithm>
#include <set>

#include "exec/executor.h"
#include "exec/nest.h"

namespace solar::exec {
namespace {

using ir::Statement;
using ir::TensorId;

Placement own_buffer(TensorId id, const ir::Tensor& tensor) {
  return {id, 0, row_major_strides(tensor.shape), true};
}

bool reads_data(const ir::View& view) {
  return std::any_of(view.atoms.begin(), view.atoms.end(),
                     [](const ir::Atom& atom) { return atom.kind == ir::Atom::Kind::DataRead; });
}

/// A view shares its input's buffer when its positions there are a sum of strides and of what does
/// not vary over its elements. Data-dependent ones are checked axis by axis, so there every
/// subscript has to be such a sum.
Placement place_view(const ir::Program& program, const ir::View& view, const Placement& input) {
  const ir::Tensor& output = program.tensor(view.output);
  const auto atom_axes = loops_of_atoms(view.atoms);
  const auto is_sum = [&](const ir::Linear& linear) {
    return std::all_of(linear.terms.begin(), linear.terms.end(), [&](const ir::Term& term) {
      const auto atom = static_cast<size_t>(term.atom);
      return view.atoms[atom].kind == ir::Atom::Kind::Loop || atom_axes[atom] == 0;
    });
  };
  ir::Linear position;
  for (size_t axis = 0; axis < view.subscripts.size(); ++axis) {
    add_scaled(position, view.subscripts[axis], input.strides[axis]);
  }
  simplify(position, view.atoms, output.shape);
  const bool checkable =
      !reads_data(view) || std::all_of(view.subscripts.begin(), view.subscripts.end(), is_sum);
  if (!is_sum(position) || !checkable) return own_buffer(view.output, output);
  Placement result = {input.owner, 0, std::vector<int64_t>(output.shape.size(), 0), false};
  result.start.constant = position.constant;
  for (const ir::Term& term : position.terms) {
    const auto atom = static_cast<size_t>(term.atom);
    if (view.atoms[atom].kind == ir::Atom::Kind::Loop) {
      result.strides[atom] = term.coefficient;
    } else {
      result.start.terms.push_back(term);
    }
  }
  result.moving = input.moving || !result.start.terms.empty();
  if (!result.moving) result.offset = input.offset + position.constant;
  return result;
}

/// Whether a run writes the tensor's elements itself, rather than giving it another's buffer.
bool is_written(const Statement& statement, TensorId id) {
  if (std::holds_alternative<ir::If>(statement.body) ||
      std::holds_alternative<ir::While>(statement.body) ||
      std::holds_alternative<ir::View>(statement.body))
    return false;
  if (const auto* repeat = std::get_if<ir::Repeat>(&statement.body)) {
    return std::any_of(repeat->stacked.begin(), repeat->stacked.end(),
                       [&](const ir::Stacked& one) { return one.result == id; });
  }
  return true;
}

class Planner {
 public:
  explicit Planner(const ir::Program& program) : program_(program) {
    for (size_t i = 0; i < program.tensors.size(); ++i) {
      plan_.placements.push_back(own_buffer(static_cast<TensorId>(i), program.tensors[i]));
    }
    plan_.place_in_stack.resize(program.tensors.size());
    last_use_.assign(program.tensors.size(), -1);
    block_of_.assign(program.tensors.size(), nullptr);
  }

  MemoryPlan plan(const std::vector<TensorId>& results) {
    // A part of a program keeps its tensors, but not all of its ports.
    for (const TensorId port : program_.ports) {
      if (program_.tensor(port).role != ir::Role::Const)
        add(saturating_bytes(program_.tensor(port)));
    }
    for (const ir::Tensor& tensor : program_.tensors) {
      if (tensor.role == ir::Role::Const) add(saturating_bytes(tensor));
    }
    plan_block(program_.statements, {}, results);
    plan_.peak_bytes = overflow_ ? INT64_MAX : peak_;
    return std::move(plan_);
  }

 private:
  void add(int64_t bytes) {
    live_ = saturating_add(live_, bytes);
    overflow_ = overflow_ || live_ == INT64_MAX;
    peak_ = std::max(peak_, live_);
  }
  void remove(int64_t bytes) { live_ -= overflow_ ? 0 : bytes; }

  /// What a tensor's definition adds; a slot is part of its result.
  int64_t own_bytes(TensorId id) const {
    if (plan_.placements[index(id)].owner != id || plan_.place_in_stack[index(id)]) return 0;
    return saturating_bytes(program_.tensor(id));
  }

  /// `entering` are defined before the first statement.
  void plan_block(const std::vector<Statement>& body, const std::vector<TensorId>& entering,
                  const std::vector<TensorId>& results, const ir::While* loop = nullptr) {
    const size_t count = body.size();
    BlockPlan block;
    block.released.resize(count + 1);
    find_uses(body, entering, results);
    if (loop != nullptr) hold_for_test(*loop);
    for (const TensorId id : entering) add(own_bytes(id));
    const auto release = [&](TensorId id) {
      if (block_of_[index(id)] == &body)
        block.released[static_cast<size_t>(last_use_[index(id)])].push_back(id);
    };
    for (const TensorId id : entering) release(id);
    for (const Statement& statement : body) {
      for (const TensorId id : outputs_of(statement)) release(id);
    }
    for (size_t at = 0; at < count; ++at) {
      int64_t reused = 0;
      if (const auto* scatter = std::get_if<ir::Scatter>(&body[at].body))
        reused = takes_base(plan_, *scatter, block.released[at]) ? own_bytes(*scatter->base) : 0;
      remove(reused);
      plan_statement(body[at]);
      int64_t freed = -reused;
      for (const TensorId id : block.released[at]) freed += own_bytes(id);
      remove(freed);
    }
    for (const TensorId id : results) {  // a view is copied out
      if (!plan_.placements[index(id)].plain) add(saturating_bytes(program_.tensor(id)));
    }
    if (&body != &program_.statements) {
      for (const TensorId id : results) {
        if (!plan_.placements[index(id)].plain) remove(saturating_bytes(program_.tensor(id)));
      }
      for (const TensorId id : block.released[count]) remove(own_bytes(id));
    }
    plan_.blocks.emplace(&body, std::move(block));
  }

  void find_uses(const std::vector<Statement>& body, const std::vector<TensorId>& entering,
                 const std::vector<TensorId>& results) {
    const auto use = [&](TensorId id, size_t at) { use_in(body, id, at); };
    for (const TensorId id : entering) {
      block_of_[index(id)] = &body;
      use(id, 0);
    }
    for (size_t at = 0; at < body.size(); ++at) {
      if (const auto* view = std::get_if<ir::View>(&body[at].body)) {
        plan_.placements[index(view->output)] =
            place_view(program_, *view, plan_.placements[index(view->input)]);
      }
      for (const TensorId id : outputs_of(body[at])) {
        if (plan_.placements[index(id)].owner == id) block_of_[index(id)] = &body;
        use(id, at);
      }
      for (const TensorId id : inputs_of(body[at])) use(id, at);
    }
    for (const TensorId id : results) use(id, body.size());
  }

  void use_in(const std::vector<Statement>& body, TensorId id, size_t at) {
    const TensorId owner = plan_.placements[index(id)].owner;
    int32_t& last = last_use_[index(owner)];
    if (block_of_[index(owner)] == &body) last = std::max(last, static_cast<int32_t>(at));
  }

  /// When the test fails, what this step began with is the result.
  void hold_for_test(const ir::While& loop) {
    for (const ir::Carried& one : loop.carried) use_in(loop.body, one.inside, loop.before_test);
    use_in(loop.body, loop.test, loop.before_test);
  }

  void plan_statement(const Statement& statement) {
    if (const auto* repeat = std::get_if<ir::Repeat>(&statement.body)) {
      for (const ir::Stacked& one : repeat->stacked) add(own_bytes(one.result));
      std::vector<TensorId> inside, results;
      for (const ir::Carried& one : repeat->carried) {
        inside.push_back(one.inside);
        results.push_back(one.next);
      }
      place_in_slots(*repeat);
      for (const ir::Stacked& one : repeat->stacked) results.push_back(one.element);
      plan_block(repeat->body, inside, results);
      for (const ir::Carried& one : repeat->carried) add(own_bytes(one.result));
    } else if (const auto* loop = std::get_if<ir::While>(&statement.body)) {
      std::vector<TensorId> inside, results;
      for (const ir::Carried& one : loop->carried) {
        inside.push_back(one.inside);
        results.push_back(one.next);
      }
      plan_block(loop->body, inside, results, loop);
      for (const ir::Carried& one : loop->carried) add(own_bytes(one.result));
    } else if (const auto* branches = std::get_if<ir::If>(&statement.body)) {
      plan_block(branches->taken.body, {}, branches->taken.values);
      plan_block(branches->otherwise.body, {}, branches->otherwise.values);
      for (const TensorId id : branches->results) add(own_bytes(id));
    } else {
      for (const TensorId id : outputs_of(statement)) add(own_bytes(id));
      const int64_t work = work_bytes(program_, statement);
      add(work);
      remove(work);
    }
  }

  /// The first stacked result of an element that the body writes gives it its place.
  void place_in_slots(const ir::Repeat& repeat) {
    std::set<TensorId> written;
    for (const Statement& statement : repeat.body) {
      for (const TensorId id : outputs_of(statement)) {
        if (is_written(statement, id)) written.insert(id);
      }
    }
    for (const ir::Stacked& one : repeat.stacked) {
      auto& slot = plan_.place_in_stack[index(one.element)];
      if (!slot && written.contains(one.element)) slot = {one.result, repeat.step};
    }
  }

  const ir::Program& program_;
  MemoryPlan plan_ = {};
  std::vector<int32_t> last_use_ = {};                        // per owner, in its block
  std::vector<const std::vector<Statement>*> block_of_ = {};  // per owner
  int64_t live_ = 0, peak_ = 0;
  bool overflow_ = false;
};

}  // namespace

std::vector<TensorId> tensors_named(const ir::Program& program,
                                    const std::vector<std::string>& names) {
  std::vector<TensorId> result;
  for (const std::string& name : names) {
    for (size_t i = 0; i < program.tensors.size(); ++i) {
      if (program.tensors[i].name == name) result.push_back(static_cast<TensorId>(i));
    }
  }
  return result;
}

bool takes_base(const MemoryPlan& plan, const ir::Scatter& scatter,
                const std::vector<TensorId>& released) {
  if (!scatter.base || plan.place_in_stack[index(scatter.nest.output)]) return false;
  const Placement& base = plan.placements[index(*scatter.base)];
  if (!base.plain) return false;
  if (std::find(released.begin(), released.end(), *scatter.base) == released.end()) return false;
  const auto shares = [&](TensorId id) { return plan.placements[index(id)].owner == base.owner; };
  const ir::Kernel& nest = scatter.nest;
  return std::none_of(nest.accesses.begin(), nest.accesses.end(),
                      [&](const ir::Access& access) { return shares(access.tensor); }) &&
         std::none_of(nest.atoms.begin(), nest.atoms.end(), [&](const ir::Atom& atom) {
           return atom.kind == ir::Atom::Kind::DataRead && shares(atom.tensor);
         });
}

std::vector<TensorId> results_of(const ir::Program& program, const std::vector<TensorId>& kept) {
  std::vector<TensorId> result = program.outputs;
  for (const ir::Update& update : program.updates) result.push_back(update.value);
  result.insert(result.end(), kept.begin(), kept.end());
  return result;
}

MemoryPlan plan_memory(const ir::Program& program, const std::vector<TensorId>& results) {
  return Planner(program).plan(results);
}

int64_t predict_peak_bytes(const ir::VerifiedProgram& program,
                           const std::vector<std::string>& keep) {
  return plan_memory(*program, results_of(*program, tensors_named(*program, keep))).peak_bytes;
}

}  // namespace solar::exec
