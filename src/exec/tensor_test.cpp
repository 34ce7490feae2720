#include "exec/tensor.h"

#include <gtest/gtest.h>

#include <limits>

namespace solar::exec {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

double round_trip(ElementType type, double value) {
  auto tensor = TensorData::make(type, {});
  tensor->set(0, value);
  return tensor->get(0);
}

TEST(Element, EveryF16AndBf16CodeSurvives) {
  for (int code = 0; code < 65536; ++code) {
    const auto c = static_cast<uint16_t>(code);
    const float half = decode_f16(c), brain = decode_bf16(c);
    ASSERT_TRUE(std::isnan(half) ? std::isnan(decode_small(code, kF16))
                                 : half == decode_small(code, kF16))
        << code;
    ASSERT_TRUE(std::isnan(half) || encode_f16(half) == c) << code;
    ASSERT_TRUE(std::isnan(half) || encode_small(half, kF16) == c) << code;
    ASSERT_TRUE(std::isnan(brain) || encode_bf16(brain) == c) << code;
    ASSERT_TRUE(std::isnan(brain) || encode_small(brain, kBf16) == c) << code;
  }
}

/// The midpoint of two neighbours goes to the even one, anything beside it to the nearer one.
void check_rounding(const SmallFloat& format, const std::function<int(float)>& encode) {
  for (int code = 0; code < format.largest; ++code) {
    const float low = decode_small(code, format), high = decode_small(code + 1, format);
    const float middle = low + (high - low) / 2;
    const int even = code % 2 == 0 ? code : code + 1;
    ASSERT_EQ(encode(middle), even) << code;
    ASSERT_EQ(encode(std::nextafter(middle, 0.0F)), code) << code;
    ASSERT_EQ(encode(std::nextafter(middle, kInf)), code + 1) << code;
    ASSERT_EQ(encode(-middle), even | format.sign) << code;
  }
  ASSERT_EQ(encode(kInf), format.overflow);
  ASSERT_EQ(encode(std::numeric_limits<float>::max()), format.overflow);
  ASSERT_EQ(encode(std::numeric_limits<float>::quiet_NaN()) & (format.sign - 1), format.nan);
}

TEST(Element, NarrowingRoundsToNearestEven) {
  check_rounding(kF16, [](float x) { return encode_f16(x); });
  check_rounding(kBf16, [](float x) { return encode_bf16(x); });
  for (const SmallFloat& format : {kF16, kBf16, kF8E4M3, kF8E5M2, kF4E2M1}) {
    check_rounding(format, [&](float x) { return encode_small(x, format); });
  }
}

TEST(Element, OverflowOfEachFormat) {
  EXPECT_EQ(round_trip(ElementType::F16, 65519.0), 65504.0);
  EXPECT_EQ(round_trip(ElementType::F16, 65520.0), kInf);
  EXPECT_EQ(round_trip(ElementType::F8E4M3, 464.0), 448.0);
  EXPECT_EQ(round_trip(ElementType::F8E4M3, 465.0), 448.0);
  EXPECT_EQ(round_trip(ElementType::F8E4M3, -kInf), -448.0);
  EXPECT_EQ(round_trip(ElementType::F8E5M2, 61439.0), 57344.0);
  EXPECT_EQ(round_trip(ElementType::F8E5M2, 61440.0), kInf);
  EXPECT_EQ(round_trip(ElementType::F4E2M1, -100.0), -6.0);
  EXPECT_EQ(round_trip(ElementType::F4E2M1, 2.5), 2.0);
}

TEST(Element, DoublesAreRoundedOnce) {
  // 1 + 2^-11 + 2^-40 rounds up; through f32 it would first become the tie 1 + 2^-11, and then 1.
  EXPECT_EQ(round_trip(ElementType::F16, 1 + 0x1p-11 + 0x1p-40), 1 + 0x1p-10);
}

TEST(Element, FloatsBecomeIntegersByTruncationAndSaturation) {
  EXPECT_EQ(round_trip(ElementType::I8, -3.9), -3);
  EXPECT_EQ(round_trip(ElementType::I8, 1000), 127);
  EXPECT_EQ(round_trip(ElementType::U8, -1), 0);
  EXPECT_EQ(round_trip(ElementType::I4, -100), -8);
  EXPECT_EQ(round_trip(ElementType::I32, 3e9), 2147483647);
  EXPECT_EQ(round_trip(ElementType::I32, std::nan("")), 0);
  EXPECT_EQ(to_integer(1e30F, INT64_MIN, INT64_MAX), INT64_MAX);
  EXPECT_EQ(to_integer(-1e30, INT64_MIN, INT64_MAX), INT64_MIN);
}

TEST(Element, IntegersWrap) {
  auto tensor = TensorData::make(ElementType::I8, {2});
  tensor->set_integer(0, 200);
  tensor->set_integer(1, -129);
  EXPECT_EQ(tensor->get_integer(0), -56);
  EXPECT_EQ(tensor->get_integer(1), 127);
}

TEST(TensorData, CopiesShareUntilWritten) {
  auto first = *TensorData::from_doubles(ElementType::F32, {2}, std::vector<double>{1, 2});
  TensorData second = first;
  EXPECT_EQ(first.data(), second.data());
  second.set(0, 7);
  EXPECT_EQ(first.get(0), 1);
  EXPECT_EQ(second.get(0), 7);
  EXPECT_EQ(second.get(1), 2);
}

TEST(TensorData, HugeShapesAreRefused) {
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{INT64_MAX, 2}, {int64_t{1} << 61}, {-1}}) {
    const auto tensor = TensorData::make(ElementType::F64, shape);
    ASSERT_FALSE(tensor);
    EXPECT_EQ(tensor.error()[0].kind, DiagnosticKind::MemoryLimit);
  }
}

}  // namespace
}  // namespace solar::exec
