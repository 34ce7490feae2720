// Views and slices.

#include <fmt/format.h>

#include "ir/parser_statements.h"

namespace solar::ir {

ast::View StatementParser::parse_view() {
  advance();
  ast::View view;
  view.output = expect_name("the view's name");
  expect("=", "after the view's name");
  view.input = expect_name("the tensor that is viewed");
  expect("{", "before the axes");
  view.left = parse_axes("->");
  expect("->", "between the axes");
  view.right = parse_axes("}");
  expect("}", "after the axes");
  return view;
}

std::vector<ast::Axis> StatementParser::parse_axes(Word end) {
  std::vector<ast::Axis> axes;
  axes.reserve(kUsualCount);
  const Depth depth(*this, peek());
  while (!at(end)) {
    axes.push_back(parse_axis());
    if (!accept(",")) break;
  }
  return axes;
}

ast::Axis StatementParser::parse_axis() {
  ast::Axis axis;
  const Token& token = peek();
  if (accept("(")) {
    axis.kind = ast::Axis::Kind::Group;
    axis.group = parse_axes(")");
    expect(")", "to close the group of axes");
  } else if (accept("*")) {
    axis.kind = ast::Axis::Kind::Pack;
    axis.name = expect_name("the pack's name").text;
  } else if (token.kind == TokenKind::Integer) {
    if (token.text != "1") {
      fail(token, fmt::format("expected an axis, found `{}`", token.text),
           "only `1` stands for itself; write `name:EXTENT` for another axis");
    }
    advance();
    axis.kind = ast::Axis::Kind::One;
  } else {
    axis.name = expect_name("an axis").text;
    if (accept(":")) axis.extent = parse_expr();
  }
  axis.span = span_from(token.begin);
  return axis;
}

ast::Slice StatementParser::parse_slice() {
  advance();
  ast::Slice slice;
  slice.output = expect_name("the slice's name");
  expect("=", "after the slice's name");
  slice.input = expect_name("the tensor that is sliced");
  expect("[", "before the slice's items");
  while (!at("]")) {
    slice.items.push_back(parse_slice_item());
    if (!accept(",")) break;
  }
  expect("]", "after the slice's items");
  return slice;
}

ast::SliceItem StatementParser::parse_slice_item() {
  ast::SliceItem item;
  const Token& token = peek();
  if (accept("reverse")) {
    item.kind = ast::SliceItem::Kind::Reverse;
  } else if (accept("at")) {
    item.kind = ast::SliceItem::Kind::RunTime;
    const ast::Name start = expect_name("the tensor that holds the start");
    ast::Expr name;
    name.kind = ast::ExprKind::Name;
    name.text = start.text;
    name.span = start.span;
    item.start = std::make_shared<const ast::Expr>(std::move(name));
    expect("size", "after the start");
    item.stop = parse_expr();
  } else if (at("..") && peek(1).kind == TokenKind::Bad && peek(1).text == ".") {
    advance();
    advance();
    item.kind = ast::SliceItem::Kind::Ellipsis;
  } else {
    if (!at(":")) item.start = parse_expr();
    if (accept(":")) {
      item.kind = ast::SliceItem::Kind::Range;
      if (!at(":") && !at(",") && !at("]")) item.stop = parse_expr();
      if (accept(":")) item.step = parse_expr();
    } else {
      item.kind = ast::SliceItem::Kind::Index;
    }
  }
  item.span = span_from(token.begin);
  return item;
}

}  // namespace solar::ir
