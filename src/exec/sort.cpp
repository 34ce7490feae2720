#include "exec/sort.h"

#include <algorithm>
#include <cstring>

#include "exec/sort_keys.h"

namespace solar::exec {
namespace {

/// The first element of line `line`; `axis` is left out.
int64_t line_start(const DataRef& data, const std::vector<int64_t>& extents, size_t axis,
                   int64_t line) {
  int64_t position = 0;
  for (size_t i = extents.size(); i-- > 0;) {
    if (i == axis) continue;
    position += line % extents[i] * data.strides[i];
    line /= extents[i];
  }
  return position;
}

void copy_element(const DataRef& to, int64_t to_at, const DataRef& from, int64_t from_at) {
  const int64_t width = memory_bytes(to.type);
  std::memcpy(to.data + to_at * width, from.data + from_at * width, static_cast<size_t>(width));
}

}  // namespace

KernelStatus run_sort(const ir::Sort& sort, const DataRef& values, const DataRef& positions,
                      const DataRef& input, const RunContext& context) {
  constexpr int kThreads = 4;
  constexpr int64_t kAlone = 1 << 13;
  const auto axis = static_cast<size_t>(sort.axis);
  const int64_t length = input.extents[axis], count = sort.count;
  int64_t lines = 1;
  for (size_t i = 0; i < input.extents.size(); ++i) lines *= i == axis ? 1 : input.extents[i];
  const bool alone = lines == 1 || lines * length <= kAlone;
  const int threads = alone ? 1 : std::min(context.team->size(), kThreads);
  std::vector<std::vector<SortItem>> rooms(static_cast<size_t>(threads));
  for (auto& room : rooms) room.resize(static_cast<size_t>(length));
  TaskQueue queue(lines, std::max<int64_t>(kAlone / length / threads, 1));
  const auto sort_line = [&](int64_t line, std::vector<SortItem>& items) {
    const int64_t from = line_start(input, input.extents, axis, line);
    load_items(input, from, input.strides[axis], sort.descending, items);
    if (count * 8 < length) {
      std::partial_sort(items.begin(), items.begin() + count, items.end());
    } else {
      std::sort(items.begin(), items.end());
    }
    const int64_t to = line_start(values, input.extents, axis, line);
    const int64_t at = line_start(positions, input.extents, axis, line);
    auto* out = reinterpret_cast<int64_t*>(positions.data);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t position = items[static_cast<size_t>(i)].position;
      copy_element(values, to + i * values.strides[axis], input,
                   from + position * input.strides[axis]);
      out[at + i * positions.strides[axis]] = position;
    }
  };
  const auto work = [&](int member) {
    if (member >= threads) return;
    while (!context.cancelled()) {
      const TaskQueue::Chunk chunk = queue.next();
      if (chunk.begin == chunk.end) return;
      for (int64_t line = chunk.begin; line < chunk.end; ++line)
        sort_line(line, rooms[static_cast<size_t>(member)]);
    }
  };
  if (threads == 1) {
    work(0);
  } else {
    context.team->run(work);
  }
  return context.cancelled() ? KernelStatus::Cancelled : KernelStatus::Done;
}

}  // namespace solar::exec
