// tests/golden/ir: each text with the exact diagnostics it gives, or its canonical form.
// SOLAR_UPDATE_GOLDENS=1 rewrites the .out files.

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/diagnostic_text.h"
#include "ir/corpus_test_util.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/verify.h"

namespace solar::ir {
namespace {

namespace fs = std::filesystem;

std::string with_underscores(std::string_view slug) {
  std::string out(slug);
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

/// What was found, where, and what was expected or what to do.
void expect_style(const Diagnostic& d) {
  const std::string text = render_text(d);
  EXPECT_TRUE(d.span.source != nullptr || d.kind == DiagnosticKind::OutputMissing)
      << "no place: " << text;
  EXPECT_TRUE(!d.hint.empty() || d.message.starts_with("expected ") ||
              d.message.find(" does not fit ") != std::string::npos)
      << "neither a hint nor what was expected: " << text;
  EXPECT_FALSE(d.message.ends_with(".") || d.hint.ends_with(".")) << "a full stop: " << text;
  EXPECT_EQ(d.message.find('\n'), std::string::npos) << "more than a line: " << text;
}

class Golden : public testing::TestWithParam<Text> {};

TEST_P(Golden, Output) {
  const Text& golden = GetParam();
  const std::string stem = fs::path(golden.name).stem().string();
  const auto file = parse_text(golden.name, golden.text);
  Diagnostics errors;
  if (!file) {
    errors = file.error();
  } else if (const auto program = verify(*file); !program) {
    errors = program.error();
  }
  std::string found;
  if (expects_errors(golden)) {
    ASSERT_FALSE(errors.empty()) << "verifies, but its name says that it must not";
    found = render_text(errors);
    if (stem.starts_with("fail_")) {
      for (const Diagnostic& d : errors) expect_style(d);
      EXPECT_TRUE(stem.substr(5).starts_with(with_underscores(slug(errors.front().kind)))) << found;
    }
  } else {
    ASSERT_TRUE(errors.empty()) << render_text(errors);
    found = print(*file);
  }
  const fs::path expected = (fs::path(SOLAR_ROOT) / golden.name).replace_extension(".out");
  if (std::getenv("SOLAR_UPDATE_GOLDENS") != nullptr) {
    std::ofstream(expected, std::ios::binary) << found;
    return;
  }
  ASSERT_TRUE(fs::exists(expected)) << "no " << expected;
  EXPECT_EQ(found, read_whole(expected));
}

INSTANTIATE_TEST_SUITE_P(Ir, Golden, testing::ValuesIn(golden_texts()), [](const auto& info) {
  return fs::path(info.param.name).stem().string();
});

TEST(Goldens, AreSmallAndHaveNoStrayOutput) {
  for (const Text& golden : golden_texts()) {
    EXPECT_LE(std::count(golden.text.begin(), golden.text.end(), '\n'), 40) << golden.name;
  }
  for (const auto& entry : fs::directory_iterator(fs::path(SOLAR_ROOT) / "tests/golden/ir")) {
    if (entry.path().extension() != ".out") continue;
    EXPECT_TRUE(fs::exists(fs::path(entry.path()).replace_extension(".alir"))) << entry.path();
  }
}

/// The kinds that no text of the language triggers, each with a file that tests it.
const std::map<DiagnosticKind, std::string>& kinds_of_other_stages() {
  using enum DiagnosticKind;
  static const std::map<DiagnosticKind, std::string> kinds = {
      {IndexOutOfRange, "src/exec/interpreter_test.cpp"},
      {InputTensor, "src/exec/interpreter_test.cpp"},
      {MemoryLimit, "src/exec/interpreter_test.cpp"},
      {DuplicateWrite, "src/exec/movement_test.cpp"},
      {HoleReached, "src/exec/movement_test.cpp"},
      {ResultLimit, "src/exec/movement_test.cpp"},
      {StepLimit, "src/exec/loops_test.cpp"},
      {NotSupported, "src/einsum/limits_test.cpp"},
      {TensorFile, "src/exec/tensor_file_test.cpp"},
      {Interrupted, "tests/python/test_worker.py"},
      {NoFramework, "src/frontend/worker_pool_test.cpp"},
      {SourceFile, "tests/python/test_worker.py"},
      {SourceForm, "tests/python/test_worker.py"},
      {SourceRaised, "tests/python/test_worker.py"},
      {TraceFailed, "tests/python/test_torch_tracer.py"},
      {UnsupportedOperator, "tests/python/test_torch_tracer.py"},
      {WorkerFailed, "tests/python/test_worker.py"},
      {WorkerLimit, "tests/python/test_worker.py"},
      {ValidationFailed, "tests/python/test_cases.py"},
      {ArchFile, "src/arch/library_test.cpp"},
      {ArchKey, "src/arch/library_test.cpp"},
      {ArchUnit, "src/arch/quantity_test.cpp"},
      {MissingCapacity, "src/roofline/roofline_test.cpp"},
      {MissingRate, "src/roofline/rates_test.cpp"},
      {UnknownArch, "src/arch/library_test.cpp"},
      {OutputFile, "src/exec/tensor_file_test.cpp"},
      {Usage, "src/ir/verify_test.cpp"},
  };
  return kinds;
}

/// The enumerator as the .def writes it.
std::string enumerator(DiagnosticKind kind) {
  static const std::map<DiagnosticKind, std::string> names = {
#define DIAGNOSTIC(name, slug, summary) {DiagnosticKind::name, #name},
#include "base/diagnostic_kinds.def"
#undef DIAGNOSTIC
  };
  return names.at(kind);
}

TEST(DiagnosticKinds, EveryKindHasATest) {
  std::set<std::string> failing;
  for (const Text& golden : golden_texts()) {
    const std::string stem = fs::path(golden.name).stem().string();
    if (stem.starts_with("fail_")) failing.insert(stem.substr(5));
  }
  for (DiagnosticKind kind : all_diagnostic_kinds()) {
    const auto other = kinds_of_other_stages().find(kind);
    if (other != kinds_of_other_stages().end()) {
      const std::string test = read_whole(fs::path(SOLAR_ROOT) / other->second);
      EXPECT_TRUE(test.find(slug(kind)) != std::string::npos ||
                  test.find("DiagnosticKind::" + enumerator(kind)) != std::string::npos)
          << other->second << " does not name " << slug(kind);
      continue;
    }
    const std::string prefix = with_underscores(slug(kind));
    EXPECT_TRUE(std::any_of(failing.begin(), failing.end(),
                            [&](const std::string& name) { return name.starts_with(prefix); }))
        << "no tests/golden/ir/fail_" << prefix << "*.alir";
  }
}

TEST(DiagnosticKinds, EveryKindIsEmittedAndHasItsPage) {
  std::string sources;
  for (const char* folder : {"src", "tools", "python"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(SOLAR_ROOT) / folder)) {
      const std::string name = entry.path().filename().string();
      const bool code = name.ends_with(".cpp") || name.ends_with(".py") || name.ends_with(".h");
      if (!code || name.ends_with("_test.cpp")) continue;
      sources += read_whole(entry.path());
    }
  }
  for (DiagnosticKind kind : all_diagnostic_kinds()) {
    EXPECT_TRUE(sources.find("DiagnosticKind::" + enumerator(kind)) != std::string::npos ||
                sources.find("\"" + std::string(slug(kind)) + "\"") != std::string::npos)
        << slug(kind) << " is emitted nowhere";
    EXPECT_TRUE(
        fs::exists(fs::path(SOLAR_ROOT) / "docs/diagnostics" / (std::string(slug(kind)) + ".md")))
        << slug(kind);
  }
}

}  // namespace
}  // namespace solar::ir
