// The derived roofline of every architecture file, compared with tests/golden/arch/NAME.out.
// SOLAR_UPDATE_GOLDENS=1 rewrites them.

#include "roofline/summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "arch/library.h"
#include "roofline/test_machines.h"

namespace solar::roofline {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = SOLAR_ROOT;
const fs::path kGoldens = kRoot / "tests" / "golden" / "arch";

std::string read(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

TEST(Summary, EveryArchitectureMatchesItsGolden) {
  const auto names = arch::list(kRoot / "arch");
  ASSERT_TRUE(names.has_value());
  const char* update = std::getenv("SOLAR_UPDATE_GOLDENS");
  for (const std::string& name : *names) {
    const auto machine = arch::load(name, kRoot / "arch");
    ASSERT_TRUE(machine.has_value()) << name;
    const std::string found = summary(*machine);
    const fs::path golden = kGoldens / (name + ".out");
    if (update != nullptr && std::string(update) == "1") {
      fs::create_directories(kGoldens);
      std::ofstream(golden, std::ios::binary) << found;
    }
    EXPECT_EQ(found, read(golden)) << golden << "; `make golden` rewrites it";
  }
  for (const auto& entry : fs::directory_iterator(kGoldens)) {
    const std::string name = entry.path().stem().string();
    EXPECT_TRUE(std::find(names->begin(), names->end(), name) != names->end())
        << entry.path() << " belongs to no architecture";
  }
}

TEST(Summary, SaysWhatIsNotKnown) {
  const std::string text = summary(plain_machine());
  EXPECT_NE(text.find("strict bandwidth    not known"), std::string::npos) << text;
  EXPECT_NE(text.find("register file       not known"), std::string::npos);
}

}  // namespace
}  // namespace solar::roofline
