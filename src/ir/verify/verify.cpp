#include "ir/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "ir/parser.h"
#include "ir/prelude.h"
#include "ir/verify/context.h"
#include "ir/verify/elaborate.h"

namespace solar::ir {
namespace {

/// The prelude parsed once.
const Result<ast::File>& prelude() {
  static const Result<ast::File> parsed = []() -> Result<ast::File> {
    ast::File all;
    for (const PreludeFile& file : prelude_files()) {
      SOLAR_TRY(ast::File one, parse_text(file.name, file.text));
      for (ast::Function& f : one.functions) all.functions.push_back(std::move(f));
      all.sources.push_back(one.sources.front());
    }
    return all;
  }();
  return parsed;
}

}  // namespace

class Verifier : public StatementSink {
 public:
  explicit Verifier(const VerifyOptions& options) : options_(options) {}

  static VerifiedProgram make(Program program) {
    return VerifiedProgram(std::make_shared<const Program>(std::move(program)));
  }

  void begin(const ast::File& file, const ast::Program& program) override {
    add_functions(file);
    program_ = &program;
    context_.program.name = program.name.text;
    context_.program.sources = file.sources;  // the prelude's stay
    reserve(program);
  }

  void take(const ast::Statement& statement) override {
    if (const auto* dims = std::get_if<ast::Dims>(&statement.body)) {
      context_.define_dims(env_, *dims, true, &options_.bindings);
    } else if (const auto* require = std::get_if<ast::Require>(&statement.body);
               require != nullptr && !in_body_) {
      requires_.push_back(*require);  // may name dims after it
    } else {
      if (!in_body_) begin_body();
      context_.elaborate_statement(env_, statement);
    }
  }

  /// How many functions were known before the program.
  size_t functions() const { return functions_; }

  Result<Elaboration> finish(const ast::File& file) {
    if (!prelude()) return prelude().error();
    if (!file.program) {
      add_functions(file);
      report_no_program(file);
      return std::move(context_.errors);
    }
    const ast::Program& program = *file.program;
    program_ = &program;
    if (!in_body_) begin_body();
    add_outputs(program);
    if (!context_.errors.empty()) {
      sort_by_position(context_.errors);
      if (context_.hidden_errors > 0) {
        std::string& hint = context_.errors.back().hint;
        hint += fmt::format("{}{} more errors are not shown", hint.empty() ? "" : "; ",
                            context_.hidden_errors);
      }
      return std::move(context_.errors);
    }
    SOLAR_CHECK(context_.program.outputs.size() == program.outputs.size(),
                "every output of a program without errors is a tensor");
    return Elaboration{make(std::move(context_.program)), std::move(context_.table),
                       std::move(context_.equations)};
  }

 private:
  /// Room for what the text may hold: growing moves everything. What is not needed is not touched.
  void reserve(const ast::Program& program) {
    constexpr size_t kBytesPerTensor = 100;
    const size_t bytes =
        program.name.span.source != nullptr ? program.name.span.source->text.size() : 0;
    const size_t written = program.ports.size() + bytes / kBytesPerTensor;
    env_.tensors.reserve(written);
    context_.program.tensors.reserve(written);
    context_.program.statements.reserve(written);
  }

  void add_functions(const ast::File& file) {
    if (!prelude()) return;
    for (const ast::Function& f : prelude()->functions) context_.functions[f.name.text] = &f;
    functions_ = file.functions.size();
    std::map<std::string, const ast::Function*> own;
    for (const ast::Function& f : file.functions) {
      const auto [at, fresh] = own.try_emplace(f.name.text, &f);
      if (!fresh) {
        context_.error(env_, DiagnosticKind::DuplicateName, f.name.span,
                       fmt::format("function `{}` is defined twice", f.name.text), "rename one",
                       {{at->second->name.span, "defined here first"}});
      }
      context_.functions[f.name.text] = &f;
      check_signature(f);
    }
  }

  void report_no_program(const ast::File& file) {
    if (file.functions.empty()) {
      const Place start = {file.sources.empty() ? nullptr : file.sources.front().get(), 0, 0};
      context_.error(env_, DiagnosticKind::OutputMissing, start, "the text holds no `program`",
                     "program name(input x: f32[N]) -> (y) { dims N = 4 ... }");
    } else {
      context_.error(env_, DiagnosticKind::OutputMissing, file.functions.front().name.span,
                     "the text holds functions but no `program`", "add a program that calls them");
    }
  }

  /// Once all dims are known.
  void begin_body() {
    in_body_ = true;
    check_bindings();
    for (const ast::Port& port : program_->ports) add_port(port);
    for (const ast::Require& require : requires_) context_.check_require(env_, require);
  }

  /// What can be said of a function that is never called.
  void check_signature(const ast::Function& f) {
    std::map<std::string, Place> seen;
    const auto once = [&](const ast::Name& name) {
      const auto [at, fresh] = seen.try_emplace(name.text, name.span);
      if (fresh) return;
      context_.error(env_, DiagnosticKind::DuplicateName, name.span,
                     fmt::format("`{}` is already defined", name.text),
                     "a name is defined once; choose another",
                     {{at->second, "defined here first"}});
    };
    for (const ast::Generic& g : f.generics) once(g.name);
    for (const ast::Declaration& d : f.parameters) {
      once(d.name);
      for (const ast::ExprPtr& extent : d.type.extents) check_extent(f, *extent);
      if (d.type.storage.empty() || storage_named(d.type.storage) != nullptr) continue;
      context_.error(env_, DiagnosticKind::UnknownStorage, d.type.span,
                     fmt::format("no storage format is called `{}`", d.type.storage),
                     "a parameter takes any storage: leave `as` out");
    }
    seen.clear();
    for (const ast::Name& result : f.results) once(result);
  }

  /// The dims and packs in the type of a parameter are those between `<` and `>`.
  void check_extent(const ast::Function& f, const ast::Expr& extent) {
    for (const ast::ExprPtr& operand : extent.operands) check_extent(f, *operand);
    const bool pack = extent.kind == ast::ExprKind::Pack;
    if (!pack && extent.kind != ast::ExprKind::Name) return;
    const auto kind = pack ? ast::Generic::Kind::Pack : ast::Generic::Kind::Dim;
    const std::string name = (pack ? "*" : "") + extent.text;
    std::vector<std::string> known;
    for (const ast::Generic& g : f.generics) {
      if (g.kind == kind && g.name.text == extent.text) return;
      if (g.kind == kind) known.push_back((pack ? "*" : "") + g.name.text);
    }
    context_.wrong_signatures.insert(&f);
    const auto near = nearest_names(name, known);
    context_.error(
        env_, DiagnosticKind::UnknownName, extent.span,
        fmt::format("`{}` has no dim{} called `{}`", f.name.text, pack ? " pack" : "", name),
        near.empty() ? fmt::format("declare it: `fn {}<{}>(...)`", f.name.text, name)
                     : fmt::format("did you mean {}?", quoted_choices(near)));
  }

  void check_bindings() {
    for (const auto& [name, unused] : options_.bindings) {
      const Place place = program_->name.span;
      if (!env_.dims.contains(name)) {
        std::vector<std::string> known(env_.free_dims.begin(), env_.free_dims.end());
        const auto near = nearest_names(name, known);
        context_.error(env_, DiagnosticKind::Usage, place,
                       fmt::format("the program has no dim `{}` to bind", name),
                       known.empty() ? "it has no free dims"
                                     : fmt::format("its free dims are {}",
                                                   quoted_choices(near.empty() ? known : near)));
      } else if (!env_.free_dims.contains(name)) {
        context_.error(env_, DiagnosticKind::Usage, place,
                       fmt::format("dim `{}` is derived, only free dims can be bound", name),
                       fmt::format("it is {}", context_.text(env_.dims.at(name))));
      }
    }
  }

  void add_port(const ast::Port& port) {
    const ast::Declaration& declaration = port.declaration;
    const auto shape = context_.eval_type(env_, declaration.type);
    if (!shape) return context_.poison(env_, declaration.name);
    const auto id = context_.define_tensor(env_, declaration.name, *shape, port.role);
    if (!id) return;
    context_.program.ports.push_back(*id);
    Tensor& tensor = context_.program.tensors[index(*id)];
    if (port.role != Role::Const) {
      if (!port.values.empty()) {
        context_.error(
            env_, DiagnosticKind::CallArgument, declaration.name.span,
            fmt::format("`{}` has values, but only a `const` does", declaration.name.text),
            "make it a `const`, or leave the values out");
      }
      return;
    }
    if (static_cast<int64_t>(port.values.size()) != element_count(tensor.shape)) {
      context_.error(env_, DiagnosticKind::ShapeMismatch, declaration.name.span,
                     fmt::format("`{}` has {} elements, found {} values", declaration.name.text,
                                 element_count(tensor.shape), port.values.size()),
                     "list all elements in row-major order");
      return;
    }
    Constant constant;
    for (const ast::ExprPtr& value : port.values) {
      const bool negative = value->kind == ast::ExprKind::Unary && value->text == "-";
      const ast::Expr& literal = negative ? *value->operands[0] : *value;
      double number = 0;
      if (literal.kind == ast::ExprKind::Integer || literal.kind == ast::ExprKind::Bool) {
        number = static_cast<double>(literal.integer);
      } else if (literal.kind == ast::ExprKind::Float) {
        number = literal.number;
      } else {
        context_.error(env_, DiagnosticKind::TypeMismatch, value->span,
                       "a constant's values are literals", "write the numbers out");
        return;
      }
      const bool is_bool = literal.kind == ast::ExprKind::Bool;
      if (is_bool != (tensor.type == ElementType::Bool) || (is_bool && negative) ||
          (literal.kind == ast::ExprKind::Float && !is_float(tensor.type))) {
        context_.error(env_, DiagnosticKind::TypeMismatch, value->span,
                       fmt::format("`{}` is {}, found {}", declaration.name.text, name(tensor.type),
                                   is_bool && negative                    ? "the negative of a bool"
                                   : is_bool                              ? "a bool"
                                   : literal.kind == ast::ExprKind::Float ? "a float"
                                                                          : "an integer"),
                       "values have the constant's type");
        return;
      }
      if (literal.kind == ast::ExprKind::Integer && is_integer(tensor.type) &&
          !constant_fits(tensor, negative ? -literal.integer : literal.integer, value->span)) {
        return;
      }
      if (is_float(tensor.type)) {
        constant.numbers.push_back(negative ? -number : number);
      } else {
        constant.integers.push_back(negative ? -literal.integer : literal.integer);
      }
    }
    tensor.constant = std::make_shared<const Constant>(std::move(constant));
  }

  bool constant_fits(const Tensor& tensor, int64_t value, Place place) {
    const int bits = storage_bits(tensor.type) - (tensor.type == ElementType::U8 ? 0 : 1);
    const int64_t highest = bits >= 63 ? INT64_MAX : (int64_t{1} << bits) - 1;
    const int64_t lowest = tensor.type == ElementType::U8 ? 0 : -highest - 1;
    if (value >= lowest && value <= highest) return true;
    context_.error(env_, DiagnosticKind::TypeMismatch, place,
                   fmt::format("{} does not fit {}", value, name(tensor.type)),
                   fmt::format("{} holds {} to {}", name(tensor.type), lowest, highest));
    return false;
  }

  void output_is_missing(const ast::Name& output) {
    std::vector<std::string> known;
    for (const auto& [name, binding] : env_.tensors) known.push_back(name);
    std::sort(known.begin(), known.end());
    const auto near = nearest_names(output.text, known);
    context_.error(env_, DiagnosticKind::OutputMissing, output.span,
                   fmt::format("the output `{}` is never defined", output.text),
                   near.empty() ? "an output is a tensor that the body defines"
                                : fmt::format("did you mean {}?", quoted_choices(near)),
                   {}, rename(output.text, output.span, near));
  }

  void add_outputs(const ast::Program& program) {
    for (const ast::Name& output : program.outputs) {
      const auto at = env_.tensors.find(output.text);
      if (at == env_.tensors.end()) {
        output_is_missing(output);
      } else if (at->second.tensor) {
        context_.program.outputs.push_back(*at->second.tensor);
        context_.program.output_names.push_back(output.text);
      }
    }
    if (program.outputs.empty() && context_.program.updates.empty()) {
      context_.error(env_, DiagnosticKind::OutputMissing, program.name.span,
                     "the program has no outputs", "name them after `->`");
    }
  }

  const VerifyOptions& options_;
  const ast::Program* program_ = nullptr;  // its head
  size_t functions_ = 0;
  bool in_body_ = false;
  std::vector<ast::Require> requires_;
  Context context_;
  Environment env_;
};

Result<Elaboration> elaborate(const ast::File& file, const VerifyOptions& options) {
  Verifier verifier(options);
  if (file.program) {
    verifier.begin(file, *file.program);
    for (const ast::Statement& statement : file.program->block.statements) verifier.take(statement);
  }
  return verifier.finish(file);
}

Result<VerifiedProgram> verify(const ast::File& file, const VerifyOptions& options) {
  SOLAR_TRY(Elaboration elaboration, elaborate(file, options));
  return std::move(elaboration.program);
}

Result<VerifiedProgram> verify_text(std::string text, const VerifyOptions& options,
                                    const std::string& name) {
  const auto source = std::make_shared<const Source>(name, std::move(text));
  Verifier verifier(options);
  SOLAR_TRY(const ast::File file, parse(source, &verifier));
  if (file.program && file.functions.size() > verifier.functions()) {
    // Functions behind the program: it has to be read again with them.
    SOLAR_TRY(const ast::File whole, parse(source));
    return verify(whole, options);
  }
  SOLAR_TRY(Elaboration elaboration, verifier.finish(file));
  return std::move(elaboration.program);
}

VerifiedProgram part_of(const VerifiedProgram& program, const std::vector<TensorId>& results) {
  Program part;
  part.name = program->name;
  part.sources = program->sources;
  part.dims = program->dims;
  part.tensors = program->tensors;
  part.groups = program->groups;
  part.steps = program->steps;
  part.controls = program->controls;
  part.outputs = results;
  std::vector<bool> needed(part.tensors.size(), false);
  for (const TensorId id : results) {
    needed[index(id)] = true;
    part.output_names.push_back(program->tensor(id).name);
  }
  for (auto statement = program->statements.rbegin(); statement != program->statements.rend();
       ++statement) {
    const std::vector<TensorId> defined = outputs_of(*statement);
    if (std::none_of(defined.begin(), defined.end(),
                     [&](TensorId id) { return needed[index(id)]; })) {
      continue;
    }
    for (const TensorId id : inputs_of(*statement)) needed[index(id)] = true;
    part.statements.push_back(*statement);
  }
  std::reverse(part.statements.begin(), part.statements.end());
  for (const TensorId port : program->ports) {
    if (needed[index(port)]) part.ports.push_back(port);
  }
  return Verifier::make(std::move(part));
}

int64_t element_count(const std::vector<int64_t>& shape) {
  const auto count = checked_product(shape);
  SOLAR_CHECK(count.has_value(), "a verified shape's element count fits");
  return *count;
}

}  // namespace solar::ir
