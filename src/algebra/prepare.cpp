#include "algebra/prepare.h"

#include <fmt/format.h>

#include <algorithm>

#include "algebra/emit.h"
#include "algebra/terms.h"
#include "algebra/working.h"
#include "base/checked.h"
#include "ir/verify.h"

namespace solar::algebra {
namespace {

bool is_known(ir::Role role) {
  return role == ir::Role::Param || role == ir::Role::Buffer || role == ir::Role::Const;
}

bool is_plain(const ir::Statement& statement) {
  return std::holds_alternative<ir::Kernel>(statement.body) ||
         std::holds_alternative<ir::View>(statement.body) ||
         std::holds_alternative<ir::Concat>(statement.body) ||
         std::holds_alternative<ir::Scatter>(statement.body) ||
         std::holds_alternative<ir::Sort>(statement.body) ||
         std::holds_alternative<ir::Repeat>(statement.body);
}

bool reduces(const ir::Statement& statement) {
  if (std::holds_alternative<ir::Repeat>(statement.body)) return true;
  const auto* kernel = std::get_if<ir::Kernel>(&statement.body);
  return kernel != nullptr && kernel->reduction != ir::Reduction::None &&
         !is_unit_reduction(*kernel);
}

/// Which tensors become parameters.
class Frontier {
 public:
  Frontier(const ir::Program& program, const std::set<std::string>& structured)
      : program_(program), fixed_(fixed_tensors(program)) {
    const size_t count = program.tensors.size();
    producer_.assign(count, -1);
    reduced_.assign(count, false);
    of_param_.assign(count, false);
    std::vector<bool> as_is(count, false);  // depends on a structured port
    for (const ir::TensorId id : program.ports) {
      const ir::Tensor& port = program.tensor(id);
      as_is[ir::index(id)] = structured.contains(port.name);
      of_param_[ir::index(id)] = port.role != ir::Role::Const;
    }
    for (const ir::Statement& statement : program.statements) {
      const auto position = static_cast<int32_t>(inputs_.size());
      inputs_.push_back(ir::inputs_of(statement));
      outputs_.push_back(ir::outputs_of(statement));
      const auto any = [&](const std::vector<bool>& of) {
        return std::any_of(inputs_.back().begin(), inputs_.back().end(),
                           [&](ir::TensorId id) { return of[ir::index(id)]; });
      };
      for (const ir::TensorId id : outputs_.back()) {
        const size_t i = ir::index(id);
        producer_[i] = position;
        reduced_[i] = reduces(statement) || any(reduced_);
        of_param_[i] = any(of_param_);
        as_is[i] = any(as_is);
        if (as_is[i] || !of_param_[i]) fixed_[i] = false;
      }
    }
    for (const ir::TensorId id : program.outputs) fixed_[ir::index(id)] = false;
    for (const ir::Update& update : program.updates) fixed_[ir::index(update.value)] = false;
  }

  std::vector<ir::TensorId> run() {
    for (;;) {
      const std::vector<ir::TensorId> found = read_later();
      const auto poor = std::find_if(found.begin(), found.end(),
                                     [&](ir::TensorId id) { return !is_worth_it(id); });
      if (poor == found.end()) return found;
      fixed_[ir::index(*poor)] = false;
    }
  }

 private:
  bool is_port(ir::TensorId id) const { return producer_[ir::index(id)] < 0; }

  bool is_later(size_t statement) const {
    return std::any_of(outputs_[statement].begin(), outputs_[statement].end(),
                       [&](ir::TensorId id) { return !fixed_[ir::index(id)]; });
  }

  /// What is fixed and computed, and read by what is not fixed; ports too if `ports`.
  std::vector<ir::TensorId> read_later(bool ports = false) const {
    std::vector<bool> seen(program_.tensors.size(), false);
    std::vector<ir::TensorId> found;
    for (size_t s = 0; s < inputs_.size(); ++s) {
      if (!is_later(s)) continue;
      for (const ir::TensorId id : inputs_[s]) {
        const size_t i = ir::index(id);
        const bool wanted = is_port(id) ? ports : fixed_[i];
        if (!wanted || seen[i]) continue;
        seen[i] = true;
        found.push_back(id);
      }
    }
    return found;
  }

  /// Of all that the rest of the program reads: no footprints, whole tensors.
  int64_t bytes_later() const {
    int64_t bits = 0;
    for (const ir::TensorId id : read_later(true)) {
      int64_t one = ir::storage_bits(program_.tensor(id).type);
      for (const int64_t extent : program_.tensor(id).shape) one = saturating_mul(one, extent);
      bits = saturating_add(bits, one);
    }
    return bits;
  }

  bool is_worth_it(ir::TensorId id) {
    const auto statement = static_cast<size_t>(producer_[ir::index(id)]);
    if (outputs_[statement].size() != 1) return false;
    if (std::holds_alternative<ir::View>(program_.statements[statement].body)) return false;
    if (reduced_[ir::index(id)]) return true;
    const int64_t with = bytes_later();
    fixed_[ir::index(id)] = false;
    const int64_t without = bytes_later();
    fixed_[ir::index(id)] = true;
    return with < without;
  }

  const ir::Program& program_;
  std::vector<bool> fixed_;
  std::vector<std::vector<ir::TensorId>> inputs_ = {};  // per statement
  std::vector<std::vector<ir::TensorId>> outputs_ = {};
  std::vector<int32_t> producer_ = {};  // per tensor
  std::vector<bool> reduced_ = {};
  std::vector<bool> of_param_ = {};
};

ir::Program without_dead(const ir::Program& program) {
  Working working(program);
  working.remove_dead();
  return working.program();
}

/// The ports without those that nothing reads.
void keep_read_ports(ir::Program& program) {
  std::set<ir::TensorId> read;
  for (const ir::Statement& statement : program.statements) {
    for (const ir::TensorId id : ir::inputs_of(statement)) read.insert(id);
  }
  std::erase_if(program.ports, [&](ir::TensorId id) { return !read.contains(id); });
}

}  // namespace

std::vector<bool> fixed_tensors(const ir::Program& program) {
  std::vector<bool> fixed(program.tensors.size(), false);
  for (const ir::TensorId id : program.ports)
    fixed[ir::index(id)] = is_known(program.tensor(id).role);
  for (const ir::Statement& statement : program.statements) {
    const std::vector<ir::TensorId> inputs = ir::inputs_of(statement);
    const bool all =
        is_plain(statement) && std::all_of(inputs.begin(), inputs.end(),
                                           [&](ir::TensorId id) { return fixed[ir::index(id)]; });
    for (const ir::TensorId id : ir::outputs_of(statement)) fixed[ir::index(id)] = all;
  }
  return fixed;
}

std::optional<Prepared> prepare(const ir::VerifiedProgram& program,
                                const std::set<std::string>& structured) {
  const std::vector<ir::TensorId> found = Frontier(*program, structured).run();
  if (found.empty()) return std::nullopt;
  ir::Program before = *program;
  before.outputs = found;
  before.output_names.clear();
  before.updates.clear();
  ir::Program rest = *program;
  std::set<std::string> taken;
  for (const ir::Tensor& tensor : rest.tensors) taken.insert(tensor.name);
  std::vector<std::string> names;
  for (const ir::TensorId id : found) {
    ir::Tensor& tensor = rest.tensors[ir::index(id)];
    std::string name = tensor.name + "_prepared";
    std::replace(name.begin(), name.end(), '.', '_');
    while (!taken.insert(name).second) name += "_";
    names.push_back(name);
    before.output_names.push_back(name);
    before.tensors[ir::index(id)].name = name;
    tensor.name = std::move(name);
    tensor.role = ir::Role::Param;
    rest.ports.push_back(id);
    std::erase_if(rest.statements, [&](const ir::Statement& statement) {
      const std::vector<ir::TensorId> outputs = ir::outputs_of(statement);
      return outputs.size() == 1 && outputs[0] == id;
    });
  }
  before = without_dead(before);
  keep_read_ports(before);
  rest = without_dead(rest);
  auto before_text = emit(before);
  auto rest_text = emit(rest);
  if (!before_text || !rest_text) return std::nullopt;
  auto beforehand = ir::verify_text(before_text->text);
  auto verified = ir::verify_text(rest_text->text);
  if (!beforehand || !verified) return std::nullopt;
  return Prepared{{std::move(*verified), std::move(rest_text->text), std::move(rest_text->names)},
                  std::move(*beforehand),
                  std::move(names)};
}

}  // namespace solar::algebra
