#include "ir/lexer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ir/corpus_test_util.h"

namespace solar::ir {
namespace {

std::vector<std::string> texts(std::string_view text) {
  std::vector<std::string> out;
  for (const Token& token : lex(text).tokens) {
    if (token.kind != TokenKind::End) out.emplace_back(token.text);
  }
  return out;
}

TokenKind kind_of(std::string_view text) { return lex(text).tokens.at(0).kind; }

using Texts = std::vector<std::string>;

TEST(Lexer, Numbers) {
  EXPECT_EQ(kind_of("12"), TokenKind::Integer);
  EXPECT_EQ(kind_of("1.5"), TokenKind::Float);
  EXPECT_EQ(kind_of("1e-5"), TokenKind::Float);
  EXPECT_EQ(kind_of("2E+3"), TokenKind::Float);
  EXPECT_EQ(kind_of("12abc"), TokenKind::Bad);
  EXPECT_EQ(texts("0..4"), (Texts{"0", "..", "4"}));
  EXPECT_EQ(texts("1.e"), (Texts{"1", ".", "e"}));
  EXPECT_EQ(texts("2e"), (Texts{"2e"}));
  EXPECT_EQ(kind_of("2e"), TokenKind::Bad);
}

TEST(Lexer, Operators) {
  EXPECT_EQ(texts("a//b%c"), (Texts{"a", "//", "b", "%", "c"}));
  EXPECT_EQ(texts("a<=b==c->d"), (Texts{"a", "<=", "b", "==", "c", "->", "d"}));
  EXPECT_EQ(texts("y max= x"), (Texts{"y", "max=", "x"}));
  EXPECT_EQ(texts("argmin=and=or="), (Texts{"argmin=", "and=", "or="}));
  EXPECT_EQ(texts("max == x"), (Texts{"max", "==", "x"}));
  EXPECT_EQ(texts("max==x"), (Texts{"max", "==", "x"}));
}

TEST(Lexer, NamesAndKeywords) {
  EXPECT_EQ(kind_of("kernel"), TokenKind::Keyword);
  EXPECT_EQ(kind_of("kernels"), TokenKind::Name);
  EXPECT_EQ(kind_of("`kernel`"), TokenKind::Name);
  EXPECT_EQ(texts("`kernel`"), (Texts{"kernel"}));
  EXPECT_EQ(kind_of("`two words`"), TokenKind::Bad);
  EXPECT_EQ(kind_of("``"), TokenKind::Bad);
  EXPECT_EQ(kind_of("`open"), TokenKind::Bad);
  EXPECT_TRUE(is_reserved("prev"));
  EXPECT_FALSE(is_reserved("x"));
}

TEST(Lexer, StringsEndAtTheLine) {
  EXPECT_EQ(kind_of("\"a.b\""), TokenKind::String);
  EXPECT_EQ(texts("\"a.b\""), (Texts{"a.b"}));
  EXPECT_EQ(kind_of("\"open\nkernel"), TokenKind::Bad);
  EXPECT_EQ(texts("\"open\nkernel"), (Texts{"\"open", "kernel"}));
}

TEST(Lexer, Comments) {
  const Tokens tokens = lex("a # one  \r\n# two\nb");
  ASSERT_EQ(tokens.comments.size(), 2u);
  EXPECT_EQ(tokens.comments[0].text, "# one");
  EXPECT_EQ(tokens.comments[1].text, "# two");
  EXPECT_EQ(texts("a # b\nc"), (Texts{"a", "c"}));
}

TEST(Lexer, AForeignCharacterIsOneBadToken) {
  EXPECT_EQ(texts("a \xC3\x97 b"), (Texts{"a", "\xC3\x97", "b"}));
  EXPECT_EQ(lex("\xC3\x97").tokens.at(0).kind, TokenKind::Bad);
  EXPECT_EQ(lex(std::string_view("\0", 1)).tokens.at(0).kind, TokenKind::Bad);
  EXPECT_EQ(lex("\xFF\xFE").tokens.back().kind, TokenKind::End);
}

TEST(Lexer, TokensCoverEverythingButSpaceAndComments) {
  for (const Text& text : golden_texts()) {
    const Tokens lexed = lex(text.text);
    std::string rest = text.text;
    for (const Token& token : lexed.tokens) {
      for (int32_t i = token.begin; i < token.end; ++i) rest[static_cast<size_t>(i)] = ' ';
    }
    for (const Comment& comment : lexed.comments) {
      for (size_t i = 0; i < comment.text.size(); ++i)
        rest[static_cast<size_t>(comment.begin) + i] = ' ';
    }
    EXPECT_EQ(rest.find_first_not_of(" \t\r\n"), std::string::npos) << text.name;
  }
}

}  // namespace
}  // namespace solar::ir
