#include "ir/printer.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "ir/lexer.h"

namespace solar::ir {
namespace {

constexpr size_t kWidth = 100;

// Binding strength, loosest first; a child looser than its place gets parentheses.
enum Strength { kOr = 1, kAnd, kNot, kCompare, kSum, kProduct, kUnary, kPrimary };

int strength_of(const ast::Expr& expr) {
  switch (expr.kind) {
    case ast::ExprKind::Chain:
      return kCompare;
    case ast::ExprKind::Unary:
      return expr.text == "not" ? kNot : kUnary;
    case ast::ExprKind::Binary:
      if (expr.text == "or") return kOr;
      if (expr.text == "and") return kAnd;
      return expr.text == "+" || expr.text == "-" ? kSum : kProduct;
    default:
      return kPrimary;
  }
}

std::string name_text(const std::string& name) {
  return is_reserved(name) ? fmt::format("`{}`", name) : name;
}

std::string expr_text(const ast::Expr& expr, int least);

std::string subscripts_text(const std::vector<ast::Subscript>& subscripts) {
  bool plain = true;
  std::vector<std::string> parts;
  for (const ast::Subscript& s : subscripts) {
    parts.push_back(s.expr ? expr_text(*s.expr, kOr) : "*" + name_text(s.pack));
    plain = plain && parts.back().find(' ') == std::string::npos && s.expr;
  }
  return fmt::format("[{}]", fmt::join(parts, plain ? "," : ", "));
}

std::string plain_expr(const ast::Expr& expr) {
  switch (expr.kind) {
    case ast::ExprKind::Integer:
      return fmt::format("{}", expr.integer);
    case ast::ExprKind::Float:
      return float_text(expr.number);
    case ast::ExprKind::Bool:
      return expr.integer != 0 ? "true" : "false";
    case ast::ExprKind::Prev:
      return "prev";
    case ast::ExprKind::Name:
      return name_text(expr.text);
    case ast::ExprKind::Read:
      return name_text(expr.text) + subscripts_text(expr.subscripts);
    case ast::ExprKind::Call: {
      std::vector<std::string> parts;
      for (const ast::ExprPtr& operand : expr.operands) parts.push_back(expr_text(*operand, kOr));
      const bool keyword = element_type_named(expr.text) || expr.text == "wide";
      return fmt::format("{}({})", keyword ? expr.text : name_text(expr.text),
                         fmt::join(parts, ", "));
    }
    case ast::ExprKind::Unary:
      if (expr.text == "not") return "not " + expr_text(*expr.operands[0], kNot);
      return "-" + expr_text(*expr.operands[0], kUnary);
    case ast::ExprKind::Binary: {
      const int own = strength_of(expr);
      const std::string a = expr_text(*expr.operands[0], own);
      const std::string b = expr_text(*expr.operands[1], own + 1);
      const bool tight = expr.text == "*" && a.find(' ') == std::string::npos &&
                         b.find(' ') == std::string::npos && a.find('[') == std::string::npos &&
                         b.find('[') == std::string::npos;
      return tight ? a + "*" + b : a + " " + expr.text + " " + b;
    }
    case ast::ExprKind::Chain: {
      std::string out = expr_text(*expr.operands[0], kSum);
      for (size_t i = 0; i < expr.operators.size(); ++i) {
        out += " " + expr.operators[i] + " " + expr_text(*expr.operands[i + 1], kSum);
      }
      return out;
    }
  }
  return "";
}

std::string expr_text(const ast::Expr& expr, int least) {
  std::string text = plain_expr(expr);
  return strength_of(expr) < least ? fmt::format("({})", text) : text;
}

std::string element_text(const ast::ElementRef& element) {
  const std::string name =
      element_type_named(element.name) ? element.name : name_text(element.name);
  return element.wide ? fmt::format("wide({})", name) : name;
}

std::string declaration_text(const ast::Declaration& d) {
  return fmt::format("{}: {}", name_text(d.name.text), to_text(d.type));
}

std::string axes_text(const std::vector<ast::Axis>& axes) {
  std::vector<std::string> parts;
  for (const ast::Axis& axis : axes) {
    switch (axis.kind) {
      case ast::Axis::Kind::One:
        parts.emplace_back("1");
        break;
      case ast::Axis::Kind::Pack:
        parts.push_back("*" + name_text(axis.name));
        break;
      case ast::Axis::Kind::Group:
        parts.push_back(fmt::format("({})", axes_text(axis.group)));
        break;
      case ast::Axis::Kind::Name:
        parts.push_back(name_text(axis.name) +
                        (axis.extent ? ":" + expr_text(*axis.extent, kSum) : ""));
        break;
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string item_text(const ast::SliceItem& item) {
  switch (item.kind) {
    case ast::SliceItem::Kind::Reverse:
      return "reverse";
    case ast::SliceItem::Kind::Ellipsis:
      return "...";
    case ast::SliceItem::Kind::Index:
      return to_text(*item.start);
    case ast::SliceItem::Kind::Range:
      return (item.start ? to_text(*item.start) : "") + ":" +
             (item.stop ? to_text(*item.stop) : "") + (item.step ? ":" + to_text(*item.step) : "");
  }
  return "";
}

std::string names_text(const std::vector<ast::Name>& names) {
  std::vector<std::string> parts;
  for (const ast::Name& name : names) parts.push_back(name_text(name.text));
  return fmt::format("{}", fmt::join(parts, ", "));
}

class Printer {
 public:
  std::string out;

  void file(const ast::File& file) {
    bool first = true;
    for (const ast::Function& f : file.functions) {
      if (!first) out += "\n";
      first = false;
      function(f);
    }
    if (file.program) {
      if (!first) out += "\n";
      program(*file.program);
    }
    comments(file.trailing_comments, 0);
  }

  void function(const ast::Function& f) {
    comments(f.comments, 0);
    std::vector<std::string> generics;
    for (const ast::Generic& g : f.generics) {
      generics.push_back((g.kind == ast::Generic::Kind::Pack   ? "*"
                          : g.kind == ast::Generic::Kind::Type ? "type "
                                                               : "") +
                         name_text(g.name.text));
    }
    std::vector<std::string> parameters;
    for (const ast::Declaration& d : f.parameters) parameters.push_back(declaration_text(d));
    std::string head = "fn " + name_text(f.name.text);
    if (!generics.empty()) head += fmt::format("<{}>", fmt::join(generics, ", "));
    signature(head, parameters, f.results);
    block(f.block, 1);
    out += "}\n";
  }

 private:
  void line(int indent, std::string_view text) {
    out.append(static_cast<size_t>(indent) * 2, ' ');
    out += text;
    out += '\n';
  }

  void comments(const std::vector<std::string>& comments, int indent) {
    for (const std::string& comment : comments) line(indent, comment);
  }

  /// Items after `head`, broken at kWidth with two more levels of indentation.
  void wrapped(int indent, const std::string& head, const std::vector<std::string>& items,
               const std::string& tail) {
    std::string current = std::string(static_cast<size_t>(indent) * 2, ' ') + head;
    bool start = true;
    for (size_t i = 0; i < items.size(); ++i) {
      const std::string piece = items[i] + (i + 1 < items.size() ? "," : tail);
      if (!start && current.size() + 1 + piece.size() > kWidth) {
        out += current + "\n";
        current = std::string(static_cast<size_t>(indent) * 2 + 4, ' ') + piece;
      } else {
        if (!current.empty() && current.back() != ' ' && current.back() != '(') current += ' ';
        current += piece;
      }
      start = false;
    }
    if (items.empty()) current += tail;
    out += current + "\n";
  }

  void signature(const std::string& head, const std::vector<std::string>& items,
                 const std::vector<ast::Name>& results) {
    const std::string tail = fmt::format(") -> ({}) {{", names_text(results));
    const std::string one = fmt::format("{}({}{}", head, fmt::join(items, ", "), tail);
    if (one.size() <= kWidth) return line(0, one);
    line(0, head + "(");
    for (size_t i = 0; i < items.size(); ++i) line(2, items[i] + (i + 1 < items.size() ? "," : ""));
    line(0, tail);
  }

  void program(const ast::Program& p) {
    comments(p.comments, 0);
    std::vector<std::string> ports;
    for (const ast::Port& port : p.ports) {
      std::string text = fmt::format("{} {}", name(port.role), declaration_text(port.declaration));
      if (port.role == Role::Const || !port.values.empty()) {
        std::vector<std::string> values;
        for (const ast::ExprPtr& value : port.values) values.push_back(to_text(*value));
        text += fmt::format(" = [{}]", fmt::join(values, ", "));
      }
      ports.push_back(std::move(text));
    }
    signature("program " + name_text(p.name.text), ports, p.outputs);
    block(p.block, 1);
    out += "}\n";
  }

  void block(const ast::Block& block, int indent) {
    for (const ast::Statement& statement : block.statements) {
      comments(statement.comments, indent);
      std::visit([&](const auto& body) { print(body, indent); }, statement.body);
    }
    comments(block.trailing_comments, indent);
  }

  void print(const ast::Dims& dims, int indent) {
    std::vector<std::string> items;
    for (const ast::Let& dim : dims.dims) {
      items.push_back(fmt::format("{} = {}", name_text(dim.name.text), to_text(*dim.value)));
    }
    wrapped(indent, "dims", items, "");
  }

  void print(const ast::Require& require, int indent) {
    line(indent, "require " + to_text(*require.condition));
  }

  void print(const ast::Op& op, int indent) {
    std::string head = fmt::format("op \"{}\"", op.name);
    if (op.at) head += fmt::format(" at \"{}\"", *op.at);
    if (op.module) head += fmt::format(" module \"{}\"", *op.module);
    if (op.nominal) head += " nominal " + to_text(*op.nominal);
    if (const auto body = short_body(op.block)) {
      const std::string one = fmt::format("{} {{ {} }}", head, *body);
      if (static_cast<size_t>(indent) * 2 + one.size() <= kWidth) return line(indent, one);
    }
    line(indent, head + " {");
    block(op.block, indent + 1);
    line(indent, "}");
  }

  /// The one statement of a block without comments, if it prints as one line.
  static std::optional<std::string> short_body(const ast::Block& body) {
    if (body.statements.size() != 1 || !body.trailing_comments.empty()) return std::nullopt;
    const ast::Statement& statement = body.statements.front();
    if (!statement.comments.empty() || std::holds_alternative<ast::Op>(statement.body))
      return std::nullopt;
    Printer printer;
    printer.block(body, 0);
    if (printer.out.find('\n') != printer.out.size() - 1) return std::nullopt;
    printer.out.pop_back();
    return std::move(printer.out);
  }

  void print(const ast::Kernel& kernel, int indent) {
    std::vector<std::string> outputs;
    for (const ast::Declaration& d : kernel.outputs) outputs.push_back(declaration_text(d));
    const std::string head =
        fmt::format("{} {} {{", kernel.indexed ? "indexed" : "kernel", fmt::join(outputs, ", "));
    std::vector<std::string> loops;
    for (const ast::Loop& loop : kernel.loops) {
      if (loop.pack) {
        loops.push_back(
            fmt::format("*{}:*{}", name_text(loop.name.text), name_text(loop.pack_extent.text)));
        continue;
      }
      const char* order = loop.order == ast::Loop::Order::Ascending    ? "seq "
                          : loop.order == ast::Loop::Order::Descending ? "revseq "
                                                                       : "";
      loops.push_back(
          fmt::format("{}{}:{}", order, name_text(loop.name.text), expr_text(*loop.extent, kSum)));
    }
    std::vector<std::string> parts;
    for (const ast::Let& let : kernel.lets) {
      parts.push_back(fmt::format("let {} = {}", name_text(let.name.text), to_text(*let.value)));
    }
    if (!kernel.guards.empty()) {
      std::vector<std::string> guards;
      for (const ast::ExprPtr& guard : kernel.guards) guards.push_back(to_text(*guard));
      parts.push_back(fmt::format("where {}", fmt::join(guards, ", ")));
    }
    parts.push_back(assignment(kernel));
    if (kernel.init) parts.push_back("init " + to_text(*kernel.init));
    if (kernel.otherwise) parts.push_back("else " + to_text(*kernel.otherwise));
    const std::string loop_text =
        loops.empty() ? "" : fmt::format("for {}", fmt::join(loops, ", "));
    std::string one = head + " " + (loop_text.empty() ? "" : loop_text + "   ");
    one += fmt::format("{} }}", fmt::join(parts, "  "));
    if (static_cast<size_t>(indent) * 2 + one.size() <= kWidth) return line(indent, one);
    line(indent, head);
    if (!loop_text.empty()) line(indent + 1, loop_text);
    for (const std::string& part : parts) line(indent + 1, part);
    line(indent, "}");
  }

  static std::string assignment(const ast::Kernel& kernel) {
    std::vector<std::string> targets;
    for (const ast::Target& target : kernel.targets) {
      targets.push_back(name_text(target.tensor.text) + subscripts_text(target.subscripts));
    }
    std::vector<std::string> values;
    for (const ast::ExprPtr& value : kernel.values) values.push_back(to_text(*value));
    return fmt::format("{} {} {}", fmt::join(targets, ", "), kernel.assign,
                       fmt::join(values, ", "));
  }

  void print(const ast::View& view, int indent) {
    line(indent,
         fmt::format("view {} = {} {{ {} -> {} }}", name_text(view.output.text),
                     name_text(view.input.text), axes_text(view.left), axes_text(view.right)));
  }

  void print(const ast::Slice& slice, int indent) {
    std::vector<std::string> items;
    for (const ast::SliceItem& item : slice.items) items.push_back(item_text(item));
    line(indent, fmt::format("slice {} = {}[{}]", name_text(slice.output.text),
                             name_text(slice.input.text), fmt::join(items, ", ")));
  }

  void print(const ast::Call& call, int indent) {
    std::vector<std::string> items;
    for (const ast::Argument& argument : call.arguments) items.push_back(to_text(*argument.expr));
    std::string attributes;
    for (const ast::Attribute& a : call.attributes) {
      const bool type = a.value->kind == ast::ExprKind::Name && element_type_named(a.value->text);
      attributes += fmt::format("{}{} = {}", attributes.empty() ? "" : ", ", name_text(a.name.text),
                                type ? a.value->text : to_text(*a.value));
    }
    const std::string results = names_text(call.results);
    const std::string head = fmt::format("let {} = {}(", call.tuple ? "(" + results + ")" : results,
                                         name_text(call.function.text));
    const std::string tail =
        (attributes.empty() ? "" : (items.empty() ? "; " : "; ") + attributes) + ")";
    wrapped(indent, head, items, tail);
  }

  void print(const ast::Update& update, int indent) {
    line(indent,
         fmt::format("update {} = {}", name_text(update.state.text), name_text(update.value.text)));
  }
};

}  // namespace

std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", value);  // shortest that reads back exactly
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string to_text(const ast::Expr& expr) { return expr_text(expr, kOr); }

std::string to_text(const ast::Type& type) {
  std::vector<std::string> extents;
  for (const ast::Extent& extent : type.extents) {
    extents.push_back(extent.pack.empty() ? to_text(*extent.expr) : "*" + name_text(extent.pack));
  }
  return fmt::format("{}[{}]{}", element_text(type.element), fmt::join(extents, ", "),
                     type.storage.empty() ? "" : " as " + name_text(type.storage));
}

std::string print(const ast::File& file) {
  Printer printer;
  printer.file(file);
  return std::move(printer.out);
}

std::string print(const ast::Function& function) {
  Printer printer;
  printer.function(function);
  return std::move(printer.out);
}

}  // namespace solar::ir
