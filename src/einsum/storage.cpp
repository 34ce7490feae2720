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
                              const StoragePolicy& policy, bool half_zero) {
  const Stored stored = policy.of(tensor).value_or(Stored{tensor.type, tensor.storage});
  const ir::StorageFormat* format = ir::storage_named(stored.format);
  const auto value_bits = [&](int64_t bits) {
    if (!half_zero) return checked_mul(elements, bits);
    return checked_mul(elements / 2 + elements % 2, bits + 2);
  };
  if (format == nullptr) return to_bytes(value_bits(ir::storage_bits(stored.type)));
  const int64_t scale_bits = format->block_bits % format->block;
  const auto values = value_bits(format->block_bits / format->block);
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
