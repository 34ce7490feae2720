#include "einsum/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "einsum/contraction.h"

namespace solar::einsum {

namespace {

using ir::Reduction;
using ir::ScalarNode;
using ir::ScalarOp;

constexpr int kMaximumNodes = 80;

struct FunctionName {
  ScalarOp op;
  const char* name;
};

constexpr FunctionName kFunctions[] = {
    {ScalarOp::Abs, "abs"},       {ScalarOp::Sign, "sign"},       {ScalarOp::Exp, "exp"},
    {ScalarOp::Log, "log"},       {ScalarOp::Log1p, "log1p"},     {ScalarOp::Expm1, "expm1"},
    {ScalarOp::Sqrt, "sqrt"},     {ScalarOp::Rsqrt, "rsqrt"},     {ScalarOp::Sin, "sin"},
    {ScalarOp::Cos, "cos"},       {ScalarOp::Tan, "tan"},         {ScalarOp::Tanh, "tanh"},
    {ScalarOp::Sinh, "sinh"},     {ScalarOp::Cosh, "cosh"},       {ScalarOp::Asin, "asin"},
    {ScalarOp::Acos, "acos"},     {ScalarOp::Atan, "atan"},       {ScalarOp::Erf, "erf"},
    {ScalarOp::Lgamma, "lgamma"}, {ScalarOp::Sigmoid, "sigmoid"}, {ScalarOp::Floor, "floor"},
    {ScalarOp::Ceil, "ceil"},     {ScalarOp::Round, "round"},     {ScalarOp::Trunc, "trunc"},
    {ScalarOp::IsNan, "isnan"},   {ScalarOp::IsInf, "isinf"},     {ScalarOp::Min, "min"},
    {ScalarOp::Max, "max"},       {ScalarOp::Fmin, "fmin"},       {ScalarOp::Fmax, "fmax"},
    {ScalarOp::Pow, "pow"},       {ScalarOp::Atan2, "atan2"},     {ScalarOp::BitAnd, "bitand"},
    {ScalarOp::BitOr, "bitor"},   {ScalarOp::BitXor, "bitxor"},   {ScalarOp::Shl, "shl"},
    {ScalarOp::Shr, "shr"},       {ScalarOp::Select, "select"},
};

const char* function(ScalarOp op) {
  for (const FunctionName& one : kFunctions) {
    if (one.op == op) return one.name;
  }
  return "";
}

class Printer {
 public:
  Printer(const KernelReader& reader, const ProgramIndex& index)
      : reader_(reader), index_(index), program_(index.program()) {}

  std::string access(const FoldedAccess& access) const {
    std::string text = program_.tensor(access.base).name;
    if (access.subscripts.empty()) return text;
    return text + list(access.subscripts);
  }

  std::string list(const std::vector<Linear>& subscripts) const {
    std::string text = "[";
    for (const Linear& subscript : subscripts) {
      if (text.size() > 1) text += ",";
      text += linear(subscript);
    }
    return text + "]";
  }

  std::string linear(const Linear& value) const {
    std::string text;
    for (const ir::Term& term : value.terms) {
      const int64_t size = std::abs(term.coefficient);
      if (term.coefficient < 0) {
        text += text.empty() ? "-" : " - ";
      } else if (!text.empty()) {
        text += " + ";
      }
      if (size != 1) text += fmt::format("{}*", size);
      text += atom(term.atom, size != 1);
    }
    if (text.empty()) return fmt::format("{}", value.constant);
    if (value.constant > 0) text += fmt::format(" + {}", value.constant);
    if (value.constant < 0) text += fmt::format(" - {}", -value.constant);
    return text;
  }

  std::string guard(const Guard& guard) const {
    const char* const relation = guard.kind == Guard::Kind::NonNegative ? ">="
                                 : guard.kind == Guard::Kind::Zero      ? "=="
                                                                        : "!=";
    // Negative terms on the right read better: j <= i instead of i - j >= 0.
    Linear left;
    Linear right;
    for (const ir::Term& term : guard.value.terms) {
      const Linear one = scale(single(term.atom), std::abs(term.coefficient));
      (term.coefficient > 0 ? left : right) = add(term.coefficient > 0 ? left : right, one);
    }
    (guard.value.constant > 0 ? left : right).constant = std::abs(guard.value.constant);
    const bool flips = left.terms.empty() && guard.kind == Guard::Kind::NonNegative;
    if (flips) return fmt::format("{} <= {}", linear(right), linear(left));
    return fmt::format("{} {} {}", linear(left), relation, linear(right));
  }

  // `outer` is the precedence of the surrounding operator; 0: none.
  std::string scalar(int32_t id, int outer) {
    if (++printed_ > kMaximumNodes) return "...";
    return unwrapped(reader_.node(id), outer);
  }

 private:
  std::string atom(int32_t id, bool tight) const {
    const Nest& nest = reader_.nest();
    const auto own = static_cast<int32_t>(reader_.kernel().loops.size());
    if (id < own) return reader_.kernel().loops[static_cast<size_t>(id)].name;
    if (id < nest.loop_count())
      return index_.step_loop(reader_.loops()[static_cast<size_t>(id - own)]).name;
    const Atom& atom = nest.atom(id);
    const auto operand = [&](const Linear& value) {
      const bool plain =
          value.terms.size() == 1 && value.constant == 0 && value.terms[0].coefficient == 1;
      return plain ? linear(value) : "(" + linear(value) + ")";
    };
    const auto all = [&] {
      std::string text;
      for (const Linear& value : atom.operands) text += (text.empty() ? "" : ", ") + linear(value);
      return text;
    };
    std::string text;
    switch (atom.kind) {
      case Atom::Kind::FloorDiv:
        text = fmt::format("{} // {}", operand(atom.operands[0]), atom.divisor);
        break;
      case Atom::Kind::Mod:
        text = fmt::format("{} % {}", operand(atom.operands[0]), atom.divisor);
        break;
      case Atom::Kind::Min:
        return "min(" + all() + ")";
      case Atom::Kind::Max:
        return "max(" + all() + ")";
      case Atom::Kind::Select: {
        std::string conditions;
        for (const Guard& condition : atom.conditions) {
          conditions += (conditions.empty() ? "" : " and ") + guard(condition);
        }
        return fmt::format("select({}, {})", conditions, all());
      }
      default:
        return program_.tensor(atom.tensor).name + list(atom.operands);
    }
    return tight ? "(" + text + ")" : text;
  }

  static std::string number(const ScalarNode& node) {
    if (node.type == ir::ElementType::Bool) return node.integer != 0 ? "true" : "false";
    return ir::is_float(node.type) ? fmt::format("{}", node.constant)
                                   : fmt::format("{}", node.integer);
  }

  struct Infix {
    const char* sign;
    int precedence;
  };
  static std::optional<Infix> infix(ScalarOp op) {
    switch (op) {
      case ScalarOp::Or:
        return Infix{"or", 1};
      case ScalarOp::And:
        return Infix{"and", 2};
      case ScalarOp::Less:
        return Infix{"<", 4};
      case ScalarOp::LessEqual:
        return Infix{"<=", 4};
      case ScalarOp::Greater:
        return Infix{">", 4};
      case ScalarOp::GreaterEqual:
        return Infix{">=", 4};
      case ScalarOp::Equal:
        return Infix{"==", 4};
      case ScalarOp::NotEqual:
        return Infix{"!=", 4};
      case ScalarOp::Add:
        return Infix{"+", 5};
      case ScalarOp::Sub:
        return Infix{"-", 5};
      case ScalarOp::Mul:
        return Infix{"*", 6};
      case ScalarOp::Div:
        return Infix{"/", 6};
      case ScalarOp::FloorDiv:
        return Infix{"//", 6};
      case ScalarOp::Mod:
        return Infix{"%", 6};
      default:
        return std::nullopt;
    }
  }

  std::string unwrapped(const ScalarNode& node, int outer) {
    switch (node.op) {
      case ScalarOp::Constant:
        return number(node);
      case ScalarOp::Index:
        return reader_.linear(node.reference).terms.size() > 1 && outer > 0
                   ? "(" + linear(reader_.linear(node.reference)) + ")"
                   : linear(reader_.linear(node.reference));
      case ScalarOp::Load:
        return access(reader_.folded(node.reference));
      case ScalarOp::Prev:
        return "prev";
      case ScalarOp::Cast:
        return fmt::format("{}({})", ir::name(node.type), scalar(node.a, 0));
      case ScalarOp::Neg:
        return "-" + scalar(node.a, 7);
      case ScalarOp::Not:
        return "not " + scalar(node.a, 3);
      default:
        break;
    }
    if (const auto sign = infix(node.op)) {
      std::string text = fmt::format("{} {} {}", scalar(node.a, sign->precedence), sign->sign,
                                     scalar(node.b, sign->precedence + 1));
      return sign->precedence < outer ? "(" + text + ")" : text;
    }
    std::string text = fmt::format("{}({}", function(node.op), scalar(node.a, 0));
    if (node.b >= 0) text += ", " + scalar(node.b, 0);
    if (node.c >= 0) text += ", " + scalar(node.c, 0);
    return text + ")";
  }

  const KernelReader& reader_;
  const ProgramIndex& index_;
  const ir::Program& program_;
  int printed_ = 0;
};

const char* reduction_name(Reduction reduction) {
  switch (reduction) {
    case Reduction::None:
      return "";
    case Reduction::Sum:
      return "sum";
    case Reduction::Product:
      return "product";
    case Reduction::Max:
      return "max";
    case Reduction::Min:
      return "min";
    case Reduction::And:
      return "all";
    case Reduction::Or:
      return "any";
    case Reduction::ArgMax:
      return "argmax";
    case Reduction::ArgMin:
      return "argmin";
  }
  return "";
}

}  // namespace

std::string einsum_text(const KernelReader& reader, const ProgramIndex& index) {
  const ir::Kernel& kernel = reader.kernel();
  const ir::Program& program = index.program();
  Printer printer(reader, index);
  std::string target = program.tensor(kernel.output).name;
  if (kernel.second_output) target += ", " + program.tensor(*kernel.second_output).name;
  if (!reader.target().empty()) target += printer.list(reader.target());
  std::string text = target + " = ";
  if (kernel.reduction != Reduction::None) {
    std::string reduced;
    for (size_t loop = 0; loop < kernel.loops.size(); ++loop) {
      if (reader.target_mask() & loop_bit(static_cast<int32_t>(loop))) continue;
      reduced += (reduced.empty() ? "" : ",") + kernel.loops[loop].name;
    }
    text += fmt::format("{}{{{}}} ", reduction_name(kernel.reduction), reduced);
  }
  const bool reduces = kernel.reduction != Reduction::None;
  text += printer.scalar(kernel.value, reduces ? 6 : 0);
  std::string guards;
  for (const auto* list : {&reader.guards(), &reader.ragged_guards()}) {
    for (const Guard& guard : *list) {
      guards += (guards.empty() ? " where " : ", ") + printer.guard(guard);
    }
  }
  if (kernel.data_guard >= 0) {
    guards += (guards.empty() ? " where " : ", ") + printer.scalar(kernel.data_guard, 0);
  }
  return text + guards;
}

std::string concat_text(const ir::Concat& concat, const ir::Program& program) {
  std::string inputs;
  for (const ir::TensorId input : concat.inputs) {
    inputs += (inputs.empty() ? "" : ", ") + program.tensor(input).name;
  }
  return fmt::format("{} = concat({}; axis = {})", program.tensor(concat.output).name, inputs,
                     concat.axis);
}

std::string sort_text(const ir::Sort& sort, const ir::Program& program) {
  return fmt::format("{}, {} = {}({}; axis = {}, count = {})", program.tensor(sort.values).name,
                     program.tensor(sort.positions).name, sort.descending ? "largest" : "smallest",
                     program.tensor(sort.input).name, sort.axis, sort.count);
}

std::string compact_text(const ir::Compact& compact, const ir::Program& program) {
  return fmt::format("{}, {} = {}({})", program.tensor(compact.output).name,
                     program.tensor(compact.count).name,
                     compact.kind == ir::Compact::Kind::Unique ? "unique" : "nonzero",
                     program.tensor(compact.input).name);
}

std::string opaque_text(const ir::Opaque& opaque, const ir::Program& program) {
  const auto names = [&](const std::vector<ir::TensorId>& ids) {
    std::string text;
    for (const ir::TensorId id : ids) text += (text.empty() ? "" : ", ") + program.tensor(id).name;
    return text;
  };
  return fmt::format("{} = {}\"{}\"({})", names(opaque.outputs), opaque.hole ? "hole " : "",
                     opaque.op, names(opaque.inputs));
}

std::string box_formula(const KernelReader& reader, const ProgramIndex& index) {
  std::vector<std::string> extents;
  const LoopMask left_out = partitioning_loops(reader);
  const ir::Kernel& kernel = reader.kernel();
  for (const int32_t step : reader.loops()) {
    if (index.step_loop(step).extent_text.empty()) return "";
    extents.push_back(index.step_loop(step).extent_text);
  }
  for (size_t loop = 0; loop < kernel.loops.size(); ++loop) {
    if (kernel.loops[loop].extent_text.empty()) return "";
    const bool counts = !(left_out & loop_bit(static_cast<int32_t>(loop)));
    if (counts) extents.push_back(kernel.loops[loop].extent_text);
  }
  std::string text;
  for (const std::string& extent : extents) {
    if (extent == "1") continue;
    const bool plain = std::all_of(extent.begin(), extent.end(), [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '*';
    });
    if (!text.empty()) text += "*";
    text += plain ? extent : "(" + extent + ")";
  }
  return text.empty() ? "1" : text;
}

}  // namespace solar::einsum
