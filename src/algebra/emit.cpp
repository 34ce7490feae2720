#include "algebra/emit.h"

#include <fmt/format.h>

#include <set>

#include "algebra/emit_kernel.h"
#include "ir/lexer.h"
#include "ir/printer.h"

namespace solar::algebra {
namespace {

class Emitter {
 public:
  Emitter(const ir::Program& program, const EmitOptions& options) : program_(program) {
    words_.program = &program;
    words_.in_f64 = options.in_f64;
    name_everything();
  }

  std::optional<Emitted> run() {
    std::string text = "program " + unreserved(program_.name) + "(";
    for (size_t i = 0; i < program_.ports.size(); ++i) {
      if (i > 0) text += ", ";
      text += port_text(program_.ports[i]);
    }
    std::vector<std::string> outputs;
    for (const ir::TensorId id : program_.outputs) outputs.push_back(words_.name(id));
    text += fmt::format(") -> ({}) {{\n", fmt::join(outputs, ", "));
    block(program_.statements, text, -1);
    for (const ir::Update& update : program_.updates)
      text += fmt::format("update {} = {}\n", words_.name(update.state), words_.name(update.value));
    text += "}\n";
    if (!complete_) return std::nullopt;
    return Emitted{std::move(text), std::move(words_.tensors)};
  }

 private:
  static std::string unreserved(const std::string& name) {
    return ir::is_reserved(name) ? "`" + name + "`" : name;
  }

  void name_everything() {
    std::set<std::string> taken;
    words_.tensors.resize(program_.tensors.size());
    // Outputs and ports keep their names: the caller knows them by these.
    for (const ir::TensorId id : program_.ports) {
      words_.tensors[ir::index(id)] = unreserved(program_.tensor(id).name);
      taken.insert(program_.tensor(id).name);
    }
    for (size_t i = 0; i < program_.tensors.size(); ++i) {
      if (!words_.tensors[i].empty()) continue;
      std::string name;
      for (const char c : program_.tensors[i].name)
        name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
      if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) name = "v_" + name;
      // Loops begin with `i_`, abbreviations with `t_`, steps with `s_`.
      if (name.starts_with("i_") || name.starts_with("t_") || name.starts_with("s_"))
        name = "v_" + name;
      if (ir::is_reserved(name)) name += "_";
      while (!taken.insert(name).second) name += "_";
      words_.tensors[i] = name;
    }
    for (size_t i = 0; i < program_.steps.size(); ++i)
      words_.steps.push_back(fmt::format("s_{}", i));
  }

  std::string port_text(ir::TensorId id) const {
    const ir::Tensor& tensor = program_.tensor(id);
    std::string text = fmt::format("{} {}", ir::name(tensor.role), words_.declaration(id));
    if (tensor.constant == nullptr) return text;
    std::vector<std::string> values;
    for (const double number : tensor.constant->numbers)
      values.push_back(std::isinf(number)   ? number < 0 ? "-inf" : "inf"
                       : std::isnan(number) ? "nan"
                                            : ir::float_text(number));
    for (const int64_t integer : tensor.constant->integers) {
      values.push_back(tensor.type == ir::ElementType::Bool ? (integer != 0 ? "true" : "false")
                                                            : fmt::format("{}", integer));
    }
    return text + fmt::format(" = [{}]", fmt::join(values, ", "));
  }

  void block(const std::vector<ir::Statement>& statements, std::string& text, int32_t outer) {
    int32_t open = outer;
    for (const ir::Statement& statement : statements) {
      if (statement.group != open) {
        if (open != outer) text += "}\n";
        open = statement.group;
        if (open != outer && open >= 0)
          text += group_text(program_.groups[static_cast<size_t>(open)]);
        if (open < 0) open = outer;
      }
      statement_text(statement, text);
    }
    if (open != outer) text += "}\n";
  }

  static std::string group_text(const ir::Group& group) {
    std::string text = fmt::format("op \"{}\"", group.op);
    if (!group.at.empty()) text += fmt::format(" at \"{}\"", group.at);
    if (!group.module.empty()) text += fmt::format(" module \"{}\"", group.module);
    return text + " {\n";
  }

  void statement_text(const ir::Statement& statement, std::string& text) {
    if (const auto* kernel = std::get_if<ir::Kernel>(&statement.body)) {
      text += kernel_text(words_, *kernel);
    } else if (const auto* view = std::get_if<ir::View>(&statement.body)) {
      text += view_text(words_, *view);
    } else if (const auto* concat = std::get_if<ir::Concat>(&statement.body)) {
      text += fmt::format("let {} = concat({}; axis = {})", words_.name(concat->output),
                          names(concat->inputs), concat->axis);
    } else if (const auto* sort = std::get_if<ir::Sort>(&statement.body)) {
      const std::string order = sort->descending ? "true" : "false";
      const int64_t extent = program_.tensor(sort->input).shape[static_cast<size_t>(sort->axis)];
      text +=
          fmt::format("let ({}, {}) = ", words_.name(sort->values), words_.name(sort->positions));
      if (sort->count == extent) {
        text += fmt::format("sort({}; axis = {}, descending = {})", words_.name(sort->input),
                            sort->axis, order);
      } else {
        text += fmt::format("topk({}; axis = {}, k = {}, descending = {})",
                            words_.name(sort->input), sort->axis, sort->count, order);
      }
    } else if (const auto* scatter = std::get_if<ir::Scatter>(&statement.body)) {
      text += scatter_text(words_, *scatter, scatter->nest.output);
    } else if (const auto* repeat = std::get_if<ir::Repeat>(&statement.body)) {
      repeat_text(*repeat, statement.group, text);
    } else {
      complete_ = false;
    }
    text += "\n";
  }

  void repeat_text(const ir::Repeat& repeat, int32_t group, std::string& text) {
    const ir::Step& step = program_.steps[static_cast<size_t>(repeat.step)];
    std::vector<ir::TensorId> results;
    std::vector<ir::TensorId> next;
    std::vector<std::string> initial;
    for (const ir::Carried& carried : repeat.carried) {
      results.push_back(carried.result);
      next.push_back(carried.next);
      initial.push_back(
          fmt::format("{} = {}", words_.name(carried.inside), words_.name(carried.initial)));
    }
    std::vector<ir::TensorId> stacked;
    std::vector<ir::TensorId> elements;
    for (const ir::Stacked& s : repeat.stacked) {
      stacked.push_back(s.result);
      elements.push_back(s.element);
    }
    text += fmt::format("let ({})", names(results));
    if (!stacked.empty()) text += fmt::format(" stack ({})", names(stacked));
    text += fmt::format(" = repeat {}{}:{} with ({}) {{\n", step.descending ? "revseq " : "",
                        words_.steps[static_cast<size_t>(repeat.step)], step.extent,
                        fmt::join(initial, ", "));
    block(repeat.body, text, group);
    text += fmt::format("next ({})", names(next));
    if (!elements.empty()) text += fmt::format(" stack ({})", names(elements));
    text += "\n}";
  }

  std::string names(const std::vector<ir::TensorId>& ids) const {
    std::vector<std::string> parts;
    for (const ir::TensorId id : ids) parts.push_back(words_.name(id));
    return fmt::format("{}", fmt::join(parts, ", "));
  }

  const ir::Program& program_;
  Vocabulary words_ = {};
  bool complete_ = true;
};

}  // namespace

std::optional<Emitted> emit(const ir::Program& program, const EmitOptions& options) {
  return Emitter(program, options).run();
}

KernelKeys::KernelKeys(const ir::Program& program) : words_(std::make_unique<Vocabulary>()) {
  words_->program = &program;
  for (size_t i = 0; i < program.tensors.size(); ++i)
    words_->tensors.push_back(fmt::format("v{}", i));
  for (size_t i = 0; i < program.steps.size(); ++i) words_->steps.push_back(fmt::format("s{}", i));
}

KernelKeys::~KernelKeys() = default;

std::string KernelKeys::of(const ir::Kernel& kernel) const {
  std::vector<std::string> loops;
  for (size_t i = 0; i < kernel.loops.size(); ++i) loops.push_back(fmt::format("i{}", i));
  return kernel_text(*words_, kernel, "_", loops);
}

}  // namespace solar::algebra
