// Random programs: what the search makes of them computes the same and multiplies no more.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "algebra/algebra_test_util.h"
#include "algebra/emit.h"
#include "einsum/random_program_test_util.h"

namespace solar::algebra {
namespace {

/// Products of matrices, sums, scalings, differences and an occasional maximum.
class RandomAlgebra {
 public:
  explicit RandomAlgebra(uint32_t seed) : random_(seed) {}

  std::string text() {
    std::string ports;
    for (int i = 0; i < 4; ++i) {
      tensors_.push_back({fmt::format("x{}", i), pick(1, 7), pick(1, 7)});
      ports += fmt::format("{}input x{}: f64[{}, {}]", i > 0 ? ", " : "", i, tensors_.back().rows,
                           tensors_.back().columns);
    }
    std::string body;
    const int steps = pick(3, 8);
    for (int i = 0; i < steps; ++i) body += step();
    const Matrix& last = tensors_.back();
    return fmt::format("program p({}) -> ({}) {{\n{}}}\n", ports, last.name, body);
  }

 private:
  struct Matrix {
    std::string name;
    int rows, columns;
  };

  int pick(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<uint32_t>(high - low + 1));
  }
  const Matrix& any() {
    const auto count = static_cast<int>(tensors_.size());
    return tensors_[static_cast<size_t>(pick(0, 2) > 0 ? count - 1 : pick(0, count - 1))];
  }

  std::string step() {
    const Matrix a = any();
    const std::string name = fmt::format("t{}", next_++);
    const auto add = [&](int rows, int columns) { tensors_.push_back({name, rows, columns}); };
    const auto kernel = [&](int rows, int columns, const std::string& value, const char* op) {
      add(rows, columns);
      return fmt::format("  kernel {0}: f64[{1}, {2}] {{ for i:{1}, j:{2}   {0}[i,j] {4} {3} }}\n",
                         name, rows, columns, value, op);
    };
    switch (pick(0, 8)) {
      case 0:
      case 1:
      case 2: {  // a product with the transpose of one with as many columns, or with itself
        Matrix b = a;
        for (const Matrix& other : tensors_) {
          if (other.columns == a.columns && pick(0, 1) == 0) b = other;
        }
        add(a.rows, b.rows);
        return fmt::format(
            "  kernel {0}: f64[{1}, {2}] {{ for i:{1}, j:{2}, k:{3}   {0}[i,j] += {4}[i,k] * "
            "{5}[j,k] }}\n",
            name, a.rows, b.rows, a.columns, a.name, b.name);
      }
      case 3: {  // a row sum
        add(a.rows, 1);
        return fmt::format(
            "  kernel {0}: f64[{1}, 1] {{ for i:{1}, j:1, k:{2}   {0}[i,j] += {3}[i,k] }}\n", name,
            a.rows, a.columns, a.name);
      }
      case 4:
        return kernel(a.rows, a.columns, fmt::format("{}[i,j] * {}.5", a.name, pick(0, 2)), "=");
      case 5: {  // with a broadcast row
        const Matrix b = any();
        if (b.columns != a.columns) return kernel(a.columns, a.rows, a.name + "[j,i]", "=");
        return kernel(a.rows, a.columns,
                      fmt::format("{}[i,j] {} {}[0,j]", a.name, pick(0, 1) ? "-" : "+", b.name),
                      "=");
      }
      case 6:
        return kernel(a.rows, a.columns, fmt::format("{0}[i,j] - {0}[0,j]", a.name), "=");
      case 7:
        return kernel(a.rows, a.columns, fmt::format("max({0}[i,j], 0.0)", a.name), "=");
      default:
        add(a.columns * a.rows, 1);
        return fmt::format("  view {0} = {1} {{ a, b -> (a, b), 1 }}\n", name, a.name) +
               kernel_of_last();
    }
  }

  /// A view is no result of a program.
  std::string kernel_of_last() {
    const Matrix view = tensors_.back();
    const std::string name = fmt::format("t{}", next_++);
    tensors_.push_back({name, view.rows, 1});
    return fmt::format("  kernel {0}: f64[{1}, 1] {{ for i:{1}, j:1   {0}[i,j] = {2}[i,j] }}\n",
                       name, view.rows, view.name);
  }

  std::mt19937 random_;
  std::vector<Matrix> tensors_ = {};
  int next_ = 0;
};

TEST(Property, TheResultsStayAndTheWorkDoesNotGrow) {
  int rewritten = 0;
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    const std::string text = RandomAlgebra(seed).text();
    const Outcome o = optimise_text(text);
    if (o.found.stages.empty()) continue;
    ++rewritten;
    EXPECT_TRUE(same_results(o, seed + 1000)) << "seed " << seed << "\n"
                                              << text << o.found.stages.back().text;
    EXPECT_LE(macs(o.last()), macs(o.program)) << "seed " << seed << "\n"
                                               << text << o.found.stages.back().text;
  }
  EXPECT_GT(rewritten, 60);
}

TEST(Property, NoRewriteOfARandomProgramIsFoundWrong) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    const std::string text = RandomAlgebra(seed).text();
    for (const std::string& note : optimise_text(text).found.notes)
      EXPECT_EQ(note.find("changes results"), std::string::npos) << note << "\n" << text;
  }
}

TEST(Property, ProgramsWrittenOutComputeTheSame) {
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    const std::string text = einsum::RandomProgram(seed).text();
    const auto program = ir::verify_text(text);
    ASSERT_TRUE(program) << text;
    const auto emitted = emit(**program);
    ASSERT_TRUE(emitted) << text;
    auto again = ir::verify_text(emitted->text);
    ASSERT_TRUE(again) << render_text(again.error()) << text << emitted->text;
    const exec::Outputs a = run(*program, seed);
    const exec::Outputs b = run(*again, seed);
    ASSERT_EQ(a.outputs.size(), b.outputs.size());
    for (size_t i = 0; i < a.outputs.size(); ++i) {
      for (int64_t k = 0; k < a.outputs[i].count(); ++k) {
        const double x = a.outputs[i].get(k), y = b.outputs[i].get(k);
        ASSERT_TRUE(x == y || (std::isnan(x) && std::isnan(y))) << "seed " << seed;
      }
    }
  }
}

TEST(Property, ProgramsOfAllKindsStayTheSame) {
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    const std::string text = einsum::RandomProgram(seed).text();
    const Outcome o = optimise_text(text);
    EXPECT_TRUE(same_results(o, seed, 1e-4)) << "seed " << seed << "\n" << text;
    EXPECT_LE(macs(o.last()), macs(o.program)) << "seed " << seed << "\n" << text;
  }
}

}  // namespace
}  // namespace solar::algebra
