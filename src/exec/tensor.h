#pragma once
// A tensor's data: element type, shape, row-major bytes. A value: copies share the bytes until one
// is written to.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "exec/element.h"
#include "ir/core.h"

namespace solar::exec {

class TensorData {
 public:
  /// A scalar f32 of value 0.
  TensorData();

  /// Uninitialised elements. Fails (memory-limit) when the bytes cannot be counted or had.
  static Result<TensorData> make(ElementType type, std::vector<int64_t> shape);
  /// Row-major values, each converted as by set(). The number of values is that of the shape.
  static Result<TensorData> from_doubles(ElementType type, std::vector<int64_t> shape,
                                         std::span<const double> values);
  /// The values of a constant.
  static Result<TensorData> of(const ir::Tensor& constant);

  /// Takes bytes that hold the elements of the shape, row-major.
  static TensorData adopt(ElementType type, std::vector<int64_t> shape,
                          std::shared_ptr<std::byte> bytes);

  ElementType type() const { return type_; }
  const std::vector<int64_t>& shape() const { return shape_; }
  int64_t count() const { return count_; }
  int64_t bytes() const { return count_ * memory_bytes(type_); }

  const std::byte* data() const { return data_.get(); }
  /// Copies the bytes first when another value shares them.
  std::byte* mutable_data();
  /// The bytes, to be read only, kept alive.
  const std::shared_ptr<std::byte>& share() const { return data_; }

  /// Element `i` in row-major order. An i64 beyond 2^53 is rounded.
  double get(int64_t i) const;
  int64_t get_integer(int64_t i) const;  // floats as by a cast to i64
  /// Stores a value as an explicit cast from f64 does. Copies shared bytes first.
  void set(int64_t i, double value);
  void set_integer(int64_t i, int64_t value);

  bool same_bytes(const TensorData& other) const;

 private:
  ElementType type_ = ElementType::F32;
  std::vector<int64_t> shape_ = {};
  int64_t count_ = 1;
  std::shared_ptr<std::byte> data_;
};

/// "f32[2, 3]", "i64[]".
std::string describe(ElementType type, std::span<const int64_t> shape);

/// Uninitialised memory aligned to 64 bytes, or null.
std::shared_ptr<std::byte> allocate_bytes(int64_t bytes);

}  // namespace solar::exec
