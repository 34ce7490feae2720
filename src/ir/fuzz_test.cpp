// Random mutations of correct and wrong texts: parsing, verifying and printing end, with a result
// or diagnostics. Run under the sanitizers too. SOLAR_FUZZ_ROUNDS sets how many.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/apply_fixes.h"
#include "base/diagnostic_json.h"
#include "base/diagnostic_text.h"
#include "ir/mutation_test_util.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/unify_dims.h"
#include "ir/verify.h"

namespace solar::ir {
namespace {

TEST(Fuzz, MutatedTextsEndWithAResultOrDiagnostics) {
  std::mt19937_64 random = seeded(9);
  const char* given = std::getenv("SOLAR_FUZZ_ROUNDS");
  const int64_t rounds = given != nullptr ? std::strtoll(given, nullptr, 10) : 2000;
  const std::vector<Text> texts = corpus();
  Mutator mutator(random);
  int64_t parsed = 0;
  int64_t verified = 0;
  for (int64_t round = 0; round < rounds; ++round) {
    const Text& text = texts[random() % texts.size()];
    const std::string mutated = mutator.mutate(text, texts[random() % texts.size()]);
    if (std::getenv("SOLAR_FUZZ_LAST") != nullptr) {  // the text of a crash stays behind
      std::ofstream(std::getenv("SOLAR_FUZZ_LAST"), std::ios::binary) << mutated;
    }
    SCOPED_TRACE("round " + std::to_string(round) + " from " + text.name);
    const auto file = parse_text("mutated.alir", mutated);
    const auto streamed = verify_text(mutated, {}, "mutated.alir");
    (void)apply_fixes({"mutated.alir", mutated}, streamed ? Diagnostics{} : streamed.error(), true);
    if (!file) {
      ASSERT_FALSE(streamed);
      ASSERT_EQ(render_text(streamed.error()), render_text(file.error()));
      ASSERT_FALSE(file.error().empty());
      ASSERT_FALSE(render_text(file.error()).empty());
      ASSERT_FALSE(to_json(file.error())
                       .dump(0, ' ', false, nlohmann::json::error_handler_t::replace)
                       .empty());
      continue;
    }
    ++parsed;
    const std::string printed = print(*file);
    const auto again = parse_text("printed.alir", printed);
    ASSERT_TRUE(again) << printed << render_text(again.error());
    ASSERT_EQ(print(*again), printed);
    const auto program = verify(*file);
    ASSERT_EQ(streamed.has_value(), program.has_value());
    if (!program) {
      ASSERT_EQ(render_text(streamed.error()), render_text(program.error()));
      ASSERT_FALSE(program.error().empty());
      for (const Diagnostic& d : program.error()) ASSERT_FALSE(render_text(d).empty());
      const auto same = verify(*again);
      ASSERT_FALSE(same) << printed;
      ASSERT_EQ(same.error().size(), program.error().size())
          << render_text(program.error()) << render_text(same.error());
      continue;
    }
    ++verified;
    ASSERT_TRUE(verify(*again)) << printed;
    (void)unify_dims(*file);
  }
  std::cout << parsed << " of " << rounds << " parse, " << verified << " verify\n";
  EXPECT_GT(parsed, rounds / 5);
  EXPECT_GT(verified, rounds / 50);
}

TEST(Fuzz, ChainsOfAbbreviationsCostLinearTime) {
  const auto program_with = [](const std::string& lets, const std::string& value) {
    return "program p(input x: f32[N]) -> (y) {\n  dims N = 4\n  kernel y: f32[N] { for n:N\n" +
           lets + "    y[n] = " + value + " }\n}\n";
  };
  std::string data = "    let a0 = x[n]\n";
  std::string index = "    let a0 = n\n";
  std::string branching = "    let a0 = x[n]\n";
  for (int i = 1; i <= 60; ++i) {
    const std::string before = "a" + std::to_string(i - 1);
    const std::string now = "    let a" + std::to_string(i) + " = ";
    data += now + before + " + " + before + "\n";
    index += now + before + " - " + before + " + n\n";
    branching += now + "select(n < 2, " + before + ", " + before + ")\n";
  }
  EXPECT_TRUE(verify_text(program_with(data, "a60")));
  EXPECT_TRUE(verify_text(program_with(data, "select(n < 2, a60, a59)")));
  EXPECT_TRUE(verify_text(program_with(index, "x[min(max(a60, 0), N - 1)]")));
  // Inside of select branches a let is elaborated per branch: refused once it grows too large.
  const auto program = verify_text(program_with(branching, "a60"));
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().at(0).kind, DiagnosticKind::CountOverflow);
}

TEST(Fuzz, CallsThatMultiplyAreRefused) {
  std::string text = "fn g0(x: f32[]) -> (x) { }\n";
  for (int i = 1; i <= 40; ++i) {
    const std::string before = "g" + std::to_string(i - 1);
    text += "fn g" + std::to_string(i) + "(x: f32[]) -> (y) { let a = " + before +
            "(x) let y = " + before + "(a) }\n";
  }
  text += "program p(input x: f32[]) -> (y) { let y = g40(x) }\n";
  const auto program = verify_text(text);
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().at(0).kind, DiagnosticKind::CountOverflow);
}

TEST(Fuzz, DeepCallsAreRefused) {
  std::string text = "fn g0(x: f32[]) -> (y) { kernel y: f32[] { y[] = x } }\n";
  for (int i = 1; i <= 5000; ++i) {
    text += "fn g" + std::to_string(i) + "(x: f32[]) -> (y) { let y = g" + std::to_string(i - 1) +
            "(x) }\n";
  }
  text += "program p(input x: f32[]) -> (y) { let y = g5000(x) }\n";
  const auto program = verify_text(text);
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().at(0).kind, DiagnosticKind::CountOverflow);
}

}  // namespace
}  // namespace solar::ir
