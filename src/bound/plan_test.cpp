// Plans of fused groups against a simulation of their slices, and against all ways to group.

#include "bound/plan.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "base/checked.h"
#include "bound/curve.h"
#include "bound/group_replay.h"
#include "bound/random_chain.h"
#include "bound/slices.h"

namespace solar::bound {
namespace {

class CurveStore {
 public:
  const Curve& operator()(const Einsum& einsum) {
    const auto [known, added] = curves_.try_emplace(structure_of(einsum));
    if (added) known->second = traffic_curve(einsum);
    return known->second;
  }

 private:
  std::map<std::string, Curve> curves_ = {};
};

TEST(Plan, SlicesMoveAndHoldWhatIsSaid) {
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    RandomChain random(seed);
    const PlanGraph graph = random.graph(5);
    for (int32_t first = 0; first < 5; ++first) {
      for (int32_t last = first + 1; last <= 5; ++last) {
        for (const int64_t capacity : {12, 24, 48, 96, 200, 100'000}) {
          const auto group = sliced(graph, first, last, capacity);
          if (!group) continue;
          const GroupReplay replay = GroupSimulator(graph, *group).run();
          EXPECT_EQ(replay.fault, "") << seed;
          EXPECT_EQ(replay.traffic, group->traffic)
              << seed << " " << first << " " << last << " " << capacity << " " << group->schedule;
          EXPECT_LE(replay.capacity, group->capacity) << seed << " " << group->schedule;
          EXPECT_LE(group->capacity, capacity) << seed;
          EXPECT_GE(group->traffic, least_bytes(graph, first, last)) << seed;
        }
      }
    }
  }
}

TEST(Plan, FallsWithCapacityToCompulsoryTraffic) {
  CurveStore curves;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    RandomChain random(seed);
    const PlanGraph graph = random.graph(6);
    int64_t before = INT64_MAX;
    for (int64_t capacity = 4; capacity < 1 << 13; capacity = capacity * 3 / 2 + 1) {
      const auto found = plan(graph, capacity, std::ref(curves));
      if (!found) {
        EXPECT_EQ(before, INT64_MAX) << seed;
        continue;
      }
      EXPECT_LE(found->traffic, before) << seed << " " << capacity;
      int64_t sum = 0;
      int32_t unit = 0;
      for (const Group& group : found->groups) {
        EXPECT_EQ(group.first, unit);
        unit = group.last;
        sum += group.traffic;
        EXPECT_LE(group.capacity, capacity) << seed;
      }
      EXPECT_EQ(unit, 6);
      EXPECT_EQ(sum, found->traffic);
      before = found->traffic;
    }
    EXPECT_EQ(before, least_bytes(graph, 0, 6)) << seed;
  }
}

// The traffic of the best way to cut the units [first, count) into runs, tried one by one.
int64_t best_cut(const PlanGraph& graph, int32_t first, int64_t capacity, CurveStore& curves) {
  const auto count = static_cast<int32_t>(graph.units.size());
  if (first == count) return 0;
  int64_t best = INT64_MAX;
  for (int32_t last = first + 1; last <= count; ++last) {
    PlanGraph part = graph;  // the run alone: what others need is stored
    part.units.assign(graph.units.begin() + first, graph.units.begin() + last);
    for (PlanArray& array : part.arrays) {
      array.stored = array.stored || array.is_read_outside(first, last);
      array.writer = array.writer >= first && array.writer < last ? array.writer - first : -1;
      std::vector<int32_t> readers;
      for (const int32_t unit : array.readers) {
        if (unit >= first && unit < last) readers.push_back(unit - first);
      }
      array.readers = std::move(readers);
    }
    int64_t own = INT64_MAX;
    if (const auto slices = sliced(part, 0, last - first, capacity)) own = slices->traffic;
    if (last - first == 1) {
      if (const auto alone = plan(part, capacity, std::ref(curves)))
        own = std::min(own, alone->traffic);
    }
    if (own == INT64_MAX) continue;
    const int64_t rest = best_cut(graph, last, capacity, curves);
    if (rest != INT64_MAX) best = std::min(best, own + rest);
  }
  return best;
}

TEST(Plan, NoCutIntoRunsIsBetter) {
  CurveStore curves;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    RandomChain random(seed);
    const PlanGraph graph = random.graph(5);
    for (const int64_t capacity : {16, 40, 100, 400}) {
      const auto found = plan(graph, capacity, std::ref(curves));
      const int64_t cut = best_cut(graph, 0, capacity, curves);
      // Epilogues may make it better still.
      EXPECT_LE(found ? found->traffic : INT64_MAX, cut) << seed << " " << capacity;
    }
  }
}

TEST(Plan, RowsOfAttention) {
  // s[i,j] = sum q[i,d] k[j,d]; m, e, z, o: softmax of the rows and the product with v.
  const int64_t n = 64;
  const int64_t d = 8;
  PlanGraph graph;
  const auto array = [&](const char* name, int64_t elements, int32_t writer,
                         std::vector<int32_t> readers) {
    graph.arrays.push_back({.name = name, .bytes = elements, .width = {}, .writer = writer});
    graph.arrays.back().readers = std::move(readers);
  };
  array("q", n * d, -1, {0});
  array("k", n * d, -1, {0});
  array("s", n * n, 0, {1, 2});
  array("m", n, 1, {2});
  array("e", n * n, 2, {3, 4});
  array("z", n, 3, {5});
  array("v", n * d, -1, {4});
  array("u", n * d, 4, {5});
  array("o", n * d, 5, {});
  graph.arrays.back().stored = true;
  const auto unit = [&](std::vector<Dim> dims, std::vector<std::vector<Affine>> accesses,
                        const std::vector<int32_t>& arrays) {
    PlanUnit made;
    made.einsum = product_of(std::move(dims), std::move(accesses));
    for (size_t t = 0; t < arrays.size(); ++t) made.einsum.tensors[t].array = arrays[t];
    graph.units.push_back(std::move(made));
  };
  const Dim i{.name = "i", .extent = n};
  const Dim j{.name = "j", .extent = n};
  const Dim c{.name = "c", .extent = d};
  unit({i, j, c}, {{axis(0), axis(2)}, {axis(1), axis(2)}, {axis(0), axis(1)}}, {0, 1, 2});
  unit({i, j}, {{axis(0), axis(1)}, {axis(0)}}, {2, 3});
  unit({i, j}, {{axis(0), axis(1)}, {axis(0)}, {axis(0), axis(1)}}, {2, 3, 4});
  unit({i, j}, {{axis(0), axis(1)}, {axis(0)}}, {4, 5});
  unit({i, c, j}, {{axis(0), axis(2)}, {axis(2), axis(1)}, {axis(0), axis(1)}}, {4, 6, 7});
  unit({i, c}, {{axis(0), axis(1)}, {axis(0)}, {axis(0), axis(1)}}, {7, 5, 8});
  CurveStore curves;
  // Keys and values stay; a few rows of scores at a time.
  const auto found = plan(graph, 2 * n * d + 4 * n + 200, std::ref(curves));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->traffic, 4 * n * d);
  EXPECT_EQ(found->groups.size(), 1u);
}

}  // namespace
}  // namespace solar::bound
