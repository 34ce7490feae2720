#pragma once
// A statement as loops and subscripts that are sums of loops: what searches for tilings and bounds
// on traffic work with.

#include <optional>
#include <string>
#include <vector>

#include "einsum/prepare.h"

namespace solar::einsum {

struct FormLoop {
  std::string name = {};
  int64_t extent = 1;
  bool ordered = false;  // a scan, or a step
  bool is_step = false;  // of a loop around the statement
};

/// The atoms of the subscripts are positions in NestForm::loops. An axis with `whole` > 0 has no
/// such subscript (data decides, or a division that the loops do not split at): any of so many
/// elements may be read.
struct FormAccess {
  ir::TensorId tensor = {};
  std::vector<Linear> subscripts = {};
  int64_t footprint = 0;  // distinct elements at useful points; with a whole axis at most
  std::vector<int64_t> whole = {};
  bool is_regular() const;
};

struct NestForm {
  std::vector<FormLoop> loops = {};
  std::vector<FormAccess> reads = {};  // different ones
  FormAccess write = {};               // before views of it
  std::vector<Linear> guards = {};     // >= 0 at every useful point
  bool is_product = false;             // sums products of the two reads, over at least one loop
  bool is_sum = false;                 // sums over at least one loop
  int64_t points = 0;                  // of the useful domain, over all loops
};

/// Of a kernel or a concat. nullopt: what it writes is at no sum of loops, or it does more than a
/// nest: ragged ranges, a second output, a start that is read.
std::optional<NestForm> nest_form(const Placed& placed, const Statement& statement,
                                  const Region& domain, const ProgramIndex& index);

}  // namespace solar::einsum
