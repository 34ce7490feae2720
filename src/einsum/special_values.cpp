#include "einsum/special_values.h"

#include <algorithm>
#include <limits>

#include "ir/core.h"

namespace solar::einsum {
namespace {

enum : uint8_t { kOther = 0, kZero = 1, kMinusInfinity = 2, kLowest = 3 };

class Classes {
 public:
  Classes(const std::vector<int64_t>& shape, ir::ElementType type,
          const std::function<double(int64_t)>& value)
      : shape_(shape), classes_(static_cast<size_t>(ir::element_count(shape)), kOther) {
    const double lowest = lowest_number(type);
    for (size_t i = 0; i < classes_.size(); ++i) {
      const double v = value(static_cast<int64_t>(i));
      if (v == 0) classes_[i] = kZero;
      if (v == -std::numeric_limits<double>::infinity()) classes_[i] = kMinusInfinity;
      if (v == lowest) classes_[i] = kLowest;
    }
    strides_.assign(shape.size(), 1);
    for (size_t axis = shape.size(); axis-- > 1;) strides_[axis - 1] = strides_[axis] * shape[axis];
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (varies(axis)) axes_.push_back(static_cast<int32_t>(axis));
    }
    axes_ = preferred_order(std::move(axes_), shape);
  }

  /// Makes the lowest numbers minus infinities if each row has another element.
  bool take_lowest_as_infinite() {
    const size_t row = shape_.empty() ? 1 : static_cast<size_t>(shape_.back());
    bool any = false;
    for (size_t begin = 0; begin < classes_.size(); begin += row) {
      size_t count = 0;
      for (size_t i = begin; i < begin + row; ++i) count += classes_[i] == kLowest ? 1 : 0;
      if (count == row) return false;
      any = any || count > 0;
    }
    for (uint8_t& c : classes_) c = c == kLowest ? uint8_t{kMinusInfinity} : c;
    return any;
  }

  bool all_lowest() const {
    return std::all_of(classes_.begin(), classes_.end(), [](uint8_t c) { return c == kLowest; });
  }

  /// The elements of the class, or all others. nullopt: too irregular.
  std::optional<Region> where(uint8_t wanted, bool equal) const {
    bool all = true;
    for (const uint8_t c : classes_) all = all && (c == wanted) == equal;
    if (all) return Region::full({});
    RunSetBuilder runs(extent_product(axes_, shape_));
    add(0, 0, 0, [&](size_t at, int64_t index) {
      if ((classes_[at] == wanted) == equal) runs.add(index, index + 1);
    });
    if (runs.truncated()) return std::nullopt;
    RunSet set = runs.finish();
    if (set.empty()) return Region::none(shape_);
    Region region = Region::full(shape_);
    region.restrict(axes_, std::move(set));
    return region;
  }

 private:
  bool varies(size_t axis) const {
    const auto stride = static_cast<size_t>(strides_[axis]);
    const auto extent = static_cast<size_t>(shape_[axis]);
    for (size_t i = 0; i < classes_.size(); ++i) {
      if (i / stride % extent != 0 && classes_[i] != classes_[i - stride]) return true;
    }
    return false;
  }

  /// Every combination along the axes that vary, in their order: the element, and its index.
  template <class Each>
  void add(size_t axis, int64_t at, int64_t index, const Each& each) const {
    if (axis == axes_.size()) return each(static_cast<size_t>(at), index);
    const auto number = static_cast<size_t>(axes_[axis]);
    for (int64_t i = 0; i < shape_[number]; ++i)
      add(axis + 1, at + i * strides_[number], index * shape_[number] + i, each);
  }

  const std::vector<int64_t>& shape_;
  std::vector<uint8_t> classes_;
  std::vector<int64_t> strides_ = {};  // row-major
  std::vector<int32_t> axes_ = {};     // along which the classes differ
};

}  // namespace

double lowest_number(ir::ElementType type) {
  switch (type) {
    case ir::ElementType::F64:
      return std::numeric_limits<double>::lowest();
    case ir::ElementType::F32:
      return std::numeric_limits<float>::lowest();
    case ir::ElementType::BF16:
      return -0x1.FEp127;
    case ir::ElementType::F16:
      return -65504;
    default:
      return std::numeric_limits<double>::quiet_NaN();  // equal to nothing
  }
}

std::optional<SpecialElements> special_elements(const std::vector<int64_t>& shape,
                                                ir::ElementType type,
                                                const std::function<double(int64_t)>& value) {
  if (ir::element_count(shape) > kMaximumKnownElements) return std::nullopt;
  Classes classes(shape, type, value);
  SpecialElements found;
  found.all_lowest = classes.all_lowest();
  found.lowest_masks = classes.take_lowest_as_infinite();
  auto not_zero = classes.where(kZero, false);
  auto not_infinite = classes.where(kMinusInfinity, false);
  auto zero = classes.where(kZero, true);
  if (!not_zero || !not_infinite || !zero) return std::nullopt;
  found.not_zero = std::move(*not_zero);
  found.not_minus_infinity = std::move(*not_infinite);
  found.not_nonzero = std::move(*zero);
  return found;
}

}  // namespace solar::einsum
