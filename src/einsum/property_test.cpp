// Random programs against enumeration.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "einsum/brute_force_macs_test_util.h"
#include "einsum/lift_test_util.h"
#include "einsum/random_data_test_util.h"
#include "einsum/random_loops_test_util.h"
#include "einsum/random_program_test_util.h"
#include "einsum/run_set.h"

namespace solar::einsum {
namespace {

// Scalar operations that touch data, for the forms of random programs.
int64_t operations(const ir::Kernel& kernel) {
  int64_t count = kernel.reduction != ir::Reduction::None;
  std::vector<bool> data(kernel.nodes.size(), false);
  for (size_t i = 0; i < kernel.nodes.size(); ++i) {
    const ir::ScalarNode& node = kernel.nodes[i];
    data[i] = node.op == ir::ScalarOp::Load;
    for (const int32_t operand : {node.a, node.b, node.c}) {
      if (operand >= 0 && data[static_cast<size_t>(operand)]) data[i] = true;
    }
    count += data[i] && node.a >= 0;
  }
  return count;
}

struct Seeds {
  uint32_t first = 1;
  uint32_t last = 1;
  bool replay = false;
};

// SOLAR_SEED replays one program.
Seeds seeds(uint32_t count) {
  const char* const replay = std::getenv("SOLAR_SEED");
  if (replay == nullptr) return {1, count, false};
  const auto seed = static_cast<uint32_t>(std::atoll(replay));
  return {seed, seed, true};
}

struct Checked {
  int programs = 0;
  int contractions = 0;
  int exact_contractions = 0;
  int in_loops = 0;
  int followed = 0;  // counted less because of a mask's values
};

// The lifted counts of one program against enumeration.
void check(const std::string& text, const std::vector<exec::ControlPath>& paths,
           const std::string& seed, Checked& checked) {
  const auto program = ir::verify_text(text);
  if (!program) {
    if (std::getenv("SOLAR_SEED") != nullptr) ADD_FAILURE() << messages(program.error()) << text;
    return;
  }
  LiftOptions options;
  options.paths = paths;
  options.zero_factors = text.size() % 2 == 0;
  const auto followed = lift(*program, options);
  options.compute_masks = false;
  const auto graph = lift(*program, options);
  ASSERT_TRUE(graph.has_value()) << messages(graph.error()) << seed << text;
  ASSERT_TRUE(followed.has_value()) << messages(followed.error()) << seed << text;
  // Zeros that only values show leave less, never more.
  EXPECT_LE(followed->totals.macs_useful.value, graph->totals.macs_useful.value) << seed << text;
  EXPECT_LE(followed->totals.bytes_read_inputs.min.value, graph->totals.bytes_read_inputs.min.value)
      << seed << text;
  checked.followed += followed->totals.macs_useful < graph->totals.macs_useful ||
                      followed->totals.bytes_read_inputs.min < graph->totals.bytes_read_inputs.min;
  ++checked.programs;
  const BruteForce truth(**program, paths, {}, options.zero_factors);
  EXPECT_TRUE(graph->exact) << seed << text;
  for (const ir::TensorId port : (*program)->ports) {
    int64_t bytes = 0;
    for (const Footprint& read : graph->reads) {
      if (read.tensor == port) bytes = read.bytes.min.value;
    }
    EXPECT_EQ(bytes, 4 * static_cast<int64_t>(truth.needed(port).size()))
        << (*program)->tensor(port).name << seed << text;
  }
  for (const Node& node : graph->nodes) {
    const auto number = static_cast<size_t>(node.statement);
    const ir::Statement& statement = *truth.unrolled().statements()[number];
    const auto* kernel = std::get_if<ir::Kernel>(&statement.body);
    if (kernel == nullptr) continue;
    const bool top = &statement >= (*program)->statements.data() &&
                     &statement < (*program)->statements.data() + (*program)->statements.size();
    checked.in_loops += !top;
    const int64_t points = truth.useful_points(number);
    checked.contractions += node.is_contraction;
    const std::string where = node.einsum + seed + text;
    if (!node.is_contraction) {
      const int64_t expected = truth.generated(kernel->output) ? 0 : points * operations(*kernel);
      EXPECT_EQ(node.elementwise_ops, expected) << where;
      continue;
    }
    // Sums of one factor first, and values that all outputs share, may need fewer than all
    // points.
    EXPECT_LE(node.macs_useful.value, points) << where;
    const auto macs = BruteForceMacs::count(truth, **program, number, *kernel);
    if (!top || !macs) continue;
    EXPECT_EQ(node.macs_useful.value, *macs) << where;
    ++checked.exact_contractions;
  }
}

TEST(Property, CountsAndFootprintsEqualEnumeration) {
  const Seeds range = seeds(3000);
  Checked checked;
  for (uint32_t seed = range.first; seed <= range.last && !HasFailure(); ++seed) {
    check(RandomProgram(seed).text(), {}, fmt::format(" SOLAR_SEED={}\n", seed), checked);
  }
  if (range.replay) return;
  EXPECT_GT(checked.programs, 500);
  EXPECT_GT(checked.contractions, 200);
  std::cout << checked.programs << " programs, " << checked.contractions << " contractions, "
            << checked.exact_contractions << " compared\n";
  EXPECT_GT(checked.exact_contractions, 30);
}

TEST(Property, LoopsEqualTheirUnrolledSteps) {
  const Seeds range = seeds(3000);
  Checked checked;
  for (uint32_t seed = range.first; seed <= range.last && !HasFailure(); ++seed) {
    RandomLoopProgram random(seed);
    const std::string text = random.text();
    check(text, random.paths(), fmt::format(" SOLAR_SEED={}\n", seed), checked);
  }
  if (range.replay) return;
  EXPECT_GT(checked.programs, 300);
  EXPECT_GT(checked.in_loops, 300);
  EXPECT_GT(checked.followed, 0);
}

// At the values given, and between the proved limits at any others.
TEST(Property, DataDependentCountsHoldAtAnyValues) {
  const Seeds range = seeds(600);
  for (uint32_t seed = range.first; seed <= range.last && !HasFailure(); ++seed) {
    RandomDataProgram random(seed);
    const std::string where = fmt::format(" SOLAR_SEED={}\n{}", seed, random.text());
    const auto program = ir::verify_text(random.text());
    ASSERT_TRUE(program) << messages(program.error()) << where;
    PortValues values = random.draw();
    LiftOptions options;
    options.index_values = [&](ir::TensorId id) { return std::optional(values.at(id)); };
    options.zero_factors = seed % 2 == 0;
    const auto known = lift(*program, options);
    const auto unknown = lift(*program, {.zero_factors = options.zero_factors});
    ASSERT_TRUE(known && unknown) << where;
    const bool ragged = assumes(*known, "example-ranges");
    for (int draw = 0; draw < 6; ++draw) {
      if (draw > 0) values = random.draw();
      const BruteForce truth(**program, {}, values, options.zero_factors);
      for (const ir::TensorId port : (*program)->ports) {
        const int64_t element = ir::is_integer((*program)->tensor(port).type) ? 8 : 4;
        const int64_t bytes = element * static_cast<int64_t>(truth.needed(port).size());
        for (const Graph* graph : {&*known, &*unknown}) {
          if (ragged && graph == &*known && draw > 0) continue;  // of other ranges it says nothing
          ByteRange found;
          for (const Footprint& read : graph->reads) {
            if (read.tensor == port) found = read.bytes;
          }
          const std::string what = (*program)->tensor(port).name + where;
          EXPECT_LE(found.min.value, bytes) << what;
          EXPECT_GE(found.max.value, bytes) << what;
          if (draw > 0 || graph != &*known) continue;
          EXPECT_EQ(found.example.value, bytes) << what;
        }
      }
      for (const Node& node : known->nodes) {
        if (ragged && draw > 0) continue;
        EXPECT_LE(node.macs_useful.value, truth.useful_points(static_cast<size_t>(node.statement)))
            << node.einsum << where;
      }
    }
  }
}

TEST(Property, RunSetsAreSets) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::set<int64_t> a;
    std::set<int64_t> b;
    RunSetBuilder builder_a(64);
    RunSetBuilder builder_b(64);
    for (int i = 0; i < 12; ++i) {
      for (auto* pair : {&a, &b}) {
        const int64_t begin = static_cast<int64_t>(random() % 60);
        const int64_t end = begin + static_cast<int64_t>(random() % 4);
        (pair == &a ? builder_a : builder_b).add(begin, end);
        for (int64_t v = begin; v < end; ++v) pair->insert(v);
      }
    }
    const RunSet x = builder_a.finish();
    const RunSet y = builder_b.finish();
    const auto check = [&](const RunSet& found, auto expected) {
      int64_t count = 0;
      for (int64_t v = 0; v < 64; ++v) {
        EXPECT_EQ(found.contains(v), expected(v));
        count += expected(v);
      }
      EXPECT_EQ(found.count(), count);
    };
    check(unite(x, y), [&](int64_t v) { return a.contains(v) || b.contains(v); });
    check(intersect(x, y), [&](int64_t v) { return a.contains(v) && b.contains(v); });
    check(subtract(x, y), [&](int64_t v) { return a.contains(v) && !b.contains(v); });
    EXPECT_EQ(x.covers(y), std::includes(a.begin(), a.end(), b.begin(), b.end()));
  }
}

TEST(Property, ManyRunsOutOfOrder) {
  std::mt19937 random(11);
  RunSetBuilder builder(1 << 20);
  std::set<int64_t> values;
  for (int i = 0; i < 60000; ++i) {
    const auto v = static_cast<int64_t>(random() % (1 << 20));
    builder.add(v, v + 1);
    values.insert(v);
  }
  const RunSet set = builder.finish();
  EXPECT_FALSE(builder.truncated());
  EXPECT_EQ(set.count(), static_cast<int64_t>(values.size()));
  for (const int64_t v : values) EXPECT_TRUE(set.contains(v));
}

}  // namespace
}  // namespace solar::einsum
