#include "ir/parser.h"

#include <fmt/format.h>

#include "base/text.h"
#include "ir/parser_statements.h"

namespace solar::ir {
namespace {

constexpr size_t kMaxText = size_t{1} << 30;  // offsets are 32 bit

/// Files, programs, functions.
class Parser : StatementParser {
 public:
  Parser(std::shared_ptr<const Source> source, StatementSink* sink)
      : StatementParser(std::move(source)), sink_(sink) {}

  Result<ast::File> run() {
    ast::File file;
    file.sources = {source_};
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
  void skip_to_top() {
    while (peek().kind != TokenKind::End && !at("program") && !at("fn")) advance();
  }

  void parse_top(ast::File& file) {
    std::vector<std::string> comments = take_comments(peek().begin);
    if (at("fn")) {
      file.functions.push_back(parse_function());
      ast::Function& function = file.functions.back();
      function.comments = std::move(comments);
      keep_comment_behind(function.block, function.span);
      return;
    }
    if (!at("program")) {
      const auto near = nearest_names(peek().text, {"program"});
      std::vector<Fix> fixes;
      if (!near.empty()) fixes.push_back({span(peek()), near[0], FixConfidence::Maybe});
      fail(peek(), fmt::format("expected `program` or `fn`, found {}", describe(peek())),
           near.empty() ? "" : fmt::format("did you mean `{}`?", near[0]), DiagnosticKind::Syntax,
           std::move(fixes));
    }
    const Token& word = peek();
    ast::Program program = parse_program(file);
    program.comments = std::move(comments);
    keep_comment_behind(program.block, program.span);
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

  /// A comment on the line of the closing brace is not of what comes next.
  void keep_comment_behind(ast::Block& block, Place whole) {
    const int32_t end = end_of_line({whole.source, whole.end, whole.end});
    for (std::string& comment : take_comments(end))
      block.trailing_comments.push_back(std::move(comment));
  }

  ast::Program parse_program(const ast::File& file) {
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
    StatementSink* sink = file.program ? nullptr : sink_;
    if (sink != nullptr) sink->begin(file, program);
    program.block = parse_block(true, sink);
    program.span = span_from(begin);
    return program;
  }

  ast::Port parse_port() {
    ast::Port port;
    const Token& word = peek();
    const auto role = word.kind == TokenKind::Keyword ? role_named(word.text) : std::nullopt;
    if (!role) {
      const auto near =
          nearest_names(word.text, {"input", "param", "buffer", "state", "const", "rng"});
      std::vector<Fix> fixes;
      if (near.size() == 1) fixes.push_back({span(word), near[0], FixConfidence::Maybe});
      fail(word, fmt::format("expected a role, found {}", describe(word)),
           "a role is input, param, buffer, state, const or rng", DiagnosticKind::Syntax,
           std::move(fixes));
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

  StatementSink* sink_;
};

}  // namespace

Result<ast::File> parse(std::shared_ptr<const Source> source, StatementSink* sink) {
  if (source->text.size() > kMaxText) {
    return Diagnostic{.kind = DiagnosticKind::Syntax,
                      .message = fmt::format("`{}` has {} bytes, more than 2^30", source->name,
                                             source->text.size())};
  }
  return Parser(std::move(source), sink).run();
}

Result<ast::File> parse_text(std::string name, std::string text) {
  return parse(std::make_shared<const Source>(Source{std::move(name), std::move(text)}));
}

}  // namespace solar::ir
