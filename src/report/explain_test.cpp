// Every kind of diagnostic and every assumption has a page, no page is orphaned, and the pages'
// examples give the errors they are about.

#include "report/explain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "base/diagnostic.h"
#include "base/diagnostic_text.h"
#include "ir/verify.h"

namespace solar::report {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = SOLAR_ROOT;

std::string read(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::set<std::string> pages_in(const char* folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(kRoot / "docs" / folder)) {
    EXPECT_EQ(entry.path().extension(), ".md") << entry.path();
    names.insert(entry.path().stem().string());
  }
  return names;
}

/// Names of assumptions as the sources that make them spell them, without what follows a dot.
std::set<std::string> assumptions_in_sources() {
  const std::regex literal("\"([a-z0-9]+(-[a-z0-9]+)+)(\\.[^\"]*)?\"");
  std::set<std::string> names;
  for (const char* file :
       {"roofline/rates.cpp", "roofline/roofline.cpp", "roofline/inverse.cpp", "einsum/lift.cpp",
        "driver/fill_report.cpp", "driver/algebraic.cpp", "driver/cache_aware.cpp"}) {
    const std::string text = read(kRoot / "src" / file);
    EXPECT_FALSE(text.empty()) << file;
    for (auto at = std::sregex_iterator(text.begin(), text.end(), literal);
         at != std::sregex_iterator(); ++at) {
      names.insert((*at)[1]);
    }
  }
  names.erase("as-written");            // a precision
  names.erase("multiply-accumulates");  // a word of a message
  return names;
}

TEST(Explain, EveryKindHasAPageAndNoPageIsOrphaned) {
  std::set<std::string> kinds;
  for (const DiagnosticKind kind : all_diagnostic_kinds()) kinds.emplace(slug(kind));
  EXPECT_EQ(pages_in("diagnostics"), kinds);
}

TEST(Explain, EveryAssumptionHasAPageAndNoPageIsOrphaned) {
  EXPECT_EQ(pages_in("assumptions"), assumptions_in_sources());
}

TEST(Explain, TopicsAreThePages) {
  std::set<std::string> pages = pages_in("diagnostics");
  pages.merge(pages_in("assumptions"));
  const auto topics = explain_topics();
  EXPECT_EQ(std::set<std::string>(topics.begin(), topics.end()), pages);
  EXPECT_EQ(topics.size(), pages.size()) << "a name in both folders";
  for (const std::string& topic : topics) {
    const auto page = explain_page(topic);
    ASSERT_TRUE(page.has_value()) << topic;
    EXPECT_TRUE(page->starts_with("# " + topic + "\n\n")) << topic;
    EXPECT_TRUE(page->ends_with('\n') && !page->ends_with("\n\n")) << topic;
    std::istringstream lines(*page);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  }
}

TEST(Explain, TheListHasALineForEveryTopic) {
  for (const size_t width : {60U, 100U}) {
    std::istringstream lines(explain_list(width));
    std::vector<std::string> names;
    bool assumptions = false;
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), width);
      std::istringstream words(line);
      std::string name;
      std::string what;
      words >> name >> what;
      if (name == "error" || name.empty()) continue;
      if (name == "assumption") {
        assumptions = true;
        continue;
      }
      EXPECT_FALSE(what.empty()) << line;
      EXPECT_EQ(assumptions, pages_in("assumptions").contains(name)) << line;
      names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    EXPECT_EQ(names, explain_topics());
  }
}

TEST(Explain, DetailsAfterADotFindThePage) {
  EXPECT_EQ(explain_page("uncertain-peak.tensor.fp8"), explain_page("uncertain-peak"));
  EXPECT_TRUE(explain_page("uncertain-peak").has_value());
  EXPECT_FALSE(explain_page("no-such-topic").has_value());
  EXPECT_FALSE(explain_page("").has_value());
}

TEST(Explain, ExamplesGiveTheErrorTheyAreAbout) {
  constexpr std::string_view kOpen = "```alir\n";
  size_t examples = 0;
  for (const std::string& topic : pages_in("diagnostics")) {
    const std::string page = *explain_page(topic);
    for (size_t at = page.find(kOpen); at != std::string::npos; at = page.find(kOpen, at)) {
      at += kOpen.size();
      const std::string text = page.substr(at, page.find("```", at) - at);
      const auto program = ir::verify_text(text);
      ++examples;
      ASSERT_FALSE(program.has_value()) << topic << "\n" << text;
      for (const Diagnostic& d : program.error()) {
        EXPECT_EQ(slug(d.kind), topic) << render_text(d);
      }
    }
  }
  EXPECT_GE(examples, 20U);
}

}  // namespace
}  // namespace solar::report
