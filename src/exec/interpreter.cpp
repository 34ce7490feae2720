#include "exec/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <optional>
#include <thread>

#include "base/text.h"
#include "exec/memory_plan.h"

namespace solar::exec {
namespace {

using ir::TensorId;

Diagnostic problem(DiagnosticKind kind, std::string message, std::string hint = {}) {
  Diagnostic result;
  result.kind = kind;
  result.message = std::move(message);
  result.hint = std::move(hint);
  return result;
}

/// output[o] = input[subscripts(o)] as a kernel.
ir::Kernel copy_kernel(const ir::Program& program, TensorId output, TensorId input,
                       std::vector<ir::Atom> atoms, std::vector<ir::Linear> subscripts,
                       const std::vector<int64_t>& shape) {
  ir::Kernel kernel;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    kernel.loops.push_back({.name = {}, .extent = shape[axis]});
    kernel.target_loops.push_back(static_cast<int32_t>(axis));
  }
  kernel.atoms = std::move(atoms);
  kernel.accesses.push_back({input, std::move(subscripts), false});
  kernel.nodes.push_back(
      {.op = ir::ScalarOp::Load, .type = program.tensor(input).type, .reference = 0});
  kernel.output = output;
  kernel.value = 0;
  return kernel;
}

ir::Kernel copy_kernel(const ir::Program& program, TensorId output, TensorId input) {
  const auto& shape = program.tensor(input).shape;
  std::vector<ir::Linear> subscripts;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    subscripts.push_back({.terms = {{static_cast<int32_t>(axis), 1}}});
  }
  return copy_kernel(program, output, input, std::vector<ir::Atom>(shape.size()),
                     std::move(subscripts), shape);
}

int thread_count(int wanted) {
  constexpr int kMost = 256;
  return std::clamp(wanted > 0 ? wanted : static_cast<int>(std::thread::hardware_concurrency()), 1,
                    kMost);
}

class Run {
 public:
  Run(const ir::Program& program, const Inputs& inputs, const RunOptions& options,
      KernelEngine* engine)
      : program_(program),
        inputs_(inputs),
        options_(options),
        kept_(tensors_named(program, options.keep)),
        plan_(plan_memory(program, results_of(program, kept_))),
        data_(program.tensors.size()),
        team_(thread_count(options.threads)) {
    context_.team = &team_;
    context_.engine = engine;
    context_.cancel = options.cancel;
    last_used_.resize(program.statements.size());
    for (size_t id = 0; id < data_.size(); ++id) {
      const auto at = static_cast<size_t>(plan_.last_use[id]);  // -1 becomes huge: never used
      if (program.tensors[id].role == ir::Role::Value && at < last_used_.size()) {
        last_used_[at].push_back(id);
      }
    }
    for (const ir::Statement& statement : program.statements) {
      all_points_ = saturating_add(all_points_, statement_points(program, statement));
    }
  }

  Result<Outputs> run() {
    SOLAR_TRY(Done names, check_kept());
    SOLAR_TRY(Done limit, check_memory());
    SOLAR_TRY(Done ports, bind_ports());
    static_cast<void>(names), static_cast<void>(limit), static_cast<void>(ports);
    for (size_t at = 0; at < program_.statements.size(); ++at) {
      SOLAR_TRY(Done step, run_statement(program_.statements[at]));
      static_cast<void>(step);
      for (const size_t id : last_used_[at]) data_[id].reset();
    }
    return collect();
  }

 private:
  Result<Done> check_kept() const {
    for (const std::string& name : options_.keep) {
      if (tensors_named(program_, {name}).empty()) {
        return problem(DiagnosticKind::UnknownName,
                       fmt::format("the program has no tensor `{}` to keep", name));
      }
    }
    return Done{};
  }

  Result<Done> check_memory() const {
    if (plan_.peak_bytes <= options_.memory_limit) return Done{};
    return problem(DiagnosticKind::MemoryLimit,
                   fmt::format("running `{}` would take {} bytes, the limit is {}", program_.name,
                               plan_.peak_bytes, options_.memory_limit),
                   fmt::format("raise {}, or bind smaller dims", options_.memory_option));
  }

  Result<Done> bind_ports() {
    Diagnostics problems;
    for (const TensorId id : program_.ports) {
      const ir::Tensor& port = program_.tensor(id);
      if (port.role == ir::Role::Const) continue;
      const auto given = inputs_.find(port.name);
      if (given == inputs_.end()) {
        problems.push_back(missing_port(port));
      } else if (given->second.type() != port.type || given->second.shape() != port.shape) {
        problems.push_back(
            problem(DiagnosticKind::InputTensor,
                    fmt::format("{} `{}` is {}, the tensor given is {}", ir::name(port.role),
                                port.name, describe(port.type, port.shape),
                                describe(given->second.type(), given->second.shape())),
                    "give the declared type and shape, or bind the dims to the tensor's"));
      } else {
        data_[index(id)] = normalised(given->second);
      }
    }
    for (size_t id = 0; id < program_.tensors.size() && problems.empty(); ++id) {
      const ir::Tensor& tensor = program_.tensors[id];
      if (tensor.role != ir::Role::Const) continue;
      SOLAR_TRY(TensorData values,
                TensorData::from_doubles(tensor.type, tensor.shape, tensor.values));
      data_[id] = std::move(values);
    }
    if (!problems.empty()) return problems;
    return Done{};
  }

  Diagnostic missing_port(const ir::Tensor& port) const {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : inputs_) names.push_back(name);
    const auto near = nearest_names(port.name, names);
    return problem(DiagnosticKind::InputTensor,
                   fmt::format("{} `{}`: {} is missing from the inputs", ir::name(port.role),
                               port.name, describe(port.type, port.shape)),
                   near.empty() ? "" : fmt::format("the inputs hold {}", quoted_choices(near)));
  }

  /// Bool data from outside may hold any byte; inside it is 0 or 1.
  static TensorData normalised(TensorData tensor) {
    if (tensor.type() != ElementType::Bool) return tensor;
    const auto* bytes = reinterpret_cast<const uint8_t*>(tensor.data());
    if (std::all_of(bytes, bytes + tensor.bytes(), [](uint8_t b) { return b <= 1; })) return tensor;
    std::byte* out = tensor.mutable_data();
    for (int64_t i = 0; i < tensor.bytes(); ++i)
      out[i] = out[i] != std::byte{0} ? std::byte{1} : std::byte{0};
    return tensor;
  }

  DataRef find(TensorId id) {
    const Placement& placement = plan_.placements[index(id)];
    const ir::Tensor& tensor = program_.tensor(id);
    const auto& buffer = data_[index(placement.owner)];
    SOLAR_CHECK(buffer.has_value(), "a tensor is read before it is defined or after its last use");
    // Kernels write only to their outputs, whose buffers are not shared yet.
    auto* data =
        const_cast<std::byte*>(buffer->data()) + placement.offset * memory_bytes(tensor.type);
    return {data, tensor.type, tensor.shape, placement.strides, id};
  }

  Result<Done> allocate(TensorId id) {
    const ir::Tensor& tensor = program_.tensor(id);
    SOLAR_TRY(TensorData data, TensorData::make(tensor.type, tensor.shape));
    data_[index(id)] = std::move(data);
    return Done{};
  }

  Result<Done> run_statement(const ir::Statement& statement) {
    const int64_t points = statement_points(program_, statement);
    const int64_t before = done_points_;
    if (options_.progress) {
      context_.finished = [&, before, points](int64_t some) {
        done_points_ = std::min(saturating_add(done_points_, some * team_.size()),
                                saturating_add(before, points));
        options_.progress(done_points_, all_points_);
      };
    }
    SOLAR_TRY(Done done, run_body(statement));
    done_points_ = saturating_add(before, points);
    if (options_.progress) options_.progress(done_points_, all_points_);
    return done;
  }

  Result<Done> run_body(const ir::Statement& statement) {
    const auto find_tensor = [this](TensorId id) { return find(id); };
    if (const auto* kernel = std::get_if<ir::Kernel>(&statement.body)) {
      SOLAR_TRY(Done first, allocate(kernel->output));
      static_cast<void>(first);
      if (kernel->second_output) {
        SOLAR_TRY(Done second, allocate(*kernel->second_output));
        static_cast<void>(second);
      }
      return finish(run_kernel(*kernel, find_tensor, context_), statement, kernel->output);
    }
    if (const auto* view = std::get_if<ir::View>(&statement.body)) {
      if (plan_.placements[index(view->output)].owner != view->output) return Done{};
      SOLAR_TRY(Done place, allocate(view->output));
      static_cast<void>(place);
      const ir::Kernel kernel = copy_kernel(program_, view->output, view->input, view->atoms,
                                            view->subscripts, program_.tensor(view->output).shape);
      return finish(run_kernel(kernel, find_tensor, context_), statement, view->output);
    }
    return run_concat(std::get<ir::Concat>(statement.body), statement);
  }

  Result<Done> run_concat(const ir::Concat& concat, const ir::Statement& statement) {
    SOLAR_TRY(Done place, allocate(concat.output));
    static_cast<void>(place);
    const auto axis = static_cast<size_t>(concat.axis);
    int64_t begin = 0;
    for (const TensorId input : concat.inputs) {
      const auto find_part = [&](TensorId id) {
        DataRef ref = find(id);
        if (id == concat.output) {
          ref.data += begin * ref.strides[axis] * memory_bytes(ref.type);
          ref.extents = program_.tensor(input).shape;
        }
        return ref;
      };
      SOLAR_TRY(Done copied,
                finish(run_kernel(copy_kernel(program_, concat.output, input), find_part, context_),
                       statement, concat.output));
      static_cast<void>(copied);
      begin += program_.tensor(input).shape[axis];
    }
    return Done{};
  }

  Result<Done> finish(const KernelResult& result, const ir::Statement& statement,
                      TensorId output) const {
    if (result.status == KernelStatus::Done) return Done{};
    if (result.status == KernelStatus::Cancelled)
      return problem(DiagnosticKind::Interrupted, "the run was interrupted");
    const Fault& fault = result.fault;
    Diagnostic diagnostic = problem(
        DiagnosticKind::IndexOutOfRange,
        fmt::format("computing `{}`: a subscript of `{}` is {} on axis {}, which has extent {}",
                    program_.tensor(output).name, program_.tensor(fault.tensor).name, fault.index,
                    fault.axis, fault.extent),
        "clamp it with `min` and `max`, or guard it with `select`, if the source does");
    diagnostic.span = statement.span;
    return diagnostic;
  }

  Result<TensorData> take(TensorId id) {
    const Placement& placement = plan_.placements[index(id)];
    if (placement.plain) return *data_[index(id)];
    const ir::Tensor& tensor = program_.tensor(id);
    SOLAR_TRY(TensorData result, TensorData::make(tensor.type, tensor.shape));
    const DataRef to = {result.mutable_data(), tensor.type, tensor.shape,
                        row_major_strides(tensor.shape), id};
    // The kernel reads and writes the same tensor: the first question is for its output.
    bool output = true;
    const auto find_either = [&](TensorId asked) {
      return std::exchange(output, false) ? to : find(asked);
    };
    const KernelResult status = run_kernel(copy_kernel(program_, id, id), find_either, context_);
    if (status.status == KernelStatus::Cancelled)
      return problem(DiagnosticKind::Interrupted, "the run was interrupted");
    return result;
  }

  Result<Outputs> collect() {
    Outputs result;
    for (const TensorId id : program_.outputs) {
      SOLAR_TRY(TensorData data, take(id));
      result.outputs.push_back(std::move(data));
    }
    for (const ir::Update& update : program_.updates) {
      SOLAR_TRY(TensorData data, take(update.value));
      result.states.insert_or_assign(program_.tensor(update.state).name, std::move(data));
    }
    for (const TensorId id : kept_) {
      SOLAR_TRY(TensorData data, take(id));
      result.kept.insert_or_assign(program_.tensor(id).name, std::move(data));
    }
    return result;
  }

  const ir::Program& program_;
  const Inputs& inputs_;
  const RunOptions& options_;
  std::vector<TensorId> kept_;
  MemoryPlan plan_;
  std::vector<std::optional<TensorData>> data_;      // per owner, while it lives
  std::vector<std::vector<size_t>> last_used_ = {};  // per statement
  ThreadTeam team_;
  RunContext context_ = {};
  int64_t all_points_ = 0, done_points_ = 0;
};

}  // namespace

Result<Outputs> Interpreter::run(const ir::VerifiedProgram& program, const Inputs& inputs,
                                 const RunOptions& options) const {
  try {
    const auto engine = make_engine_ ? make_engine_(*program) : nullptr;
    return Run(*program, inputs, options, engine.get()).run();
  } catch (const std::bad_alloc&) {
    return problem(DiagnosticKind::MemoryLimit, "out of memory", "bind smaller dims");
  }
}

std::unique_ptr<Executor> interpreter() { return std::make_unique<Interpreter>(); }

}  // namespace solar::exec
