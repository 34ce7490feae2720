#include "exec/jit/emit.h"

#include <algorithm>

namespace solar::exec::native {

Emitter::Emitter(const Nest& nest, const LoopOrder& order, const Target& target)
    : nest_(nest),
      kernel_(*nest.kernel),
      order_(order),
      target_(target),
      loops_(nest.extents.size(), "0"),
      atom_loops_(loops_of_atoms(nest.atoms)),
      output_type_(ir::compute_type(nest.output.type)) {
  cache_.atoms.resize(nest.atoms.size());
  cache_.nodes.resize(kernel_.nodes.size());
  const bool arg =
      kernel_.reduction == ir::Reduction::ArgMax || kernel_.reduction == ir::Reduction::ArgMin;
  const bool may_skip = !nest.guards.empty() || kernel_.data_guard >= 0;
  tracks_reached_ = arg || (kernel_.otherwise >= 0 && may_skip);
  find_ranges();
  find_delicate_nodes();
  place_guards();
}

std::string Emitter::attributes(const std::string& text) {
  const auto place = std::find(attribute_groups_.begin(), attribute_groups_.end(), text);
  const auto index = place - attribute_groups_.begin();
  if (place == attribute_groups_.end()) attribute_groups_.push_back(text);
  return fmt::format("#{}", index);
}

void Emitter::tasks() {
  text_.begin("start");
  if (order_.tasks == 1) return task("0");
  text_.loop("%begin", "%end", "", [&](const Value& number) {
    const Scope scope(*this);
    task(number);
  });
}

/// Takes the task's number apart into the strip and the parallel loops.
void Emitter::task(const Value& number) {
  Value rest = number, strip = "0";
  const auto digit = [&](int64_t base, bool last) {
    if (base == 1) return Value("0");
    if (last) return rest;
    const Value value = text_.let("urem i64 {}, {}", rest, base);
    rest = text_.let("udiv i64 {}, {}", rest, base);
    return value;
  };
  const bool only_strips = order_.parallel.empty();
  strip = digit(order_.strips, only_strips);
  for (size_t i = order_.parallel.size(); i-- > 0;) {
    const int loop = order_.parallel[i];
    loops_[static_cast<size_t>(loop)] = digit(extent(loop), i == 0);
  }
  Value first = "0", last = "1";
  if (order_.lane >= 0 && order_.lane_is_target) {
    first = text_.scaled(strip, order_.strip);
    last = text_.add(first, fmt::format("{}", order_.strip));
    if (extent(order_.lane) % order_.strip != 0) {
      last = text_.minimum(last, fmt::format("{}", extent(order_.lane)));
    }
  }
  outer_loops(0, first, last);
}

void Emitter::outer_loops(size_t depth, const Value& first, const Value& last) {
  if (depth == order_.outer.size()) return row(first, last);
  const int loop = order_.outer[depth];
  text_.loop("0", fmt::format("{}", extent(loop)), "", [&](const Value& value) {
    const Scope scope(*this);
    loops_[static_cast<size_t>(loop)] = value;
    outer_loops(depth + 1, first, last);
  });
}

namespace {

struct Argument {
  std::string name;
  bool written = false;
};

std::vector<Argument> arguments_of(const Nest& nest) {
  std::vector<Argument> result = {{"%out", true}, {"%out2", true}};
  for (size_t i = 0; i < nest.accesses.size(); ++i) result.push_back({fmt::format("%a{}", i)});
  for (size_t i = 0; i < nest.atoms.size(); ++i) {
    if (nest.atoms[i].kind == ir::Atom::Kind::DataRead) result.push_back({fmt::format("%d{}", i)});
  }
  return result;
}

}  // namespace

std::vector<void*> pointers_of(const Nest& nest) {
  std::vector<void*> result = {nest.output.data, nest.second_output.data};
  for (const NestAccess& access : nest.accesses) result.push_back(access.from.data);
  for (size_t i = 0; i < nest.atoms.size(); ++i) {
    if (nest.atoms[i].kind == ir::Atom::Kind::DataRead) {
      result.push_back(nest.atom_sources[i].data);
    }
  }
  return result;
}

std::vector<int64_t> constants_of(const Nest& nest) {
  std::vector<int64_t> result;
  for (const NestAccess& access : nest.accesses) result.push_back(access.position.constant);
  for (const ir::Atom& atom : nest.atoms) {
    if (atom.kind == ir::Atom::Kind::Step)
      result.push_back(nest.steps[static_cast<size_t>(atom.step)]);
  }
  return result;
}

std::optional<std::string> Emitter::emit() {
  tasks();
  if (!supported_) return std::nullopt;
  const std::vector<Argument> arguments = arguments_of(nest_);
  std::string parameters, loads, passed, module;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& [name, written] = arguments[i];
    parameters += fmt::format("ptr noalias nocapture {} {}, ", written ? "" : "readonly", name);
    loads += fmt::format(
        "  %p{0}.at = getelementptr ptr, ptr %pointers, i64 {0}\n"
        "  {1} = load ptr, ptr %p{0}.at\n",
        i, name);
    passed += fmt::format("ptr {}, ", name);
  }
  for (size_t i = 0; i < nest_.accesses.size(); ++i) {
    parameters += fmt::format("i64 %c{}, ", i);
    loads += fmt::format(
        "  %c{0}.at = getelementptr i64, ptr %constants, i64 {0}\n"
        "  %c{0} = load i64, ptr %c{0}.at\n",
        i);
    passed += fmt::format("i64 %c{}, ", i);
  }
  size_t constant = nest_.accesses.size();
  for (size_t i = 0; i < nest_.atoms.size(); ++i) {
    if (nest_.atoms[i].kind != ir::Atom::Kind::Step) continue;
    parameters += fmt::format("i64 %t{}, ", i);
    loads += fmt::format(
        "  %t{0}.at = getelementptr i64, ptr %constants, i64 {1}\n"
        "  %t{0} = load i64, ptr %t{0}.at\n",
        i, constant++);
    passed += fmt::format("i64 %t{}, ", i);
  }
  const std::string inner = attributes("noinline nounwind \"prefer-vector-width\"=\"256\"");
  module += fmt::format("define internal i32 @run({}i64 %begin, i64 %end) {} {{\nentry:\n",
                        parameters, inner);
  module += text_.rooms();
  module += "  %bad = alloca i32\n  store i32 0, ptr %bad\n  br label %start\n";
  module += text_.body();
  module += "  %result = load i32, ptr %bad\n  ret i32 %result\n}\n";
  module += fmt::format(
      "define i32 @KERNEL(ptr %pointers, ptr %constants, i64 %begin, i64 %end) {} {{\n{}"
      "  %result = call i32 @run({}i64 %begin, i64 %end)\n  ret i32 %result\n}}\n",
      attributes("nounwind"), loads, passed);
  for (const std::string& declaration : text_.declarations()) module += declaration + "\n";
  if (!vector_symbols_.empty()) {
    std::string list;
    for (const std::string& symbol : vector_symbols_) {
      list += fmt::format("{}ptr @{}", list.empty() ? "" : ", ", symbol);
    }
    module += fmt::format(
        "@llvm.compiler.used = appending global [{} x ptr] [{}], section \"llvm.metadata\"\n",
        vector_symbols_.size(), list);
  }
  for (size_t i = 0; i < attribute_groups_.size(); ++i) {
    module += fmt::format("attributes #{} = {{ {} }}\n", i, attribute_groups_[i]);
  }
  module += "!0 = distinct !{!0, !1}\n!1 = !{!\"llvm.loop.vectorize.enable\", i1 false}\n";
  return module;
}

std::optional<std::string> emit_module(const Nest& nest, const LoopOrder& order,
                                       const Target& target) {
  return Emitter(nest, order, target).emit();
}

}  // namespace solar::exec::native
