// Every ```alir block of the documentation: verifies, or gives the error that its first line names,
// as in
// `# error: [shape-mismatch]`. A block without a program is a set of functions and statements that
// must parse.

#include <gtest/gtest.h>

#include "base/diagnostic_text.h"
#include "ir/corpus_test_util.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/verify.h"

namespace solar::ir {
namespace {

std::vector<Text> documented() {
  std::vector<Text> blocks;
  const std::filesystem::path root = SOLAR_ROOT;
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "docs")) {
    if (entry.path().extension() == ".md")
      files.push_back(std::filesystem::relative(entry.path(), root).string());
  }
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    for (Text& block : alir_blocks(file)) blocks.push_back(std::move(block));
  }
  return blocks;
}

std::string expected_error(const std::string& text) {
  static const std::string mark = "# error: [";
  const size_t at = text.find(mark);
  if (at == std::string::npos) return "";
  return text.substr(at + mark.size(), text.find(']', at) - at - mark.size());
}

TEST(Documentation, BlocksDoWhatTheySay) {
  int programs = 0;
  for (const Text& block : documented()) {
    SCOPED_TRACE(block.name);
    const auto file = parse_text(block.name, block.text);
    const bool explains = block.name.starts_with("docs/diagnostics/");
    std::string wanted = expected_error(block.text);
    if (explains && wanted.empty()) wanted = std::filesystem::path(block.name).stem().string();
    if (!wanted.empty()) {
      Diagnostics errors = file ? Diagnostics{} : file.error();
      if (file) {
        const auto program = verify(*file);
        if (!program) errors = program.error();
      }
      ASSERT_FALSE(errors.empty()) << block.text;
      EXPECT_EQ(slug(errors[0].kind), wanted) << render_text(errors);
      continue;
    }
    ASSERT_TRUE(file) << render_text(file.error());
    if (!file->program) continue;
    ++programs;
    const auto program = verify(*file);
    ASSERT_TRUE(program) << render_text(program.error());
    EXPECT_EQ(print(*parse_text("printed", print(*file))), print(*file));
  }
  EXPECT_GE(programs, 10);
}

}  // namespace
}  // namespace solar::ir
