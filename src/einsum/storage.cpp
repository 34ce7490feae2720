#include "einsum/storage.h"

#include <string_view>

#include "base/checked.h"

namespace solar::einsum {

namespace {

constexpr int64_t kScaleBits = 8;

struct BlockFormat {
  std::string_view name;
  int64_t bits;   // of an element
  int64_t block;  // elements that share a scale
};

constexpr BlockFormat kFormats[] = {
    {"nvfp4", 4, 16}, {"mxfp4", 4, 32}, {"mxfp6", 6, 32}, {"mxfp8", 8, 32}};

const BlockFormat* format_named(std::string_view name) {
  for (const BlockFormat& format : kFormats) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

std::optional<Bytes> to_bytes(std::optional<int64_t> bits) {
  if (!bits) return std::nullopt;
  return Bytes{*bits / 8 + (*bits % 8 != 0 ? 1 : 0)};
}

}  // namespace

std::optional<Bytes> bytes_of(const ir::Tensor& tensor, int64_t elements) {
  const BlockFormat* format = format_named(tensor.storage);
  if (format == nullptr) return to_bytes(checked_mul(elements, ir::storage_bits(tensor.type)));
  const auto values = checked_mul(elements, format->bits);
  int64_t blocks = elements / format->block;
  int64_t rest = elements % format->block;
  if (!tensor.shape.empty() && elements == ir::element_count(tensor.shape)) {
    const int64_t row = tensor.shape.back();
    const int64_t in_row = row / format->block + (row % format->block != 0 ? 1 : 0);
    blocks = elements / row * in_row;
    rest = 0;
  }
  const auto scales = checked_mul(blocks, kScaleBits);
  const int64_t part = (rest * kScaleBits + format->block - 1) / format->block;
  auto bits = values && scales ? checked_add(*values, *scales) : std::nullopt;
  if (bits) bits = checked_add(*bits, part);
  return to_bytes(bits);
}

}  // namespace solar::einsum
