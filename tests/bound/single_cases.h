#pragma once
// Single einsums with the traffic that a tiling was found to reach at a capacity, in elements of
// one byte: by exhaustive search with replay, by another program on divisor tiles, or by closed
// forms.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "bound/access.h"
#include "bound/einsum.h"

namespace solar::bound {

inline Affine axis(int32_t dim) { return {.terms = {{.dim = dim}}}; }
inline Affine window(int32_t dim, int64_t stride, int32_t tap, int64_t dilation) {
  return {.terms = {{.dim = dim, .coefficient = stride}, {.dim = tap, .coefficient = dilation}}};
}

inline Einsum product_of(std::vector<Dim> dims, std::vector<std::vector<Affine>> accesses) {
  Einsum einsum{.dims = std::move(dims), .points = 1};
  for (const Dim& dim : einsum.dims) einsum.points = saturating_mul(einsum.points, dim.extent);
  for (size_t t = 0; t < accesses.size(); ++t) {
    Tensor tensor{.name = "T" + std::to_string(t),
                  .array = static_cast<int32_t>(t),
                  .axes = std::move(accesses[t])};
    tensor.is_output = t + 1 == accesses.size();
    tensor.footprint = box_image(einsum, tensor);
    einsum.tensors.push_back(std::move(tensor));
  }
  return einsum;
}

inline Einsum matmul(int64_t m, int64_t k, int64_t n) {
  return product_of(
      {{.name = "m", .extent = m}, {.name = "k", .extent = k}, {.name = "n", .extent = n}},
      {{axis(0), axis(1)}, {axis(1), axis(2)}, {axis(0), axis(2)}});
}
inline Einsum batched(int64_t b, int64_t m, int64_t k, int64_t n) {
  return product_of(
      {{.name = "b", .extent = b},
       {.name = "m", .extent = m},
       {.name = "k", .extent = k},
       {.name = "n", .extent = n}},
      {{axis(0), axis(1), axis(2)}, {axis(0), axis(2), axis(3)}, {axis(0), axis(1), axis(3)}});
}
inline Einsum grouped(int64_t h, int64_t g, int64_t m, int64_t k, int64_t n) {
  return product_of({{.name = "h", .extent = h},
                     {.name = "g", .extent = g},
                     {.name = "m", .extent = m},
                     {.name = "k", .extent = k},
                     {.name = "n", .extent = n}},
                    {{axis(0), axis(1), axis(2), axis(3)},
                     {axis(0), axis(3), axis(4)},
                     {axis(0), axis(1), axis(2), axis(4)}});
}
inline Einsum conv1d(int64_t p, int64_t r, int64_t c, int64_t k, int64_t stride, int64_t dilation) {
  return product_of(
      {{.name = "p", .extent = p},
       {.name = "r", .extent = r},
       {.name = "c", .extent = c},
       {.name = "k", .extent = k}},
      {{window(0, stride, 1, dilation), axis(2)}, {axis(1), axis(2), axis(3)}, {axis(0), axis(3)}});
}
inline Einsum conv2d(int64_t p, int64_t q, int64_t r, int64_t s, int64_t c, int64_t k,
                     int64_t stride, int64_t dilation) {
  return product_of({{.name = "p", .extent = p},
                     {.name = "q", .extent = q},
                     {.name = "r", .extent = r},
                     {.name = "s", .extent = s},
                     {.name = "c", .extent = c},
                     {.name = "k", .extent = k}},
                    {{window(0, stride, 2, dilation), window(1, stride, 3, dilation), axis(4)},
                     {axis(2), axis(3), axis(4), axis(5)},
                     {axis(0), axis(1), axis(5)}});
}

struct SingleCase {
  std::string name;
  Einsum einsum;
  std::vector<std::pair<int64_t, int64_t>> reached;  // capacity, traffic
};

inline std::vector<SingleCase> single_cases() {
  return {
      {"mm16x16x16", matmul(16, 16, 16), {{3, 8448}, {7, 4352}, {21, 2304}, {73, 1280}}},
      {"mm12x10x6", matmul(12, 10, 6), {{13, 552}, {67, 252}}},
      {"mm7x5x11(prime)", matmul(7, 5, 11), {{6, 567}, {14, 332}, {30, 222}}},
      {"mm6x5x4", matmul(6, 5, 4), {{9, 124}}},
      {"mm_skinny64x8x4", matmul(64, 8, 4), {{11, 1792}, {19, 1312}, {37, 800}}},
      {"matvec24x20", matmul(24, 20, 1), {{3, 984}, {10, 564}, {20, 544}}},
      {"bmm4x8x8x8", batched(4, 8, 8, 8), {{7, 2304}, {21, 1280}, {73, 768}}},
      {"gqa_qk_h2g4_8x8x8", grouped(2, 4, 8, 8, 8), {{37, 1664}}},
      {"conv1d_p6r3c2k2", conv1d(6, 3, 2, 2, 1, 1), {{4, 96}, {7, 72}, {31, 40}}},
      {"conv1d_s2_p6r3c2k2", conv1d(6, 3, 2, 2, 2, 1), {{7, 84}, {15, 60}}},
      {"conv1d_dil2_p6r3c2k2", conv1d(6, 3, 2, 2, 1, 2), {{7, 84}}},
      {"mm1024x1024x1024",
       matmul(1024, 1024, 1024),
       {{16384, 18874368}, {262144, 6291456}, {4194304, 3145728}}},
      {"mm4096x4096x4096", matmul(4096, 4096, 4096), {{16384, 1107296256}, {262144, 301989888}}},
      {"mm16384x1024x1024", matmul(16384, 1024, 1024), {{16384, 287309824}, {4194304, 34603008}}},
      {"mm16384x16384x16384",
       matmul(16384, 16384, 16384),
       {{262144, 17716740096}, {4194304, 4831838208}}},
      {"bmm32x4096x128x4096",
       batched(32, 4096, 128, 4096),
       {{4096, 2717908992}, {65536, 704643072}}},
      {"gqa_h8g4_4096x128x4096", grouped(8, 4, 4096, 128, 4096), {{1048576, 557842432}}},
      {"conv2d_P16_R3_C64_K64_s1_d1",
       conv2d(16, 16, 3, 3, 64, 64, 1, 1),
       {{1024, 291840}, {8192, 115456}, {65536, 73984}}},
      {"conv2d_P16_R1_C64_K64_s1_d1",
       conv2d(16, 16, 1, 1, 64, 64, 1, 1),
       {{1024, 98304}, {8192, 36864}, {65536, 36864}}},
      {"conv2d_P16_R5_C64_K64_s1_d1",
       conv2d(16, 16, 5, 5, 64, 64, 1, 1),
       {{1024, 559104}, {8192, 195584}, {65536, 144384}}},
      {"conv2d_P16_R3_C64_K64_s2_d1",
       conv2d(16, 16, 3, 3, 64, 64, 2, 1),
       {{1024, 542208}, {8192, 200896}}},
      {"conv2d_P16_R3_C64_K64_s1_d2",
       conv2d(16, 16, 3, 3, 64, 64, 1, 2),
       {{1024, 348160}, {8192, 130048}, {65536, 78848}}},
      {"conv2d_P56_R3_C64_K64_s1_d1", conv2d(56, 56, 3, 3, 64, 64, 1, 1), {{65536, 452864}}},
      {"convs2",
       conv1d(8, 3, 4, 4, 2, 1),
       {{3, 800}, {8, 384}, {12, 304}, {16, 272}, {21, 224}, {24, 200}, {37, 176}}},
      {"conv1_12_3_4_4",
       conv1d(12, 3, 4, 4, 1, 1),
       {{3, 1200},
        {4, 912},
        {5, 720},
        {7, 528},
        {9, 480},
        {10, 400},
        {16, 320},
        {29, 248},
        {31, 208},
        {58, 192},
        {61, 152}}},
  };
}

}  // namespace solar::bound
