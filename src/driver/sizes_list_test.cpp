#include "driver/sizes_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "base/diagnostic_text.h"

namespace solar::driver {
namespace {

std::string parsed(const std::vector<std::string>& texts) {
  const auto dims = parse_sizes(texts);
  if (!dims) return render_text(dims.error());
  std::string text;
  for (const auto& [name, values] : *dims)
    text += fmt::format("{}={} ", name, fmt::join(values, ","));
  return text;
}

TEST(SizesList, ValuesRangesAndSteps) {
  EXPECT_EQ(parsed({"N=1", "2", "4..256"}), "N=1,2,4,8,16,32,64,128,256 ");
  EXPECT_EQ(parsed({"N=3..25"}), "N=3,6,12,24 ");
  EXPECT_EQ(parsed({"N=8..20:4", "B=2", "2", "1"}), "N=8,12,16,20 B=2,1 ");
  EXPECT_EQ(parsed({"N=4611686018427387904..9223372036854775807"}), "N=4611686018427387904 ");
}

TEST(SizesList, WhatIsWrongIsNamed) {
  for (const char* text :
       {"7", "=3", "N=", "N=x", "N=1..", "N=..4", "N=8..4", "N=0..4", "N=1..9:0", "N=1..9:-1",
        "N=1..9:x", "N=1.5", "N=99999999999999999999", "N=1..1000000:1"}) {
    const std::string found = parsed({text});
    EXPECT_NE(found.find("error[usage]"), std::string::npos) << text << "\n" << found;
    EXPECT_NE(found.find(text), std::string::npos) << found;
  }
  EXPECT_NE(parsed({"N=1", "N=2"}).find("`N` is given twice"), std::string::npos);
}

}  // namespace
}  // namespace solar::driver
