#include "ir/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/parser_base.h"

namespace solar::ir {
namespace {

constexpr std::array<std::string_view, 14> kStatementWords = {
    "dims",  "require", "op",     "kernel", "indexed", "scatter", "view",
    "slice", "let",     "update", "next",   "test",    "hole",    "opaque"};

constexpr size_t kMaxText = size_t{1} << 30;  // offsets are 32 bit

class Parser : ParserBase {
 public:
  explicit Parser(std::shared_ptr<const Source> source) : ParserBase(std::move(source)) {}

  Result<ast::File> run() {
    ast::File file;
    while (peek().kind != TokenKind::End) {
      try {
        parse_top(file);
      } catch (const SyntaxAbort&) {
        skip_to_top();
      }
    }
    file.trailing_comments = take_comments(static_cast<int32_t>(source_->text.size()));
    if (!errors_.empty()) return std::move(errors_);
    return file;
  }

 private:
  // --- comments -------------------------------------------------------------------------------

  std::vector<std::string> take_comments(int32_t before) {
    std::vector<std::string> taken;
    while (next_comment_ < lexed_.comments.size() &&
           lexed_.comments[next_comment_].begin < before) {
      taken.emplace_back(lexed_.comments[next_comment_++].text);
    }
    return taken;
  }

  // --- recovery -------------------------------------------------------------------------------

  void skip_to_top() {
    while (peek().kind != TokenKind::End && !at("program") && !at("fn")) advance();
  }

  bool at_statement() const {
    return peek().kind == TokenKind::Keyword &&
           std::find(kStatementWords.begin(), kStatementWords.end(), peek().text) !=
               kStatementWords.end();
  }

  /// Skips the rest of a broken statement: to the next statement's keyword or the brace that closes
  /// the block. `depth` is the number of braces the broken statement has open.
  void skip_statement(size_t begin) {
    int depth = 0;
    if (at_ == begin) advance();
    for (size_t i = begin; i < at_; ++i) {
      if (lexed_.tokens[i].kind != TokenKind::Punctuation) continue;
      if (lexed_.tokens[i].text == "{") ++depth;
      if (lexed_.tokens[i].text == "}") --depth;
    }
    const bool refused = std::exchange(refused_statement_, false);
    while (peek().kind != TokenKind::End) {
      if (depth <= 0 && (at("}") || at_statement() || at("fn") || at("program"))) return;
      // `let` also stands inside a nest; a statement keyword no nest can hold ends the broken one.
      if (depth > 0 && !refused &&
          (at("kernel") || at("indexed") || at("view") || at("op") || at("fn") || at("program"))) {
        return;
      }
      if (at("{")) ++depth;
      if (at("}")) --depth;
      advance();
    }
  }

  // --- files, programs, functions -------------------------------------------------------------

  void parse_top(ast::File& file) {
    std::vector<std::string> comments = take_comments(peek().begin);
    if (at("fn")) {
      file.functions.push_back(parse_function());
      file.functions.back().comments = std::move(comments);
      return;
    }
    if (!at("program")) {
      fail(peek(), fmt::format("expected `program` or `fn`, found {}", describe(peek())));
    }
    const Token& word = peek();
    ast::Program program = parse_program();
    program.comments = std::move(comments);
    if (file.program) {
      report({.kind = DiagnosticKind::DuplicateName,
              .message = "a file holds one program, this is the second",
              .span = span(word),
              .hint = "keep one; write the others into files of their own",
              .labels = {{file.program->name.span, "the first one"}}});
      return;
    }
    file.program = std::move(program);
  }

  ast::Program parse_program() {
    ast::Program program;
    const int32_t begin = advance().begin;
    program.name = expect_name("the program's name");
    expect("(", "before the program's tensors");
    while (!at(")")) {
      program.ports.push_back(parse_port());
      if (!accept(",")) break;
    }
    expect(")", "after the program's tensors");
    program.outputs = parse_results();
    program.block = parse_block(true);
    program.span = span_from(begin);
    return program;
  }

  ast::Port parse_port() {
    ast::Port port;
    const Token& word = peek();
    const auto role = word.kind == TokenKind::Keyword ? role_named(word.text) : std::nullopt;
    if (!role) {
      fail(word, fmt::format("expected a role, found {}", describe(word)),
           "a role is input, param, buffer, state, const or rng");
    }
    advance();
    port.role = *role;
    port.declaration = parse_declaration("the tensor's name");
    if (accept("=")) {
      expect("[", "before the constant's values");
      while (!at("]")) {
        port.values.push_back(parse_expr());
        if (!accept(",")) break;
      }
      expect("]", "after the constant's values");
    }
    return port;
  }

  ast::Function parse_function() {
    ast::Function function;
    const int32_t begin = advance().begin;
    function.name = expect_name("the function's name");
    if (accept("<")) {
      while (!at(">")) {
        function.generics.push_back(parse_generic());
        if (!accept(",")) break;
      }
      expect(">", "after the function's dims and types");
    }
    expect("(", "before the function's parameters");
    while (!at(")")) {
      function.parameters.push_back(parse_declaration("the parameter's name"));
      if (!accept(",")) break;
    }
    expect(")", "after the function's parameters");
    function.results = parse_results();
    function.block = parse_block(true);
    function.span = span_from(begin);
    return function;
  }

  ast::Generic parse_generic() {
    if (accept("*")) return {ast::Generic::Kind::Pack, expect_name("the pack's name")};
    if (accept("type")) return {ast::Generic::Kind::Type, expect_name("the type parameter's name")};
    return {ast::Generic::Kind::Dim, expect_name("a dim, `*pack` or `type T`")};
  }

  std::vector<ast::Name> parse_results() {
    expect("->", "before the outputs");
    expect("(", "before the outputs");
    std::vector<ast::Name> results;
    while (!at(")")) {
      results.push_back(expect_name("an output's name"));
      if (!accept(",")) break;
    }
    expect(")", "after the outputs");
    return results;
  }

  ast::Declaration parse_declaration(const char* what) {
    ast::Declaration declaration;
    declaration.name = expect_name(what);
    expect(":", "before the type");
    declaration.type = parse_type();
    return declaration;
  }

  ast::Type parse_type() {
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
    while (!at("]")) {
      ast::Extent extent;
      const int32_t at_begin = peek().begin;
      if (accept("*")) {
        extent.pack = expect_name("the name of a dim pack after `*`").text;
      } else {
        extent.expr = parse_expr();
      }
      extent.span = span_from(at_begin);
      type.extents.push_back(std::move(extent));
      if (!accept(",")) break;
    }
    expect("]", "after the extents");
    if (accept("as")) type.storage = expect_name("the storage format").text;
    type.span = span_from(begin);
    return type;
  }

  ast::ElementRef parse_element() {
    const Token& token = peek();
    const bool known = token.kind == TokenKind::Keyword && element_type_named(token.text);
    if (!known && token.kind != TokenKind::Name) {
      fail(token, fmt::format("expected an element type, found {}", describe(token)),
           "f64 f32 f16 bf16 f8e4m3 f8e5m2 f4e2m1 i64 i32 i16 i8 i4 u8 bool");
    }
    advance();
    return {std::string(token.text), false, span(token)};
  }

  // --- statements -----------------------------------------------------------------------------

  /// `dims_allowed`: the body of a program or function, not of a group.
  ast::Block parse_block(bool dims_allowed) {
    ast::Block block;
    const Depth depth(*this, peek());
    expect("{", "before the body");
    while (!at("}") && peek().kind != TokenKind::End && !at("fn") && !at("program")) {
      const size_t begin = at_;
      if (at("dims") && !dims_allowed) {
        report({.kind = DiagnosticKind::Syntax,
                .message = "`dims` come first in the body of a program or function",
                .span = span(peek()),
                .hint = "move them to the start of the body"});
      }
      dims_allowed = dims_allowed && (at("dims") || at("require"));
      try {
        block.statements.push_back(parse_statement());
      } catch (const SyntaxAbort&) {
        skip_statement(begin);
      }
    }
    block.trailing_comments = take_comments(peek().begin);
    expect("}", "to close the body");
    return block;
  }

  ast::Statement parse_statement() {
    ast::Statement statement;
    statement.comments = take_comments(peek().begin);
    const Token& word = peek();
    if (at("dims")) {
      statement.body = parse_dims();
    } else if (accept("require")) {
      statement.body = ast::Require{parse_expr()};
    } else if (at("op")) {
      statement.body = parse_op();
    } else if (at("kernel") || at("indexed")) {
      statement.body = parse_kernel();
    } else if (at("view")) {
      statement.body = parse_view();
    } else if (at("slice")) {
      statement.body = parse_slice();
    } else if (at("let")) {
      statement.body = parse_call_statement();
    } else if (at("update")) {
      statement.body = parse_update();
    } else if (at_statement()) {
      refuse(word);
    } else {
      fail(
          word, fmt::format("expected a statement, found {}", describe(word)),
          "a statement starts with dims, require, op, kernel, indexed, view, slice, let or update");
    }
    statement.span = span_from(word.begin);
    // Comments inside a statement move in front of it.
    for (std::string& comment : take_comments(statement.span.end)) {
      statement.comments.push_back(std::move(comment));
    }
    return statement;
  }

  [[noreturn]] void refuse(const Token& word) {
    refused_statement_ = true;  // its braces are balanced: skip it whole
    fail(word, fmt::format("`{}` is not supported by this version", word.text),
         "kernels, indexed reads, views, slices, calls and updates are",
         DiagnosticKind::NotSupported);
  }

  ast::Dims parse_dims() {
    advance();
    ast::Dims dims;
    do {
      const bool reserved_name = peek().kind == TokenKind::Keyword && peek(1).text == "=";
      if (peek().kind != TokenKind::Name && !reserved_name) break;  // a trailing comma
      ast::Let dim;
      dim.name = expect_name("a dim's name");
      expect("=", "after the dim's name");
      dim.value = parse_expr();
      dims.dims.push_back(std::move(dim));
    } while (accept(","));
    return dims;
  }

  std::string expect_string(const char* what) {
    if (peek().kind != TokenKind::String) {
      fail(peek(), fmt::format("expected {} in quotes, found {}", what, describe(peek())));
    }
    return std::string(advance().text);
  }

  ast::Op parse_op() {
    advance();
    ast::Op op;
    op.name = expect_string("the source operator");
    if (accept("at")) op.at = expect_string("the place in the source");
    if (accept("module")) op.module = expect_string("the module path");
    if (accept("nominal")) op.nominal = parse_expr();
    op.block = parse_block(false);
    return op;
  }

  ast::View parse_view() {
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

  std::vector<ast::Axis> parse_axes(std::string_view end) {
    std::vector<ast::Axis> axes;
    const Depth depth(*this, peek());
    while (!at(end)) {
      axes.push_back(parse_axis());
      if (!accept(",")) break;
    }
    return axes;
  }

  ast::Axis parse_axis() {
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

  ast::Slice parse_slice() {
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

  ast::SliceItem parse_slice_item() {
    ast::SliceItem item;
    const Token& token = peek();
    if (accept("reverse")) {
      item.kind = ast::SliceItem::Kind::Reverse;
    } else if (at("at")) {
      refuse(token);
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

  ast::Call parse_call_statement() {
    advance();
    ast::Call call;
    if (accept("(")) {
      call.tuple = true;
      do {
        if (!call.results.empty() && at(")")) break;  // a trailing comma
        call.results.push_back(expect_name("a result's name"));
      } while (accept(","));
      expect(")", "after the results");
    } else {
      call.results.push_back(expect_name("the result's name"));
    }
    if (at("stack")) refuse(peek());
    expect("=", "after the result");
    if (at("repeat") || at("while") || at("if")) refuse(peek());
    if (peek().kind == TokenKind::Name && (peek().text == "sort" || peek().text == "topk")) {
      refuse(peek());
    }
    call.function = expect_name("a function");
    expect("(", "before the arguments");
    while (!at(")") && !at(";")) {
      call.arguments.push_back({parse_expr()});
      if (!accept(",")) break;
    }
    if (accept(";")) {
      while (!at(")")) {
        ast::Attribute attribute;
        attribute.name = expect_name("a dim, type or flag of the function");
        expect("=", "after its name");
        attribute.value = parse_attribute_value();
        call.attributes.push_back(std::move(attribute));
        if (!accept(",")) break;
      }
    }
    expect(")", "after the arguments");
    return call;
  }

  ast::ExprPtr parse_attribute_value() {
    const Token& token = peek();
    if (token.kind == TokenKind::Keyword && element_type_named(token.text)) {
      advance();
      ast::Expr expr;
      expr.kind = ast::ExprKind::Name;
      expr.text = token.text;
      expr.span = span(token);
      return std::make_shared<const ast::Expr>(std::move(expr));
    }
    return parse_expr();
  }

  ast::Update parse_update() {
    advance();
    ast::Update update;
    update.state = expect_name("the state's name");
    expect("=", "after the state's name");
    update.value = expect_name("the state's new value");
    return update;
  }

  // --- kernels --------------------------------------------------------------------------------

  ast::Kernel parse_kernel() {
    ast::Kernel kernel;
    kernel.indexed = advance().text == "indexed";
    kernel.outputs.push_back(parse_declaration("the kernel's tensor"));
    if (accept(",")) kernel.outputs.push_back(parse_declaration("the second tensor"));
    expect("{", "before the loops");
    if (accept("for")) parse_loops(kernel);
    parse_lets(kernel);
    if (accept("where")) {
      do {
        kernel.guards.push_back(parse_expr());
      } while (accept(","));
    }
    parse_lets(kernel);  // the formatter puts them before `where`
    kernel.targets.push_back(parse_target());
    if (accept(",")) kernel.targets.push_back(parse_target());
    parse_assignment(kernel);
    while (at("init") || at("else")) {
      const Token& word = advance();
      ast::ExprPtr& slot = word.text == "init" ? kernel.init : kernel.otherwise;
      if (slot) fail(word, fmt::format("`{}` is given twice", word.text));
      slot = parse_expr();
    }
    if (at("base") || at("unique")) refuse(peek());
    expect("}", "to close the kernel (it holds one assignment)");
    return kernel;
  }

  void parse_loops(ast::Kernel& kernel) {
    do {
      ast::Loop loop;
      if (accept("*")) {
        loop.pack = true;
        loop.name = expect_name("the loop pack's name");
        expect(":", "after the loop pack");
        expect("*", "before the dim pack");
        loop.pack_extent = expect_name("the dim pack's name");
      } else {
        if (accept("seq")) loop.order = ast::Loop::Order::Ascending;
        if (accept("revseq")) loop.order = ast::Loop::Order::Descending;
        loop.name = expect_name("a loop variable");
        expect(":", "between a loop variable and its extent");
        loop.extent = parse_expr();
        if (at("in")) refuse(peek());
      }
      kernel.loops.push_back(std::move(loop));
    } while (accept(","));
  }

  void parse_lets(ast::Kernel& kernel) {
    while (accept("let")) {
      ast::Let let;
      let.name = expect_name("the abbreviation's name");
      expect("=", "after its name");
      let.value = parse_expr();
      kernel.lets.push_back(std::move(let));
    }
  }

  ast::Target parse_target() {
    ast::Target target;
    target.tensor = expect_name("the tensor that is assigned");
    target.subscripts = parse_subscripts();
    target.span = span_from(target.tensor.span.begin);
    return target;
  }

  void parse_assignment(ast::Kernel& kernel) {
    static constexpr std::array<std::string_view, 9> kAssign = {
        "=", "+=", "*=", "max=", "min=", "and=", "or=", "argmax=", "argmin="};
    const Token& token = peek();
    const bool known = token.kind == TokenKind::Punctuation &&
                       std::find(kAssign.begin(), kAssign.end(), token.text) != kAssign.end();
    if (!known) {
      fail(token, fmt::format("expected an assignment, found {}", describe(token)),
           "= += *= max= min= and= or= argmax= argmin=");
    }
    advance();
    kernel.assign = token.text;
    kernel.assign_span = span(token);
    kernel.values.push_back(parse_expr());
    if (accept(",")) kernel.values.push_back(parse_expr());
  }

  size_t next_comment_ = 0;
  bool refused_statement_ = false;
};

}  // namespace

Result<ast::File> parse(std::shared_ptr<const Source> source) {
  if (source->text.size() > kMaxText) {
    return Diagnostic{.kind = DiagnosticKind::Syntax,
                      .message = fmt::format("`{}` has {} bytes, more than 2^30", source->name,
                                             source->text.size())};
  }
  return Parser(std::move(source)).run();
}

Result<ast::File> parse_text(std::string name, std::string text) {
  return parse(std::make_shared<const Source>(Source{std::move(name), std::move(text)}));
}

}  // namespace solar::ir
