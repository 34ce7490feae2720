// What core.h promises of every elaborated program, for all correct texts at hand; and the parts of
// loops and branches in one of each.

#include "ir/core.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/diagnostic_text.h"
#include "ir/corpus_test_util.h"
#include "ir/parser.h"
#include "ir/verify.h"

namespace solar::ir {
namespace {

/// Checks that each tensor is defined once, before it is read, and seen only by its body.
class Invariants {
 public:
  explicit Invariants(const Program& program) : program_(program) {}

  void check() {
    std::set<TensorId> seen;
    for (const TensorId port : program_.ports) define(port, seen);
    body(program_.statements, seen);
    for (const TensorId output : program_.outputs) EXPECT_TRUE(seen.contains(output));
    for (const Update& update : program_.updates) EXPECT_TRUE(seen.contains(update.value));
    std::set<std::string> names;
    for (const Tensor& tensor : program_.tensors) {
      EXPECT_TRUE(names.insert(tensor.name).second) << tensor.name << " names two tensors";
      EXPECT_EQ(tensor.shape.size(), tensor.extents.size());
    }
    EXPECT_EQ(defined_.size(), program_.tensors.size());
  }

 private:
  void define(TensorId id, std::set<TensorId>& seen) {
    EXPECT_TRUE(defined_.insert(id).second) << program_.tensor(id).name << " is defined twice";
    seen.insert(id);
  }

  void read(TensorId id, const std::set<TensorId>& seen) {
    EXPECT_TRUE(seen.contains(id)) << program_.tensor(id).name << " is read before it is defined";
  }

  void alike(TensorId a, TensorId b) {
    EXPECT_EQ(program_.tensor(a).type, program_.tensor(b).type);
    EXPECT_EQ(program_.tensor(a).shape, program_.tensor(b).shape);
  }

  void body(const std::vector<Statement>& statements, std::set<TensorId>& seen) {
    for (const Statement& statement : statements) {
      for (const TensorId id : inputs_of(statement)) read(id, seen);
      inner(statement, seen);
      for (const TensorId id : outputs_of(statement)) define(id, seen);
    }
  }

  void carried(const std::vector<Carried>& values, std::set<TensorId>& seen) {
    for (const Carried& one : values) {
      alike(one.inside, one.initial);
      alike(one.inside, one.next);
      alike(one.inside, one.result);
      define(one.inside, seen);
    }
  }

  void inner(const Statement& statement, std::set<TensorId> seen) {
    if (const auto* repeat = std::get_if<Repeat>(&statement.body)) {
      ASSERT_LT(static_cast<size_t>(repeat->step), program_.steps.size());
      carried(repeat->carried, seen);
      body(repeat->body, seen);
      for (const Carried& one : repeat->carried) read(one.next, seen);
      for (const Stacked& one : repeat->stacked) {
        read(one.element, seen);
        std::vector<int64_t> shape = program_.tensor(one.element).shape;
        shape.insert(shape.begin(), program_.steps[static_cast<size_t>(repeat->step)].extent);
        EXPECT_EQ(program_.tensor(one.result).shape, shape);
      }
    } else if (const auto* loop = std::get_if<While>(&statement.body)) {
      carried(loop->carried, seen);
      ASSERT_LE(loop->before_test, loop->body.size());
      const auto middle = loop->body.begin() + static_cast<std::ptrdiff_t>(loop->before_test);
      body({loop->body.begin(), middle}, seen);
      read(loop->test, seen);
      body({middle, loop->body.end()}, seen);
      for (const Carried& one : loop->carried) read(one.next, seen);
    } else if (const auto* branches = std::get_if<If>(&statement.body)) {
      for (const Branch* branch : {&branches->taken, &branches->otherwise}) {
        std::set<TensorId> own = seen;
        body(branch->body, own);
        ASSERT_EQ(branch->values.size(), branches->results.size());
        for (size_t i = 0; i < branch->values.size(); ++i) {
          read(branch->values[i], own);
          alike(branch->values[i], branches->results[i]);
        }
      }
    }
  }

  const Program& program_;
  std::set<TensorId> defined_;
};

TEST(Core, EveryCorrectTextElaboratesToAWellFormedProgram) {
  int programs = 0;
  std::vector<Text> texts = golden_texts();
  for (Text& block : alir_blocks("docs/language.md")) texts.push_back(std::move(block));
  for (const Text& text : texts) {
    const auto program = verify_text(text.text);
    if (!program) continue;
    SCOPED_TRACE(text.name);
    Invariants(**program).check();
    ++programs;
  }
  EXPECT_GE(programs, 40);
}

template <class Body>
const Body& only(const std::vector<Statement>& statements) {
  const Body* found = nullptr;
  for (const Statement& statement : statements) {
    if (const auto* body = std::get_if<Body>(&statement.body)) {
      EXPECT_EQ(found, nullptr);
      found = body;
    }
  }
  EXPECT_NE(found, nullptr);
  return *found;
}

VerifiedProgram verified(const std::string& text) {
  auto program = verify_text(text);
  EXPECT_TRUE(program) << (program ? "" : render_text(program.error()));
  return *program;
}

TEST(Core, RepeatWithItsSliceAndItsSubscripts) {
  const auto program = verified(R"(
program p(input x: f32[2*T, N], input h0: f32[N]) -> (h, ys) {
  dims T = 5, N = 3
  let h stack ys = repeat revseq t:T with (h = h0) {
    slice row = x[2*t : 2*t + 2, :]
    kernel s: f32[N] { for n:N   s[n] = row[1,n] + x[t + 1, n] + h[n] * f32(t) }
    next s stack row
  }
})");
  const auto& repeat = only<Repeat>(program->statements);
  const Step& step = program->steps.at(static_cast<size_t>(repeat.step));
  EXPECT_EQ(step.name, "t");
  EXPECT_EQ(step.extent, 5);
  EXPECT_EQ(step.extent_text, "T");
  EXPECT_TRUE(step.descending);
  EXPECT_EQ(program->tensor(repeat.carried.at(0).inside).name, "h.h");
  EXPECT_EQ(program->tensor(repeat.carried.at(0).result).name, "h");
  EXPECT_EQ(program->tensor(repeat.stacked.at(0).result).shape, (std::vector<int64_t>{5, 2, 3}));
  const auto& view = only<View>(repeat.body);
  ASSERT_EQ(view.atoms.size(), 3u);  // two output axes, the step
  EXPECT_EQ(view.atoms[2].kind, Atom::Kind::Step);
  EXPECT_EQ(view.subscripts.at(0), (Linear{{{0, 1}, {2, 2}}, 0}));
  EXPECT_EQ(view.subscripts.at(1), (Linear{{{1, 1}}, 0}));
  const auto& kernel = only<Kernel>(repeat.body);
  ASSERT_EQ(kernel.atoms.size(), 2u);  // the loop, the step once
  EXPECT_EQ(kernel.atoms[1].step, repeat.step);
  EXPECT_EQ(kernel.accesses.at(1).subscripts.at(0), (Linear{{{1, 1}}, 1}));
}

TEST(Core, LiteralsOfACarriedValueTakeTheTypeOfItsNextOne) {
  const auto program = verified(R"(
fn from<type T>(start: T[], x: T[]) -> (y) {
  let (y, z, k) = repeat t:3 with (y = start, z = 2, k = 7) {
    kernel y2: T[] { y2[] = y + x }
    op "inner" { kernel z2: bf16[] { z2[] = z * 2.0 } }
    next (y2, z2, k)
  }
}
program p(input x: f16[]) -> (y) { let y = from(1, x) }
)");
  const auto& repeat = only<Repeat>(program->statements);
  const auto type = [&](size_t i) { return program->tensor(repeat.carried.at(i).initial).type; };
  EXPECT_EQ(type(0), ElementType::F16);
  EXPECT_EQ(type(1), ElementType::BF16);
  EXPECT_EQ(type(2), ElementType::I64);
}

TEST(Core, WhileAndIfAreNumberedForTheirPaths) {
  const auto program = verified(R"(
program p(input x: f32[], input go: bool[]) -> (y, z) {
  dims L = 4
  let y = while limit 2*L with (y = x) {
    kernel more: bool[] { more[] = y > 1 }
    test more
    kernel half: f32[] { half[] = y / 2 }
    next half
  }
  let z = if go { next y } else { next x }
})");
  const auto& loop = only<While>(program->statements);
  EXPECT_EQ(loop.limit, 8);
  EXPECT_EQ(loop.before_test, 1u);
  EXPECT_EQ(loop.body.size(), 2u);
  EXPECT_EQ(program->controls.at(static_cast<size_t>(loop.control)).name, "y");
  const auto& branches = only<If>(program->statements);
  EXPECT_EQ(program->controls.at(static_cast<size_t>(branches.control)).name, "z");
  EXPECT_EQ(program->controls.at(static_cast<size_t>(branches.control)).kind, Control::Kind::If);
  EXPECT_EQ(branches.taken.values.at(0), loop.carried.at(0).result);
}

TEST(Core, ScatterRaggedLoopsAndRunTimeStarts) {
  const auto program = verified(R"(
program p(input ptr: i64[M + 1], input ids: i64[N], input x: f32[N], input s: i64[]) -> (y, w) {
  dims M = 3, N = 8
  indexed r: f32[M] { for i:M, p:N in ptr[i] .. ptr[i + 1]   r[i] += x[p] }
  scatter y: f32[M] { for n:N where n >= 2   y[ids[n]] max= x[n]  base donated r }
  slice w = x[at s size M]
})");
  const auto& kernel = only<Kernel>(program->statements);
  ASSERT_TRUE(kernel.loops.at(1).ragged);
  EXPECT_EQ(kernel.atoms.at(2).kind, Atom::Kind::DataRead);
  EXPECT_EQ(kernel.loops[1].ragged->begin, (Linear{{{2, 1}}, 0}));
  EXPECT_EQ(kernel.loops[1].ragged->end, (Linear{{{3, 1}}, 0}));
  const auto& scatter = only<Scatter>(program->statements);
  EXPECT_TRUE(scatter.donated);
  EXPECT_EQ(scatter.base, kernel.output);
  EXPECT_EQ(scatter.nest.reduction, Reduction::Max);
  EXPECT_TRUE(scatter.nest.target_loops.empty());
  EXPECT_EQ(scatter.nest.guards.size(), 1u);
  EXPECT_EQ(scatter.subscripts.at(0), (Linear{{{1, 1}}, 0}));
  const auto& view = only<View>(program->statements);
  EXPECT_EQ(view.atoms.at(1).tensor, program->ports.at(3));
  EXPECT_EQ(view.subscripts.at(0), (Linear{{{0, 1}, {1, 1}}, 0}));
}

TEST(Core, StorageAndOpaqueCosts) {
  const auto program = verified(R"(
program p(input x: f32[N], param w: bf16[N] as mxfp8) -> (y) {
  dims N = 64
  opaque y: f32[N] as nvfp4 = "f"(x, w) macs N*N reads 2*N
})");
  EXPECT_EQ(program->tensors.at(1).storage, "mxfp8");
  EXPECT_EQ(program->tensors.at(2).storage, "nvfp4");
  const auto& opaque = only<Opaque>(program->statements);
  EXPECT_EQ(opaque.macs, 4096);
  EXPECT_EQ(opaque.reads, 128);
  EXPECT_FALSE(opaque.writes);
  EXPECT_EQ(opaque.inputs.size(), 2u);
}

}  // namespace
}  // namespace solar::ir
