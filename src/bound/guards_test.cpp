// Einsums of which only some points of the box count, steps that run in order, and einsums that are
// no products of two factors.

#include <gtest/gtest.h>

#include "bound/curve.h"
#include "bound/merge.h"
#include "bound/random_einsum.h"
#include "bound/replay.h"
#include "bound/single_cases.h"

namespace solar::bound {
namespace {

TEST(Guards, NoMappingIsSaidToMoveLessThanItDoes) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Einsum einsum =
        random_einsum(random, {.dims = 3,
                               .largest = 6,
                               .inputs = 2,
                               .windows = seed % 2 == 0,
                               .guards = 1 + static_cast<int64_t>(seed % 3 == 0)});
    if (einsum.points == 0) continue;
    for (int i = 0; i < 5; ++i) {
      const Mapping mapping = random_mapping(random, einsum);
      const Replay ran = replay(einsum, mapping, seed);
      const Cost formula = cost(einsum, mapping);
      ASSERT_EQ(ran.fault, "");
      for (size_t t = 0; t < einsum.tensors.size(); ++t) {
        ASSERT_LE(ran.cost.tensors[t].entered, formula.tensors[t].entered)
            << describe(einsum, mapping);
        ASSERT_LE(ran.cost.tensors[t].held, formula.tensors[t].held) << describe(einsum, mapping);
      }
      ASSERT_LE(ran.cost.traffic, formula.traffic);
      ASSERT_LE(ran.cost.capacity, formula.capacity);
    }
  }
}

TEST(Guards, CausalScoresSkipTilesExactly) {
  // S[m,n] += Q[m,k] K[n,k] for n <= m.
  Einsum scores = product_of(
      {{.name = "m", .extent = 12}, {.name = "n", .extent = 12}, {.name = "k", .extent = 4}},
      {{axis(0), axis(2)}, {axis(1), axis(2)}, {axis(0), axis(1)}});
  scores.guards = {{.terms = {{.dim = 0, .coefficient = 1}, {.dim = 1, .coefficient = -1}}}};
  count_elements(scores);
  ASSERT_EQ(scores.points, 4 * 78);
  const Mapping mapping{.steps = {{.index = 0, .tile = 3},
                                  {.kind = Step::Kind::Store, .index = 0},
                                  {.index = 1, .tile = 1},
                                  {.kind = Step::Kind::Store, .index = 1},
                                  {.kind = Step::Kind::Store, .index = 2}}};
  const Cost formula = cost(scores, mapping);
  EXPECT_EQ(formula.tensors[1].entered, 4 * (3 + 6 + 9 + 12));
  EXPECT_EQ(formula.tensors[2].entered, 78);
  EXPECT_EQ(replay(scores, mapping, 1).cost.traffic, formula.traffic);
}

TEST(Guards, PaddedConvolutionReachesCompulsory) {
  Einsum padded = conv1d(10, 3, 2, 2, 1, 1);
  padded.tensors[0].axes[0].offset = -1;
  padded.guards = {
      {.terms = {{.dim = 0}, {.dim = 1}}, .offset = -1},
      {.terms = {{.dim = 0, .coefficient = -1}, {.dim = 1, .coefficient = -1}}, .offset = 10}};
  count_elements(padded);
  EXPECT_EQ(padded.tensors[0].footprint, 20);
  const Curve curve = traffic_curve(padded);
  EXPECT_EQ(curve.back().traffic, 20 + 12 + 20);
  for (const Point& point : curve) {
    const Replay ran = replay(merge_dims(padded), point.mapping, 1);
    EXPECT_EQ(ran.fault, "");
    EXPECT_LE(ran.cost.traffic, point.traffic);
    EXPECT_LE(ran.cost.capacity, point.capacity);
  }
}

TEST(Ordered, StepsStandAboveAllOtherLoops) {
  // Y[t,n] += X[t,k] W[k,n], step after step.
  Einsum steps = product_of({{.name = "t", .extent = 5, .ordered = true},
                             {.name = "k", .extent = 6},
                             {.name = "n", .extent = 6}},
                            {{axis(0), axis(1)}, {axis(1), axis(2)}, {axis(0), axis(2)}});
  const Curve curve = traffic_curve(steps);
  ASSERT_FALSE(curve.empty());
  EXPECT_EQ(curve.back().traffic, 30 + 36 + 30);
  EXPECT_GT(curve.front().traffic, 5 * 36);
  for (const Point& point : curve) {
    const Einsum einsum = merge_dims(steps);
    EXPECT_EQ(replay(einsum, point.mapping, 1).cost.traffic, point.traffic);
    bool first = true;
    for (const Step& step : point.mapping.steps) {
      if (step.kind != Step::Kind::Loop) continue;
      const bool ordered = einsum.dims[static_cast<size_t>(step.index)].ordered;
      EXPECT_EQ(ordered, first) << describe(einsum, point.mapping);
      EXPECT_TRUE(!ordered || step.tile == 1);
      first = false;
    }
  }
}

TEST(Curve, OfReductionsAndPointwiseIsOnePoint) {
  const Einsum sum = product_of({{.name = "m", .extent = 1000}, {.name = "n", .extent = 4096}},
                                {{axis(0), axis(1)}, {axis(0)}});
  const Curve reduced = traffic_curve(sum);
  ASSERT_EQ(reduced.size(), 1U);
  EXPECT_EQ(reduced[0].capacity, 2);
  EXPECT_EQ(reduced[0].traffic, 1000 * 4096 + 1000);

  const Einsum added = product_of({{.name = "m", .extent = 1000}, {.name = "n", .extent = 4096}},
                                  {{axis(0), axis(1)}, {axis(0), axis(1)}, {axis(0), axis(1)}});
  ASSERT_EQ(traffic_curve(added).size(), 1U);
  EXPECT_EQ(traffic_curve(added)[0].traffic, 3 * 1000 * 4096);

  const Einsum scalar = product_of({}, {{}, {}});
  ASSERT_EQ(traffic_curve(scalar).size(), 1U);
  EXPECT_EQ(traffic_curve(scalar)[0].traffic, 2);
}

TEST(Curve, OfManyTensorsReachesCompulsory) {
  // A normalisation: y[m,n] from x[m,n], two numbers a row and two a column.
  const Einsum scaled = product_of(
      {{.name = "m", .extent = 4096}, {.name = "n", .extent = 1024}},
      {{axis(0), axis(1)}, {axis(0)}, {axis(0)}, {axis(1)}, {axis(1)}, {axis(0), axis(1)}});
  const Curve curve = traffic_curve(scaled);
  ASSERT_FALSE(curve.empty());
  EXPECT_EQ(curve.back().traffic, 2 * 4096 * 1024 + 2 * 4096 + 2 * 1024);
  EXPECT_EQ(curve.back().capacity, 2 * 1024 + 4);
}

TEST(Curve, OfHugeCountsIsNone) {
  const int64_t large = int64_t{1} << 40;
  EXPECT_TRUE(traffic_curve(matmul(large, large, large)).empty());
  // This one has 2^62 points.
  const Curve curve = traffic_curve(matmul(large, int64_t{1} << 11, int64_t{1} << 11));
  ASSERT_FALSE(curve.empty());
  EXPECT_EQ(curve.back().traffic, (int64_t{1} << 52) + (int64_t{1} << 22));
}

}  // namespace
}  // namespace solar::bound
