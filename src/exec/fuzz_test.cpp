// Random mutations of correct and wrong texts, run where they verify: always a result or a
// diagnosis. SOLAR_FUZZ_ROUNDS sets how many, SOLAR_FUZZ_LAST a file for the text in hand. The long
// run, under the sanitizers, is `make long-mutations`.

#include <gtest/gtest.h>

#include <fstream>

#include "exec/attempt_test_util.h"
#include "ir/mutation_test_util.h"

namespace solar::exec {
namespace {

TEST(Fuzz, MutatedProgramsEndWithAResultOrDiagnostics) {
  std::mt19937_64 random = ir::seeded(10);
  const char* given = std::getenv("SOLAR_FUZZ_ROUNDS");
  const char* last = std::getenv("SOLAR_FUZZ_LAST");
  const int64_t rounds = given != nullptr ? std::strtoll(given, nullptr, 10) : 2000;
  const std::vector<ir::Text> texts = ir::corpus();
  const auto executor = interpreter();
  ir::Mutator mutator(random);
  std::map<Attempt::End, int64_t> ends;
  for (int64_t round = 0; round < rounds; ++round) {
    const ir::Text& text = texts[random() % texts.size()];
    const std::string mutated = mutator.mutate(text, texts[random() % texts.size()]);
    if (last != nullptr) std::ofstream(last, std::ios::binary) << mutated;
    const Attempt result = attempt(mutated, *executor, random);
    ++ends[result.end];
    ASSERT_EQ(result.wrong, "") << "round " << round << " from " << text.name << ":\n" << mutated;
  }
  using End = Attempt::End;
  std::cout << rounds << " mutations: " << ends[End::Unparsed] << " not parsed, "
            << ends[End::Refused] << " refused, " << ends[End::TooLarge] << " too large, "
            << ends[End::Failed] << " failed when run, " << ends[End::Ran] << " ran\n";
  EXPECT_GT(ends[End::Ran], rounds / 50);
}

}  // namespace
}  // namespace solar::exec
