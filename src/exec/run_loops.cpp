// Statements with bodies. A carried tensor goes from step to step by handing its buffer over.

#include <fmt/format.h>

#include <cstring>

#include "exec/run.h"
#include "exec/strided_copy.h"

namespace solar::exec {

using ir::Statement;
using ir::TensorId;

namespace {

bool share_memory(const Buffer& a, const Buffer& b) {
  return !a.owner_before(b) && !b.owner_before(a);
}

}  // namespace

Result<Done> Run::enter(const std::vector<ir::Carried>& carried) {
  for (const ir::Carried& one : carried) {
    SOLAR_TRY(data_[index(one.inside)], whole(one.initial));
  }
  return Done{};
}

/// The end of a step. The buffers are found before any is handed over: the values may be swapped.
Result<Done> Run::carry(const std::vector<ir::Carried>& carried,
                        const std::vector<Statement>& body) {
  std::vector<Buffer> next;
  for (const ir::Carried& one : carried) {
    SOLAR_TRY(Buffer buffer, whole(one.next));
    next.push_back(std::move(buffer));
  }
  release(plan_.block(body).released.back());
  for (size_t i = 0; i < carried.size(); ++i) data_[index(carried[i].inside)] = std::move(next[i]);
  return Done{};
}

Result<Done> Run::leave(const std::vector<ir::Carried>& carried,
                        const std::vector<ir::Stacked>& stacked) {
  for (const ir::Carried& one : carried) {
    Buffer& inside = data_[index(one.inside)];
    Buffer& result = data_[index(one.result)];
    result = inside;
    // The last step's slot would keep the whole stacked result alive.
    for (const ir::Stacked& other : stacked) {
      if (!share_memory(inside, data_[index(other.result)])) continue;
      const ir::Tensor& tensor = program_.tensor(one.result);
      SOLAR_TRY(result, new_buffer(tensor));
      std::memcpy(result.get(), inside.get(), static_cast<size_t>(saturating_bytes(tensor)));
      break;
    }
  }
  for (const ir::Carried& one : carried) data_[index(one.inside)].reset();
  return Done{};
}

/// Copies what the body did not write in place.
Result<Done> Run::stack_up(const ir::Repeat& repeat) {
  const int64_t step = steps_[static_cast<size_t>(repeat.step)];
  for (const ir::Stacked& one : repeat.stacked) {
    const auto& slot = plan_.place_in_stack[index(one.element)];
    if (slot && slot->result == one.result) continue;
    DataRef to = find(one.result);
    to.data += step * saturating_bytes(program_.tensor(one.element));
    to.extents.erase(to.extents.begin());
    to.strides.erase(to.strides.begin());
    if (copy_elements(to, find(one.element), context_) == KernelStatus::Cancelled)
      return interrupted();
  }
  return Done{};
}

Result<Done> Run::run_body(const ir::Repeat& repeat, const Statement&) {
  const ir::Step& step = program_.steps[static_cast<size_t>(repeat.step)];
  for (const ir::Stacked& one : repeat.stacked) {
    SOLAR_TRY(const Done place, allocate(one.result));
    static_cast<void>(place);
  }
  SOLAR_TRY(const Done entered, enter(repeat.carried));
  static_cast<void>(entered);
  ++depth_;
  for (int64_t i = 0; i < step.extent; ++i) {
    if (context_.cancelled()) return interrupted();
    steps_[static_cast<size_t>(repeat.step)] = step.descending ? step.extent - 1 - i : i;
    SOLAR_TRY(const Done ran, run_block(repeat.body, 0, repeat.body.size()));
    SOLAR_TRY(const Done stacked, stack_up(repeat));
    SOLAR_TRY(const Done carried, carry(repeat.carried, repeat.body));
    static_cast<void>(ran), static_cast<void>(stacked), static_cast<void>(carried);
    report_points(saturating_add(done_points_, 1));
  }
  --depth_;
  return leave(repeat.carried, repeat.stacked);
}

Result<Done> Run::run_body(const ir::While& loop, const Statement& statement) {
  SOLAR_TRY(const Done entered, enter(loop.carried));
  static_cast<void>(entered);
  ControlPath& path = paths_[static_cast<size_t>(loop.control)];
  ++path.entered;
  ++depth_;
  for (int64_t steps = 0;; ++steps) {
    if (context_.cancelled()) return interrupted();
    SOLAR_TRY(const Done before, run_block(loop.body, 0, loop.before_test));
    static_cast<void>(before);
    if (!truth(loop.test)) break;
    if (steps == loop.limit) return too_many_steps(loop, statement);
    SOLAR_TRY(const Done after, run_block(loop.body, loop.before_test, loop.body.size()));
    SOLAR_TRY(const Done carried, carry(loop.carried, loop.body));
    static_cast<void>(after), static_cast<void>(carried);
    ++path.steps;
    report_points(saturating_add(done_points_, 1));
  }
  --depth_;
  SOLAR_TRY(const Done left, leave(loop.carried, {}));
  for (const auto& ids : plan_.block(loop.body).released) release(ids);
  return left;
}

Diagnostic Run::too_many_steps(const ir::While& loop, const Statement& statement) const {
  return run_problem(
      DiagnosticKind::StepLimit,
      fmt::format("the `while` of `{}` has made {} steps, its limit, and `{}` still holds",
                  program_.controls[static_cast<size_t>(loop.control)].name, loop.limit,
                  program_.tensor(loop.test).name),
      "raise `limit`, or check that the condition becomes false for these inputs", statement.span);
}

Result<Done> Run::run_body(const ir::If& branches, const Statement&) {
  const bool taken = truth(branches.condition);
  ControlPath& path = paths_[static_cast<size_t>(branches.control)];
  ++(taken ? path.taken : path.not_taken);
  const ir::Branch& branch = taken ? branches.taken : branches.otherwise;
  SOLAR_TRY(const Done ran, run_block(branch.body, 0, branch.body.size()));
  static_cast<void>(ran);
  for (size_t i = 0; i < branches.results.size(); ++i) {
    SOLAR_TRY(data_[index(branches.results[i])], whole(branch.values[i]));
  }
  release(plan_.block(branch.body).released.back());
  return Done{};
}

bool Run::truth(TensorId id) { return *first_element(id) != std::byte{0}; }

}  // namespace solar::exec
