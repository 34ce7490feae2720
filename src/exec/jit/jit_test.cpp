// Compiled kernels against the pointwise reference, and the caches of compiled code.

#include "exec/jit/engine.h"
#include "exec/jit/gemm_plan.h"
#include "exec/random_kernel_test_util.h"

namespace solar::exec::native {
namespace {

using random_kernels::agree;
using random_kernels::Case;
using random_kernels::finder;
using random_kernels::from_environment;
using random_kernels::Generator;

/// Runs random kernels by an engine with these options and compares. Returns how many went through
/// the library.
int64_t compare_random_kernels(bool library, uint64_t cases) {
  // SOLAR_SEED=n replays one kernel; SOLAR_CASES=n tries more from it on.
  const uint64_t begin = from_environment("SOLAR_SEED", 1);
  const bool one = std::getenv("SOLAR_SEED") != nullptr && std::getenv("SOLAR_CASES") == nullptr;
  const uint64_t count = one ? 1 : from_environment("SOLAR_CASES", cases);
  ThreadTeam team(2);
  const RunContext context = {.team = &team};
  const auto store = std::make_shared<KernelStore>("");
  const auto engine = make_engines({.compile_after = 0, .cache_folder = "", .library = library},
                                   store)(ir::Program{});
  int64_t products = 0;
  for (uint64_t seed = begin; seed < begin + count; ++seed) {
    SCOPED_TRACE("SOLAR_SEED=" + std::to_string(seed));
    Case c = Generator(seed).make();
    std::map<int, TensorData> expected = c.outputs, outputs = c.outputs;
    const Nest nest = make_nest(c.kernel, finder(c, outputs));
    if (library && plan_gemm(nest, 2, true) == nullptr) continue;
    bool leaves = false;
    try {
      reference::KernelEvaluator(c.kernel, [&](ir::TensorId id) -> TensorData& {
        const int i = static_cast<int>(id);
        return i >= 1000 ? expected.at(i) : c.inputs.at(i);
      }).run();
    } catch (const reference::OutOfRange&) {
      leaves = true;
    }
    const KernelResult result = engine->run(nest, context);
    EXPECT_EQ(store->entry(nest).problem, "");
    // A product beside infinities is left to the interpreter.
    if (leaves || (library && result.status == KernelStatus::NotApplicable)) {
      EXPECT_EQ(result.status, KernelStatus::NotApplicable);
      continue;
    }
    EXPECT_EQ(result.status, KernelStatus::Done);
    ++products;
    const double points = static_cast<double>(loop_points(nest));
    for (const auto& [id, tensor] : expected) {
      // Terms are at most about 16 in size.
      const double scale = c.kernel.reduction == ir::Reduction::Sum ? 16 * std::sqrt(points) : 1;
      EXPECT_TRUE(agree(outputs.at(id), tensor, scale)) << describe(tensor.type(), tensor.shape());
    }
    if (::testing::Test::HasFailure()) break;
  }
  EXPECT_EQ(store->statistics().refused, 0);
  return products;
}

TEST(Jit, RandomKernelsAgreeWithThePointwiseReference) { compare_random_kernels(false, 200); }

TEST(Jit, RandomProductsThroughTheLibraryAgreeWithThePointwiseReference) {
  const int64_t products = compare_random_kernels(true, 700);
  EXPECT_TRUE(std::getenv("SOLAR_SEED") != nullptr || products > 25) << products;
}

}  // namespace
}  // namespace solar::exec::native
