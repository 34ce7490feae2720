#include <algorithm>
#include <set>

#include "einsum/lift.h"
#include "einsum/prepare.h"

namespace solar::einsum {

namespace {

bool reads_data(const std::vector<ir::Atom>& atoms) {
  return std::any_of(atoms.begin(), atoms.end(),
                     [](const ir::Atom& atom) { return atom.kind == ir::Atom::Kind::DataRead; });
}

// Subscripts elsewhere are made of these.
bool reads_data(const std::vector<ir::Statement>& statements) {
  return std::any_of(statements.begin(), statements.end(), [](const ir::Statement& statement) {
    const auto& body = statement.body;
    if (const auto* kernel = std::get_if<ir::Kernel>(&body)) return reads_data(kernel->atoms);
    if (const auto* view = std::get_if<ir::View>(&body)) return reads_data(view->atoms);
    if (const auto* scatter = std::get_if<ir::Scatter>(&body))
      return reads_data(scatter->nest.atoms);
    if (const auto* repeat = std::get_if<ir::Repeat>(&body)) return reads_data(repeat->body);
    if (const auto* loop = std::get_if<ir::While>(&body)) return reads_data(loop->body);
    if (const auto* branch = std::get_if<ir::If>(&body))
      return reads_data(branch->taken.body) || reads_data(branch->otherwise.body);
    return false;
  });
}

}  // namespace

std::vector<ir::TensorId> index_tensors(const ir::VerifiedProgram& program) {
  if (!reads_data(program->statements)) return {};
  std::set<ir::TensorId> tensors;
  // Preparing asks for the values of all of them.
  const ProgramIndex index(*program);
  const IndexValueSource note = [&](ir::TensorId id) -> std::optional<std::vector<int64_t>> {
    tensors.insert(id);
    return std::nullopt;
  };
  if (!prepare(index, note)) tensors.clear();
  return {tensors.begin(), tensors.end()};
}

}  // namespace solar::einsum
