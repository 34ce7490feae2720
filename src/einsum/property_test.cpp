// Random programs against enumeration.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "einsum/brute_force_test_util.h"
#include "einsum/lift_test_util.h"
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

// The loops that the reads depend on; nullopt where views or ranges could hide that some do not
// matter.
std::optional<std::vector<bool>> used_loops(const ir::Program& program, const ir::Kernel& kernel) {
  if (kernel.atoms.size() > kernel.loops.size()) return std::nullopt;
  std::vector<bool> used(kernel.loops.size(), false);
  for (const ir::Access& access : kernel.accesses) {
    for (const int64_t extent : program.tensor(access.tensor).shape) {
      if (extent < 3) return std::nullopt;
    }
    for (const ir::Linear& subscript : access.subscripts) {
      for (const ir::Term& term : subscript.terms) used[static_cast<size_t>(term.atom)] = true;
    }
  }
  return used;
}

// SOLAR_SEED replays one program.
TEST(Property, CountsAndFootprintsEqualEnumeration) {
  const char* const replay = std::getenv("SOLAR_SEED");
  const uint32_t first = replay != nullptr ? static_cast<uint32_t>(std::atoll(replay)) : 1;
  const uint32_t last = replay != nullptr ? first : 3000;
  int checked = 0;
  int contractions = 0;
  int exact_contractions = 0;
  for (uint32_t seed = first; seed <= last && !HasFailure(); ++seed) {
    const std::string text = RandomProgram(seed).text();
    const auto program = ir::verify_text(text);
    if (!program) {
      if (replay != nullptr) ADD_FAILURE() << messages(program.error()) << text;
      continue;
    }
    const auto graph = lift(*program);
    ASSERT_TRUE(graph.has_value()) << messages(graph.error()) << "SOLAR_SEED=" << seed << "\n"
                                   << text;
    ++checked;
    const BruteForce truth(**program);
    EXPECT_TRUE(graph->exact);
    for (const ir::TensorId port : (*program)->ports) {
      int64_t bytes = 0;
      for (const Footprint& read : graph->reads) {
        if (read.tensor == port) bytes = read.bytes.min.value;
      }
      EXPECT_EQ(bytes, 4 * static_cast<int64_t>(truth.needed(port).size()))
          << (*program)->tensor(port).name << " SOLAR_SEED=" << seed << "\n"
          << text;
    }
    for (const Node& node : graph->nodes) {
      const ir::Statement& statement =
          *truth.unrolled().statements()[static_cast<size_t>(node.statement)];
      const auto* kernel = std::get_if<ir::Kernel>(&statement.body);
      if (kernel == nullptr) continue;
      const int64_t points = truth.useful_points(static_cast<size_t>(node.statement));
      contractions += node.is_contraction;
      const std::string where = node.einsum + " SOLAR_SEED=" + std::to_string(seed) + "\n" + text;
      if (!node.is_contraction) {
        EXPECT_EQ(node.elementwise_ops, points * operations(*kernel)) << where;
        continue;
      }
      // Sums of one factor first, and values that all outputs share, may need fewer than all
      // points.
      EXPECT_LE(node.macs_useful.value, points) << where;
      const auto used = used_loops(**program, *kernel);
      const bool plain = text.find("r:3") == std::string::npos && kernel->accesses.size() == 2;
      if (!used || !plain || kernel->loops.size() != kernel->target_loops.size() + 1) continue;
      EXPECT_EQ(node.macs_useful.value,
                truth.useful_points(static_cast<size_t>(node.statement), *used))
          << where;
      ++exact_contractions;
    }
  }
  if (replay == nullptr) {
    EXPECT_GT(checked, 500);
    EXPECT_GT(contractions, 200);
    EXPECT_GT(exact_contractions, 30);
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
