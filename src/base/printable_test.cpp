#include "base/printable.h"

#include <gtest/gtest.h>

#include <random>

#include "base/diagnostic_text.h"

namespace solar {
namespace {

TEST(Printable, TextStaysAsItIs) {
  const std::string text = "sch\xc3\xb6n \xe5\xb1\xa4 \xf0\x9f\x98\x80 \\x1b ~\n\t.";
  EXPECT_EQ(printable(text), text);
}

TEST(Printable, WhatATerminalObeysIsEscaped) {
  EXPECT_EQ(printable("a\x1b[31mb\x07\x7f\r"), "a\\x1b[31mb\\x07\\x7f\\x0d");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\u009b2J");
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "x\xe2\x81\xa6\xe2\x80\xa8\xd8\x9c\xef\xbb\xbf"),
            "\\u202ex\\u2066\\u2028\\u061c\\ufeff");
}

TEST(Printable, BytesThatAreNoCharacter) {
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\\x9b31m");                                    // C1 outside UTF-8
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");           // overlong
  EXPECT_EQ(printable("\xe0\x80\x9b"), "\\xe0\\x80\\x9b");  // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(printable("\xf5\x80\x80\x80"), "\\xf5\\x80\\x80\\x80");
  EXPECT_EQ(printable("\xe5\xb1"), "\\xe5\\xb1");  // cut off
}

TEST(Printable, OneLine) { EXPECT_EQ(printable_line("a\r\n\tb\x1b"), "a   b\\x1b"); }

TEST(Printable, AnyBytesBecomeHarmlessAndStaySo) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(random() % 12, ' ');
    for (char& c : bytes)
      c = static_cast<char>(random() % 3 == 0 ? random() % 128 : random() % 256);
    const std::string shown = printable(bytes);
    EXPECT_EQ(printable(shown), shown);
    for (size_t i = 0; i < shown.size(); ++i) {
      const auto c = static_cast<unsigned char>(shown[i]);
      EXPECT_TRUE((c >= 0x20 && c != 0x7F) || c == '\n' || c == '\t') << round;
      // A C1 character is 0xC2 and a byte below 0xA0.
      EXPECT_TRUE(c != 0xC2 || static_cast<unsigned char>(shown.at(i + 1)) >= 0xA0) << round;
    }
  }
}

TEST(Diagnostics, PlacesLabelsAndNamesArePrintable) {
  const auto source =
      std::make_shared<const Source>(Source{"a\x1b[2J.alir", "let \xe5\xb1\xa4 = \x1b[31m + w\n"});
  Diagnostic d{.message = "m\xc2\x9b", .span = {source, 19, 20}, .hint = "\xe2\x80\xae"};
  d.labels.push_back({{source, 10, 11}, "here \x1b"});
  d.fixes.push_back({{source, 0, 3}, "\x07"});
  const std::string text = render_text(d);
  EXPECT_EQ(printable(text), text);
  EXPECT_NE(text.find("a\\x1b[2J.alir:1:"), std::string::npos) << text;
  EXPECT_NE(text.find("    1 | let \xe5\xb1\xa4 = \\x1b[31m + w\n"
                      "      | "
                      "                    ^\n"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace solar
