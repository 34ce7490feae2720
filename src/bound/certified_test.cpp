// Lower bounds against the traffic that tilings reach, and against published and derived values.

#include "bound/certified.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "bound/pair_bound.h"
#include "bound/single_cases.h"

namespace solar::bound {
namespace {

using Values = std::vector<std::pair<int64_t, int64_t>>;  // capacity, elements

// At least these, found by the segments theorem with real-valued segments.
const std::map<std::string, Values>& known_values() {
  static const std::map<std::string, Values> values = {
      {"mm16x16x16", {{3, 4728}, {7, 3094}, {21, 1764}, {73, 918}}},
      {"mm12x10x6", {{13, 390}, {67, 252}}},
      {"mm7x5x11(prime)", {{6, 312}, {14, 196}, {30, 167}}},
      {"mm6x5x4", {{9, 75}}},
      {"mm_skinny64x8x4", {{11, 1232}, {19, 912}, {37, 800}}},
      {"matvec24x20", {{3, 621}, {10, 524}, {20, 524}}},
      {"bmm4x8x8x8", {{7, 1540}, {21, 882}, {73, 768}}},
      {"gqa_qk_h2g4_8x8x8", {{37, 1332}}},
      {"conv1d_p6r3c2k2", {{4, 40}, {7, 40}, {31, 40}}},
      {"conv1d_s2_p6r3c2k2", {{7, 50}, {15, 50}}},
      {"conv1d_dil2_p6r3c2k2", {{7, 44}}},
      {"mm1024x1024x1024", {{16384, 16744448}, {262144, 4037011}, {4194304, 3145728}}},
      {"mm4096x4096x4096", {{16384, 1073709056}, {262144, 267911168}}},
      {"mm16384x1024x1024", {{16384, 268402688}, {4194304, 34603008}}},
      {"mm16384x16384x16384", {{262144, 17179344896}, {4194304, 4286578688}}},
      {"bmm32x4096x128x4096", {{4096, 2147475456}, {65536, 638979250}}},
      {"gqa_h8g4_4096x128x4096", {{1048576, 557842432}}},
      {"conv2d_P16_R3_C64_K64_s1_d1", {{1024, 194560}, {8192, 73984}, {65536, 73984}}},
      {"conv2d_P16_R1_C64_K64_s1_d1", {{1024, 63488}, {8192, 36864}, {65536, 36864}}},
      {"conv2d_P16_R5_C64_K64_s1_d1", {{1024, 325632}, {8192, 144384}, {65536, 144384}}},
      {"conv2d_P16_R3_C64_K64_s2_d1", {{1024, 292864}, {8192, 122944}}},
      {"conv2d_P16_R3_C64_K64_s1_d2", {{1024, 194560}, {8192, 78848}, {65536, 78848}}},
      {"conv2d_P56_R3_C64_K64_s1_d1", {{65536, 452864}}}};
  return values;
}

TEST(Certified, AtLeastTheKnownValuesAndNeverAboveATiling) {
  size_t compared = 0;
  for (const SingleCase& one : single_cases()) {
    for (const auto& [capacity, traffic] : one.reached)
      EXPECT_LE(certified_traffic(one.einsum, capacity).bytes, traffic) << one.name << capacity;
    const auto known = known_values().find(one.name);
    if (known == known_values().end()) continue;
    for (const auto& [capacity, least] : known->second) {
      EXPECT_GE(certified_traffic(one.einsum, capacity).bytes, least)
          << one.name << "@" << capacity;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 53u);
}

// Within 1 % of what the theorems give in real numbers; a bound in whole transfers is a bit less.
TEST(Certified, StrongerByWeights) {
  const auto reaches = [](const Einsum& einsum, int64_t capacity, double value) {
    const auto found = static_cast<double>(certified_traffic(einsum, capacity).bytes);
    EXPECT_GE(found, 0.99 * value) << capacity;
  };
  reaches(matmul(16, 16, 16), 73, 1032);
  reaches(matmul(16, 16, 16), 137, 834);
  reaches(matmul(16, 16, 16), 273, 768);
  reaches(matmul(1024, 1024, 1024), int64_t{1} << 18, 4.456e6);
  reaches(matmul(4096, 4096, 4096), int64_t{1} << 22, 7.13e7);
  reaches(matmul(16384, 16384, 16384), int64_t{1} << 14, 6.872e10);
  reaches(batched(32, 4096, 128, 4096), 1 << 12, 2.147e9);
  reaches(batched(32, 4096, 128, 4096), 1 << 16, 6.39e8);
  reaches(batched(32, 4096, 128, 4096), 1 << 20, 5.70e8);
  reaches(conv2d(56, 56, 3, 3, 64, 64, 1, 1), 1 << 10, 2.41e6);
  reaches(conv2d(56, 56, 3, 3, 64, 64, 1, 1), 1 << 13, 8.60e5);
  reaches(conv2d(56, 56, 3, 3, 64, 64, 1, 1), 1 << 16, 4.53e5);
  reaches(conv2d(16, 16, 3, 3, 64, 64, 2, 1), 1 << 10, 2.93e5);
  reaches(conv2d(16, 16, 3, 3, 64, 64, 2, 1), 1 << 13, 1.23e5);
}

TEST(Certified, PairsOfAttention) {
  const auto reaches = [](int64_t n, int64_t d, int64_t capacity, double value) {
    const PairProblem attention = {n * n, 2 * d, 2 * d, {}};
    const auto found = static_cast<double>(pair_traffic(attention, capacity).bytes);
    EXPECT_GE(found, 0.99 * value) << n << " " << capacity;
    EXPECT_LE(found, 1.01 * value) << n << " " << capacity;
  };
  reaches(4096, 128, 1 << 17, 8.52e6);
  reaches(4096, 128, 1 << 19, 2.62e6);
  reaches(32768, 64, 1 << 15, 5.37e8);
  reaches(32768, 64, 1 << 17, 1.34e8);
}

TEST(Certified, FallsWithCapacityAndWarmthOnly) {
  for (const SingleCase& one : single_cases()) {
    int64_t before = INT64_MAX;
    for (int64_t capacity = 2; capacity < int64_t{1} << 24; capacity = capacity * 3 / 2) {
      const int64_t cold = certified_traffic(one.einsum, capacity).bytes;
      EXPECT_LE(cold, before) << one.name << " " << capacity;
      EXPECT_LE(certified_traffic(one.einsum, capacity, CacheState::Warm).bytes, cold);
      EXPECT_GE(cold, compulsory_traffic(one.einsum));
      before = cold;
    }
  }
}

TEST(Certified, CountsWindowsThatShareAnElement) {
  const Einsum conv = conv2d(8, 8, 3, 5, 4, 4, 2, 1);
  EXPECT_EQ(multiplicity(conv, conv.tensors[0]), 2 * 3);  // ceil(3/2) * ceil(5/2)
  EXPECT_EQ(multiplicity(conv, conv.tensors[1]), 1);
  const Einsum digits = product_of({{.name = "a", .extent = 4}, {.name = "b", .extent = 3}},
                                   {{window(0, 3, 1, 1)}, {axis(1)}, {axis(0)}});
  EXPECT_EQ(multiplicity(digits, digits.tensors[0]), 1);
}

// By its definition: the fullest fibre of a subscript.
TEST(Certified, MultiplicityIsTheFullestFibre) {
  for (int64_t stride = 1; stride <= 4; ++stride) {
    for (int64_t dilation = 1; dilation <= 4; ++dilation) {
      for (int64_t outputs = 1; outputs <= 7; ++outputs) {
        for (int64_t taps = 1; taps <= 5; ++taps) {
          std::map<int64_t, int64_t> fibre;
          int64_t fullest = 0;
          for (int64_t p = 0; p < outputs; ++p) {
            for (int64_t r = 0; r < taps; ++r)
              fullest = std::max(fullest, ++fibre[stride * p + dilation * r]);
          }
          const Einsum one = conv1d(outputs, taps, 2, 2, stride, dilation);
          EXPECT_EQ(multiplicity(one, one.tensors[0]), fullest)
              << stride << dilation << outputs << taps;
        }
      }
    }
  }
}

TEST(Certified, AnArrayTwiceIsCompulsoryOnly) {
  Einsum gram = matmul(64, 64, 64);
  gram.tensors[1].array = gram.tensors[0].array;
  EXPECT_EQ(certified_traffic(gram, 16).bytes, 2 * 64 * 64);
}

}  // namespace
}  // namespace solar::bound
