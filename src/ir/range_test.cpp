// Random nests against enumeration: intervals contain every value, proofs agree with what happens
// at every point.

#include "ir/verify/range.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/checked.h"
#include "base/diagnostic_text.h"
#include "ir/corpus_test_util.h"
#include "ir/verify.h"

namespace solar::ir {
namespace {

struct RandomNest {
  std::vector<Loop> loops;
  std::vector<Atom> atoms;
  std::vector<Guard> guards;
  std::vector<Step> steps;  // all named by atoms, in order
};

Linear random_linear(std::mt19937_64& random, size_t atoms) {
  Linear value;
  value.constant = draw(random, -6, 6);
  for (size_t i = 0; i < atoms; ++i) {
    const int64_t coefficient = draw(random, 0, 1) == 0 ? 0 : draw(random, -4, 4);
    if (coefficient != 0) value.terms.push_back({static_cast<int32_t>(i), coefficient});
  }
  return value;
}

Guard random_guard(std::mt19937_64& random, size_t atoms) {
  static constexpr Guard::Kind kKinds[] = {Guard::Kind::NonNegative, Guard::Kind::NonNegative,
                                           Guard::Kind::Zero, Guard::Kind::NonZero};
  return {kKinds[draw(random, 0, 3)], random_linear(random, atoms)};
}

RandomNest random_nest(std::mt19937_64& random) {
  RandomNest nest;
  const int64_t loops = draw(random, 1, 3);
  for (int64_t i = 0; i < loops; ++i) {
    nest.loops.push_back({"i" + std::to_string(i), draw(random, 1, 6), Loop::Order::Any});
    nest.atoms.push_back(Atom{});
  }
  for (int64_t i = draw(random, 0, 1); i > 0; --i) {
    Atom atom;
    atom.kind = Atom::Kind::Step;
    atom.step = static_cast<int32_t>(nest.steps.size());
    nest.atoms.push_back(atom);
    nest.steps.push_back({"t", draw(random, 1, 5)});
  }
  const int64_t derived = draw(random, 0, 4);
  for (int64_t i = 0; i < derived; ++i) {
    Atom atom;
    const size_t before = nest.atoms.size();
    atom.kind = static_cast<Atom::Kind>(draw(random, static_cast<int64_t>(Atom::Kind::FloorDiv),
                                             static_cast<int64_t>(Atom::Kind::Select)));
    atom.operands.push_back(random_linear(random, before));
    if (atom.kind == Atom::Kind::FloorDiv || atom.kind == Atom::Kind::Mod) {
      atom.divisor = draw(random, 1, 5);
    } else {
      atom.operands.push_back(random_linear(random, before));
    }
    if (atom.kind == Atom::Kind::Select) {
      for (int64_t k = draw(random, 1, 2); k > 0; --k)
        atom.conditions.push_back(random_guard(random, before));
    }
    nest.atoms.push_back(std::move(atom));
  }
  for (int64_t i = draw(random, 0, 3); i > 0; --i)
    nest.guards.push_back(random_guard(random, nest.atoms.size()));
  return nest;
}

void for_each_point(const std::vector<int64_t>& extents,
                    const std::function<void(const std::vector<int64_t>&)>& visit) {
  std::vector<int64_t> point(extents.size(), 0);
  while (true) {
    visit(point);
    size_t i = extents.size();
    while (i-- > 0) {
      if (++point[i] < extents[i]) break;
      point[i] = 0;
    }
    if (i == static_cast<size_t>(-1)) return;
  }
}

TEST(RangeProver, IntervalsContainEveryValue) {
  std::mt19937_64 random = seeded(5);
  int reached = 0;
  for (int round = 0; round < 4000; ++round) {
    const RandomNest nest = random_nest(random);
    const Linear value = random_linear(random, nest.atoms.size());
    const RangeProver prover(nest.loops, nest.atoms, nest.guards, nest.steps);
    const Interval range = prover.range(value);
    const auto exact = prover.enumerate(value, 10000);
    ASSERT_TRUE(exact);
    std::vector<int64_t> extents;
    for (const Loop& loop : nest.loops) extents.push_back(loop.extent);
    for (const Step& step : nest.steps) extents.push_back(step.extent);
    int64_t low = INT64_MAX;
    int64_t high = INT64_MIN;
    for_each_point(extents, [&](const std::vector<int64_t>& point) {
      const auto atoms = atom_values(nest.atoms, point);
      for (const Guard& guard : nest.guards) {
        if (!holds(guard, atoms)) return;
      }
      low = std::min(low, evaluate(value, atoms));
      high = std::max(high, evaluate(value, atoms));
    });
    if (low > high) continue;  // no point
    ++reached;
    ASSERT_LE(range.low, low) << "round " << round;
    ASSERT_GE(range.high, high) << "round " << round;
    // The enumeration drops guards on other loops only, so it may be wider, never narrower.
    ASSERT_LE(exact->interval.low, low);
    ASSERT_GE(exact->interval.high, high);
    const auto at_low = atom_values(nest.atoms, exact->low_point);
    ASSERT_EQ(evaluate(value, at_low), exact->interval.low);
  }
  EXPECT_GT(reached, 1000);
}

TEST(RangeProver, UnknownBoundsStayUnknown) {
  const int64_t huge = int64_t{1} << 59;
  const std::vector<Loop> loops = {{"i", huge, Loop::Order::Any}};
  Atom atom;
  const std::vector<Atom> atoms = {atom};
  const std::vector<Guard> none;
  const std::vector<Step> no_steps;
  const RangeProver prover(loops, atoms, none, no_steps);
  // 4 i exceeds what is tracked: no constant brings it back.
  EXPECT_EQ(prover.range({{{0, 4}}, -huge}).high, kUnbounded);
  EXPECT_EQ(prover.range({{{0, -4}}, huge}).low, -kUnbounded);
}

TEST(RangeProver, LargeConstantsDoNotOverflow) {
  const std::vector<Loop> loops = {{"i", 10, Loop::Order::Any}};
  Atom atom;
  const std::vector<Atom> atoms = {atom};
  const int64_t big = int64_t{1} << 59;
  const std::vector<Guard> guards = {{Guard::Kind::NonNegative, {{{0, int64_t{1} << 30}}, -big}},
                                     {Guard::Kind::NonNegative, {{{0, -1}}, big}}};
  const std::vector<Step> no_steps;
  const RangeProver prover(loops, atoms, guards, no_steps);
  const Interval range = prover.range({{{0, 3}}, 0});
  EXPECT_LE(range.low, 0);
  EXPECT_GE(range.high, 27);
}

// --- whole kernels
// ------------------------------------------------------------------------------------------

/// A random index expression: its text, and its value at a point of i, j.
struct IndexText {
  std::string text;
  std::function<int64_t(int64_t i, int64_t j)> value;
};

IndexText random_index(std::mt19937_64& random, int depth) {
  if (depth == 0) {
    const int64_t which = draw(random, 0, 3);
    if (which == 0) return {"i", [](int64_t i, int64_t) { return i; }};
    if (which == 1) return {"j", [](int64_t, int64_t j) { return j; }};
    if (which == 2) return {"K", [](int64_t, int64_t) { return int64_t{3}; }};
    const int64_t c = draw(random, 0, 7);
    return {std::to_string(c), [c](int64_t, int64_t) { return c; }};
  }
  const IndexText a = random_index(random, depth - 1);
  const IndexText b = random_index(random, depth - 1);
  const int64_t c = draw(random, 1, 5);
  const std::string by = std::to_string(c);
  switch (draw(random, 0, 8)) {
    case 0:
    case 1:
      return {"(" + a.text + " + " + b.text + ")",
              [=](int64_t i, int64_t j) { return a.value(i, j) + b.value(i, j); }};
    case 2:
      return {"(" + a.text + " - " + b.text + ")",
              [=](int64_t i, int64_t j) { return a.value(i, j) - b.value(i, j); }};
    case 3:
      return {"(" + a.text + ")*" + by, [=](int64_t i, int64_t j) { return a.value(i, j) * c; }};
    case 4:
      return {"(" + a.text + ") // " + by,
              [=](int64_t i, int64_t j) { return floor_div(a.value(i, j), c); }};
    case 5:
      return {"(" + a.text + ") % " + by,
              [=](int64_t i, int64_t j) { return floor_mod(a.value(i, j), c); }};
    case 6:
      return {"min(" + a.text + ", " + b.text + ")",
              [=](int64_t i, int64_t j) { return std::min(a.value(i, j), b.value(i, j)); }};
    case 7:
      return {"max(" + a.text + ", " + b.text + ")",
              [=](int64_t i, int64_t j) { return std::max(a.value(i, j), b.value(i, j)); }};
    default: {
      const IndexText d = random_index(random, depth - 1);
      return {"select(" + a.text + " < " + b.text + ", " + a.text + ", " + d.text + ")",
              [=](int64_t i, int64_t j) {
                return a.value(i, j) < b.value(i, j) ? a.value(i, j) : d.value(i, j);
              }};
    }
  }
}

/// A guard `0 <= e < c`, or a periodic one.
struct GuardText {
  std::string text;
  std::function<bool(int64_t i, int64_t j)> holds;
};

GuardText random_guard_text(std::mt19937_64& random) {
  const IndexText e = random_index(random, static_cast<int>(draw(random, 0, 2)));
  const int64_t c = draw(random, 1, 6);
  const std::string by = std::to_string(c);
  switch (draw(random, 0, 3)) {
    case 0:
      return {e.text + " % " + by + " == 0",
              [=](int64_t i, int64_t j) { return floor_mod(e.value(i, j), c) == 0; }};
    case 1:
      return {e.text + " >= " + by, [=](int64_t i, int64_t j) { return e.value(i, j) >= c; }};
    case 2:
      return {e.text + " != " + by, [=](int64_t i, int64_t j) { return e.value(i, j) != c; }};
    default:
      return {"0 <= " + e.text + " < " + by,
              [=](int64_t i, int64_t j) { return 0 <= e.value(i, j) && e.value(i, j) < c; }};
  }
}

TEST(RangeProver, KernelsAreAcceptedExactlyWhenEverySubscriptStaysInside) {
  std::mt19937_64 random = seeded(6);
  int accepted = 0;
  int refused = 0;
  for (int round = 0; round < 1500; ++round) {
    const int64_t rows = draw(random, 1, 5);
    const int64_t columns = draw(random, 1, 5);
    const int64_t extent = draw(random, 1, 12);
    const IndexText subscript = random_index(random, static_cast<int>(draw(random, 1, 3)));
    const IndexText otherwise = random_index(random, static_cast<int>(draw(random, 1, 2)));
    std::vector<GuardText> guards;
    for (int64_t i = draw(random, 1, 2); i > 0; --i) guards.push_back(random_guard_text(random));
    std::string where;
    for (const GuardText& guard : guards) where += (where.empty() ? "" : ", ") + guard.text;
    const std::string text = "program p(input x: i64[" + std::to_string(extent) +
                             "]) -> (y) {\n  dims I = " + std::to_string(rows) +
                             ", J = " + std::to_string(columns) +
                             ", K = 3\n  kernel y: i64[I, J] {\n    for i:I, j:J\n    where " +
                             where + "\n    y[i,j] = x[" + subscript.text + "] + i64(" +
                             subscript.text + ")\n    else i64(" + otherwise.text + ")\n  }\n}\n";
    bool inside = true;
    for_each_point({rows, columns}, [&](const std::vector<int64_t>& p) {
      for (const GuardText& guard : guards) {
        if (!guard.holds(p[0], p[1])) return;
      }
      const int64_t at = subscript.value(p[0], p[1]);
      inside = inside && at >= 0 && at < extent;
    });
    const auto program = verify_text(text);
    ASSERT_EQ(program.has_value(), inside) << text << (program ? "" : render_text(program.error()));
    if (!program) {
      ++refused;
      ASSERT_EQ(program.error().at(0).kind, DiagnosticKind::SubscriptRange) << text;
      continue;
    }
    ++accepted;
    // What was elaborated has the values of what was written: under the guards, and where `else`
    // stands.
    const auto& kernel = std::get<Kernel>((*program)->statements.at(0).body);
    const auto index_value = [&](int32_t node, const std::vector<int64_t>& atoms) {
      const ScalarNode& n = kernel.nodes[static_cast<size_t>(node)];
      return n.op == ScalarOp::Index
                 ? evaluate(kernel.linears[static_cast<size_t>(n.reference)], atoms)
                 : n.integer;
    };
    for_each_point({rows, columns}, [&](const std::vector<int64_t>& p) {
      const auto atoms = atom_values(kernel.atoms, p);
      bool all = true;
      for (const GuardText& guard : guards) all = all && guard.holds(p[0], p[1]);
      bool elaborated = true;
      for (const Guard& guard : kernel.guards) elaborated = elaborated && holds(guard, atoms);
      ASSERT_EQ(elaborated, all) << text;
      if (all) {
        ASSERT_EQ(evaluate(kernel.accesses.at(0).subscripts.at(0), atoms),
                  subscript.value(p[0], p[1]))
            << text;
        return;
      }
      const ScalarOp op = kernel.nodes[static_cast<size_t>(kernel.otherwise)].op;
      if (op == ScalarOp::Index || op == ScalarOp::Constant) {  // not a min or max of two literals
        ASSERT_EQ(index_value(kernel.otherwise, atoms), otherwise.value(p[0], p[1])) << text;
      }
    });
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace solar::ir
