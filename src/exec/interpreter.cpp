#include "exec/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <thread>

#include "base/text.h"
#include "exec/limits.h"
#include "exec/run.h"

namespace solar::exec {
namespace {

using ir::TensorId;

int thread_count(int wanted) {
  constexpr int kMost = 256;
  return std::clamp(wanted > 0 ? wanted : static_cast<int>(std::thread::hardware_concurrency()), 1,
                    kMost);
}

/// The first statement of these that has no body and is certainly reached.
const ir::Statement* find_opaque(const std::vector<ir::Statement>& body) {
  for (const ir::Statement& statement : body) {
    if (std::holds_alternative<ir::Opaque>(statement.body)) return &statement;
    if (const auto* repeat = std::get_if<ir::Repeat>(&statement.body)) {
      if (const ir::Statement* inside = find_opaque(repeat->body)) return inside;
    }
  }
  return nullptr;
}

void find_defined(const std::vector<ir::Statement>& body, std::vector<bool>& defined) {
  for (const ir::Statement& statement : body) {
    for (const TensorId id : outputs_of(statement)) defined[index(id)] = true;
  }
}

}  // namespace

TensorData normalised(TensorData tensor) {
  if (tensor.type() != ElementType::Bool) return tensor;
  const auto* bytes = reinterpret_cast<const uint8_t*>(tensor.data());
  if (std::all_of(bytes, bytes + tensor.bytes(), [](uint8_t b) { return b <= 1; })) return tensor;
  std::byte* out = tensor.mutable_data();
  for (int64_t i = 0; i < tensor.bytes(); ++i)
    out[i] = out[i] != std::byte{0} ? std::byte{1} : std::byte{0};
  return tensor;
}

Diagnostic run_problem(DiagnosticKind kind, std::string message, std::string hint, Span span) {
  Diagnostic result;
  result.kind = kind;
  result.message = std::move(message);
  result.hint = std::move(hint);
  result.span = span;
  return result;
}

Diagnostic interrupted() {
  return run_problem(DiagnosticKind::Interrupted, "the run was interrupted");
}

Diagnostic no_body(const ir::Program& program, const ir::Opaque& opaque, Span span) {
  std::vector<std::string> names;
  for (const TensorId id : opaque.outputs)
    names.push_back(fmt::format("`{}`", program.tensor(id).name));
  const std::string what = fmt::format("{} {} computed by `{}`, ", fmt::join(names, ", "),
                                       names.size() == 1 ? "is" : "are", opaque.op);
  if (opaque.hole) {
    return run_problem(DiagnosticKind::HoleReached,
                       what + "a hole: its body is still to be written",
                       "replace the hole by kernels that compute it", span);
  }
  return run_problem(
      DiagnosticKind::HoleReached, what + "an opaque operator: it has a cost, no body",
      "such a program can be analysed, not run; write the operator as kernels to run "
      "it",
      span);
}

Run::Run(const ir::Program& program, const Inputs& inputs, const RunOptions& options,
         KernelEngine* engine)
    : program_(program),
      inputs_(inputs),
      options_(options),
      kept_(tensors_named(program, options.keep)),
      plan_(plan_memory(program, results_of(program, kept_))),
      data_(program.tensors.size()),
      offsets_(program.tensors.size(), 0),
      steps_(program.steps.size(), 0),
      paths_(program.controls.size()),
      team_(thread_count(options.threads)) {
  context_.team = &team_;
  context_.engine = engine;
  context_.cancel = options.cancel;
  context_.steps = steps_.data();
  for (const ir::Statement& statement : program.statements) {
    all_points_ = saturating_add(all_points_, statement_points(program, statement));
  }
}

Result<Outputs> Run::run() {
  SOLAR_TRY(Done bodies, check_bodies());
  SOLAR_TRY(Done names, check_kept());
  SOLAR_TRY(Done limit, check_memory());
  SOLAR_TRY(Done ports, bind_ports());
  SOLAR_TRY(Done ran, run_block(program_.statements, 0, program_.statements.size()));
  static_cast<void>(bodies), static_cast<void>(names), static_cast<void>(limit);
  static_cast<void>(ports), static_cast<void>(ran);
  return collect();
}

Result<Done> Run::check_bodies() const {
  const ir::Statement* opaque = find_opaque(program_.statements);
  if (opaque == nullptr) return Done{};
  return no_body(program_, std::get<ir::Opaque>(opaque->body), opaque->span);
}

Result<Done> Run::check_kept() const {
  std::vector<bool> defined(program_.tensors.size(), false);
  find_defined(program_.statements, defined);
  for (const std::string& name : options_.keep) {
    const auto named = tensors_named(program_, {name});
    if (named.empty()) {
      return run_problem(DiagnosticKind::UnknownName,
                         fmt::format("the program has no tensor `{}` to keep", name));
    }
    if (program_.tensor(named[0]).role == ir::Role::Value && !defined[index(named[0])]) {
      return run_problem(
          DiagnosticKind::UnknownName,
          fmt::format("`{}` stands in the body of a loop or branch, so it cannot be kept", name),
          "keep what the loop or branch yields");
    }
  }
  return Done{};
}

Result<Done> Run::check_memory() const {
  if (plan_.peak_bytes <= options_.memory_limit) return Done{};
  return run_problem(
      DiagnosticKind::MemoryLimit,
      fmt::format("running `{}` would take {} bytes ({:.4g} GiB), the limit is {} "
                  "({:.4g} GiB)",
                  program_.name, plan_.peak_bytes, static_cast<double>(plan_.peak_bytes) / 0x1p30,
                  options_.memory_limit, static_cast<double>(options_.memory_limit) / 0x1p30),
      fmt::format("raise {}, or bind smaller dims", options_.memory_option));
}

Result<Done> Run::bind_ports() {
  Diagnostics problems;
  for (const TensorId id : program_.ports) {
    const ir::Tensor& port = program_.tensor(id);
    if (port.role == ir::Role::Const) continue;
    const auto given = inputs_.find(port.name);
    if (given == inputs_.end()) {
      problems.push_back(missing_port(port));
    } else if (given->second.type() != port.type || given->second.shape() != port.shape) {
      problems.push_back(
          run_problem(DiagnosticKind::InputTensor,
                      fmt::format("{} `{}` is {}, the tensor given is {}", ir::name(port.role),
                                  port.name, describe(port.type, port.shape),
                                  describe(given->second.type(), given->second.shape())),
                      "give the declared type and shape, or bind the dims to the tensor's"));
    } else {
      data_[index(id)] = normalised(given->second).share();
    }
  }
  for (size_t id = 0; id < program_.tensors.size() && problems.empty(); ++id) {
    const ir::Tensor& tensor = program_.tensors[id];
    if (tensor.role != ir::Role::Const) continue;
    SOLAR_TRY(TensorData values, TensorData::of(tensor));
    data_[id] = values.share();
  }
  if (!problems.empty()) return problems;
  return Done{};
}

Diagnostic Run::missing_port(const ir::Tensor& port) const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : inputs_) names.push_back(name);
  const auto near = nearest_names(port.name, names);
  return run_problem(DiagnosticKind::InputTensor,
                     fmt::format("{} `{}`: {} is missing from the inputs", ir::name(port.role),
                                 port.name, describe(port.type, port.shape)),
                     near.empty() ? "" : fmt::format("the inputs hold {}", quoted_choices(near)));
}

Result<TensorData> Run::take(TensorId id) {
  const ir::Tensor& tensor = program_.tensor(id);
  SOLAR_TRY(Buffer buffer, whole(id));
  return TensorData::adopt(tensor.type, tensor.shape, std::move(buffer));
}

Result<Outputs> Run::collect() {
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
  result.paths = paths_;
  return result;
}

Result<Outputs> Interpreter::run(const ir::VerifiedProgram& program, const Inputs& inputs,
                                 const RunOptions& options) const {
  const auto engine = make_engine_ ? make_engine_(*program) : nullptr;
  return run_program(*program, inputs, options, engine.get());
}

Result<Outputs> run_program(const ir::Program& program, const Inputs& inputs,
                            const RunOptions& options, KernelEngine* engine) {
  SOLAR_TRY(const Done fits, check_limits(program));
  static_cast<void>(fits);
  try {
    return Run(program, inputs, options, engine).run();
  } catch (const std::bad_alloc&) {
    return run_problem(
        DiagnosticKind::MemoryLimit,
        fmt::format("the system has no memory left to run `{}`, with {:.3g} GiB allowed",
                    program.name, static_cast<double>(options.memory_limit) / 0x1p30),
        fmt::format("bind smaller dims, or lower {} to what the machine has",
                    options.memory_option));
  }
}

std::unique_ptr<Executor> interpreter() { return std::make_unique<Interpreter>(); }

}  // namespace solar::exec
