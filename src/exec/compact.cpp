#include "exec/compact.h"

#include <algorithm>
#include <cstring>

#include "exec/sort_keys.h"

namespace solar::exec {
namespace {

int64_t count_of(const DataRef& data) {
  int64_t count = 1;
  for (const int64_t extent : data.extents) count *= extent;
  return count;
}

/// Calls visit(position, subscripts) for every element in row-major order; false stops it.
template <class Visit>
void for_elements(const DataRef& data, Visit visit) {
  std::vector<int64_t> subscripts(data.extents.size(), 0);
  const int64_t count = count_of(data);
  int64_t position = 0;
  for (int64_t element = 0; element < count; ++element) {
    if (!visit(position, subscripts)) return;
    for (size_t axis = subscripts.size(); axis-- > 0;) {
      position += data.strides[axis];
      if (++subscripts[axis] < data.extents[axis]) break;
      position -= data.strides[axis] * data.extents[axis];
      subscripts[axis] = 0;
    }
  }
}

CompactResult run_unique(const DataRef& output, const DataRef& input, const RunContext& context) {
  std::vector<SortItem> items;
  items.reserve(static_cast<size_t>(count_of(input)));
  with_codec(input.type, [&](auto codec) {
    using C = decltype(codec);
    const auto* data = reinterpret_cast<const typename C::Storage*>(input.data);
    for_elements(input, [&](int64_t position, const std::vector<int64_t>&) {
      items.push_back({sort_key(C::load(data[position])), static_cast<int64_t>(items.size())});
      return true;
    });
  });
  if (context.cancelled()) return {KernelStatus::Cancelled, 0};
  std::sort(items.begin(), items.end());
  const auto width = static_cast<size_t>(memory_bytes(input.type));
  const int64_t limit = output.extents[0];
  CompactResult result;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0 && items[i].key == items[i - 1].key) continue;
    if (result.found < limit) {
      int64_t rest = items[i].position, position = 0;
      for (size_t axis = input.extents.size(); axis-- > 0;) {
        position += rest % input.extents[axis] * input.strides[axis];
        rest /= input.extents[axis];
      }
      std::memcpy(output.data + static_cast<size_t>(result.found) * width,
                  input.data + position * static_cast<int64_t>(width), width);
    }
    ++result.found;
  }
  return result;
}

CompactResult run_nonzero(const DataRef& output, const DataRef& input, const RunContext& context) {
  const int64_t limit = output.extents[0];
  auto* out = reinterpret_cast<int64_t*>(output.data);
  CompactResult result;
  int64_t seen = 0;
  with_codec(input.type, [&](auto codec) {
    using C = decltype(codec);
    const auto* data = reinterpret_cast<const typename C::Storage*>(input.data);
    for_elements(input, [&](int64_t position, const std::vector<int64_t>& subscripts) {
      if ((++seen & 0xfffff) == 0 && context.cancelled()) {
        result.status = KernelStatus::Cancelled;
        return false;
      }
      if (C::load(data[position]) == 0) return true;
      if (result.found++ < limit) out = std::copy(subscripts.begin(), subscripts.end(), out);
      return true;
    });
  });
  return result;
}

}  // namespace

CompactResult run_compact(ir::Compact::Kind kind, const DataRef& output, const DataRef& input,
                          const RunContext& context) {
  std::memset(output.data, 0, static_cast<size_t>(count_of(output) * memory_bytes(output.type)));
  return kind == ir::Compact::Kind::Unique ? run_unique(output, input, context)
                                           : run_nonzero(output, input, context);
}

}  // namespace solar::exec
