#include "arch/quantity.h"

#include <gtest/gtest.h>

#include <string>

namespace solar::arch {
namespace {

double value(std::string_view text, Dimension dimension) {
  const Result<double> result = parse_quantity(text, dimension);
  EXPECT_TRUE(result.has_value()) << text << ": " << (result ? "" : result.error()[0].message);
  return result ? *result : -1;
}

Diagnostic failure(std::string_view text, Dimension dimension) {
  const Result<double> result = parse_quantity(text, dimension);
  EXPECT_FALSE(result.has_value()) << text;
  return result ? Diagnostic{} : result.error()[0];
}

TEST(Quantity, ReadsEveryDimension) {
  EXPECT_DOUBLE_EQ(value("3.35 TB/s", Dimension::Bandwidth), 3.35e12);
  EXPECT_DOUBLE_EQ(value("273GB/s", Dimension::Bandwidth), 273e9);
  EXPECT_DOUBLE_EQ(value("1 GiB/s", Dimension::Bandwidth), 1073741824.0);
  EXPECT_DOUBLE_EQ(value(" 1.83 GHz ", Dimension::Frequency), 1.83e9);
  EXPECT_DOUBLE_EQ(value("500Hz", Dimension::Frequency), 500);
  EXPECT_DOUBLE_EQ(value("989.4 Tflop/s", Dimension::FlopRate), 989.4e12);
  EXPECT_DOUBLE_EQ(value("2 Pop/s", Dimension::OpRate), 2e15);
  EXPECT_DOUBLE_EQ(value("8192 MAC/cycle", Dimension::MacsPerCycle), 8192);
  EXPECT_DOUBLE_EQ(value("1.2 kW", Dimension::Power), 1200);
  EXPECT_DOUBLE_EQ(value("2ms", Dimension::Duration), 2e-3);
  EXPECT_DOUBLE_EQ(value("1e3 us", Dimension::Duration), 1e-3);
}

TEST(Quantity, BytesAreExact) {
  EXPECT_EQ(*parse_bytes("28.5 MiB"), 29884416);
  EXPECT_EQ(*parse_bytes("80 GB"), 80000000000);
  EXPECT_EQ(*parse_bytes("1.1 GB"), 1100000000);
  EXPECT_EQ(*parse_bytes("7 B"), 7);
  EXPECT_FALSE(parse_bytes("1.5 B").has_value());
  EXPECT_FALSE(parse_bytes("0.2 B").has_value());
  EXPECT_FALSE(parse_bytes("9000000 PB").has_value());
}

TEST(Quantity, SaysWhatIsWrong) {
  EXPECT_EQ(failure("3350", Dimension::Bandwidth).message, "`3350` has no unit");
  EXPECT_EQ(failure("80 GB", Dimension::Bandwidth).message,
            "`80 GB` is an amount of memory, but a bandwidth is wanted");
  EXPECT_EQ(failure("989 TFLOPS", Dimension::FlopRate).message, "`TFLOPS` is not a unit");
  EXPECT_NE(failure("989 TFLOPS", Dimension::FlopRate).hint.find("Tflop/s"), std::string::npos);
  EXPECT_EQ(failure("0 W", Dimension::Power).message, "`0 W` is not between 0.001 W and 1e+12 W");
  EXPECT_EQ(failure("1978.9 Top/s", Dimension::FlopRate).message,
            "`1978.9 Top/s` is an integer rate, but a floating-point rate is wanted");
}

TEST(Quantity, RefusesWhatNoMachineHas) {
  EXPECT_EQ(failure("1e-308 B/s", Dimension::Bandwidth).message,
            "`1e-308 B/s` is not between 1 B/s and 1e+24 B/s");
  for (const char* text : {"0.9 B/s", "0.0009 kB/s", "1.1e12 TB/s", "1e308 PB/s", "0 B/s"}) {
    EXPECT_EQ(failure(text, Dimension::Bandwidth).kind, DiagnosticKind::ArchUnit) << text;
  }
  failure("1e-300 Gflop/s", Dimension::FlopRate);
  failure("1e20 Eop/s", Dimension::OpRate);
  failure("1e-9 Hz", Dimension::Frequency);
  failure("1e-300 MAC/cycle", Dimension::MacsPerCycle);
  EXPECT_DOUBLE_EQ(value("1 B/s", Dimension::Bandwidth), 1);
  EXPECT_DOUBLE_EQ(value("1000000 Eflop/s", Dimension::FlopRate), 1e24);
  EXPECT_DOUBLE_EQ(value("0.25 MAC/cycle", Dimension::MacsPerCycle), 0.25);
  EXPECT_DOUBLE_EQ(value("250ps", Dimension::Duration), 250e-12);
}

TEST(Quantity, RefusesWhatIsNoNumber) {
  for (const char* text : {"", " ", "-3 GB", "+3 GB", "nan GB", "inf GB", "GB", ".5 GB", "1e999 GB",
                           "0x10 GB", "1,5 GB", "3 GB extra", "1e-400 GB"}) {
    const Diagnostic diagnostic = failure(text, Dimension::Memory);
    EXPECT_EQ(diagnostic.kind, DiagnosticKind::ArchUnit) << text;
    EXPECT_FALSE(diagnostic.hint.empty());
  }
  const Result<double> usage =
      parse_quantity("soon", Dimension::Duration, {}, DiagnosticKind::Usage);
  ASSERT_FALSE(usage.has_value());
  EXPECT_EQ(usage.error()[0].kind, DiagnosticKind::Usage);
}

}  // namespace
}  // namespace solar::arch
