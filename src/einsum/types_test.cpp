// The element types that bytes and multiplications are counted in.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "einsum/lift_test_util.h"

namespace solar::einsum {
namespace {

TEST(Types, NarrowTypesRoundUpAndDecideTheMacType) {
  const Graph graph = lift_text(R"(
program narrow(input q: bf16[S, D], input v: bf16[S, D]) -> (o) {
  dims S = 3, D = 5
  op "sdpa" {
    kernel s: f32[S, S] { for i:S, j:S, d:D   s[i,j] += f32(q[i,d]) * f32(v[j,d]) }
    kernel o: bf16[S, D] { for i:S, d:D, j:S   o[i,d] += bf16(s[i,j] * f32(v[j,d])) }
  }
})");
  ASSERT_EQ(graph.mac_classes.size(), 1u);
  EXPECT_EQ(graph.mac_classes[0].type, ir::ElementType::BF16);
  EXPECT_EQ(graph.mac_classes[0].macs.value, 90);
  EXPECT_EQ(graph.totals.bytes_read_inputs.min.value, 60);
  const Graph packed = lift_text(R"(
program packed(input x: i4[N]) -> (y) {
  dims N = 5
  kernel y: f32[N] { for n:N   y[n] = f32(x[n]) }
})");
  EXPECT_EQ(packed.totals.bytes_read_inputs.min.value, 3);
}

TEST(Types, CastsAloneDoNotWidenAMultiplication) {
  const auto type_of = [](std::string_view weight, std::string_view cast) {
    const Graph graph = lift_text(fmt::format(R"(
program upcast(input x: bf16[M, K], input w: {}[N, K]) -> (y) {{
  dims M = 3, N = 4, K = 5
  op "to" {{ kernel xf: f32[M, K] {{ for m:M, k:K   xf[m,k] = f32(x[m,k]) }} }}
  op "to" {{ kernel wf: f32[N, K] {{ for n:N, k:K   wf[n,k] = {} }} }}
  op "linear" {{ kernel y: f32[M, N] {{ for m:M, n:N, k:K   y[m,n] += xf[m,k] * wf[n,k] }} }}
}})",
                                              weight, cast));
    return graph.mac_classes.at(0).type;
  };
  EXPECT_EQ(type_of("bf16", "f32(w[n,k])"), ir::ElementType::BF16);
  EXPECT_EQ(type_of("f8e4m3", "f32(f16(w[n,k]))"), ir::ElementType::BF16);
  EXPECT_EQ(type_of("f32", "f32(bf16(w[n,k]))"), ir::ElementType::BF16);
  EXPECT_EQ(type_of("f32", "w[n,k]"), ir::ElementType::F32);
  EXPECT_EQ(type_of("bf16", "f32(w[n,k]) * 1.5"), ir::ElementType::F32);
}

}  // namespace
}  // namespace solar::einsum
