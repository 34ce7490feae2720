#pragma once
// The same counts by going through every point of every run of every statement with sets of
// elements: slow, and written without anything of the lifter. For programs of a few thousand
// points.

#include "einsum/brute_force_zeros_test_util.h"

namespace solar::einsum {

class BruteForce : public BruteForceZeros {
 public:
  explicit BruteForce(const ir::Program& program, std::vector<exec::ControlPath> paths = {},
                      PortValues port_values = {}, bool zero_factors = false)
      : BruteForceZeros(program, std::move(paths), std::move(port_values)),
        zero_factors_(zero_factors),
        needed_(unrolled_.values().size()),
        useful_points_(unrolled_.statements().size()) {
    for (const ir::TensorId output : program.outputs) store(output);
    for (size_t i = unrolled_.instances().size(); i-- > 0;) {
      instance_ = &unrolled_.instances()[i];
      trace(static_cast<int64_t>(i));
    }
  }

  /// Elements of a port that the outputs need, by row-major index.
  const std::set<int64_t>& needed(ir::TensorId port) const {
    return needed_[unrolled_.final_value(port)];
  }
  /// The bytes that are written for the results; two results may share elements.
  int64_t stored_bytes() const {
    int64_t bytes = 0;
    for (const auto& [at, elements] : stored_) {
      const ir::TensorId id = unrolled_.values()[at];
      if (is_port(id)) continue;
      const auto& all = is_in_place(id) ? overwritten_.at(at) : elements;
      bytes += static_cast<int64_t>(all.size()) *
               std::max(ir::storage_bits(program_.tensor(id).type) / 8, 1);
    }
    return bytes;
  }
  /// Points of a kernel, in all its runs, that contribute to needed elements and are not
  /// structurally zero.
  int64_t useful_points(size_t statement) const {
    return static_cast<int64_t>(useful_points_[statement].size());
  }
  /// Values of their atoms, the loops first, and the run.
  const std::vector<std::vector<int64_t>>& points(size_t statement) const {
    return useful_points_[statement];
  }
  bool is_view(ir::TensorId id) const {
    for (const Instance& instance : unrolled_.instances()) {
      if (instance.statement == nullptr) continue;
      const auto* view = std::get_if<ir::View>(&instance.statement->body);
      if (view != nullptr && view->output == id) return true;
    }
    return false;
  }
  /// How many of them differ in their run or in the loops marked in `used`.
  int64_t useful_points(size_t statement, const std::vector<bool>& used) const {
    std::set<std::vector<int64_t>> projected;
    for (const auto& point : useful_points_[statement]) {
      std::vector<int64_t> kept = {point.back()};
      for (size_t i = 0; i < used.size(); ++i) kept.push_back(used[i] ? point[i] : 0);
      projected.insert(std::move(kept));
    }
    return static_cast<int64_t>(projected.size());
  }

 private:
  bool is_needed(ir::TensorId tensor, int64_t at) const {
    return needed_[value(tensor)].contains(at);
  }
  void need(ir::TensorId tensor, int64_t at) { needed_[value(tensor)].insert(at); }
  void need_all(size_t value) {
    const ir::TensorId tensor = unrolled_.values()[value];
    for (int64_t i = 0; i < ir::element_count(program_.tensor(tensor).shape); ++i)
      needed_[value].insert(i);
  }

  void read(const ir::Kernel& kernel, int32_t id, const Values& atoms) {
    if (id < 0) return;
    const Node& n = node(kernel, id);
    // What is multiplied by a zero is not needed, if that is asked for.
    const bool vanishes = zero_factors_ && (n.op == Op::Mul || n.op == Op::Div || n.op == Op::And);
    if (vanishes && surely_zero(kernel, id, atoms)) return;
    if (n.op == Op::Load) {
      const ir::Access& access = kernel.accesses[static_cast<size_t>(n.reference)];
      need(access.tensor, element(access.tensor, access.subscripts, atoms));
      for (const ir::Linear& subscript : access.subscripts) need_data(kernel, subscript, atoms);
    }
    if (n.op == Op::Index)
      need_data(kernel, kernel.linears[static_cast<size_t>(n.reference)], atoms);
    read(kernel, n.a, atoms);
    const auto condition = n.op == Op::Select ? truth(kernel, n.a, atoms) : std::nullopt;
    if (!condition || *condition) read(kernel, n.b, atoms);
    if (!condition || !*condition) read(kernel, n.c, atoms);
  }

  // What an element of a view or of a stack is an element of.
  std::pair<size_t, int64_t> origin(size_t at, int64_t element) {
    for (const Instance& instance : unrolled_.instances()) {
      const auto* view = instance.statement == nullptr
                             ? nullptr
                             : std::get_if<ir::View>(&instance.statement->body);
      const bool stack = !instance.parts.empty() && instance.stacked == at;
      if (!stack && (view == nullptr || instance.values.at(view->output) != at)) continue;
      instance_ = &instance;
      std::pair<size_t, int64_t> found;
      each_stacked([&](size_t part, int64_t from, int64_t to) {
        if (to == element) found = {part, from};
      });
      if (view != nullptr) {
        each(program_.tensor(view->output).shape, [&](const Values& to) {
          if (flat(view->output, to) != element) return;
          const Values atoms = complete(view->atoms, to);
          found = {value(view->input), this->element(view->input, view->subscripts, atoms)};
        });
      }
      return origin(found.first, found.second);
    }
    return {at, element};
  }

  void need_data(const ir::Kernel& kernel, const ir::Linear& value, const Values& atoms) {
    each_data_read(kernel.atoms, value, [&](const ir::Atom& atom) {
      need(atom.tensor, element(atom.tensor, atom.operands, atoms));
    });
  }

  bool is_port(ir::TensorId id) const {
    return std::find(program_.ports.begin(), program_.ports.end(), id) != program_.ports.end();
  }

  // A scatter into the memory of a port.
  bool is_in_place(ir::TensorId id) const {
    for (const ir::Statement& statement : program_.statements) {
      const auto* scatter = std::get_if<ir::Scatter>(&statement.body);
      if (scatter != nullptr && scatter->nest.output == id)
        return scatter->donated && is_port(*scatter->base);
    }
    return false;
  }

  // Of a scatter into a port's memory only what it writes is needed; else all of an output.
  void store(ir::TensorId output) {
    const size_t result = unrolled_.final_value(output);
    for (int64_t i = 0; i < ir::element_count(program_.tensor(output).shape); ++i) {
      const auto [at, element] = origin(result, i);
      stored_[at].insert(element);
      if (!is_in_place(unrolled_.values()[at])) needed_[result].insert(i);
    }
  }

  void trace(int64_t run) {
    for (size_t i = 0; i < instance_->results.size(); ++i) {
      // What is made of no input is a constant, once the way is known.
      const auto& sources = instance_->sources[i];
      const bool constant = std::all_of(sources.begin(), sources.end(), [&](size_t source) {
        return generated(unrolled_.values()[source]);
      });
      if (needed_[instance_->results[i]].empty() || constant) continue;
      for (const size_t condition : instance_->conditions) need_all(condition);
    }
    if (instance_->statement == nullptr) {
      each_stacked([&](size_t part, int64_t from, int64_t to) {
        if (needed_[instance_->stacked].contains(to)) needed_[part].insert(from);
      });
      return;
    }
    const auto& body = instance_->statement->body;
    if (const auto* view = std::get_if<ir::View>(&body)) {
      each(program_.tensor(view->output).shape, [&](const Values& at) {
        if (!is_needed(view->output, flat(view->output, at))) return;
        const Values atoms = complete(view->atoms, at);
        need(view->input, element(view->input, view->subscripts, atoms));
        need_data(view->atoms, atoms);
      });
    } else if (const auto* concat = std::get_if<ir::Concat>(&body)) {
      each_part(*concat, [&](ir::TensorId input, int64_t from, int64_t to) {
        if (is_needed(concat->output, to)) need(input, from);
      });
    } else if (const auto* sort = std::get_if<ir::Sort>(&body)) {
      trace(*sort);
    } else if (const auto* compact = std::get_if<ir::Compact>(&body)) {
      if (!needed_[value(compact->output)].empty() || !needed_[value(compact->count)].empty())
        need_all(value(compact->input));
    } else if (const auto* scatter = std::get_if<ir::Scatter>(&body)) {
      trace(run, *scatter);
    } else if (const auto* kernel = std::get_if<ir::Kernel>(&body)) {
      trace(run, *kernel);
    }
  }

  // A needed element needs its line of the input.
  void trace(const ir::Sort& sort) {
    const auto axis = static_cast<size_t>(sort.axis);
    each(program_.tensor(sort.values).shape, [&](Values at) {
      const int64_t to = flat(sort.values, at);
      if (!is_needed(sort.values, to) && !is_needed(sort.positions, to)) return;
      for (at[axis] = 0; at[axis] < program_.tensor(sort.input).shape[axis]; ++at[axis])
        need(sort.input, flat(sort.input, at));
    });
  }

  void trace(int64_t run, const ir::Scatter& scatter) {
    const ir::Kernel& nest = scatter.nest;
    const bool sets = nest.reduction == ir::Reduction::None;
    const bool skips_zeros = nest.reduction == ir::Reduction::Sum || (sets && !scatter.base);
    std::set<int64_t> reached;
    each_point(nest, [&](const Values& atoms) {
      const int64_t at = element(nest.output, scatter.subscripts, atoms);
      reached.insert(at);
      const auto wanted = stored_.find(value(nest.output));
      const bool in_place =
          is_in_place(nest.output) && wanted != stored_.end() && wanted->second.contains(at);
      if (!is_needed(nest.output, at) && !in_place) return;
      if (in_place) overwritten_[value(nest.output)].insert(at);
      if (in_place && !sets) need(*scatter.base, at);
      if (skips_zeros && surely_zero(nest, nest.value, atoms)) return;
      note_point(run, atoms);
      read(nest, nest.value, atoms);
      need_data(nest.atoms, atoms);
    });
    if (!scatter.base) return;
    for (const int64_t at : needed_[value(nest.output)]) {
      if (!sets || !reached.contains(at)) need(*scatter.base, at);
    }
  }

  // The index tensors that the atoms read at one point. Scatters here use all of their atoms.
  void need_data(const std::vector<ir::Atom>& table, const Values& atoms) {
    for (const ir::Atom& atom : table) {
      if (atom.kind != ir::Atom::Kind::DataRead) continue;
      need(atom.tensor, element(atom.tensor, atom.operands, atoms));
    }
  }

  void note_point(int64_t run, Values atoms) {
    atoms.push_back(run);
    useful_points_[unrolled_.number_of(instance_->statement)].push_back(std::move(atoms));
  }

  bool is_needed(const ir::Kernel& kernel, const Values& atoms) const {
    const int64_t at = target(kernel, atoms);
    return is_needed(kernel.output, at) ||
           (kernel.second_output && is_needed(*kernel.second_output, at));
  }

  bool uses_previous(const ir::Kernel& kernel, int32_t id, const Values& atoms) const {
    if (id < 0 || (zero_factors_ && surely_zero(kernel, id, atoms))) return false;
    const Node& n = node(kernel, id);
    if (n.op == Op::Prev || uses_previous(kernel, n.a, atoms)) return true;
    const auto condition = n.op == Op::Select ? truth(kernel, n.a, atoms) : std::nullopt;
    return ((!condition || *condition) && uses_previous(kernel, n.b, atoms)) ||
           ((!condition || !*condition) && uses_previous(kernel, n.c, atoms));
  }

  // A needed step of an ordered loop needs the one before.
  void need_previous(const ir::Kernel& kernel) {
    for (size_t loop = 0; loop < kernel.loops.size(); ++loop) {
      const ir::Loop& ordered = kernel.loops[loop];
      if (ordered.order == ir::Loop::Order::Any) continue;
      const int64_t back = ordered.order == ir::Loop::Order::Ascending ? -1 : 1;
      for (int64_t step = 0; step < ordered.extent; ++step) {
        each_point(kernel, [&](const Values& atoms) {
          Values before = atoms;
          before[loop] += back;
          if (before[loop] < 0 || before[loop] >= ordered.extent) return;
          if (is_needed(kernel, atoms) && uses_previous(kernel, kernel.value, atoms))
            need(kernel.output, target(kernel, before));
        });
      }
    }
  }

  // Where the guards hold that do not depend on data, which are read there.
  void need_guards(const ir::Kernel& kernel) {
    std::vector<const ir::Guard*> index_guards, data_guards;
    for (const ir::Guard& guard : kernel.guards) {
      bool data = false;
      each_data_read(kernel.atoms, guard.value, [&](const ir::Atom&) { data = true; });
      (data ? data_guards : index_guards).push_back(&guard);
    }
    if (data_guards.empty()) return;
    each_point(kernel, index_guards, true, [&](const Values& atoms) {
      if (!is_needed(kernel, atoms)) return;
      for (const ir::Guard* guard : data_guards) need_data(kernel, guard->value, atoms);
    });
  }

  void trace(int64_t run, const ir::Kernel& kernel) {
    const bool skips_zeros =
        kernel.reduction == ir::Reduction::None || kernel.reduction == ir::Reduction::Sum;
    need_previous(kernel);
    need_guards(kernel);
    each_point(
        kernel,
        [&](const Values& atoms) {
          for (const ir::Loop& loop : kernel.loops) {
            if (!loop.ragged || !is_needed(kernel, atoms)) continue;
            need_data(kernel, loop.ragged->begin, atoms);
            need_data(kernel, loop.ragged->end, atoms);
          }
        },
        false);
    std::set<int64_t> reached;
    each_point(kernel, [&](const Values& atoms) {
      reached.insert(target(kernel, atoms));
      if (!is_needed(kernel, atoms)) return;
      if (skips_zeros && surely_zero(kernel, kernel.value, atoms)) return;
      note_point(run, atoms);
      read(kernel, kernel.value, atoms);
      read(kernel, kernel.second_value, atoms);
    });
    if (kernel.init < 0 && kernel.otherwise < 0) return;
    each(program_.tensor(kernel.output).shape, [&](const Values& at) {
      const int64_t to = flat(kernel.output, at);
      const Values atoms = at_target(kernel, at);
      if (!is_needed(kernel, atoms)) return;
      if (reached.contains(to) || kernel.otherwise < 0) read(kernel, kernel.init, atoms);
      if (!reached.contains(to)) read(kernel, kernel.otherwise, atoms);
    });
  }

  bool zero_factors_;
  std::vector<std::set<int64_t>> needed_;
  std::map<size_t, std::set<int64_t>> stored_ = {};       // per value: elements of results
  std::map<size_t, std::set<int64_t>> overwritten_ = {};  // those in the memory of a port
  // Per statement: values of all atoms, the loops first, and the run.
  std::vector<std::vector<Values>> useful_points_;
};

}  // namespace solar::einsum
