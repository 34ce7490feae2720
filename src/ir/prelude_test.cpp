// Every prelude function is instantiated: with no, one and two leading axes, and with every float
// type if any.

#include "ir/prelude.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/diagnostic_text.h"
#include "ir/corpus_test_util.h"
#include "ir/parser.h"
#include "ir/verify.h"

namespace solar::ir {
namespace {

/// Small sizes that satisfy every function. The first letter says what a dim means; see the
/// prelude's files.
int64_t dim_value(const std::string& function, const std::string& name) {
  static const std::map<std::string, std::map<std::string, int64_t>> special = {
      {"diagonal", {{"K", 2}, {"UP", 1}, {"DOWN", 0}}},
      {"moments1", {{"A", 4}}},
      {"gqa", {{"H", 6}, {"G", 3}}},
      {"gqa_causal", {{"H", 6}, {"G", 3}}},
      {"gate_inputs", {{"G", 12}}},
      {"sliding_windows", {{"STEP", 2}}},
      {"write_slice", {{"N", 9}, {"START", 1}, {"STEP", 2}}},
      {"write_diagonal", {{"K", 2}, {"UP", 1}, {"DOWN", 0}}},
  };
  const auto own = special.find(function);
  if (own != special.end() && own->second.contains(name)) return own->second.at(name);
  const bool transposed = function.starts_with("conv_transpose");
  if (transposed && name.size() == 2 && name[0] == 'E') return 1;
  if (name == "W" || name == "H" || name == "Z" || name == "D") return 7;
  if (name.size() == 2 && (name[1] == 'W' || name[1] == 'H' || name[1] == 'D' || name[1] == 'Z')) {
    switch (name[0]) {
      case 'R':
        return 3;
      case 'S':
        return 2;
      case 'A':
      case 'P':
        return 1;
      case 'L':
      case 'D':
        return transposed ? 2 : 1;
      case 'Q':
        return 4;  // outputs of adaptive pooling; the padding behind of zero_pad1d
      default:
        return 0;  // ceil mode, counted margins
    }
  }
  if (name == "UP" || name == "DOWN") return 1;
  if (name == "BY" || name == "BEFORE" || name == "AFTER") return 2;
  return 3 + name[0] % 3;
}

bool has_scalar_shape(const ast::Type& type) { return type.extents.empty(); }

/// An extent of a parameter: a dim, or a product of dims and integers.
int64_t extent_value(const ast::Expr& expr, const std::map<std::string, int64_t>& dims) {
  if (expr.kind == ast::ExprKind::Integer) return expr.integer;
  if (expr.kind == ast::ExprKind::Name) return dims.at(expr.text);
  EXPECT_EQ(expr.text, "*");
  return extent_value(*expr.operands.at(0), dims) * extent_value(*expr.operands.at(1), dims);
}

/// A program that calls `f` once with every type parameter `type` and packs of `rank` axes.
std::string call_of(const ast::Function& f, const std::string& type, size_t rank) {
  std::set<std::string> types;
  std::set<std::string> inferred;
  std::map<std::string, int64_t> dims;
  for (const ast::Generic& g : f.generics) {
    if (g.kind == ast::Generic::Kind::Type) types.insert(g.name.text);
    if (g.kind == ast::Generic::Kind::Dim) dims[g.name.text] = dim_value(f.name.text, g.name.text);
  }
  std::string ports;
  std::string arguments;
  for (const ast::Declaration& d : f.parameters) {
    const std::string& written = d.type.element.name;
    std::string element = types.contains(written) ? type : written;
    if (types.contains(written) && written == "I") element = "i64";  // an index type
    if (d.type.element.wide) element = std::string(name(wide(*element_type_named(element))));
    arguments += arguments.empty() ? "" : ", ";
    if (has_scalar_shape(d.type)) {
      arguments += element == "bool" ? "true" : "1";
      continue;
    }
    if (!d.type.element.wide) inferred.insert(written);
    std::string shape;
    for (const ast::ExprPtr& extent : d.type.extents) {
      if (extent->kind == ast::ExprKind::Pack) {
        for (size_t i = 0; i < rank; ++i)
          shape += (shape.empty() ? "" : ", ") + std::to_string(2 + i);
        continue;
      }
      if (extent->kind == ast::ExprKind::Name) inferred.insert(extent->text);
      shape += (shape.empty() ? "" : ", ") + std::to_string(extent_value(*extent, dims));
    }
    ports +=
        (ports.empty() ? "" : ", ") + ("input " + d.name.text + ": ") + element + "[" + shape + "]";
    arguments += d.name.text;
  }
  std::string attributes;
  for (const ast::Generic& g : f.generics) {
    if (inferred.contains(g.name.text) || g.kind == ast::Generic::Kind::Pack) continue;
    attributes +=
        (attributes.empty() ? "; " : ", ") + g.name.text + " = " +
        (g.kind == ast::Generic::Kind::Type ? type : std::to_string(dims.at(g.name.text)));
  }
  std::string results;
  for (size_t i = 0; i < f.results.size(); ++i)
    results += (i == 0 ? "out" : ", out") + std::to_string(i);
  return "program p(" + ports + ") -> (" + results + ") {\n  let (" + results +
         ") = " + f.name.text + "(" + arguments + attributes + ")\n}\n";
}

std::string errors_of(const std::string& text) {
  const auto program = verify_text(text);
  return program ? "" : text + render_text(program.error());
}

TEST(Prelude, EveryFunctionVerifies) {
  std::set<std::string> seen;
  for (const PreludeFile& prelude : prelude_files()) {
    const auto file = parse_text(prelude.name, prelude.text);
    ASSERT_TRUE(file) << render_text(file.error());
    EXPECT_FALSE(file->program) << prelude.name;
    for (const ast::Function& f : file->functions) {
      EXPECT_TRUE(seen.insert(f.name.text).second) << f.name.text << " is defined twice";
      std::string used;
      for (const char* type : {"f32", "i64", "bool"}) {
        if (errors_of(call_of(f, type, 1)).empty()) {
          used = type;
          break;
        }
      }
      ASSERT_FALSE(used.empty()) << errors_of(call_of(f, "f32", 1));
      for (size_t rank : {0, 1, 2}) {
        const std::string errors = errors_of(call_of(f, used, rank));
        EXPECT_TRUE(errors.empty()) << errors;
      }
      if (used != "f32") continue;
      for (const char* type : {"f64", "bf16", "f16"}) {
        const std::string errors = errors_of(call_of(f, type, 1));
        EXPECT_TRUE(errors.empty()) << errors;
      }
    }
  }
  EXPECT_GT(seen.size(), 200u);
}

TEST(Prelude, HoldsFunctionsSortedByFile) {
  const auto& files = prelude_files();
  ASSERT_FALSE(files.empty());
  for (size_t i = 1; i < files.size(); ++i) EXPECT_LT(files[i - 1].name, files[i].name);
}

}  // namespace
}  // namespace solar::ir
