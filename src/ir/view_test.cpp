// Random views and slices against enumeration.

#include <gtest/gtest.h>

#include <map>

#include "base/diagnostic_text.h"
#include "ir/corpus_test_util.h"
#include "ir/verify.h"
#include "ir/verify/range.h"

namespace solar::ir {
namespace {

struct Factor {
  std::string name;
  int64_t extent = 1;
};

std::string axes_text(const std::vector<std::vector<Factor>>& axes, bool with_extents) {
  std::string out;
  for (const std::vector<Factor>& axis : axes) {
    std::string inner;
    for (const Factor& f : axis) {
      inner += (inner.empty() ? "" : ", ") + f.name;
      if (with_extents || f.name.starts_with("r")) inner += ":" + std::to_string(f.extent);
    }
    out += (out.empty() ? "" : ", ") + (axis.size() == 1 ? inner : "(" + inner + ")");
  }
  return out;
}

int64_t extent_of(const std::vector<Factor>& axis) {
  int64_t extent = 1;
  for (const Factor& f : axis) extent *= f.extent;
  return extent;
}

/// Splits a list into axes of up to three factors; sometimes a unit axis `()` in between.
std::vector<std::vector<Factor>> grouped(std::mt19937_64& random,
                                         const std::vector<Factor>& factors) {
  std::vector<std::vector<Factor>> axes;
  for (size_t i = 0; i < factors.size();) {
    const size_t size = std::min(factors.size() - i, static_cast<size_t>(draw(random, 1, 3)));
    axes.emplace_back(factors.begin() + static_cast<std::ptrdiff_t>(i),
                      factors.begin() + static_cast<std::ptrdiff_t>(i + size));
    i += size;
  }
  return axes;
}

/// The index along an axis when each factor has a value.
int64_t position(const std::vector<Factor>& axis, const std::map<std::string, int64_t>& values) {
  int64_t at = 0;
  for (const Factor& f : axis) at = at * f.extent + values.at(f.name);
  return at;
}

const View& only_view(const VerifiedProgram& program) {
  return std::get<View>(program->statements.at(0).body);
}

TEST(Views, MapEveryElementWhereTheFactorsSay) {
  std::mt19937_64 random = seeded(7);
  for (int round = 0; round < 600; ++round) {
    std::vector<Factor> factors;
    for (int64_t i = draw(random, 1, 5); i > 0; --i) {
      factors.push_back({"a" + std::to_string(factors.size()), draw(random, 1, 4)});
    }
    const auto left = grouped(random, factors);
    std::vector<Factor> arranged = factors;
    std::shuffle(arranged.begin(), arranged.end(), random);
    if (draw(random, 0, 1) == 0) {
      const auto at = arranged.begin() + draw(random, 0, static_cast<int64_t>(arranged.size()));
      arranged.insert(at, {"r0", draw(random, 1, 3)});
    }
    const auto right = grouped(random, arranged);
    std::string shape;
    for (const auto& axis : left)
      shape += (shape.empty() ? "" : ", ") + std::to_string(extent_of(axis));
    const std::string text = "program p(input x: f32[" + shape + "]) -> (y) {\n  view y = x { " +
                             axes_text(left, true) + " -> " + axes_text(right, false) + " }\n}\n";
    const auto program = verify_text(text);
    ASSERT_TRUE(program) << text << render_text(program.error());
    const View& view = only_view(*program);
    const std::vector<int64_t>& out = (*program)->tensor(view.output).shape;
    ASSERT_EQ(out.size(), right.size()) << text;
    // Every combination of factor values is one output element.
    std::map<std::string, int64_t> values;
    for (const Factor& f : arranged) values[f.name] = 0;
    for (bool more = true; more;) {
      std::vector<int64_t> point;
      for (const auto& axis : right) point.push_back(position(axis, values));
      const auto atoms = atom_values(view.atoms, point);
      for (size_t axis = 0; axis < left.size(); ++axis) {
        ASSERT_EQ(evaluate(view.subscripts[axis], atoms), position(left[axis], values)) << text;
      }
      more = false;
      for (const Factor& f : arranged) {
        if (++values[f.name] < f.extent) {
          more = true;
          break;
        }
        values[f.name] = 0;
      }
    }
    for (size_t i = 0; i < right.size(); ++i) ASSERT_EQ(out[i], extent_of(right[i])) << text;
  }
}

TEST(Views, OneExtentMayBeInferred) {
  const auto program = verify_text(
      "program p(input x: f32[6, 4]) -> (y) { view y = x { (a, b:3), c -> c, 1, (b, a) } }");
  ASSERT_TRUE(program) << render_text(program.error());
  EXPECT_EQ((*program)->tensor((*program)->outputs[0]).shape, (std::vector<int64_t>{4, 1, 6}));
}

TEST(Views, PacksPassTheOtherAxes) {
  const auto program =
      verify_text("program p(input x: f32[2, 3, 4, 5]) -> (y) { view y = x { *l, a -> a, *l } }");
  ASSERT_TRUE(program) << render_text(program.error());
  EXPECT_EQ((*program)->tensor((*program)->outputs[0]).shape, (std::vector<int64_t>{5, 2, 3, 4}));
}

TEST(Slices, ReadWhatPythonSlicesRead) {
  std::mt19937_64 random = seeded(8);
  int accepted = 0;
  for (int round = 0; round < 600; ++round) {
    const int64_t extent = draw(random, 1, 9);
    const int64_t start = draw(random, -1, 9);
    const int64_t stop = draw(random, 0, 10);
    const int64_t step = draw(random, 0, 12);
    const std::string text = "program p(input x: f32[" + std::to_string(extent) +
                             "]) -> (y) { slice y = x[" + std::to_string(start) + ":" +
                             std::to_string(stop) + ":" + std::to_string(step) + "] }";
    const bool fits = step >= 1 && 0 <= start && start < stop && stop <= extent;
    const auto program = verify_text(text);
    ASSERT_EQ(program.has_value(), fits) << text;
    if (!fits) {
      EXPECT_EQ(program.error().at(0).kind, DiagnosticKind::BadSlice);
      continue;
    }
    ++accepted;
    const View& view = only_view(*program);
    std::vector<int64_t> expected;
    for (int64_t i = start; i < stop; i += step) expected.push_back(i);
    ASSERT_EQ((*program)->tensor(view.output).shape.at(0), static_cast<int64_t>(expected.size()))
        << text;
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(evaluate(view.subscripts[0], atom_values(view.atoms, {static_cast<int64_t>(i)})),
                expected[i])
          << text;
    }
  }
  EXPECT_GT(accepted, 50);
}

}  // namespace
}  // namespace solar::ir
