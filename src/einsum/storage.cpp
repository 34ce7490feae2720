#include "einsum/storage.h"

#include "base/checked.h"

namespace solar::einsum {

namespace {

std::optional<Bytes> to_bytes(std::optional<int64_t> bits) {
  if (!bits) return std::nullopt;
  return Bytes{*bits / 8 + (*bits % 8 != 0 ? 1 : 0)};
}

}  // namespace

std::optional<Bytes> bytes_of(const ir::Tensor& tensor, int64_t elements,
                              const StoragePolicy& policy) {
  const Stored stored = policy.of(tensor).value_or(Stored{tensor.type, tensor.storage});
  const ir::StorageFormat* format = ir::storage_named(stored.format);
  if (format == nullptr) return to_bytes(checked_mul(elements, ir::storage_bits(stored.type)));
  const int64_t scale_bits = format->block_bits % format->block;
  const auto values = checked_mul(elements, format->block_bits / format->block);
  int64_t blocks = elements / format->block;
  int64_t rest = elements % format->block;
  if (!tensor.shape.empty() && elements == ir::element_count(tensor.shape)) {
    const int64_t row = tensor.shape.back();
    const int64_t in_row = row / format->block + (row % format->block != 0 ? 1 : 0);
    blocks = elements / row * in_row;
    rest = 0;
  }
  const auto scales = checked_mul(blocks, scale_bits);
  const int64_t part = (rest * scale_bits + format->block - 1) / format->block;
  auto bits = values && scales ? checked_add(*values, *scales) : std::nullopt;
  if (bits) bits = checked_add(*bits, part);
  return to_bytes(bits);
}

}  // namespace solar::einsum
