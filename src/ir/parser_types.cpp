// Declarations and types.

#include <fmt/format.h>

#include "ir/parser_statements.h"

namespace solar::ir {

ast::Declaration StatementParser::parse_declaration(const char* what) {
  ast::Declaration declaration;
  declaration.name = expect_name(what);
  expect(":", "before the type");
  declaration.type = parse_type();
  return declaration;
}

ast::Type StatementParser::parse_type() {
  ast::Type type;
  const int32_t begin = peek().begin;
  if (accept("wide")) {
    expect("(", "after `wide`");
    type.element = parse_element();
    type.element.wide = true;
    expect(")", "after the type");
  } else {
    type.element = parse_element();
  }
  expect("[", "after the element type");
  type.extents.reserve(kUsualCount);
  while (!at("]")) {
    const int32_t at_begin = peek().begin;
    if (accept("*")) {
      std::string name = expect_name("the name of a dim pack after `*`").text;
      type.extents.push_back(pack(std::move(name), span_from(at_begin)));
    } else {
      type.extents.push_back(parse_expr());
    }
    if (!accept(",")) break;
  }
  expect("]", "after the extents");
  if (accept("as")) type.storage = expect_name("the storage format").text;
  type.span = span_from(begin);
  return type;
}

ast::ElementRef StatementParser::parse_element() {
  const Token& token = peek();
  const bool known = token.kind == TokenKind::Keyword && element_type_named(token.text);
  if (!known && token.kind != TokenKind::Name) {
    fail(token, fmt::format("expected an element type, found {}", describe(token)),
         "f64 f32 f16 bf16 f8e4m3 f8e5m2 f4e2m1 i64 i32 i16 i8 i4 u8 bool");
  }
  advance();
  return {std::string(token.text), false, span(token)};
}

}  // namespace solar::ir
