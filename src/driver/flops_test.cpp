#include "driver/flops.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ir/parser.h"
#include "ir/verify.h"

namespace solar::driver {
namespace {

using report::FlopsRow;

constexpr const char* kText = R"(
program p(input x: f32[4, 8], param a_w: f32[8, 8], param a_b_w: f32[8, 2], param top: f32[2],
          input q: f32[2]) -> (y) {
  op "mm" module "a" { kernel h: f32[4, 8] { for i:4, j:8, k:8   h[i,j] += x[i,k] * a_w[k,j] } }
  op "flip" module "a" { view t = h { i, j -> j, i } }
  op "mm" module "a.b" { kernel u: f32[4, 2] { for i:4, j:2, k:8   u[i,j] += t[k,i] * a_b_w[k,j] } }
  op "dead" at "f.py:3" module "a.c" { kernel d: f32[2] { for j:2   d[j] = top[j] * 2 } }
  op "add" { kernel y: f32[4, 2] { for i:4, j:2   y[i,j] = u[i,j] + top[j] } }
  kernel unused: f32[2] { for j:2   unused[j] = q[j] + 1 }
}
)";

class FlopsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto file = ir::parse_text("t", kText);
    ASSERT_TRUE(file);
    auto program = ir::verify(*file);
    ASSERT_TRUE(program) << program.error()[0].message;
    loaded_.file = *file;
    loaded_.program = *program;
    auto graph = lift(loaded_);
    ASSERT_TRUE(graph);
    graph_ = *graph;
  }

  report::Flops of(const FlopsOptions& options = {}) const {
    auto found = flops(loaded_, graph_, options);
    EXPECT_TRUE(found);
    return *found;
  }

  static std::vector<std::string> names_of(const report::Flops& flops) {
    std::vector<std::string> names;
    for (const FlopsRow& row : flops.rows) {
      names.push_back((row.kind == FlopsRow::Kind::Own ? "own " : "") + row.module);
    }
    return names;
  }

  Loaded loaded_;
  einsum::Graph graph_;
};

using Names = std::vector<std::string>;

TEST_F(FlopsTest, AModuleIsTheSumOfWhatIsInIt) {
  const auto found = of();
  EXPECT_EQ(names_of(found), (Names{"", "a", "a.b", "own a", "own "}));
  for (size_t i = 0; i < found.rows.size(); ++i) {
    const FlopsRow& row = found.rows[i];
    report::FlopsCounts sum;
    int parts = 0;
    for (size_t j = i + 1; j < found.rows.size() && found.rows[j].depth > row.depth; ++j) {
      if (found.rows[j].depth != row.depth + 1) continue;
      const report::FlopsCounts& c = found.rows[j].counts;
      sum.parameters += c.parameters;
      sum.macs += c.macs;
      sum.macs_useful += c.macs_useful;
      sum.elementwise_ops += c.elementwise_ops;
      sum.special_ops += c.special_ops;
      sum.bytes_in += c.bytes_in;
      sum.bytes_out += c.bytes_out;
      ++parts;
    }
    if (parts > 0) {
      EXPECT_EQ(sum, row.counts) << row.module;
    }
  }
  const report::FlopsCounts& total = found.rows[0].counts;
  EXPECT_EQ(total.macs, graph_.totals.macs.value);
  EXPECT_EQ(total.macs, 4 * 8 * 8 + 4 * 2 * 8);
  EXPECT_EQ(total.macs_useful, graph_.totals.macs_useful.value);
  EXPECT_EQ(total.elementwise_ops, graph_.totals.elementwise_ops);
  EXPECT_EQ(total.parameters, 64 + 16 + 2);
}

TEST_F(FlopsTest, ParametersBelongToTheModuleThatHoldsThem) {
  EXPECT_EQ(of().rows[4].counts.parameters, 2);  // `top`: of its first reader
  loaded_.ports = {{.name = "a_w", .role = "param", .key = "z.w"},
                   {.name = "top", .role = "param", .key = "top"}};
  const auto found = of();
  EXPECT_EQ(names_of(found), (Names{"", "a", "a.b", "own a", "z", "own "}));
  EXPECT_EQ(found.rows[1].counts.parameters, 16);
  EXPECT_EQ(found.rows[4].counts.parameters, 64);
  EXPECT_EQ(found.rows[5].counts.parameters, 2);
}

TEST_F(FlopsTest, DepthAndOrder) {
  loaded_.ports = {{.name = "a_w", .role = "param", .key = "z.w"}};
  EXPECT_EQ(names_of(of({.depth = 0})), (Names{""}));
  EXPECT_EQ(names_of(of({.depth = 1})), (Names{"", "a", "z", "own "}));
  EXPECT_EQ(names_of(of({.depth = 1, .order = FlopsOrder::Parameters})),
            (Names{"", "z", "a", "own "}));
  EXPECT_EQ(names_of(of({.depth = 1, .order = FlopsOrder::Macs})), (Names{"", "a", "z", "own "}));
}

TEST_F(FlopsTest, WhatIsNotCountedIsNamed) {
  std::vector<std::string> names;
  for (const auto& omission : of().not_counted) names.push_back(omission.op + omission.at);
  EXPECT_EQ(names, (Names{"unused", "flip", "deadf.py:3"}));
}

TEST_F(FlopsTest, Csv) {
  const std::string text = render_csv(of({.depth = 0}));
  EXPECT_EQ(text.substr(0, text.find('\r')),
            "row,module,depth,operators,parameters,macs,macs_useful,elementwise_ops,special_ops,"
            "bytes_in,bytes_out");
  EXPECT_NE(text.find("total,,0,,82,320,320,"), std::string::npos) << text;
}

}  // namespace
}  // namespace solar::driver
