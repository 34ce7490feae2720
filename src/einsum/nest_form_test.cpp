// Statements as loops and subscripts that are sums of loops.

#include "einsum/nest_form.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "einsum/lift_test_util.h"

namespace solar::einsum {
namespace {

std::string sum_text(const NestForm& form, const Linear& value) {
  std::string text;
  for (const ir::Term& term : value.terms) {
    if (!text.empty()) text += "+";
    if (term.coefficient != 1) text += fmt::format("{}*", term.coefficient);
    text += form.loops[static_cast<size_t>(term.atom)].name;
  }
  if (value.constant != 0 || text.empty()) text += fmt::format("{:+}", value.constant);
  return text;
}

std::string access_text(const NestForm& form, const FormAccess& access) {
  std::vector<std::string> parts;
  for (size_t axis = 0; axis < access.subscripts.size(); ++axis) {
    const bool whole = axis < access.whole.size() && access.whole[axis] > 0;
    parts.push_back(whole ? fmt::format("any of {}", access.whole[axis])
                          : sum_text(form, access.subscripts[axis]));
  }
  return fmt::format("[{}]{}", fmt::join(parts, ","), access.footprint);
}

/// `loops: writes = reads; guards` of the node whose output has the name.
std::string form_of(const std::string& text, const std::string& name) {
  LiftOptions options;
  options.forms = true;
  const Graph graph = lift_text(text, options);
  for (const Node& node : graph.nodes) {
    if (node.name != name) continue;
    if (!node.form) return "none";
    const NestForm& form = *node.form;
    std::vector<std::string> loops;
    for (const FormLoop& loop : form.loops)
      loops.push_back(fmt::format("{}{}{}", loop.name, loop.ordered ? "^" : ":", loop.extent));
    std::vector<std::string> reads;
    for (const FormAccess& read : form.reads) reads.push_back(access_text(form, read));
    std::vector<std::string> guards;
    for (const Linear& guard : form.guards) guards.push_back(sum_text(form, guard));
    return fmt::format("{}; {} = {}; {}; {}{} {}", fmt::join(loops, " "),
                       access_text(form, form.write), fmt::join(reads, " "),
                       fmt::join(guards, ", "), form.is_product ? "product" : "",
                       form.is_sum ? " sum" : "", form.points);
  }
  ADD_FAILURE() << "no node " << name;
  return "";
}

TEST(NestForm, AHeadThatSharesKeysIsSplit) {
  EXPECT_EQ(form_of(R"(
program gqa(input q: f32[H, S, D], input k: f32[G, S, D]) -> (s) {
  dims G = 2, R = 3, H = G*R, S = 6, D = 4
  kernel s: f32[H, S, S] { for h:H, i:S, j:S, d:D where j <= i   s[h,i,j] += q[h,i,d] * k[h // R, j, d] }
})",
                    "s"),
            "h/3:2 h/1:3 i:6 j:6 d:4; [3*h/3+h/1,i,j]126 = [3*h/3+h/1,i,d]144 [h/3,j,d]48; i+-1*j; "
            "product sum 504");
}

TEST(NestForm, PaddingIsAGuard) {
  EXPECT_EQ(
      form_of(R"(
program conv(input x: f32[C, W], param w: f32[K, C, R]) -> (y) {
  dims C = 2, W = 10, K = 3, R = 3, P = 5
  kernel y: f32[K, P] { for k:K, p:P, c:C, r:R where 0 <= 2*p + r - 1 and 2*p + r - 1 < W
    y[k,p] += x[c, 2*p + r - 1] * w[k,c,r] }
})",
              "y"),
      "k:3 p:5 c:2 r:3; [k,p]15 = [c,2*p+r-1]20 [k,c,r]18; 2*p+r-1, -2*p+-1*r+10; product sum "
      "84");
}

TEST(NestForm, StepsAreOrderedLoops) {
  EXPECT_EQ(form_of(R"(
program steps(input x: f32[B, D], param w: f32[D, D]) -> (y) {
  dims B = 2, D = 3, T = 4
  let y = repeat t:T with (h = x) {
    kernel n: f32[B, D] { for b:B, i:D, k:D   n[b,i] += h[b,k] * w[k,i] }
    next n
  }
})",
                    "y.n"),
            "b:2 i:3 k:3 t^4; [b,i,t]24 = [b,k,t]24 [k,i]9; ; product sum 72");
}

TEST(NestForm, DataAndUnevenDivisionsReadAnything) {
  EXPECT_EQ(form_of(R"(
program gather(input x: f32[N, D], input i: i64[K]) -> (y) {
  dims N = 5, D = 2, K = 3
  indexed y: f32[K, D] { for k:K, d:D   y[k,d] = x[i[k], d] }
})",
                    "y"),
            "k:3 d:2; [k,d]6 = [any of 5,d]6 [k]3; ;  6");
  EXPECT_EQ(form_of(R"(
program uneven(input x: f32[3]) -> (y) {
  kernel y: f32[5] { for i:5   y[i] = x[i // 2] }
})",
                    "y"),
            "i:5; [i]5 = [any of 3]3; ;  5");
}

TEST(NestForm, AConcatReadsEachInputInItsPlace) {
  EXPECT_EQ(form_of(R"(
program join(input a: f32[2, 3], input b: f32[2, 4]) -> (y) {
  let y = concat(a, b; axis = 1)
})",
                    "y"),
            "i0:2 i1:7; [i0,i1]14 = [i0,i1]6 [i0,i1-3]8; ;  14");
}

TEST(NestForm, AReductionIsNoProduct) {
  EXPECT_EQ(form_of(R"(
program norm(input x: f32[M, N]) -> (y) {
  dims M = 4, N = 6
  kernel y: f32[M] { for m:M, n:N   y[m] += x[m,n] * x[m,n] }
})",
                    "y"),
            "m:4 n:6; [m]4 = [m,n]24; ;  sum 24");
}

}  // namespace
}  // namespace solar::einsum
