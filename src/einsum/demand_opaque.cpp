// What an operator without a body needs: all of its inputs, however it reads them.

#include <algorithm>

#include "einsum/storage.h"
#include "einsum/tracer.h"

namespace solar::einsum {

void Tracer::trace_opaque(const Piece& piece, const ir::Opaque& opaque, const Region& domain) {
  for (const Use& use : piece.uses) {
    const ir::TensorId base = use.access.base;
    const std::vector<int64_t>& shape = index_.shape(base);
    const Reach all = reach(*piece.nest, use.access.subscripts, shape, domain);
    need(base, all.by_data ? all.whole : all.region);
    if (on_trial()) continue;
    if (!index_.is_port(base)) {
      if (is_outside(base) && !memory_of(base))
        merge(result_.outside[base], all.by_data ? all.whole : all.region);
      continue;
    }
    if (opaque.hole) continue;
    // Of its declared bytes, those that the other inputs cannot give.
    result_.depends_on_data = true;
    Reach read;
    read.by_data = true;
    read.at_example = mode_ == Mode::Example;
    read.region = Region::none(shape);
    read.whole = all.by_data ? all.whole : all.region;
    read.most = read.whole.count().value_or(INT64_MAX);
    read.least = std::min(read.most, elements_from(opaque, base));
    account(result_.ports[base], read, true);
  }
}

int64_t Tracer::elements_from(const ir::Opaque& opaque, ir::TensorId port) const {
  int64_t left = *opaque.reads;
  for (const ir::TensorId input : opaque.inputs) {
    const ir::TensorId base = whole_read(index_, input).access.base;
    if (base == port) continue;
    const ir::Tensor& tensor = program_.tensor(input);
    const auto bytes = bytes_of(tensor, ir::element_count(tensor.shape));
    left = bytes ? left - std::min(left, bytes->value) : 0;
  }
  // An element in block-scaled storage takes less than one of its type.
  const int64_t bits = ir::storage_bits(program_.tensor(port).type);
  return left / bits * 8 + left % bits * 8 / bits;
}

}  // namespace solar::einsum
