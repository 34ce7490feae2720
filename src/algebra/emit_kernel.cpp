#include "algebra/emit_kernel.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "ir/printer.h"

namespace solar::algebra {
namespace {

using ir::ScalarNode;
using ir::ScalarOp;

const char* function_name(ScalarOp op) {
  switch (op) {
    case ScalarOp::Abs:
      return "abs";
    case ScalarOp::Sign:
      return "sign";
    case ScalarOp::Exp:
      return "exp";
    case ScalarOp::Log:
      return "log";
    case ScalarOp::Log1p:
      return "log1p";
    case ScalarOp::Expm1:
      return "expm1";
    case ScalarOp::Sqrt:
      return "sqrt";
    case ScalarOp::Rsqrt:
      return "rsqrt";
    case ScalarOp::Sin:
      return "sin";
    case ScalarOp::Cos:
      return "cos";
    case ScalarOp::Tan:
      return "tan";
    case ScalarOp::Tanh:
      return "tanh";
    case ScalarOp::Sinh:
      return "sinh";
    case ScalarOp::Cosh:
      return "cosh";
    case ScalarOp::Asin:
      return "asin";
    case ScalarOp::Acos:
      return "acos";
    case ScalarOp::Atan:
      return "atan";
    case ScalarOp::Erf:
      return "erf";
    case ScalarOp::Lgamma:
      return "lgamma";
    case ScalarOp::Sigmoid:
      return "sigmoid";
    case ScalarOp::Floor:
      return "floor";
    case ScalarOp::Ceil:
      return "ceil";
    case ScalarOp::Round:
      return "round";
    case ScalarOp::Trunc:
      return "trunc";
    case ScalarOp::IsNan:
      return "isnan";
    case ScalarOp::IsInf:
      return "isinf";
    case ScalarOp::Min:
      return "min";
    case ScalarOp::Max:
      return "max";
    case ScalarOp::Fmin:
      return "fmin";
    case ScalarOp::Fmax:
      return "fmax";
    case ScalarOp::Pow:
      return "pow";
    case ScalarOp::Atan2:
      return "atan2";
    case ScalarOp::BitAnd:
      return "bitand";
    case ScalarOp::BitOr:
      return "bitor";
    case ScalarOp::BitXor:
      return "bitxor";
    case ScalarOp::Shl:
      return "shl";
    case ScalarOp::Shr:
      return "shr";
    default:
      return nullptr;
  }
}

const char* infix(ScalarOp op) {
  switch (op) {
    case ScalarOp::Add:
      return "+";
    case ScalarOp::Sub:
      return "-";
    case ScalarOp::Mul:
      return "*";
    case ScalarOp::Div:
      return "/";
    case ScalarOp::FloorDiv:
      return "//";
    case ScalarOp::Mod:
      return "%";
    case ScalarOp::Less:
      return "<";
    case ScalarOp::LessEqual:
      return "<=";
    case ScalarOp::Greater:
      return ">";
    case ScalarOp::GreaterEqual:
      return ">=";
    case ScalarOp::Equal:
      return "==";
    case ScalarOp::NotEqual:
      return "!=";
    case ScalarOp::And:
      return "and";
    case ScalarOp::Or:
      return "or";
    default:
      return nullptr;
  }
}

const char* assignment(ir::Reduction reduction) {
  switch (reduction) {
    case ir::Reduction::None:
      return "=";
    case ir::Reduction::Sum:
      return "+=";
    case ir::Reduction::Product:
      return "*=";
    case ir::Reduction::Max:
      return "max=";
    case ir::Reduction::Min:
      return "min=";
    case ir::Reduction::And:
      return "and=";
    case ir::Reduction::Or:
      return "or=";
    case ir::Reduction::ArgMax:
      return "argmax=";
    case ir::Reduction::ArgMin:
      return "argmin=";
  }
  return "=";
}

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return ir::float_text(value);
}

class ScalarText {
 public:
  ScalarText(const Vocabulary& words, const IndexText& index, const ir::Kernel& kernel)
      : words_(words), index_(index), kernel_(kernel) {}

  /// As the operand of something that gives literals their type.
  std::string bare(int32_t id) const {
    const ScalarNode& node = at(id);
    return literal(node) ? literal_text(node) : text(id);
  }

  std::string text(int32_t id) const {
    const ScalarNode& node = at(id);
    const auto let = lets_.find(id);
    if (let != lets_.end()) return let->second;
    return own_text(node);
  }

  /// `let`s for what is used more than once, so that shared parts do not multiply.
  std::string lets(int32_t root) {
    std::vector<int> uses(kernel_.nodes.size(), 0);
    std::vector<int32_t> order;
    count(root, uses, order);
    std::string all;
    for (const int32_t id : order) {
      const ScalarNode& node = at(id);
      const bool leaf = node.a < 0;
      if (leaf || uses[static_cast<size_t>(id)] < 2 || id == root) continue;
      const std::string name = fmt::format("t_{}", lets_.size());
      all += fmt::format("let {} = {} ", name, own_text(node));
      lets_[id] = name;
    }
    return all;
  }
  void forget_lets() { lets_.clear(); }

 private:
  const ScalarNode& at(int32_t id) const { return kernel_.nodes[static_cast<size_t>(id)]; }

  bool literal(const ScalarNode& node) const {
    return node.op == ScalarOp::Constant ||
           (node.op == ScalarOp::Index &&
            !index_.varies(kernel_.linears[static_cast<size_t>(node.reference)]));
  }

  std::string literal_text(const ScalarNode& node) const {
    if (node.op == ScalarOp::Index)
      return fmt::format("{}", kernel_.linears[static_cast<size_t>(node.reference)].constant);
    if (node.type == ir::ElementType::Bool) return node.integer != 0 ? "true" : "false";
    if (ir::is_float(node.type)) return number_text(node.constant);
    return fmt::format("{}", node.integer);
  }

  std::string own_text(const ScalarNode& node) const {
    if (literal(node)) {
      if (node.type == ir::ElementType::Bool) return literal_text(node);
      return fmt::format("{}({})", words_.type(node.type), literal_text(node));
    }
    switch (node.op) {
      case ScalarOp::Index:
        return fmt::format("({})",
                           index_.linear(kernel_.linears[static_cast<size_t>(node.reference)]));
      case ScalarOp::Load: {
        const ir::Access& access = kernel_.accesses[static_cast<size_t>(node.reference)];
        return index_.access(access.tensor, access.subscripts);
      }
      case ScalarOp::Prev:
        return "prev";
      case ScalarOp::Cast:
        return fmt::format("{}({})", words_.type(node.type), text(node.a));
      case ScalarOp::Neg:
        return fmt::format("(-{})", text(node.a));
      case ScalarOp::Not:
        return fmt::format("(not {})", text(node.a));
      case ScalarOp::Select:
        return fmt::format("select({}, {}, {})", text(node.a), pair(node.b, node.c),
                           pair(node.c, node.b, true));
      default:
        break;
    }
    if (const char* op = infix(node.op)) {
      return fmt::format("({} {} {})", pair(node.a, node.b), op, pair(node.b, node.a, true));
    }
    const char* function = function_name(node.op);
    if (function == nullptr) return "?";  // the verifier will say no
    if (node.b < 0) return fmt::format("{}({})", function, text(node.a));
    return fmt::format("{}({}, {})", function, pair(node.a, node.b), pair(node.b, node.a, true));
  }

  /// One of two operands: a literal may adapt to the other one if that is none.
  std::string pair(int32_t id, int32_t other, bool = false) const {
    return literal(at(id)) && !literal(at(other)) && at(id).type == at(other).type ? bare(id)
                                                                                   : text(id);
  }

  void count(int32_t id, std::vector<int>& uses, std::vector<int32_t>& order) const {
    if (id < 0) return;
    if (uses[static_cast<size_t>(id)]++ > 0) return;
    const ScalarNode& node = at(id);
    count(node.a, uses, order);
    count(node.b, uses, order);
    count(node.c, uses, order);
    order.push_back(id);
  }

  const Vocabulary& words_;
  const IndexText& index_;
  const ir::Kernel& kernel_;
  std::map<int32_t, std::string> lets_ = {};
};

std::vector<std::string> loop_names(const Vocabulary& words, const std::vector<ir::Loop>& loops) {
  std::vector<std::string> names;
  std::set<std::string> taken(words.steps.begin(), words.steps.end());
  for (const ir::Loop& loop : loops) {
    std::string name = "i_";
    for (const char c : loop.name) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    while (!taken.insert(name).second) name += "_";
    names.push_back(name);
  }
  return names;
}

std::string loops_text(const IndexText& index, const std::vector<ir::Loop>& loops) {
  if (loops.empty()) return "";
  std::string text = "for ";
  for (size_t i = 0; i < loops.size(); ++i) {
    const ir::Loop& loop = loops[i];
    if (i > 0) text += ", ";
    if (loop.order == ir::Loop::Order::Ascending) text += "seq ";
    if (loop.order == ir::Loop::Order::Descending) text += "revseq ";
    text += fmt::format("{}:{}", index.loop(i), loop.extent);
    if (loop.ragged) {
      text += fmt::format(" in {} .. {}", index.linear(loop.ragged->begin),
                          index.linear(loop.ragged->end));
    }
  }
  return text + " ";
}

std::string guards_text(const IndexText& index, const ScalarText& scalars,
                        const ir::Kernel& kernel) {
  std::vector<std::string> parts;
  for (const ir::Guard& guard : kernel.guards) parts.push_back(index.guard(guard));
  if (kernel.data_guard >= 0) parts.push_back(scalars.text(kernel.data_guard));
  return parts.empty() ? "" : fmt::format("where {} ", fmt::join(parts, ", "));
}

}  // namespace

std::string Vocabulary::type(ir::ElementType type) const {
  return std::string(ir::name(in_f64 && ir::is_float(type) ? ir::ElementType::F64 : type));
}

std::string Vocabulary::declaration(ir::TensorId id) const {
  const ir::Tensor& tensor = program->tensor(id);
  std::string text =
      fmt::format("{}: {}[{}]", name(id), type(tensor.type), fmt::join(tensor.shape, ", "));
  if (!tensor.storage.empty() && !in_f64) text += " as " + tensor.storage;
  return text;
}

std::string IndexText::linear(const ir::Linear& value) const {
  std::string text;
  for (const bool positive : {true, false}) {
    for (const ir::Term& term : value.terms) {
      if ((term.coefficient > 0) != positive) continue;
      const int64_t size = positive ? term.coefficient : -term.coefficient;
      if (!positive && text.empty()) text = fmt::format("{}", value.constant);
      if (!text.empty()) text += positive ? " + " : " - ";
      text += size == 1 ? atom(term.atom) : fmt::format("{}*{}", size, atom(term.atom));
    }
    if (positive && value.constant != 0 && !text.empty()) {
      text += fmt::format(" {} {}", value.constant < 0 ? "-" : "+", std::abs(value.constant));
    }
  }
  return text.empty() ? fmt::format("{}", value.constant) : text;
}

std::string IndexText::atom(int32_t id) const {
  if (static_cast<size_t>(id) < loops_.size()) return loops_[static_cast<size_t>(id)];
  const ir::Atom& atom = atoms_[static_cast<size_t>(id)];
  std::vector<std::string> operands;
  for (const ir::Linear& operand : atom.operands) operands.push_back(linear(operand));
  switch (atom.kind) {
    case ir::Atom::Kind::FloorDiv:
      return fmt::format("(({}) // {})", operands[0], atom.divisor);
    case ir::Atom::Kind::Mod:
      return fmt::format("(({}) % {})", operands[0], atom.divisor);
    case ir::Atom::Kind::Min:
      return fmt::format("min({})", fmt::join(operands, ", "));
    case ir::Atom::Kind::Max:
      return fmt::format("max({})", fmt::join(operands, ", "));
    case ir::Atom::Kind::Select: {
      std::string text = operands[0];
      for (const ir::Guard& condition : atom.conditions) {
        text = fmt::format("select({}, {}, {})", guard(condition), text, operands[1]);
      }
      return text;
    }
    case ir::Atom::Kind::DataRead:
      return access(atom.tensor, atom.operands);
    case ir::Atom::Kind::Step:
      return words_.steps[static_cast<size_t>(atom.step)];
    case ir::Atom::Kind::Loop:
      break;
  }
  return "?";
}

std::string IndexText::guard(const ir::Guard& guard) const {
  const char* op = guard.kind == ir::Guard::Kind::NonNegative ? ">="
                   : guard.kind == ir::Guard::Kind::Zero      ? "=="
                                                              : "!=";
  return fmt::format("{} {} 0", linear(guard.value), op);
}

std::string IndexText::access(ir::TensorId tensor,
                              const std::vector<ir::Linear>& subscripts) const {
  if (subscripts.empty()) return words_.name(tensor);
  std::vector<std::string> parts;
  for (const ir::Linear& subscript : subscripts) parts.push_back(linear(subscript));
  return fmt::format("{}[{}]", words_.name(tensor), fmt::join(parts, ", "));
}

std::string kernel_text(const Vocabulary& words, const ir::Kernel& kernel,
                        const std::string& output, const std::vector<std::string>& loops) {
  const IndexText index(words, kernel.atoms, loops);
  ScalarText scalars(words, index, kernel);
  const auto declared = [&](ir::TensorId id, const std::string& name) {
    return name + words.declaration(id).substr(words.name(id).size());
  };
  std::vector<std::string> target;
  for (const int32_t loop : kernel.target_loops)
    target.push_back(index.loop(static_cast<size_t>(loop)));
  const std::string subscripts = fmt::format("[{}]", fmt::join(target, ", "));
  std::string text = kernel.indexed ? "indexed " : "kernel ";
  text += declared(kernel.output, output);
  if (kernel.second_output)
    text += ", " + declared(*kernel.second_output, words.name(*kernel.second_output));
  text += " { " + loops_text(index, kernel.loops);
  if (kernel.second_value < 0 && kernel.data_guard < 0) text += scalars.lets(kernel.value);
  text += guards_text(index, scalars, kernel);
  text += output + subscripts;
  if (kernel.second_output)
    text += fmt::format(", {}{}", words.name(*kernel.second_output), subscripts);
  text += fmt::format(" {} {}", assignment(kernel.reduction), scalars.bare(kernel.value));
  if (kernel.second_value >= 0) text += ", " + scalars.bare(kernel.second_value);
  scalars.forget_lets();
  if (kernel.init >= 0) text += " init " + scalars.bare(kernel.init);
  if (kernel.otherwise >= 0) text += " else " + scalars.bare(kernel.otherwise);
  return text + " }";
}

std::string kernel_text(const Vocabulary& words, const ir::Kernel& kernel) {
  return kernel_text(words, kernel, words.name(kernel.output), loop_names(words, kernel.loops));
}

std::string scatter_text(const Vocabulary& words, const ir::Scatter& scatter, ir::TensorId output) {
  const ir::Kernel& nest = scatter.nest;
  const IndexText index(words, nest.atoms, loop_names(words, nest.loops));
  const ScalarText scalars(words, index, nest);
  std::string text = fmt::format("scatter {} {{ {}{}", words.declaration(output),
                                 loops_text(index, nest.loops), guards_text(index, scalars, nest));
  text += index.access(output, scatter.subscripts);
  if (scatter.subscripts.empty()) text += "[]";
  text += fmt::format(" {} {}", assignment(nest.reduction), scalars.bare(nest.value));
  if (scatter.base)
    text += fmt::format(" base {}{}", scatter.donated ? "donated " : "", words.name(*scatter.base));
  if (nest.reduction == ir::Reduction::None) text += " unique";
  return text + " }";
}

std::string view_text(const Vocabulary& words, const ir::View& view) {
  // As a kernel that copies: the same values.
  ir::Kernel copy;
  const ir::Tensor& output = words.program->tensor(view.output);
  for (size_t axis = 0; axis < output.shape.size(); ++axis) {
    copy.loops.push_back({.name = fmt::format("a{}", axis), .extent = output.shape[axis]});
    copy.target_loops.push_back(static_cast<int32_t>(axis));
  }
  copy.atoms = view.atoms;
  copy.output = view.output;
  copy.accesses.push_back({view.input, view.subscripts});
  copy.nodes.push_back({.op = ScalarOp::Load, .type = output.type, .reference = 0});
  copy.value = 0;
  for (const ir::Atom& atom : view.atoms) {
    if (atom.kind == ir::Atom::Kind::DataRead) copy.indexed = true;
  }
  return kernel_text(words, copy);
}

}  // namespace solar::algebra
