#pragma once
// Random small programs that read integers in subscripts and ranges, with values for them.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "ir/core.h"

namespace solar::einsum {

/// Gathers, sparse rows, scatters and run-time slices of `a`; then a kernel that needs part of it.
/// Ports: 0 ids, 1 ptr, 2 pos, 3 a, 4 b.
class RandomDataProgram {
 public:
  explicit RandomDataProgram(uint32_t seed) : random_(seed) {
    text_ = fmt::format(
        "program random(input ids: i64[{}], input ptr: i64[{}], input pos: i64[], input a: "
        "f32[{}, {}], input b: f32[{}]) -> (z) {{\n",
        points_, rows_ + 1, extent_, width_, points_);
    const int height = add_access();
    const int begin = pick(0, height - 1);
    const int count = chance(60) ? height : pick(1, height - begin);
    const int from = count == height ? 0 : begin;
    text_ += fmt::format("  slice part = y[{}:{}, :]\n", from, from + count);
    text_ +=
        fmt::format("  kernel z: f32[{}, {}] {{ for i:{}, d:{}  z[i,d] = part[i,d] + 1 }}\n}}\n",
                    count, width_, count, width_);
  }

  const std::string& text() const { return text_; }

  std::map<ir::TensorId, std::vector<int64_t>> draw() {
    std::vector<int64_t> ids;
    std::vector<int64_t> ptr = {0};
    for (int i = 0; i < points_; ++i) ids.push_back(pick(0, index_extent_ - 1));
    for (int i = 0; i < rows_; ++i) ptr.push_back(pick(0, points_));
    std::sort(ptr.begin(), ptr.end());
    return {{ir::TensorId{0}, ids},
            {ir::TensorId{1}, ptr},
            {ir::TensorId{2}, {pick(0, extent_ - window_)}}};
  }

 private:
  int pick(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<uint32_t>(high - low + 1));
  }
  bool chance(int percent) { return pick(1, 100) <= percent; }

  std::string guard(const std::string& loop) {
    return chance(30) ? fmt::format("where d <= {} + 1", loop) : "";
  }

  // Defines y[height, width]; returns its height.
  int add_access() {
    switch (pick(0, 5)) {
      case 0: {
        const int shift = pick(1, 3);
        index_extent_ = extent_ - shift + 1;
        text_ += fmt::format(
            "  indexed y: f32[{0}, {1}] {{ for n:{0}, d:{1}, j:{2}  {3}  y[n,d] += a[ids[n] + j, "
            "d] * b[n] }}\n",
            points_, width_, shift, guard("j"));
        return points_;
      }
      case 1:
        text_ += fmt::format(
            "  indexed y: f32[{0}, {1}] {{ for n:{0}, d:{1}  {2}  y[n,d] = a[ids[n], {3}]  else 0 "
            "}}\n",
            points_, width_, guard("n"), chance(50) ? "d" : "(n + d) % " + std::to_string(width_));
        return points_;
      case 2:
        text_ += fmt::format(
            "  indexed y: f32[{0}, {1}] {{ for i:{0}, p:{2} in ptr[i] .. ptr[i + 1], d:{1}  {3}  "
            "y[i,d] += b[p] * a[ids[p], d] }}\n",
            rows_, width_, points_, guard("i"));
        return rows_;
      case 3:
        text_ += fmt::format(
            "  scatter y: f32[{0}, {1}] {{ for p:{2}, d:{1}  {3}  y[ids[p], d] += b[p]  base a "
            "}}\n",
            extent_, width_, points_, guard("p"));
        return extent_;
      case 4:
        index_extent_ = rows_;
        text_ += fmt::format(
            "  scatter y: f32[{0}, {1}] {{ for p:{2}, d:{1}  {3}  y[ids[p], d] += b[p] * a[p, d] "
            "}}\n",
            rows_, width_, std::min(points_, extent_), guard("p"));
        return rows_;
      default:
        window_ = pick(1, extent_);
        text_ += fmt::format(
            "  slice s = a[at pos size {0}, :]\n  kernel y: f32[{0}, {1}] {{ for n:{0}, d:{1} {2}  "
            "y[n,d] = s[n,d] * 2  else 0 }}\n",
            window_, width_, guard("n"));
        return window_;
    }
  }

  std::mt19937 random_;
  int points_ = pick(1, 6);
  int rows_ = pick(1, 4);
  int extent_ = pick(4, 7);
  int width_ = pick(2, 4);
  int window_ = 1;
  int index_extent_ = extent_;
  std::string text_;
};

}  // namespace solar::einsum
