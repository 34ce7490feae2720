// Views: axes are factored into atoms; the right-hand side arranges them anew.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "ir/printer_text.h"
#include "ir/verify/context.h"

namespace solar::ir {
namespace {

/// One atom of the view: a factor of an input axis, a broadcast factor, or a unit.
struct Factor {
  std::string name;
  DimValue extent = {};
  int left_axis = -1;  // -1: broadcast
  bool used = false;
  Place span = {};
};

/// The members of a group; any other axis is its own.
std::span<const ast::Axis> parts_of(const ast::Axis& axis) {
  if (axis.kind == ast::Axis::Kind::Group) return axis.group;
  return {&axis, 1};
}

class ViewChecker {
 public:
  ViewChecker(Context& context, Environment& env, const ast::View& view, Place span)
      : context_(context), env_(env), view_(view), span_(span) {}

  void run() {
    const Binding* binding = context_.find_tensor(env_, view_.input.text, view_.input.span);
    if (binding == nullptr) return context_.poison(env_, view_.output);
    if (binding->literal) {
      bad(view_.input.span,
          fmt::format("`{}` is a scalar literal, it cannot be viewed", view_.input.text));
      return context_.poison(env_, view_.output);
    }
    if (!binding->tensor) return context_.poison(env_, view_.output);
    input_ = *binding->tensor;
    extents_ = context_.shapes[ir::index(input_)];
    if (!read_left() || !read_right()) return context_.poison(env_, view_.output);
    finish();
  }

 private:
  void bad(Place span, std::string message, std::string hint = {}) {
    context_.error(env_, DiagnosticKind::BadView, span, std::move(message), std::move(hint), {});
  }

  int find(const std::string& name) const {
    for (size_t i = 0; i < factors_.size(); ++i) {
      if (factors_[i].name == name) return static_cast<int>(i);
    }
    return -1;
  }

  /// The names of pack `*l`'s axes on the left, in order.
  static std::string pack_member(const std::string& pack, size_t i) {
    return fmt::format("*{}.{}", pack, i);
  }

  bool read_left() {
    size_t packs = 0;
    for (const ast::Axis& axis : view_.left) packs += axis.kind == ast::Axis::Kind::Pack ? 1 : 0;
    const size_t fixed = view_.left.size() - packs;
    if (packs > 1) {
      bad(view_.left[0].span, "the left side of a view has at most one pack");
      return false;
    }
    if (packs == 0 ? fixed != extents_.size() : fixed > extents_.size()) {
      const Tensor& tensor = context_.program.tensor(input_);
      context_.error(env_, DiagnosticKind::RankMismatch, view_.input.span,
                     fmt::format("`{}` has {} axes, the view names {}", view_.input.text,
                                 extents_.size(), view_.left.size()),
                     "the left side names every axis; `*l` stands for all remaining ones",
                     {{tensor.span, "defined here"}});
      return false;
    }
    factors_.reserve(extents_.size() + view_.right.size());
    size_t at = 0;
    for (const ast::Axis& axis : view_.left) {
      if (axis.kind == ast::Axis::Kind::Pack) {
        pack_sizes_[axis.name] = extents_.size() - fixed;
        for (size_t i = 0; i < extents_.size() - fixed; ++i, ++at) {
          factors_.push_back(
              {pack_member(axis.name, i), extents_[at], static_cast<int>(at), false, axis.span});
        }
        continue;
      }
      if (!read_left_axis(axis, at)) return false;
      ++at;
    }
    return true;
  }

  bool read_left_axis(const ast::Axis& axis, size_t at) {
    DimValue product = context_.constant(1);
    int open = -1;
    for (const ast::Axis& part : parts_of(axis)) {
      if (part.kind == ast::Axis::Kind::One) {
        factors_.push_back({"", context_.constant(1), static_cast<int>(at), true, part.span});
        continue;
      }
      if (part.kind != ast::Axis::Kind::Name) {
        bad(part.span, "expected an axis name",
            part.kind == ast::Axis::Kind::Pack ? "a pack on the left stands for whole axes"
                                               : "groups do not nest");
        return false;
      }
      if (find(part.name) >= 0) {
        bad(part.span, fmt::format("axis `{}` is named twice on the left", part.name));
        return false;
      }
      Factor factor = {part.name, {}, static_cast<int>(at), false, part.span};
      if (part.extent) {
        const auto extent = context_.eval_extent(env_, *part.extent);
        if (!extent) return false;
        factor.extent = *extent;
        if (!multiply(product, *extent, part.span)) return false;
      } else if (open >= 0) {
        bad(part.span, "at most one extent of an axis may be left out", "write `name:EXTENT`");
        return false;
      } else {
        open = static_cast<int>(factors_.size());
      }
      factors_.push_back(std::move(factor));
    }
    return close_axis(axis, at, product, open);
  }

  bool multiply(DimValue& product, const DimValue& by, Place span) {
    const auto value = checked_mul(product.value, by.value);
    if (!value) {
      context_.error(env_, DiagnosticKind::CountOverflow, span,
                     "the view's extent overflows 64 bits");
      return false;
    }
    product = {*value, context_.table.multiply(product.expr, by.expr)};
    return true;
  }

  bool close_axis(const ast::Axis& axis, size_t at, const DimValue& product, int open) {
    const DimValue& whole = extents_[at];
    const auto place = [&] { return fmt::format("axis {} of `{}`", at, view_.input.text); };
    if (open >= 0) {
      if (whole.value % product.value != 0) {
        bad(axis.span,
            fmt::format("{} has extent {}, which {} does not divide", place(), context_.text(whole),
                        context_.text(product)),
            "a reshape whose factors do not divide is two views: flatten, then split");
        return false;
      }
      DimValue& rest = factors_[static_cast<size_t>(open)].extent;
      rest = product.value == 1
                 ? whole
                 : DimValue{whole.value / product.value,
                            context_.table.apply(DimOp::FloorDiv, whole.expr, product.expr)};
      return true;
    }
    if (!context_.equal(whole, product, axis.span)) {
      context_.error(
          env_, DiagnosticKind::ShapeMismatch, axis.span,
          fmt::format("{} has extent {}, the view gives it {}", place(), context_.text(whole),
                      context_.text(product)),
          "the factors of an axis multiply to its extent; one may be left to be inferred");
      return false;
    }
    return true;
  }

  bool read_right() {
    for (const ast::Axis& axis : view_.right) {
      if (axis.kind == ast::Axis::Kind::Pack) {
        const auto pack = pack_sizes_.find(axis.name);
        if (pack == pack_sizes_.end()) {
          bad(axis.span, fmt::format("no pack on the left is called `*{}`", axis.name),
              "a pack on the left names all remaining axes: `{ *l, n -> n, *l }`");
          return false;
        }
        for (size_t i = 0; i < pack->second; ++i) {
          if (!use(pack_member(axis.name, i), axis.span)) return false;
          right_.push_back({find(pack_member(axis.name, i))});
        }
        continue;
      }
      std::vector<int> members;
      for (const ast::Axis& part : parts_of(axis)) {
        if (part.kind == ast::Axis::Kind::One) continue;
        if (part.kind == ast::Axis::Kind::Pack) {
          const auto pack = pack_sizes_.find(part.name);
          if (pack == pack_sizes_.end()) {
            bad(part.span, fmt::format("no pack on the left is called `*{}`", part.name),
                "a pack on the left names all remaining axes: `{ *l, n -> n, *l }`");
            return false;
          }
          for (size_t i = 0; i < pack->second; ++i) {
            if (!use(pack_member(part.name, i), part.span)) return false;
            members.push_back(find(pack_member(part.name, i)));
          }
          continue;
        }
        if (part.kind != ast::Axis::Kind::Name) {
          bad(part.span, "expected an axis name", "groups do not nest");
          return false;
        }
        const int member = right_member(part);
        if (member < 0) return false;
        members.push_back(member);
      }
      right_.push_back(std::move(members));
    }
    for (const Factor& factor : factors_) {
      if (factor.used || factor.left_axis < 0) continue;
      bad(factor.span, fmt::format("axis `{}` is missing on the right", factor.name),
          "a view drops nothing; use `slice` to drop an axis");
      return false;
    }
    return true;
  }

  bool use(const std::string& name, Place span) {
    Factor& factor = factors_[static_cast<size_t>(find(name))];
    if (factor.used) {
      bad(span, fmt::format("axis `{}` is used twice on the right", name),
          "repeat elements with a broadcast axis, `name:EXTENT`");
      return false;
    }
    factor.used = true;
    return true;
  }

  int right_member(const ast::Axis& part) {
    int member = find(part.name);
    if (member >= 0) {
      if (!use(part.name, part.span)) return -1;
      if (part.extent) {
        const auto extent = context_.eval_extent(env_, *part.extent);
        if (!extent) return -1;
        const DimValue& known = factors_[static_cast<size_t>(member)].extent;
        if (!context_.equal(*extent, known, part.span)) {
          context_.error(env_, DiagnosticKind::ShapeMismatch, part.span,
                         fmt::format("axis `{}` has extent {} on the left and {} on the right",
                                     part.name, context_.text(known), context_.text(*extent)),
                         "leave the extent out on the right", {},
                         replace(part.span, name_text(part.name)));
          return -1;
        }
      }
      return member;
    }
    if (!part.extent) {
      bad(part.span, fmt::format("axis `{}` is not on the left", part.name),
          "a broadcast axis needs an extent: `name:EXTENT`");
      return -1;
    }
    const auto extent = context_.eval_extent(env_, *part.extent);
    if (!extent) return -1;
    factors_.push_back({part.name, *extent, -1, true, part.span});
    return static_cast<int>(factors_.size() - 1);
  }

  // --- the access map ---------------------------------------------------------------------------

  /// Runs of factors that are neighbours on both sides (and broadcast or unit factors alone).
  struct Run {
    int left_axis = -1;
    size_t first = 0;  // factor ids; a run's factors are consecutive on the left
    size_t last = 0;
    int64_t extent = 1;
  };

  static void add_term(Linear& to, int32_t atom, int64_t coefficient) {
    const auto at = std::lower_bound(to.terms.begin(), to.terms.end(), atom,
                                     [](const Term& t, int32_t a) { return t.atom < a; });
    to.terms.insert(at, {atom, coefficient});
  }

  void finish() {
    TensorShape shape;
    shape.type = context_.program.tensor(input_).type;
    for (const std::vector<int>& members : right_) {
      DimValue extent = context_.constant(1);
      for (int member : members) {
        if (!multiply(extent, factors_[static_cast<size_t>(member)].extent, span_)) {
          return context_.poison(env_, view_.output);
        }
      }
      shape.extents.push_back(extent);
    }
    View view;
    view.input = input_;
    view.subscripts.resize(extents_.size());
    view.atoms.resize(right_.size());
    std::vector<int64_t> left_stride(factors_.size(), 1);
    for (size_t i = factors_.size(); i-- > 0;) {
      if (i + 1 < factors_.size() && factors_[i].left_axis >= 0 &&
          factors_[i + 1].left_axis == factors_[i].left_axis) {
        left_stride[i] = left_stride[i + 1] * factors_[i + 1].extent.value;
      }
    }
    for (size_t axis = 0; axis < right_.size(); ++axis) {
      map_axis(view, axis, shape.extents[axis].value, left_stride);
    }
    const auto output = context_.define_tensor(env_, view_.output, std::move(shape));
    if (!output) return;
    view.output = *output;
    Statement statement;
    statement.body = std::move(view);
    context_.add_statement(env_, std::move(statement), span_);
  }

  /// Adds to the input subscripts what output axis `axis` contributes.
  void map_axis(View& view, size_t axis, int64_t axis_extent,
                const std::vector<int64_t>& left_stride) {
    const std::vector<int>& members = right_[axis];
    int64_t right_stride = axis_extent;
    for (size_t i = 0; i < members.size();) {
      const auto first = static_cast<size_t>(members[i]);
      int64_t extent = factors_[first].extent.value;
      size_t last = first;
      size_t next = i + 1;
      while (next < members.size() && factors_[first].left_axis >= 0 &&
             static_cast<size_t>(members[next]) == last + 1 &&
             factors_[last + 1].left_axis == factors_[first].left_axis) {
        ++last;
        extent *= factors_[last].extent.value;
        ++next;
      }
      right_stride /= extent;
      i = next;
      if (factors_[first].left_axis < 0 || extent == 1) continue;
      const auto left = static_cast<size_t>(factors_[first].left_axis);
      const int32_t value =
          digit(view, static_cast<int32_t>(axis), axis_extent, right_stride, extent);
      add_term(view.subscripts[left], value, left_stride[last]);
    }
  }

  /// The atom (o // stride) % extent of output axis o.
  static int32_t digit(View& view, int32_t axis, int64_t axis_extent, int64_t stride,
                       int64_t extent) {
    int32_t at = axis;
    const auto push = [&](Atom::Kind kind, int64_t divisor) {
      Atom atom;
      atom.kind = kind;
      atom.divisor = divisor;
      atom.operands.push_back({{{at, 1}}, 0});
      view.atoms.push_back(std::move(atom));
      at = static_cast<int32_t>(view.atoms.size() - 1);
    };
    if (stride != 1) push(Atom::Kind::FloorDiv, stride);
    if (stride * extent != axis_extent) push(Atom::Kind::Mod, extent);
    return at;
  }

  Context& context_;
  Environment& env_;
  const ast::View& view_;
  Place span_;
  TensorId input_ = {};
  std::vector<DimValue> extents_;
  std::vector<Factor> factors_;
  std::map<std::string, size_t> pack_sizes_;
  std::vector<std::vector<int>> right_;
};

}  // namespace

void Context::elaborate_view(Environment& env, const ast::View& view, Place span) {
  ViewChecker(*this, env, view, span).run();
}

}  // namespace solar::ir
