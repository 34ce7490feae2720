#include "exec/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/checked.h"

namespace solar::exec {

namespace {
constexpr int64_t kAlignment = 64;
}

std::shared_ptr<std::byte> allocate_bytes(int64_t bytes) {
  if (bytes < 0 || bytes > INT64_MAX - kAlignment) return nullptr;
  const auto rounded =
      static_cast<size_t>((std::max<int64_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment);
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded));
  if (memory == nullptr) return nullptr;
  return {memory, [](std::byte* p) { std::free(p); }};
}

namespace {
Diagnostics no_memory_for(ElementType type, std::span<const int64_t> shape,
                          std::optional<int64_t> bytes) {
  Diagnostic problem;
  problem.kind = DiagnosticKind::MemoryLimit;
  problem.message = fmt::format(
      "the system has no memory left for a tensor {}, which takes {}", describe(type, shape),
      bytes ? fmt::format("{:.3g} GiB", static_cast<double>(*bytes) / 0x1p30) : "more than 8 EiB");
  problem.hint =
      "use smaller dims, or a machine with more memory (`--memory-limit` raises none of this)";
  return {problem};
}
}  // namespace

TensorData::TensorData() : data_(allocate_bytes(4)) {
  SOLAR_CHECK(data_ != nullptr, "out of memory for a scalar");
  std::memset(data_.get(), 0, 4);
}

Result<TensorData> TensorData::make(ElementType type, std::vector<int64_t> shape) {
  const auto count = checked_product(shape);
  const auto bytes = count && *count >= 0 ? checked_mul(*count, memory_bytes(type)) : std::nullopt;
  TensorData result;
  if (bytes) result.data_ = allocate_bytes(*bytes);
  if (!bytes || !result.data_) return no_memory_for(type, shape, bytes);
  result.type_ = type;
  result.count_ = *count;
  result.shape_ = std::move(shape);
  return result;
}

Result<TensorData> TensorData::from_doubles(ElementType type, std::vector<int64_t> shape,
                                            std::span<const double> values) {
  SOLAR_TRY(TensorData result, make(type, std::move(shape)));
  SOLAR_CHECK(result.count() == static_cast<int64_t>(values.size()), "wrong number of values");
  for (int64_t i = 0; i < result.count(); ++i) result.set(i, values[static_cast<size_t>(i)]);
  return result;
}

Result<TensorData> TensorData::of(const ir::Tensor& constant) {
  if (ir::is_float(constant.type))
    return from_doubles(constant.type, constant.shape, constant.constant->numbers);
  SOLAR_TRY(TensorData result, make(constant.type, constant.shape));
  const std::vector<int64_t>& values = constant.constant->integers;
  SOLAR_CHECK(result.count() == static_cast<int64_t>(values.size()), "wrong number of values");
  for (int64_t i = 0; i < result.count(); ++i)
    result.set_integer(i, values[static_cast<size_t>(i)]);
  return result;
}

TensorData TensorData::adopt(ElementType type, std::vector<int64_t> shape,
                             std::shared_ptr<std::byte> bytes) {
  TensorData result;
  result.type_ = type;
  result.count_ = checked_product(shape).value_or(0);
  result.shape_ = std::move(shape);
  result.data_ = std::move(bytes);
  return result;
}

std::byte* TensorData::mutable_data() {
  if (data_.use_count() > 1) {
    auto copy = allocate_bytes(bytes());
    SOLAR_CHECK(copy != nullptr, "out of memory for a copy of a tensor");
    std::memcpy(copy.get(), data_.get(), static_cast<size_t>(bytes()));
    data_ = std::move(copy);
  }
  return data_.get();
}

double TensorData::get(int64_t i) const {
  return with_codec(type_, [&](auto codec) {
    using C = decltype(codec);
    return static_cast<double>(C::load(reinterpret_cast<const typename C::Storage*>(data())[i]));
  });
}

int64_t TensorData::get_integer(int64_t i) const {
  return with_codec(type_, [&](auto codec) {
    using C = decltype(codec);
    return cast_value<ElementType::I64>(
        C::load(reinterpret_cast<const typename C::Storage*>(data())[i]));
  });
}

namespace {
template <class From>
void store_cast(ElementType type, std::byte* data, int64_t i, From value) {
  const auto store = [&]<ElementType t>() {
    using C = Codec<t>;
    reinterpret_cast<typename C::Storage*>(data)[i] = C::store(cast_value<t>(value));
  };
  switch (type) {
    case ElementType::F64:
      return store.template operator()<ElementType::F64>();
    case ElementType::F32:
      return store.template operator()<ElementType::F32>();
    case ElementType::F16:
      return store.template operator()<ElementType::F16>();
    case ElementType::BF16:
      return store.template operator()<ElementType::BF16>();
    case ElementType::F8E4M3:
      return store.template operator()<ElementType::F8E4M3>();
    case ElementType::F8E5M2:
      return store.template operator()<ElementType::F8E5M2>();
    case ElementType::F4E2M1:
      return store.template operator()<ElementType::F4E2M1>();
    case ElementType::I64:
      return store.template operator()<ElementType::I64>();
    case ElementType::I32:
      return store.template operator()<ElementType::I32>();
    case ElementType::I16:
      return store.template operator()<ElementType::I16>();
    case ElementType::I8:
      return store.template operator()<ElementType::I8>();
    case ElementType::I4:
      return store.template operator()<ElementType::I4>();
    case ElementType::U8:
      return store.template operator()<ElementType::U8>();
    case ElementType::Bool:
      return store.template operator()<ElementType::Bool>();
  }
}
}  // namespace

void TensorData::set(int64_t i, double value) { store_cast(type_, mutable_data(), i, value); }
void TensorData::set_integer(int64_t i, int64_t value) {
  store_cast(type_, mutable_data(), i, value);
}

bool TensorData::same_bytes(const TensorData& other) const {
  return type_ == other.type_ && shape_ == other.shape_ &&
         std::memcmp(data(), other.data(), static_cast<size_t>(bytes())) == 0;
}

std::string describe(ElementType type, std::span<const int64_t> shape) {
  std::string result(ir::name(type));
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    result += (axis == 0 ? "[" : ", ") + std::to_string(shape[axis]);
  }
  return result + (shape.empty() ? "[]" : "]");
}

}  // namespace solar::exec
