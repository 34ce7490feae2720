// A re-rolled program computes and counts what it did before.

#include "ir/reroll.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>

#include "einsum/lift_test_util.h"
#include "exec/executor.h"
#include "ir/corpus_test_util.h"
#include "ir/parser.h"
#include "ir/printer.h"

namespace solar::einsum {
namespace {

using ir::draw;

/// The steps of a loop or the layers of a stack, written out, with something before and after.
class Planted {
 public:
  explicit Planted(std::mt19937_64& random) : random_(random) {}

  std::string text() {
    copies_ = draw(random_, 2, 6);
    const bool layers = chance(40);     // each copy has a module and weights of its own
    const bool irregular = chance(20);  // one copy differs
    const int64_t odd = draw(random_, 0, copies_ - 1);
    plan(layers);
    ports_ = "input x: f32[T, N], input h: f32[N], param u: f32[N, N]";
    statement("relu", "", "before", "let p0 = relu(h)");
    for (int64_t copy = 0; copy < copies_; ++copy) {
      const std::string module = layers ? fmt::format("layers.{}", copy) : "cell";
      for (size_t i = 0; i < plan_.size(); ++i)
        write(copy, i, module, irregular && copy == odd && i == 0);
    }
    std::string outputs = results();
    return fmt::format("program p({}) -> ({}) {{\n  dims T = {}, N = 3\n{}}}\n", ports_, outputs,
                       copies_ + draw(random_, 0, 1), body_);
  }

 private:
  enum class Operand { Own, Before, Input, Shared };
  struct Source {
    Operand kind = Operand::Shared;
    size_t at = 0;
  };
  struct Planned {
    int64_t operation = 0;
    Source a = {}, b = {};
    bool moves = false;
  };

  bool chance(int64_t percent) { return draw(random_, 0, 99) < percent; }

  Source source(size_t i, size_t count) {
    const int64_t kind = draw(random_, 0, 3);
    if (kind == 0 && i > 0)
      return {Operand::Own, static_cast<size_t>(draw(random_, 0, static_cast<int64_t>(i) - 1))};
    if (kind == 1)
      return {Operand::Before,
              static_cast<size_t>(draw(random_, 0, static_cast<int64_t>(count) - 1))};
    return {kind == 2 ? Operand::Input : Operand::Shared, 0};
  }

  void plan(bool layers) {
    const auto count = static_cast<size_t>(draw(random_, 2, 6));
    for (size_t i = 0; i < count; ++i)
      plan_.push_back({draw(random_, 0, layers ? 4 : 3), source(i, count), source(i, count)});
  }

  static std::string name(int64_t copy, size_t i) { return fmt::format("v{}_{}", copy, i); }

  std::string operand(int64_t copy, size_t i, const char* which, const Source& source) {
    switch (source.kind) {
      case Operand::Own:
        return name(copy, source.at);
      case Operand::Before:
        return copy > 0 ? name(copy - 1, source.at) : "p0";
      case Operand::Input: {
        const std::string slice = fmt::format("s{}_{}{}", copy, i, which);
        body_ += fmt::format("  slice {} = x[{}, :]\n", slice, copy);
        return slice;
      }
      case Operand::Shared:
        return "h";
    }
    return "";
  }

  void statement(const char* op, const std::string& module, const char* at,
                 const std::string& text) {
    body_ += fmt::format("  op \"{}\" at \"{}\"{} {{ {} }}\n", op, at,
                         module.empty() ? "" : fmt::format(" module \"{}\"", module), text);
  }

  void write(int64_t copy, size_t i, const std::string& module, bool odd) {
    const Planned& planned = plan_[i];
    const std::string a = operand(copy, i, "a", planned.a);
    const std::string b = operand(copy, i, "b", planned.b);
    const std::string y = name(copy, i);
    const std::string at = fmt::format("m.py:{}", i);
    const auto product = [&](const std::string& w) {
      return fmt::format("kernel {0}: f32[N] {{ for n:N, k:N   {0}[n] += {1}[n,k] * {2}[k] }}", y,
                         w, a);
    };
    switch (odd ? 5 : planned.operation) {
      case 0:
        return statement("mv", module + ".fc", at.c_str(), product("u"));
      case 1:
        return statement("add", module, at.c_str(), fmt::format("let {} = add({}, {})", y, a, b));
      case 2:
        return statement("tanh", module, at.c_str(), fmt::format("let {} = tanh({})", y, a));
      case 3:
        return statement("mul", module, at.c_str(), fmt::format("let {} = mul({}, {})", y, a, b));
      case 4: {
        const std::string w = fmt::format("layers_{}_w{}", copy, i);
        ports_ += fmt::format(", param {}: f32[N, N]", w);
        return statement("mv", module + ".own", at.c_str(), product(w));
      }
      default:
        return statement("add", module, at.c_str(),
                         fmt::format("let {} = add_scalar({}, 0.5)", y, a));
    }
  }

  std::string results() {
    std::vector<std::string> outputs = {name(copies_ - 1, plan_.size() - 1)};
    for (size_t i = 0; i < plan_.size(); ++i) {
      const int64_t how = draw(random_, 0, 4);
      if (how > 2) continue;
      std::string all;
      for (int64_t copy = how == 2 ? 1 : 0; copy < copies_; ++copy)
        all += (all.empty() ? "" : ", ") + name(copy, i);
      const std::string joined = fmt::format("joined{}", i);
      if (how == 0 || how == 2) {
        statement("stack", "", "after",
                  fmt::format("let {} = stack({}; axis = {})", joined, all, draw(random_, 0, 1)));
      } else {
        statement("cat", "", "after", fmt::format("let {} = concat({}; axis = 0)", joined, all));
      }
      outputs.push_back(joined);
    }
    if (chance(30)) outputs.push_back(name(draw(random_, 0, copies_ - 1), 0));
    return fmt::format("{}", fmt::join(outputs, ", "));
  }

  std::mt19937_64& random_;
  int64_t copies_ = 0;
  std::vector<Planned> plan_;
  std::string ports_;
  std::string body_;
};

exec::Inputs inputs_of(const ir::Program& program, std::mt19937_64& random) {
  exec::Inputs inputs;
  for (const ir::TensorId port : program.ports) {
    const ir::Tensor& tensor = program.tensor(port);
    auto data = *exec::TensorData::make(tensor.type, tensor.shape);
    for (int64_t i = 0; i < data.count(); ++i)
      data.set(i, static_cast<double>(draw(random, -8, 8)) / 8);
    inputs.emplace(tensor.name, std::move(data));
  }
  return inputs;
}

std::vector<std::vector<double>> run(const ir::VerifiedProgram& program,
                                     const exec::Inputs& inputs) {
  std::vector<std::vector<double>> results;
  const auto outputs = exec::interpreter()->run(program, inputs, {.threads = 1});
  if (!outputs) {
    ADD_FAILURE() << messages(outputs.error());
    return results;
  }
  for (const exec::TensorData& output : outputs->outputs) {
    std::vector<double>& values = results.emplace_back();
    for (int64_t i = 0; i < output.count(); ++i) values.push_back(output.get(i));
  }
  return results;
}

/// What the reports show of each source operator, over all its calls.
using Counts = std::array<int64_t, 6>;
std::map<std::string, Counts> by_operator(const Graph& graph) {
  std::map<std::string, Counts> counts;
  const auto add = [&](const std::string& name, const Counts& more) {
    Counts& sum = counts[name];
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
  };
  for (const Operator& op : graph.operators) {
    add(fmt::format("{} at {} in {}", op.name, op.at, op.module),
        {op.macs.value, op.macs_useful.value, op.elementwise_ops, op.special_ops,
         op.bytes_in.min.value, op.bytes_out.min.value});
  }
  const Totals& all = graph.totals;
  add("all", {all.macs.value, all.macs_useful.value, all.elementwise_ops, all.special_ops,
              all.bytes_read_inputs.min.value + all.bytes_read_params.min.value,
              all.bytes_written_outputs.min.value});
  return counts;
}

/// The same, but for products that a loop computes alike in every step: those are useful once.
void expect_counts(const std::map<std::string, Counts>& after,
                   const std::map<std::string, Counts>& before, const std::string& text) {
  ASSERT_EQ(after.size(), before.size()) << text;
  for (const auto& [name, counts] : before) {
    ASSERT_TRUE(after.contains(name)) << name << text;
    Counts now = after.at(name);
    EXPECT_LE(now[1], counts[1]) << name << text;
    now[1] = counts[1];
    EXPECT_EQ(now, counts) << name << text;
  }
}

size_t occurrences(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

void check(const std::string& text, std::mt19937_64& random, size_t& rerolled) {
  const auto file = ir::parse_text("t.alir", text);
  ASSERT_TRUE(file) << messages(file.error()) << text;
  const auto before = ir::verify(*file);
  ASSERT_TRUE(before) << messages(before.error()) << text;
  const auto rolled = ir::reroll(*file);
  ASSERT_TRUE(rolled) << messages(rolled.error()) << text;
  const std::string now = ir::print(*rolled);
  const auto after = ir::verify(*rolled);
  ASSERT_TRUE(after) << messages(after.error()) << now;
  const exec::Inputs inputs = inputs_of(**before, random);
  EXPECT_EQ(run(*after, inputs), run(*before, inputs)) << text << now;
  const auto graph = lift(*after);
  const auto graph_before = lift(*before);
  ASSERT_TRUE(graph && graph_before) << text << now;
  expect_counts(by_operator(*graph), by_operator(*graph_before), text + now);
  if (occurrences(now, " = repeat ") == 0) {
    EXPECT_EQ(graph->nodes.size(), graph_before->nodes.size()) << now;
  }
  const auto again = ir::reroll(*rolled);
  ASSERT_TRUE(again);
  EXPECT_EQ(ir::print(*again), now);
  rerolled += now != ir::print(*file) ? 1 : 0;
}

TEST(Reroll, PlantedRepetitionsKeepValuesAndCounts) {
  auto random = ir::seeded(11);
  size_t rerolled = 0;
  for (int trial = 0; trial < 300; ++trial) {
    check(Planted(random).text(), random, rerolled);
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(rerolled, 100u);
}

}  // namespace
}  // namespace solar::einsum
