// Random programs: the interpreter against the reference.

#include <cstdlib>

#include "exec/program_test_util.h"
#include "exec/random_loops_test_util.h"

namespace solar::exec {
namespace {

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* given = std::getenv(name);
  return given == nullptr ? otherwise : std::strtoull(given, nullptr, 10);
}

TEST(ProgramProperty, RandomProgramsAgreeWithTheReference) {
  // SOLAR_SEED=n replays one program; SOLAR_CASES=n tries more from it on.
  const uint64_t begin = from_environment("SOLAR_SEED", 1);
  const bool one = std::getenv("SOLAR_SEED") != nullptr && std::getenv("SOLAR_CASES") == nullptr;
  const uint64_t count = one ? 1 : from_environment("SOLAR_CASES", 400);
  uint64_t ended = 0, refused = 0;
  for (uint64_t seed = begin; seed < begin + count; ++seed) {
    LoopsGenerator generator(seed);
    const std::string text = generator.make();
    SCOPED_TRACE(fmt::format("SOLAR_SEED={}\n{}", seed, text));
    const auto program = ir::verify_text(text);
    ASSERT_TRUE(program) << render_text(program.error());
    std::optional<DiagnosticKind> stop;
    Outputs expected;
    try {
      expected = reference::ProgramEvaluator(**program).run(generator.inputs());
    } catch (const reference::Stop& at) {
      stop = at.kind;
    }
    const auto limit = predict_peak_bytes(*program);
    auto result =
        interpreter()->run(*program, generator.inputs(),
                           {.threads = static_cast<int>(1 + seed % 3), .memory_limit = limit});
    if (stop) {
      ++refused;
      ASSERT_FALSE(result);
      ASSERT_EQ(result.error()[0].kind, *stop) << render_text(result.error());
      continue;
    }
    ASSERT_TRUE(result) << render_text(result.error());
    ++ended;
    for (size_t i = 0; i < expected.outputs.size(); ++i)
      ASSERT_TRUE(near(result->outputs[i], expected.outputs[i])) << (*program)->output_names[i];
    ASSERT_TRUE(result->paths == expected.paths);
  }
  EXPECT_TRUE(one || ended > count / 3) << ended << " ran to their end, " << refused << " stopped";
}

}  // namespace
}  // namespace solar::exec
