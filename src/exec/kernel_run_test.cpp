// Random kernels, run three ways: with contractions packed, by strips alone, and point by point.

#include "exec/contraction.h"
#include "exec/random_kernel_test_util.h"

namespace solar::exec {
namespace {

using ir::Reduction;
using ir::TensorId;
using random_kernels::agree;
using random_kernels::Case;
using random_kernels::finder;
using random_kernels::from_environment;
using random_kernels::Generator;

TEST(KernelRun, RandomKernelsAgreeWithThePointwiseReference) {
  // SOLAR_SEED=n replays one kernel; SOLAR_CASES=n tries more from it on.
  const uint64_t begin = from_environment("SOLAR_SEED", 1);
  const bool one = std::getenv("SOLAR_SEED") != nullptr && std::getenv("SOLAR_CASES") == nullptr;
  const uint64_t count = one ? 1 : from_environment("SOLAR_CASES", 400);
  ThreadTeam team(2);
  const RunContext context = {.team = &team};
  int packed = 0;
  for (uint64_t seed = begin; seed < begin + count; ++seed) {
    SCOPED_TRACE("SOLAR_SEED=" + std::to_string(seed));
    Case c = Generator(seed).make();
    std::map<int, TensorData> expected = c.outputs;
    bool leaves = false;
    try {
      reference::KernelEvaluator(c.kernel, [&](TensorId id) -> TensorData& {
        const int i = static_cast<int>(id);
        return i >= 1000 ? expected.at(i) : c.inputs.at(i);
      }).run();
    } catch (const reference::OutOfRange&) {
      leaves = true;
    }
    const double points =
        static_cast<double>(loop_points(make_nest(c.kernel, finder(c, c.outputs))));
    std::map<int, TensorData> fast = c.outputs, strips = c.outputs;
    const KernelResult by_strips =
        run_kernel_by_strips(make_nest(c.kernel, finder(c, strips)), context);
    const KernelResult result = run_kernel(c.kernel, finder(c, fast), context);
    if (leaves) {
      ASSERT_EQ(result.status, KernelStatus::Failed);
      ASSERT_EQ(by_strips.status, KernelStatus::Failed);
      continue;
    }
    ASSERT_EQ(result.status, KernelStatus::Done);
    ASSERT_EQ(by_strips.status, KernelStatus::Done);
    for (const auto& [id, tensor] : expected) {
      // Terms are at most about 16 in size.
      const double scale = c.kernel.reduction == Reduction::Sum ? 16 * std::sqrt(points) : 1;
      ASSERT_TRUE(agree(strips.at(id), tensor, scale))
          << "strips, " << describe(tensor.type(), tensor.shape());
      ASSERT_TRUE(agree(fast.at(id), tensor, scale))
          << "packed, " << describe(tensor.type(), tensor.shape());
    }
    std::map<int, TensorData> blocks = c.outputs;
    if (run_contraction(make_nest(c.kernel, finder(c, blocks)), context, true).status !=
        KernelStatus::Done)
      continue;
    ++packed;
    ASSERT_TRUE(agree(blocks.at(1000), expected.at(1000), 16 * std::sqrt(points))) << "contraction";
  }
  EXPECT_TRUE(one || packed > 30) << "the contraction path is hardly tested: " << packed;
}

}  // namespace
}  // namespace solar::exec
