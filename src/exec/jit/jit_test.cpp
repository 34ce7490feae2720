// Compiled kernels against the pointwise reference, and the caches of compiled code.

#include "exec/jit/engine.h"
#include "exec/random_kernel_test_util.h"

namespace solar::exec::native {
namespace {

using random_kernels::agree;
using random_kernels::Case;
using random_kernels::finder;
using random_kernels::from_environment;
using random_kernels::Generator;

TEST(Jit, RandomKernelsAgreeWithThePointwiseReference) {
  // SOLAR_SEED=n replays one kernel; SOLAR_CASES=n tries more from it on.
  const uint64_t begin = from_environment("SOLAR_SEED", 1);
  const bool one = std::getenv("SOLAR_SEED") != nullptr && std::getenv("SOLAR_CASES") == nullptr;
  const uint64_t count = one ? 1 : from_environment("SOLAR_CASES", 300);
  ThreadTeam team(2);
  const RunContext context = {.team = &team};
  const auto store = std::make_shared<KernelStore>("");
  const auto engine = make_engines({.compile_after = 0, .cache_folder = "", .library = false},
                                   store)(ir::Program{});
  for (uint64_t seed = begin; seed < begin + count; ++seed) {
    SCOPED_TRACE("SOLAR_SEED=" + std::to_string(seed));
    Case c = Generator(seed).make();
    std::map<int, TensorData> expected = c.outputs, outputs = c.outputs;
    bool leaves = false;
    try {
      reference::KernelEvaluator(c.kernel, [&](ir::TensorId id) -> TensorData& {
        const int i = static_cast<int>(id);
        return i >= 1000 ? expected.at(i) : c.inputs.at(i);
      }).run();
    } catch (const reference::OutOfRange&) {
      leaves = true;
    }
    const Nest nest = make_nest(c.kernel, finder(c, outputs));
    const KernelResult result = engine->run(nest, context);
    ASSERT_EQ(store->entry(nest).problem, "");
    if (leaves) {
      ASSERT_EQ(result.status, KernelStatus::NotApplicable);
      continue;
    }
    ASSERT_EQ(result.status, KernelStatus::Done);
    const double points = static_cast<double>(loop_points(nest));
    for (const auto& [id, tensor] : expected) {
      // Terms are at most about 16 in size.
      const double scale = c.kernel.reduction == ir::Reduction::Sum ? 16 * std::sqrt(points) : 1;
      ASSERT_TRUE(agree(outputs.at(id), tensor, scale)) << describe(tensor.type(), tensor.shape());
    }
  }
  const StoreStatistics statistics = store->statistics();
  EXPECT_EQ(statistics.refused, 0);
  RecordProperty("compiled", static_cast<int>(statistics.compiled));
}

}  // namespace
}  // namespace solar::exec::native
