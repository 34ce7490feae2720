#pragma once
// Which elements of which tensors the outputs need, traced backwards from outputs and updates.

#include <array>
#include <map>
#include <vector>

#include "einsum/prepare.h"

namespace solar::einsum {

/// How a data-dependent subscript is taken: the least it can touch, what it touches at the given
/// index values, the most. Programs without such subscripts need only the first pass.
enum class Mode : uint8_t { Min, Example, Max };
constexpr size_t kModes = 3;

/// Elements of one tensor touched by one reader, or by all. An empty region may lack its shape.
struct Touched {
  std::array<Region, kModes> regions = {Region::none({}), Region::none({}), Region::none({})};
  int64_t data_min = 0;                  // the largest proved minimum of any data-dependent read
  int64_t data_max = 0;                  // the sum of their maxima
  Region data_whole = Region::none({});  // the union of what they can reach
  bool example_known = true;
};

/// Elements touched; proved where data decides.
struct ElementRange {
  int64_t min = 0;
  int64_t example = 0;
  int64_t max = 0;
};
/// nullopt: a count does not fit 64 bits. Without `by_data` only the first mode was traced.
std::optional<ElementRange> element_range(const Touched& touched, bool by_data);

/// Which statements are one source operator.
struct Grouping {
  std::vector<int32_t> of_statement = {};  // per placed statement, or -1
  std::vector<size_t> steps = {};          // per operator: the loops around all of it
};

struct Demand {
  bool depends_on_data = false;
  bool one_row_gathers = false;
  bool both_branches_read = false;
  std::vector<Region> useful_domain = {};  // per statement (first piece), minimum mode
  std::vector<Region> wanted = {};  // per statement: elements of its outputs needed, minimum mode
  std::vector<bool> live = {};      // per statement
  std::vector<bool> exact = {};     // per statement: useful_domain
  std::map<ir::TensorId, Touched> ports = {};  // read by any operator
  /// Stored results: tensors behind outputs and values of updates; a port stands for what is
  /// overwritten in its memory.
  std::map<ir::TensorId, Touched> written = {};
  /// Per operator, from outside it. If the operator runs at every step of a loop and the tensor is
  /// from outside of the loop, the steps are more axes: each run reads for itself.
  std::vector<std::map<ir::TensorId, Touched>> reads = {};
  std::map<ir::TensorId, Touched> outside =
      {};  // per computed tensor: needed by other operators or as output
};

Demand trace_demand(const ProgramIndex& index, const Prepared& prepared, const Grouping& grouping);

}  // namespace solar::einsum
