// Every prelude function is instantiated: with no, one and two leading axes, and with every float
// type if any.

#include "ir/prelude.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/diagnostic_text.h"
#include "ir/corpus_test_util.h"
#include "ir/parser.h"
#include "ir/prelude_call_test_util.h"
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
        if (errors_of(call_of(f, type, 1, dim_value)).empty()) {
          used = type;
          break;
        }
      }
      ASSERT_FALSE(used.empty()) << errors_of(call_of(f, "f32", 1, dim_value));
      for (size_t rank : {0, 1, 2}) {
        const std::string errors = errors_of(call_of(f, used, rank, dim_value));
        EXPECT_TRUE(errors.empty()) << errors;
      }
      if (used != "f32") continue;
      for (const char* type : {"f64", "bf16", "f16"}) {
        const std::string errors = errors_of(call_of(f, type, 1, dim_value));
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
