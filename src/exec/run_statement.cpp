// Statements without bodies, and the buffers they work on.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "exec/compact.h"
#include "exec/run.h"
#include "exec/scatter.h"
#include "exec/sort.h"
#include "exec/strided_copy.h"

namespace solar::exec {

using ir::Statement;
using ir::TensorId;

namespace {

/// A view that strides cannot express, as a kernel.
ir::Kernel copy_kernel(const ir::Program& program, const ir::View& view) {
  ir::Kernel kernel;
  const ir::Tensor& output = program.tensor(view.output);
  for (size_t axis = 0; axis < output.shape.size(); ++axis) {
    kernel.loops.push_back({.name = {}, .extent = output.shape[axis]});
    kernel.target_loops.push_back(static_cast<int32_t>(axis));
  }
  kernel.atoms = view.atoms;
  kernel.accesses.push_back({view.input, view.subscripts, false});
  kernel.nodes.push_back({.op = ir::ScalarOp::Load, .type = output.type, .reference = 0});
  kernel.output = view.output;
  kernel.value = 0;
  return kernel;
}

std::string place_of(int64_t element, const std::vector<int64_t>& shape) {
  std::vector<int64_t> subscripts(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    subscripts[axis] = element % shape[axis];
    element /= shape[axis];
  }
  return fmt::format("[{}]", fmt::join(subscripts, ", "));
}

}  // namespace

DataRef Run::find(TensorId id) {
  const ir::Tensor& tensor = program_.tensor(id);
  return {first_element(id), tensor.type, tensor.shape, placement(id).strides, id};
}

std::byte* Run::first_element(TensorId id) {
  const Placement& place = placement(id);
  const Buffer& buffer = data_[index(place.owner)];
  SOLAR_CHECK(buffer != nullptr, "a tensor is read before it is defined or after its last use");
  return buffer.get() + (place.moving ? offsets_[index(id)] : place.offset) *
                            memory_bytes(program_.tensor(id).type);
}

Result<Buffer> Run::new_buffer(const ir::Tensor& tensor) const {
  SOLAR_TRY(const TensorData data, TensorData::make(tensor.type, tensor.shape));
  return data.share();
}

/// Kernels write only to buffers that nothing else holds yet, or to their slot of a stacked result.
Result<Done> Run::allocate(TensorId id) {
  const ir::Tensor& tensor = program_.tensor(id);
  if (const auto& slot = plan_.place_in_stack[index(id)]) {
    const Buffer& whole = data_[index(slot->result)];
    const int64_t at = steps_[static_cast<size_t>(slot->step)] * saturating_bytes(tensor);
    data_[index(id)] = Buffer(whole, whole.get() + at);
    return Done{};
  }
  SOLAR_TRY(data_[index(id)], new_buffer(tensor));
  return Done{};
}

Result<Buffer> Run::whole(TensorId id) {
  if (placement(id).plain) return data_[index(id)];
  const ir::Tensor& tensor = program_.tensor(id);
  SOLAR_TRY(Buffer buffer, new_buffer(tensor));
  const DataRef to = {buffer.get(), tensor.type, tensor.shape, row_major_strides(tensor.shape), id};
  if (copy_elements(to, find(id), context_) == KernelStatus::Cancelled) return interrupted();
  return buffer;
}

void Run::release(const std::vector<TensorId>& ids) {
  for (const TensorId id : ids) data_[index(id)].reset();
}

Result<Done> Run::run_block(const std::vector<Statement>& body, size_t begin, size_t end) {
  const BlockPlan& block = plan_.block(body);
  for (size_t at = begin; at < end; ++at) {
    released_ = &block.released[at];
    SOLAR_TRY(const Done done, run_statement(body[at]));
    static_cast<void>(done);
    if (options_.replace && depth_ == 0 && &body == &program_.statements) {
      SOLAR_TRY(const Done replaced, offer(body[at]));
      static_cast<void>(replaced);
    }
    release(block.released[at]);
  }
  return Done{};
}

Result<Done> Run::offer(const Statement& statement) {
  for (const TensorId id : ir::outputs_of(statement)) {
    if (data_[index(placement(id).owner)] == nullptr) continue;  // nobody needs it
    const ir::Tensor& tensor = program_.tensor(id);
    SOLAR_TRY(const TensorData value, take(id));
    std::optional<TensorData> other = options_.replace(tensor.name, value);
    if (!other || placement(id).owner != id || !placement(id).plain) continue;
    SOLAR_CHECK(other->type() == tensor.type && other->shape() == tensor.shape,
                "a tensor is replaced by one of another type or shape");
    data_[index(id)] = normalised(std::move(*other)).share();
  }
  return Done{};
}

/// In a loop, only now and then.
void Run::report_points(int64_t done) {
  constexpr int64_t kPoints = 1 << 22;
  done_points_ = done;
  if (!options_.progress) return;
  if (depth_ > 0 && done - reported_points_ <= std::min(all_points_ / 1000, kPoints)) return;
  reported_points_ = done;
  options_.progress(done, all_points_);
}

Result<Done> Run::run_statement(const Statement& statement) {
  const int64_t before = done_points_;
  const int64_t after = saturating_add(before, statement_points(program_, statement));
  if (options_.progress) {
    context_.finished = [this, after](int64_t some) {
      report_points(std::min(saturating_add(done_points_, some * team_.size()), after));
    };
  }
  SOLAR_TRY(const Done done, std::visit([&](const auto& body) { return run_body(body, statement); },
                                        statement.body));
  report_points(after);
  return done;
}

Result<Done> Run::run_body(const ir::Kernel& kernel, const Statement& statement) {
  SOLAR_TRY(const Done first, allocate(kernel.output));
  static_cast<void>(first);
  if (kernel.second_output) {
    SOLAR_TRY(const Done second, allocate(*kernel.second_output));
    static_cast<void>(second);
  }
  return run_kernel_at(kernel, statement);
}

Result<Done> Run::run_kernel_at(const ir::Kernel& kernel, const Statement& statement) {
  const auto find_tensor = [this](TensorId id) { return find(id); };
  if (depth_ == 0)
    return finish(run_kernel(kernel, find_tensor, context_), statement, kernel.output);
  auto& prepared = prepared_[&statement].kernel;
  if (prepared) {
    prepared->rebind([this](TensorId id) { return first_element(id); });
  } else {
    prepared = std::make_unique<PreparedKernel>(kernel, find_tensor, context_);
  }
  return finish(prepared->run(context_), statement, kernel.output);
}

Result<Done> Run::run_body(const ir::View& view, const Statement& statement) {
  const Placement& place = placement(view.output);
  if (place.moving) return move_view(view, statement);
  if (place.owner != view.output) return Done{};
  SOLAR_TRY(const Done done, allocate(view.output));
  static_cast<void>(done);
  auto& kernel = prepared_[&statement].copy;
  if (kernel.accesses.empty()) kernel = copy_kernel(program_, view);
  return run_kernel_at(kernel, statement);
}

/// Finds where the view begins now, and checks what depends on data.
Result<Done> Run::move_view(const ir::View& view, const Statement& statement) {
  std::vector<DataRef> sources(view.atoms.size());
  bool reads = false;
  for (size_t atom = 0; atom < view.atoms.size(); ++atom) {
    if (view.atoms[atom].kind != ir::Atom::Kind::DataRead) continue;
    sources[atom] = find(view.atoms[atom].tensor);
    reads = true;
  }
  const std::vector<int64_t>& shape = program_.tensor(view.output).shape;
  const std::vector<int64_t> first(std::max<size_t>(shape.size(), 1), 0);
  const IndexPoint at = {view.atoms, sources, first.data(), steps_.data()};
  std::optional<Fault> fault;
  const Placement& input = placement(view.input);
  const int64_t base = input.moving ? offsets_[index(view.input)] : input.offset;
  for (size_t axis = 0; reads && axis < view.subscripts.size() && !fault; ++axis) {
    int64_t lowest = index_value(view.subscripts[axis], at, fault), highest = lowest;
    const int64_t extent = program_.tensor(view.input).shape[axis];
    if (lowest < 0 || lowest >= extent) {  // before its reach is added to it
      if (!fault) fault = {view.input, static_cast<int>(axis), lowest, extent};
      break;
    }
    for (const ir::Term& term : view.subscripts[axis].terms) {
      if (view.atoms[static_cast<size_t>(term.atom)].kind != ir::Atom::Kind::Loop) continue;
      const int64_t reach = term.coefficient * (shape[static_cast<size_t>(term.atom)] - 1);
      (reach < 0 ? lowest : highest) += reach;
    }
    if (lowest < 0 || highest >= extent)
      fault = {view.input, static_cast<int>(axis), lowest < 0 ? lowest : highest, extent};
  }
  if (fault) return out_of_range(*fault, statement, view.output);
  offsets_[index(view.output)] = base + index_value(placement(view.output).start, at, fault);
  return Done{};
}

Result<Done> Run::run_body(const ir::Concat& concat, const Statement&) {
  SOLAR_TRY(const Done place, allocate(concat.output));
  static_cast<void>(place);
  const auto axis = static_cast<size_t>(concat.axis);
  DataRef part = find(concat.output);
  for (const TensorId input : concat.inputs) {
    part.extents = program_.tensor(input).shape;
    if (copy_elements(part, find(input), context_) == KernelStatus::Cancelled) return interrupted();
    part.data += part.extents[axis] * part.strides[axis] * memory_bytes(part.type);
  }
  return Done{};
}

/// The output as it is before the first write. A base that may be taken, and that nothing outside
/// holds, becomes the output.
Result<Done> Run::find_base(const ir::Scatter& scatter) {
  const TensorId output = scatter.nest.output;
  if (!scatter.base) {
    SOLAR_TRY(const Done place, allocate(output));
    std::memset(first_element(output), 0,
                static_cast<size_t>(saturating_bytes(program_.tensor(output))));
    return place;
  }
  const TensorId base = *scatter.base;
  Buffer& buffer = data_[index(placement(base).owner)];
  if (takes_base(plan_, scatter, *released_) && buffer.use_count() == 1) {
    data_[index(output)] = std::move(buffer);
    return Done{};
  }
  SOLAR_TRY(const Done place, allocate(output));
  if (copy_elements(find(output), find(base), context_) == KernelStatus::Cancelled)
    return interrupted();
  return place;
}

Result<Done> Run::run_body(const ir::Scatter& scatter, const Statement& statement) {
  const TensorId output = scatter.nest.output;
  const ir::Tensor& tensor = program_.tensor(output);
  SOLAR_TRY(const Done base, find_base(scatter));
  static_cast<void>(base);
  const auto find_tensor = [this](TensorId id) { return find(id); };
  std::shared_ptr<PreparedScatter> prepared;
  if (depth_ > 0) prepared = prepared_[&statement].scatter;
  if (prepared) {
    prepared->rebind([this](TensorId id) { return first_element(id); });
  } else {
    prepared = std::make_shared<PreparedScatter>(scatter, find_tensor, context_);
    if (depth_ > 0) prepared_[&statement].scatter = prepared;
  }
  const ScatterResult result = prepared->run(context_);
  if (!result.duplicate) return finish(result.kernel, statement, output);
  return run_problem(DiagnosticKind::DuplicateWrite,
                     fmt::format("`{}`: element {} is written twice, but `unique` promises that "
                                 "no two points write one element",
                                 tensor.name, place_of(*result.duplicate, tensor.shape)),
                     "combine the values with `+=`, `max=` or another operator, or make the "
                     "subscripts distinct",
                     statement.span);
}

Result<Done> Run::run_body(const ir::Sort& sort, const Statement&) {
  for (const TensorId id : {sort.values, sort.positions}) {
    SOLAR_TRY(const Done place, allocate(id));
    static_cast<void>(place);
  }
  const KernelStatus status =
      run_sort(sort, find(sort.values), find(sort.positions), find(sort.input), context_);
  if (status == KernelStatus::Cancelled) return interrupted();
  return Done{};
}

Result<Done> Run::run_body(const ir::Compact& compact, const Statement& statement) {
  for (const TensorId id : {compact.output, compact.count}) {
    SOLAR_TRY(const Done place, allocate(id));
    static_cast<void>(place);
  }
  const ir::Tensor& output = program_.tensor(compact.output);
  const CompactResult result =
      run_compact(compact.kind, find(compact.output), find(compact.input), context_);
  if (result.status == KernelStatus::Cancelled) return interrupted();
  const int64_t limit = output.shape[0];
  if (result.found > limit) {
    const bool unique = compact.kind == ir::Compact::Kind::Unique;
    return run_problem(DiagnosticKind::ResultLimit,
                       fmt::format("`{}`: `{}` has {} {}, the limit is {}", output.name,
                                   program_.tensor(compact.input).name, result.found,
                                   unique ? "different values" : "nonzero elements", limit),
                       fmt::format("raise `limit` to at least {}", result.found), statement.span);
  }
  std::memcpy(first_element(compact.count), &result.found, sizeof result.found);
  return Done{};
}

Result<Done> Run::run_body(const ir::Opaque& opaque, const Statement& statement) {
  return no_body(program_, opaque, statement.span);
}

Result<Done> Run::finish(const KernelResult& result, const Statement& statement,
                         TensorId output) const {
  if (result.status == KernelStatus::Done) return Done{};
  if (result.status == KernelStatus::Cancelled) return interrupted();
  return out_of_range(result.fault, statement, output);
}

Diagnostic Run::out_of_range(const Fault& fault, const Statement& statement,
                             TensorId output) const {
  return run_problem(
      DiagnosticKind::IndexOutOfRange,
      fmt::format("computing `{}`: a subscript of `{}` is {} on axis {}, which has extent {}",
                  program_.tensor(output).name, program_.tensor(fault.tensor).name, fault.index,
                  fault.axis, fault.extent),
      "clamp it with `min` and `max`, or guard it with `select`, if the source does",
      statement.span);
}

}  // namespace solar::exec
