#include "exec/strided_copy.h"

#include <algorithm>
#include <cstring>

namespace solar::exec {
namespace {

struct Axis {
  int64_t extent = 1, to = 0, from = 0;  // strides in bytes
};

/// The axes, neighbours merged where both sides walk them as one; the last runs fastest.
std::vector<Axis> merged_axes(const DataRef& to, const DataRef& from, int64_t width) {
  std::vector<Axis> axes;
  for (size_t i = 0; i < to.extents.size(); ++i) {
    if (to.extents[i] == 1) continue;
    const Axis axis = {to.extents[i], to.strides[i] * width, from.strides[i] * width};
    if (!axes.empty() && axes.back().to == axis.to * axis.extent &&
        axes.back().from == axis.from * axis.extent) {
      axes.back() = {axes.back().extent * axis.extent, axis.to, axis.from};
    } else {
      axes.push_back(axis);
    }
  }
  return axes;
}

void copy_line(std::byte* to, const std::byte* from, const Axis& axis, int64_t width) {
  if (axis.to == width && axis.from == width) {
    std::memcpy(to, from, static_cast<size_t>(axis.extent * width));
    return;
  }
  const auto each = [&]<class T>(T) {
    for (int64_t i = 0; i < axis.extent; ++i)
      std::memcpy(to + i * axis.to, from + i * axis.from, sizeof(T));
  };
  switch (width) {
    case 1:
      return each(uint8_t{});
    case 2:
      return each(uint16_t{});
    case 4:
      return each(uint32_t{});
    default:
      return each(uint64_t{});
  }
}

}  // namespace

KernelStatus copy_elements(const DataRef& to, const DataRef& from, const RunContext& context) {
  constexpr int64_t kPartBytes = 1 << 20, kAlone = 1 << 17;
  const int64_t width = memory_bytes(to.type);
  std::vector<Axis> axes = merged_axes(to, from, width);
  if (axes.empty()) axes.push_back({1, width, width});
  const Axis line = axes.back();
  axes.pop_back();
  // A long line is cut, so that threads share it and a run can be interrupted.
  const int64_t part = std::min(line.extent, kPartBytes / width);
  const int64_t parts = (line.extent + part - 1) / part;
  int64_t lines = 1;
  for (const Axis& axis : axes) lines *= axis.extent;
  TaskQueue queue(lines * parts, std::max<int64_t>(kPartBytes / (part * width), 1));
  const auto work = [&](int) {
    while (!context.cancelled()) {
      const TaskQueue::Chunk chunk = queue.next();
      if (chunk.begin == chunk.end) return;
      for (int64_t task = chunk.begin; task < chunk.end; ++task) {
        const int64_t first = task % parts * part;
        int64_t rest = task / parts, at_to = first * line.to, at_from = first * line.from;
        for (size_t i = axes.size(); i-- > 0;) {
          at_to += rest % axes[i].extent * axes[i].to;
          at_from += rest % axes[i].extent * axes[i].from;
          rest /= axes[i].extent;
        }
        copy_line(to.data + at_to, from.data + at_from,
                  {std::min(part, line.extent - first), line.to, line.from}, width);
      }
    }
  };
  if (lines * line.extent * width <= kAlone) {
    work(0);
  } else {
    context.team->run(work);
  }
  return context.cancelled() ? KernelStatus::Cancelled : KernelStatus::Done;
}

}  // namespace solar::exec
