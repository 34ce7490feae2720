// Reductions over few points, written out for each lane. Lanes at which every guard holds for every
// point, the interior, take a loop of their own without guards.

#include <algorithm>

#include "exec/jit/emit.h"

namespace solar::exec::native {

using ir::Guard;

void Emitter::window_row(const Value& first, const Value& last) {
  const Accumulators sum = make_accumulators(1);
  std::vector<Guard> guards;
  for (const PlacedGuard& placed : guards_) guards.push_back(*placed.guard);
  const auto lanes = [&](const Value& lo, const Value& hi, const char* hint, bool guarded) {
    text_.loop(lo, hi, hint, [&](const Value& lane) {
      const Scope scope(*this);
      set_lane(lane);
      start(sum, lane);
      window_points(sum, 0, guarded ? guards : std::vector<Guard>{});
      finish(sum, lane);
    });
  };
  if (guards.empty()) return lanes(first, last, "", false);
  const std::optional<Bounds> interior = interior_of({first, last});
  if (!interior) return lanes(first, last, "", true);
  const Value begin = text_.minimum(interior->lo, last);
  const Value end = text_.maximum(interior->hi, begin);
  text_.loop("0", "2", "", [&](const Value& side) {
    const Scope scope(*this);
    const Value before = text_.let("icmp eq i64 {}, 0", side);
    const Value lo = text_.let("select i1 {}, i64 {}, i64 {}", before, first, end);
    const Value hi = text_.let("select i1 {}, i64 {}, i64 {}", before, begin, last);
    lanes(lo, hi, "!0", true);
  });
  lanes(begin, end, "", false);
}

/// Where every guard holds for all points of the window; nothing when that is no range of lanes.
std::optional<Emitter::Bounds> Emitter::interior_of(Bounds bounds) {
  Value applies = "true";
  for (const PlacedGuard& placed : guards_) {
    if (placed.guard->kind != Guard::Kind::NonNegative) return std::nullopt;
    // The worst point: each reduced loop at the end that makes the value smallest.
    ir::Linear rest = placed.guard->value;
    int64_t step = 0;
    std::vector<ir::Term> kept;
    for (const ir::Term& term : rest.terms) {
      const bool reduced =
          std::find(order_.inner.begin(), order_.inner.end(), term.atom) != order_.inner.end();
      if (term.atom == order_.lane) {
        step = term.coefficient;
      } else if (reduced) {
        rest.constant += std::min<int64_t>(term.coefficient * (extent(term.atom) - 1), 0);
      } else {
        const uint64_t loops = atom_loops_[static_cast<size_t>(term.atom)];
        if (((loops >> order_.lane) & 1U) != 0) return std::nullopt;
        for (const int loop : order_.inner) {
          if (((loops >> loop) & 1U) != 0) return std::nullopt;
        }
        kept.push_back(term);
      }
    }
    rest.terms = kept;
    const Value value = linear(rest);
    if (step == 0) {
      const Value holds = text_.let("icmp sge i64 {}, 0", value);
      applies = applies == "true" ? holds : text_.let("and i1 {}, {}", applies, holds);
    } else if (step > 0) {
      const Value from = text_.add(text_.sub("0", value), fmt::format("{}", step - 1));
      bounds.lo = text_.maximum(bounds.lo, floor_divided(from, step));
    } else {
      const Value most = floor_divided(value, -step);
      bounds.hi = text_.minimum(bounds.hi, text_.add(most, "1"));
    }
  }
  if (applies != "true") {
    bounds.hi = text_.let("select i1 {}, i64 {}, i64 {}", applies, bounds.hi, bounds.lo);
  }
  return bounds;
}

void Emitter::window_points(const Accumulators& to, size_t depth,
                            const std::vector<Guard>& guards) {
  if (depth == order_.inner.size()) {
    const Value holds = all_hold(guards);
    if (holds == "true") return accumulate(to, "0");
    return text_.when(holds, [&] {
      const Scope scope(*this);
      accumulate(to, "0");
    });
  }
  const int loop = order_.inner[depth];
  for (int64_t at = 0; at < extent(loop); ++at) {
    const Scope scope(*this);
    loops_[static_cast<size_t>(loop)] = fmt::format("{}", at);
    window_points(to, depth + 1, guards);
  }
}

}  // namespace solar::exec::native
