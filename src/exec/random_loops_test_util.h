#pragma once
// Random program texts of loops, branches and data movement. Values are small integers, so that
// every order of summing gives the same. A text always verifies; a run may end with a diagnostic.

#include "exec/random_text_test_util.h"

namespace solar::exec {

class LoopsGenerator : private RandomText {
 public:
  explicit LoopsGenerator(uint64_t seed) : RandomText(seed) {}

  std::string make() {
    std::string ports;
    for (int i = 0; i < 5; ++i) {
      Visible port = {name("x"), i < 3 ? "f32" : "i64", shape(i == 4 ? 0 : between(1, 3))};
      ports += fmt::format("{}input {}: {}", ports.empty() ? "" : ", ", port.name, typed(port));
      inputs_.emplace(port.name, data(port));
      visible_.push_back(std::move(port));
    }
    std::string body = statements(between(3, 7), "  ");
    std::vector<std::string> outputs;
    for (const Visible& one : visible_) {
      if (!inputs_.contains(one.name) || chance(0.2)) outputs.push_back(one.name);
    }
    if (outputs.empty()) outputs.push_back(visible_[0].name);
    return fmt::format("program p({}) -> ({}) {{\n{}}}\n", ports, fmt::join(outputs, ", "), body);
  }
  const Inputs& inputs() const { return inputs_; }

 private:
  std::string statements(int64_t count, const std::string& indent) {
    std::string text;
    for (int64_t i = 0; i < count; ++i) text += statement(indent);
    return text;
  }

  std::string statement(const std::string& indent) {
    const int64_t loop_room = depth_ < 3 ? 5 : 0;
    switch (between(0, 14 + loop_room)) {
      case 0:
      case 1:
      case 2:
        return pointwise(indent);
      case 3:
        return reduction(indent);
      case 4:
      case 5:
        return slice(indent);
      case 6:
        return moving_slice(indent);
      case 7:
        return view(indent);
      case 8:
        return joined(indent);
      case 9:
      case 10:
        return scatter(indent);
      case 11:
        return ragged(indent);
      case 12:
        return sorted(indent);
      case 13:
        return compact(indent);
      case 14:
        return gather(indent);
      case 15:
      case 16:
      case 17:
        return repeat(indent);
      case 18:
        return while_loop(indent);
      default:
        return branches(indent);
    }
  }

  std::string pointwise(const std::string& indent) {
    const Visible a = any();
    const Visible made = {name("p"), a.type, a.shape};
    const std::string at = subscripts(a.shape.size());
    const char* op = std::array{"+", "-", "*"}[static_cast<size_t>(between(0, 2))];
    return add(
        fmt::format("{}kernel {}: {} {{ {}  {}[{}] = min(max({}[{}] {} {}, -20), 20) }}\n", indent,
                    made.name, typed(made), loops(a.shape), made.name, at, a.name, at, op, term(a)),
        made);
  }

  std::string reduction(const std::string& indent) {
    const Visible a = with_axis();
    const Visible made = {name("r"), a.type, {a.shape.begin() + 1, a.shape.end()}};
    std::string target;
    for (size_t i = 1; i < a.shape.size(); ++i)
      target += fmt::format("{}l{}", i == 1 ? "" : ", ", i);
    const std::string guard =
        chance(0.3) ? fmt::format(" where l0 != {}", step_or(between(0, 2))) : "";
    return add(fmt::format("{}kernel {}: {} {{ {}{}  {}[{}] {} {}[{}] init {} }}\n", indent,
                           made.name, typed(made), loops(a.shape), guard, made.name, target,
                           chance(0.5) ? "+=" : "max=", a.name, subscripts(a.shape.size()),
                           between(-2, 2)),
               made);
  }

  std::string slice(const std::string& indent) {
    const Visible a = with_axis();
    Visible made = {name("s"), a.type, {}};
    std::vector<std::string> items;
    for (const int64_t extent : a.shape) {
      const auto step = std::find_if(steps_.begin(), steps_.end(),
                                     [&](const auto& one) { return one.second <= extent; });
      const int64_t kind = between(0, 4);
      if (kind <= 1 && step != steps_.end()) {
        const int64_t size = between(1, extent - step->second + 1);
        items.push_back(kind == 0 ? step->first
                                  : fmt::format("{}:{} + {}", step->first, step->first, size));
        if (kind == 1) made.shape.push_back(size);
      } else if (kind == 2) {
        items.push_back("reverse");
        made.shape.push_back(extent);
      } else if (kind == 3 && extent > 1) {
        items.push_back(fmt::format("1:{}", extent));
        made.shape.push_back(extent - 1);
      } else {
        items.push_back(":");
        made.shape.push_back(extent);
      }
    }
    return add(
        fmt::format("{}slice {} = {}[{}]\n", indent, made.name, a.name, fmt::join(items, ", ")),
        made);
  }

  std::string moving_slice(const std::string& indent) {
    const Visible a = with_axis();
    const Visible* start =
        find([](const Visible& x) { return x.type == "i64" && x.shape.empty(); });
    const int64_t size = between(1, a.shape[0]);
    std::string text, from;
    if (start != nullptr && chance(0.1)) {
      from = start->name;
    } else {
      from = name("k");
      text = fmt::format("{}kernel {}: i64[] {{ {}[] = {} }}\n", indent, from, from,
                         start == nullptr
                             ? "0"
                             : fmt::format("min(max({}, 0), {})", start->name, a.shape[0] - size));
    }
    Visible made = {name("m"), a.type, a.shape};
    made.shape[0] = size;
    std::string rest;
    for (size_t i = 1; i < a.shape.size(); ++i) rest += ", :";
    return add(fmt::format("{}{}slice {} = {}[at {} size {}{}]\n", text, indent, made.name, a.name,
                           from, size, rest),
               made);
  }

  std::string view(const std::string& indent) {
    const Visible a = with_axis();
    Visible made = {name("v"), a.type, {a.shape.rbegin(), a.shape.rend()}};
    std::vector<std::string> in, out;
    for (size_t i = 0; i < a.shape.size(); ++i) in.push_back(fmt::format("l{}", i));
    out.assign(in.rbegin(), in.rend());
    std::string target = fmt::format("{}", fmt::join(out, ", "));
    if (a.shape.size() > 1 && chance(0.5)) {
      target = "(" + target + ")";
      int64_t all = 1;
      for (const int64_t extent : a.shape) all *= extent;
      made.shape = {all};
    }
    return add(fmt::format("{}view {} = {} {{ {} -> {} }}\n", indent, made.name, a.name,
                           fmt::join(in, ", "), target),
               made);
  }

  std::string joined(const std::string& indent) {
    const Visible a = with_axis();
    const auto other = like(a);
    const std::string second = other ? other->name : a.name;
    Visible made = {name("c"), a.type, a.shape};
    if (chance(0.5)) {
      made.shape[0] *= 2;
      return add(
          fmt::format("{}let {} = concat({}, {}; axis = 0)\n", indent, made.name, a.name, second),
          made);
    }
    made.shape.insert(made.shape.begin() + 1, 2);
    return add(
        fmt::format("{}let {} = stack({}, {}; axis = 1)\n", indent, made.name, a.name, second),
        made);
  }

  std::string scatter(const std::string& indent) {
    std::string text;
    const Visible at = indices(text, indent);
    const Visible base = with_axis();
    Visible made = {name("w"), base.type, base.shape};
    std::vector<int64_t> over = base.shape;
    over[0] = at.shape[0];
    std::string target = fmt::format("{}[l0]", at.name);
    if (!chance(0.1)) target = fmt::format("max(min({}, {}), 0)", target, base.shape[0] - 1);
    for (size_t i = 1; i < over.size(); ++i) target += fmt::format(", l{}", i);
    const std::string value = base.type == "i64" ? fmt::format("l0 + {}", step_or(1))
                                                 : fmt::format("f32(l0 - {})", step_or(2));
    const char* op = std::array{"+=", "max=", "min=", "="}[static_cast<size_t>(between(0, 3))];
    return add(fmt::format("{}{}scatter {}: {} {{ {}{}  {}[{}] {} {}  base {}{}{} }}\n", text,
                           indent, made.name, typed(made), loops(over),
                           chance(0.3) ? fmt::format(" where {}[l0] != 1", at.name) : "", made.name,
                           target, op, value, chance(0.5) ? "donated " : "", base.name,
                           op[0] == '=' ? "  unique" : ""),
               made);
  }

  std::string ragged(const std::string& indent) {
    std::string text;
    const Visible ptr = indices(text, indent);
    const Visible a = with_axis();
    const int64_t rows = std::max<int64_t>(ptr.shape[0] - 1, 1);
    const std::string end = ptr.shape[0] > 1 ? fmt::format("{}[i + 1]", ptr.name) : step_or(3);
    Visible made = {name("g"), a.type, {rows}};
    std::string more, at = "j";
    for (size_t i = 1; i < a.shape.size(); ++i) {
      more += fmt::format(", l{}:{}", i, a.shape[i]);
      at += fmt::format(", l{}", i);
    }
    if (chance(0.3)) {
      made.shape.push_back(a.shape[0]);
      return add(fmt::format("{}{}indexed {}: {} {{ for i:{}, j:{} in {}[i] .. {}{}  {}[i, j] += "
                             "{}[{}]  else -1 }}\n",
                             text, indent, made.name, typed(made), rows, a.shape[0], ptr.name, end,
                             more, made.name, a.name, at),
                 made);
    }
    return add(fmt::format("{}{}indexed {}: {} {{ for i:{}, j:{} in {}[i] .. {}{}  {}[i] += {}[{}] "
                           "init 1 }}\n",
                           text, indent, made.name, typed(made), rows, a.shape[0], ptr.name, end,
                           more, made.name, a.name, at),
               made);
  }

  std::string gather(const std::string& indent) {
    std::string text;
    const Visible at = indices(text, indent);
    const Visible a = with_axis();
    Visible made = {name("e"), a.type, a.shape};
    made.shape[0] = at.shape[0];
    std::string from = fmt::format("{}[l0]", at.name);
    if (!chance(0.1)) from = fmt::format("max(min({}, {}), 0)", from, a.shape[0] - 1);
    for (size_t i = 1; i < a.shape.size(); ++i) from += fmt::format(", l{}", i);
    return add(fmt::format("{}{}indexed {}: {} {{ {}  {}[{}] = {}[{}] }}\n", text, indent,
                           made.name, typed(made), loops(made.shape), made.name,
                           subscripts(made.shape.size()), a.name, from),
               made);
  }

  std::string sorted(const std::string& indent) {
    const Visible a = with_axis();
    const auto axis = static_cast<size_t>(between(0, std::ssize(a.shape) - 1));
    Visible made = {name("o"), a.type, a.shape}, at = {name("o"), "i64", a.shape};
    std::string call = fmt::format("sort({}; axis = {}", a.name, axis);
    if (chance(0.4)) {
      made.shape[axis] = at.shape[axis] = between(1, a.shape[axis]);
      call = fmt::format("topk({}; axis = {}, k = {}", a.name, axis, made.shape[axis]);
    }
    if (chance(0.5)) call += chance(0.5) ? ", descending = true" : ", descending = false";
    const std::string text =
        fmt::format("{}let ({}, {}) = {})\n", indent, made.name, at.name, call);
    return add(add(text, made), at);
  }

  std::string compact(const std::string& indent) {
    const Visible a = with_axis();
    const int64_t limit = chance(0.2) ? 3 : 130;
    const bool unique = chance(0.5);
    Visible made = {name("un"), a.type, {limit}};
    if (!unique) made = {made.name, "i64", {limit, std::ssize(a.shape)}};
    const Visible count = {name("n"), "i64", {}};
    const std::string text = fmt::format("{}let ({}, {}) = {}({}; limit = {})\n", indent, made.name,
                                         count.name, unique ? "unique" : "nonzero", a.name, limit);
    // A long vector would make the rest of the program large.
    return add(text, count);
  }

  std::string tuple(const std::vector<std::string>& names) {
    if (names.size() == 1 && chance(0.5)) return names[0];
    return fmt::format("({})", fmt::join(names, ", "));
  }

  /// The statements of a body; calls `finish` while its names are visible.
  template <class Finish>
  std::string body(const std::string& indent, Finish finish) {
    const std::vector<Visible> outside = visible_;
    ++depth_;
    std::string text = statements(between(0, 3), indent + "  ");
    text += finish();
    --depth_;
    visible_ = outside;
    return text;
  }

  std::vector<Visible> carried(std::vector<std::string>& initial) {
    std::vector<Visible> result;
    for (int64_t n = between(1, 2); n > 0; --n) {
      const Visible start = any();
      initial.push_back(fmt::format("{} = {}", name("h"), start.name));
      result.push_back(
          {initial.back().substr(0, initial.back().find(' ')), start.type, start.shape});
    }
    return result;
  }
  std::vector<std::string> next_of(const std::vector<Visible>& carried, std::string& text,
                                   const std::string& indent) {
    std::vector<std::string> next;
    for (const Visible& one : carried) {
      const auto value = like(one);
      if (!value || chance(0.2)) text += pointwise_of(one, indent);
      next.push_back(!value || chance(0.2)
                         ? visible_.back().shape == one.shape && visible_.back().type == one.type
                               ? visible_.back().name
                               : one.name
                         : value->name);
    }
    return next;
  }
  std::string pointwise_of(const Visible& a, const std::string& indent) {
    const Visible made = {name("p"), a.type, a.shape};
    const std::string at = subscripts(a.shape.size());
    return add(
        fmt::format("{}kernel {}: {} {{ {}  {}[{}] = min(max({}[{}] + {}, -20), 20) }}\n", indent,
                    made.name, typed(made), loops(a.shape), made.name, at, a.name, at, term(a)),
        made);
  }

  std::string repeat(const std::string& indent) {
    std::vector<std::string> initial, results, stacked;
    const std::vector<Visible> inside = carried(initial);
    const std::string step = name("t");
    const int64_t extent = between(1, 4);
    std::vector<Visible> made, piles;
    for (const Visible& one : inside) made.push_back({name("q"), one.type, one.shape});
    const std::vector<Visible> outside = visible_;
    visible_.insert(visible_.end(), inside.begin(), inside.end());
    steps_.emplace_back(step, extent);
    const std::string text = body(indent, [&] {
      std::string end;
      const auto next = next_of(inside, end, indent + "  ");
      std::vector<std::string> elements;
      for (int64_t n = between(0, 2); n > 0; --n) {
        const Visible element = any();
        elements.push_back(element.name);
        piles.push_back({name("y"), element.type, element.shape});
        piles.back().shape.insert(piles.back().shape.begin(), extent);
      }
      end += fmt::format("{}  next {}{}\n", indent, tuple(next),
                         elements.empty() ? "" : " stack " + tuple(elements));
      return end;
    });
    steps_.pop_back();
    visible_ = outside;
    for (const Visible& one : made) results.push_back(one.name);
    for (const Visible& one : piles) stacked.push_back(one.name);
    visible_.insert(visible_.end(), made.begin(), made.end());
    visible_.insert(visible_.end(), piles.begin(), piles.end());
    return fmt::format("{}let {}{} = repeat {}{}:{} with ({}) {{\n{}{}}}\n", indent, tuple(results),
                       stacked.empty() ? "" : " stack " + tuple(stacked),
                       chance(0.3) ? "revseq " : "", step, extent, fmt::join(initial, ", "), text,
                       indent);
  }

  std::string while_loop(const std::string& indent) {
    std::vector<std::string> initial, results;
    const std::vector<Visible> inside = carried(initial);
    const Visible counter = {name("n"), "i64", {}};
    initial.push_back(counter.name + " = 0");
    std::vector<Visible> made;
    for (const Visible& one : inside) made.push_back({name("q"), one.type, one.shape});
    made.push_back({name("q"), "i64", {}});
    const std::vector<Visible> outside = visible_;
    visible_.insert(visible_.end(), inside.begin(), inside.end());
    visible_.push_back(counter);
    std::string before = statements(between(0, 1), indent + "  ");
    const std::string go = name("b");
    before += fmt::format("{}  kernel {}: bool[] {{ {}[] = {} < {} }}\n{}  test {}\n", indent, go,
                          go, counter.name, between(0, 4), indent, go);
    const std::string text = body(indent, [&] {
      std::string end;
      auto next = next_of(inside, end, indent + "  ");
      const std::string more = name("n");
      end += fmt::format("{}  kernel {}: i64[] {{ {}[] = {} + 1 }}\n", indent, more, more,
                         counter.name);
      next.push_back(more);
      return end + fmt::format("{}  next {}\n", indent, tuple(next));
    });
    visible_ = outside;
    for (const Visible& one : made) results.push_back(one.name);
    visible_.insert(visible_.end(), made.begin(), made.end());
    return fmt::format("{}let {} = while limit {} with ({}) {{\n{}{}{}}}\n", indent, tuple(results),
                       between(2, 6), fmt::join(initial, ", "), before, text, indent);
  }

  std::string branches(const std::string& indent) {
    const Visible a = any();
    const std::string condition = name("b");
    const Visible* scalar =
        find([](const Visible& x) { return x.type == "i64" && x.shape.empty(); });
    std::string text =
        fmt::format("{}kernel {}: bool[] {{ {}[] = {} > {} }}\n", indent, condition, condition,
                    scalar == nullptr ? step_or(1) : scalar->name, step_or(1));
    const Visible made = {name("q"), a.type, a.shape};
    const auto branch = [&] {
      return body(indent, [&] {
        std::string end;
        const auto next = next_of({a}, end, indent + "  ");
        return end + fmt::format("{}  next {}\n", indent, next[0]);
      });
    };
    text += fmt::format("{}let {} = if {} {{\n", indent, made.name, condition);
    text += branch();
    text += indent + "} else {\n";
    text += branch();
    return add(text + indent + "}\n", made);
  }

  Inputs inputs_ = {};
  int depth_ = 0;
};

}  // namespace solar::exec
