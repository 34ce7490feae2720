#include "ir/printer_text.h"

#include <fmt/format.h>

#include <cmath>

#include "ir/lexer.h"

namespace solar::ir {
namespace {

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

std::string expr_text(const ast::Expr& expr, int least);

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
      return name_text(expr.text) + subscripts_text(expr.operands);
    case ast::ExprKind::Pack:
      return "*" + name_text(expr.text);
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
      size_t right = 1;
      for (const std::string_view op : ast::chain_operators(expr)) {
        out += fmt::format(" {} {}", op, expr_text(*expr.operands[right++], kSum));
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

}  // namespace

std::string name_text(const std::string& name) {
  return is_reserved(name) ? fmt::format("`{}`", name) : name;
}

std::string subscripts_text(const std::vector<ast::ExprPtr>& subscripts) {
  bool plain = true;
  std::vector<std::string> parts;
  for (const ast::ExprPtr& s : subscripts) {
    parts.push_back(expr_text(*s, kOr));
    plain = plain && parts.back().find(' ') == std::string::npos && s->kind != ast::ExprKind::Pack;
  }
  return fmt::format("[{}]", fmt::join(parts, plain ? "," : ", "));
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
                        (axis.extent ? ":" + extent_text(*axis.extent) : ""));
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
    case ast::SliceItem::Kind::RunTime:
      return fmt::format("at {} size {}", to_text(*item.start), to_text(*item.stop));
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

std::string tuple_text(const std::vector<ast::Name>& names) {
  return names.size() == 1 ? names_text(names) : fmt::format("({})", names_text(names));
}

std::string extent_text(const ast::Expr& expr) { return expr_text(expr, kSum); }

std::string loop_text(const ast::Loop& loop) {
  if (loop.pack) {
    return fmt::format("*{}:*{}", name_text(loop.name.text), name_text(loop.extent->text));
  }
  const char* order = loop.order == ast::Loop::Order::Ascending    ? "seq "
                      : loop.order == ast::Loop::Order::Descending ? "revseq "
                                                                   : "";
  std::string text =
      fmt::format("{}{}:{}", order, name_text(loop.name.text), extent_text(*loop.extent));
  if (loop.begin) {
    text += fmt::format(" in {} .. {}", extent_text(*loop.begin), extent_text(*loop.end));
  }
  return text;
}

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
  for (const ast::ExprPtr& extent : type.extents) extents.push_back(to_text(*extent));
  return fmt::format("{}[{}]{}", element_text(type.element), fmt::join(extents, ", "),
                     type.storage.empty() ? "" : " as " + name_text(type.storage));
}

}  // namespace solar::ir
