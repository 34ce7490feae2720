#pragma once
// Texts that the tests of ir/ share: the goldens, the prelude, the blocks of the language's
// reference.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "ir/prelude.h"

namespace solar::ir {

struct Text {
  std::string name;  // relative to the repository
  std::string text;
};

/// How GoogleTest names a text in a parameterised test.
inline void PrintTo(const Text& text, std::ostream* out) { *out << text.name; }

inline std::string read_whole(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The .alir files of tests/golden/ir, sorted by name.
inline std::vector<Text> golden_texts() {
  std::vector<Text> texts;
  const std::filesystem::path folder = std::filesystem::path(SOLAR_ROOT) / "tests/golden/ir";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".alir") continue;
    texts.push_back(
        {"tests/golden/ir/" + entry.path().filename().string(), read_whole(entry.path())});
  }
  std::sort(texts.begin(), texts.end(),
            [](const Text& a, const Text& b) { return a.name < b.name; });
  return texts;
}

inline bool expects_errors(const Text& golden) {
  const std::string name = std::filesystem::path(golden.name).filename().string();
  return name.starts_with("fail_") || name.starts_with("errors_");
}

inline std::vector<Text> prelude_texts() {
  std::vector<Text> texts;
  for (const PreludeFile& file : prelude_files()) texts.push_back({file.name, file.text});
  return texts;
}

/// The ```alir blocks of a Markdown file.
inline std::vector<Text> alir_blocks(const std::string& file) {
  std::vector<Text> blocks;
  std::istringstream in(read_whole(std::filesystem::path(SOLAR_ROOT) / file));
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line != "```alir") continue;
    Text block = {file + ":" + std::to_string(number + 1), ""};
    while (std::getline(in, line) && line != "```") {
      block.text += line + "\n";
      ++number;
    }
    ++number;
    blocks.push_back(std::move(block));
  }
  return blocks;
}

/// SOLAR_SEED, or the test's own seed; printed, so that a failure can be repeated.
inline std::mt19937_64 seeded(uint64_t fallback) {
  const char* given = std::getenv("SOLAR_SEED");
  const uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : fallback;
  std::cout << "seed " << seed << " (SOLAR_SEED sets it)\n";
  return std::mt19937_64(seed);
}

inline int64_t draw(std::mt19937_64& random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
}

}  // namespace solar::ir
