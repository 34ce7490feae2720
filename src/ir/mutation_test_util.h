#pragma once
// Random mutations of ALIR texts, and the texts to start from. Shared by the tests and by fuzz/.

#include <set>

#include "ir/corpus_test_util.h"
#include "ir/lexer.h"
#include "ir/parser.h"

namespace solar::ir {

/// The text's pieces: tokens with the space in front of them.
inline std::vector<std::string> pieces_of(const std::string& text) {
  std::vector<std::string> pieces;
  int32_t from = 0;
  for (const Token& token : lex(text).tokens) {
    pieces.push_back(text.substr(static_cast<size_t>(from), static_cast<size_t>(token.end - from)));
    from = token.end;
  }
  return pieces;
}

inline std::string joined(const std::vector<std::string>& pieces) {
  std::string out;
  for (const std::string& piece : pieces) out += piece;
  return out;
}

class Mutator {
 public:
  explicit Mutator(std::mt19937_64& random) : random_(random) {}

  std::string mutate(const Text& text, const Text& donor) {
    if (draw(random_, 0, 2) != 0) return swapped(text.text);
    std::vector<std::string> pieces = pieces_of(text.text);
    const std::vector<std::string> others = pieces_of(donor.text);
    for (int64_t n = draw(random_, 1, 4); n > 0; --n) change(pieces, others);
    return joined(pieces);
  }

 private:
  /// One or two tokens replaced by others of their kind: most results parse, and go on to the
  /// verifier.
  std::string swapped(std::string text) {
    for (int64_t n = draw(random_, 1, 2); n > 0; --n) {
      const Tokens lexed = lex(text);
      const Token& token = lexed.tokens[any(lexed.tokens.size())];
      std::vector<std::string> same;
      for (const Token& other : lexed.tokens) {
        if (other.kind == token.kind && other.text.size() > 0) same.emplace_back(other.text);
      }
      if (token.kind == TokenKind::Integer) {
        same = {"0",
                "1",
                "2",
                "3",
                "5",
                "7",
                "1000",
                "4294967296",
                "2305843009213693952",
                "9223372036854775807"};
      }
      if (token.kind == TokenKind::Punctuation && token.text.ends_with('=') &&
          token.text.size() != 2) {
        same = {"=", "*=", "max=", "min=", "or=", "argmax="};
      } else if (token.kind == TokenKind::Punctuation) {
        same = token.text == "<" || token.text == "<=" || token.text == "=="
                   ? std::vector<std::string>{"<", "<=", ">", ">=", "==", "!="}
                   : std::vector<std::string>{"+", "-", "*", "//", "%"};
        if (std::find(same.begin(), same.end(), token.text) == same.end()) continue;
      }
      if (same.empty() || token.kind == TokenKind::String) continue;
      const std::string pick = " " + same[any(same.size())] + " ";
      text = text.substr(0, static_cast<size_t>(token.begin)) + pick +
             text.substr(static_cast<size_t>(token.end));
    }
    return text;
  }

  size_t any(size_t size) { return static_cast<size_t>(random_() % size); }

  void change(std::vector<std::string>& pieces, const std::vector<std::string>& others) {
    static const std::vector<std::string> known = {" 0",
                                                   " 1",
                                                   " -1",
                                                   " 9223372036854775807",
                                                   " 4611686018427387904",
                                                   " 99999999999999999999",
                                                   " 1e999",
                                                   " nan",
                                                   " inf",
                                                   " true",
                                                   " prev",
                                                   " (",
                                                   " )",
                                                   " {",
                                                   " }",
                                                   " [",
                                                   " ]",
                                                   " ,",
                                                   " ;",
                                                   " :",
                                                   " ->",
                                                   " *",
                                                   " //",
                                                   " %",
                                                   " min(",
                                                   " select(",
                                                   " wide(",
                                                   " let",
                                                   " for",
                                                   " seq",
                                                   " where",
                                                   " init",
                                                   " else",
                                                   " kernel",
                                                   " indexed",
                                                   " op",
                                                   " view",
                                                   " slice",
                                                   " dims",
                                                   " fn",
                                                   " program",
                                                   " \"",
                                                   " `",
                                                   " # x\n",
                                                   " ..",
                                                   " ...",
                                                   " *l",
                                                   " \xC3\xA9",
                                                   " +=",
                                                   " argmax=",
                                                   " =",
                                                   " <",
                                                   " == ",
                                                   " not",
                                                   " or",
                                                   " bf16",
                                                   " type",
                                                   " repeat",
                                                   " while",
                                                   " if",
                                                   " next",
                                                   " test",
                                                   " stack",
                                                   " with (",
                                                   " scatter",
                                                   " base",
                                                   " unique",
                                                   " in 0 ..",
                                                   " at",
                                                   " hole",
                                                   " as nvfp4"};
    if (pieces.empty()) return pieces.push_back(known[any(known.size())]);
    const size_t at = any(pieces.size());
    const auto place = pieces.begin() + static_cast<std::ptrdiff_t>(at);
    switch (draw(random_, 0, 7)) {
      case 0:
        pieces.erase(place);
        break;
      case 1:
        std::swap(pieces[at], pieces[any(pieces.size())]);
        break;
      case 2:
        pieces.insert(place, pieces[any(pieces.size())]);
        break;
      case 3:
        pieces[at] = known[any(known.size())];
        break;
      case 4:
        pieces.insert(place, known[any(known.size())]);
        break;
      case 5:
        pieces[at] = " " + others[any(others.size())];
        break;
      case 6: {  // a run of the donor
        const size_t from = any(others.size());
        const size_t to = std::min(others.size(), from + 1 + any(12));
        pieces.insert(place, others.begin() + static_cast<std::ptrdiff_t>(from),
                      others.begin() + static_cast<std::ptrdiff_t>(to));
        break;
      }
      default: {  // one byte
        std::string& piece = pieces[at];
        if (!piece.empty()) piece[any(piece.size())] = static_cast<char>(random_());
      }
    }
  }

  std::mt19937_64& random_;
};

/// A program that calls the last function of a prelude text, on small tensors, with every dim
/// given.
inline std::string call_of_last(const Text& prelude) {
  const auto file = parse_text(prelude.name, prelude.text);
  const ast::Function& f = file->functions.back();
  std::string ports;
  std::string arguments;
  std::string given;
  std::set<std::string> known;
  for (const ast::Declaration& d : f.parameters) {
    std::string shape;
    for (const ast::ExprPtr& extent : d.type.extents) {
      const bool pack = extent->kind == ast::ExprKind::Pack;
      shape += (shape.empty() ? "" : ", ") + std::string(pack ? "2" : "5");
      if (!pack) known.insert(extent->text);
    }
    const std::string& element = d.type.element.name;
    const std::string type = element_type_named(element) ? element : "f32";
    known.insert(element);
    ports +=
        (ports.empty() ? "" : ", ") + ("input " + d.name.text + ": ") + type + "[" + shape + "]";
    arguments += (arguments.empty() ? "" : ", ") + d.name.text;
  }
  for (const ast::Generic& g : f.generics) {
    if (known.contains(g.name.text) || g.kind == ast::Generic::Kind::Pack) continue;
    given += (given.empty() ? "; " : ", ") + g.name.text + " = " +
             (g.kind == ast::Generic::Kind::Type ? "f32" : "1");
  }
  std::string results;
  for (const ast::Name& result : f.results)
    results += (results.empty() ? "out_" : ", out_") + result.text;
  return "program p(" + ports + ") -> (" + results + ") { let (" + results + ") = " + f.name.text +
         "(" + arguments + given + ") }\n";
}

/// Prelude functions are verified by calls, which a program at the end of the text makes.
inline std::vector<Text> corpus() {
  std::vector<Text> texts = golden_texts();
  for (const Text& text : prelude_texts())
    texts.push_back({text.name, text.text + call_of_last(text)});
  for (Text& text : alir_blocks("docs/language.md")) texts.push_back(std::move(text));
  return texts;
}

}  // namespace solar::ir
