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

/// Elements of one tensor touched by one reader, or by all.
struct Touched {
  std::array<Region, kModes> regions = {};
  int64_t data_min = 0;    // the largest proved minimum of any data-dependent read
  int64_t data_max = 0;    // the sum of their maxima
  Region data_whole = {};  // the union of what they can reach
  bool example_known = true;
};

/// Elements touched; proved where data decides.
struct ElementRange {
  int64_t min = 0;
  int64_t example = 0;
  int64_t max = 0;
};
/// nullopt: a count does not fit 64 bits.
std::optional<ElementRange> element_range(const Touched& touched);

struct Demand {
  bool depends_on_data = false;
  bool one_row_gathers = false;
  bool both_branches_read = false;
  std::vector<Region> useful_domain = {};  // per statement (kernels), minimum mode
  std::vector<Region> wanted = {};  // per statement: elements of its outputs needed, minimum mode
  std::vector<bool> live = {};      // per statement
  std::vector<bool> exact = {};     // per statement: useful_domain
  std::map<ir::TensorId, Touched> ports = {};  // read by any operator
  std::map<ir::TensorId, Touched> written =
      {};  // stored results behind outputs, and values of updates
  std::vector<std::map<ir::TensorId, Touched>> reads = {};  // per operator, from outside it
  std::map<ir::TensorId, Touched> outside =
      {};  // per computed tensor: needed by other operators or as output
};

using IndexValueSource = std::function<std::optional<std::vector<int64_t>>(ir::TensorId)>;

/// `operators`: per statement the operator it belongs to, or -1.
Demand trace_demand(const ProducerIndex& index, Prepared& prepared,
                    const std::vector<int32_t>& operators, int32_t operator_count,
                    const IndexValueSource& index_values);

}  // namespace solar::einsum
