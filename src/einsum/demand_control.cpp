// Demand through loops and branches. What step t needs of step t - 1 depends on step t alone, so a
// loop has exactly one solution: any guess that a trial of the body reproduces is it.

#include <algorithm>

#include "einsum/tracer.h"

namespace solar::einsum {

namespace {

constexpr int64_t kMaximumTrials = 64;

// `region` where the last axis lies in begin <= t < end.
Region at_steps(const Region& region, int64_t begin, int64_t end) {
  const auto last = static_cast<int32_t>(region.shape().size()) - 1;
  Region steps = Region::full(region.shape());
  steps.restrict({last}, RunSet::interval(begin, end));
  return intersect(region, steps);
}

// The region as it is at `step`, at that step and all before.
Region repeated_before(const Region& region, int64_t step) {
  const Nest nest(region.shape());
  std::vector<Linear> axes;
  for (int32_t axis = 0; axis < nest.loop_count(); ++axis) axes.push_back(single(axis));
  std::vector<bool> whole(axes.size(), false);
  whole.back() = true;
  const Region points = solve(nest, memberships(nest, axes, at_steps(region, step, step + 1)));
  return at_steps(image(nest, points, axes, region.shape(), whole), 0, step + 1);
}

bool same(const Region& a, const Region& b) {
  return a.same_as(b) || (covers(a, b) && covers(b, a));
}

}  // namespace

bool Tracer::on_estimate() const {
  return std::any_of(trials_.begin(), trials_.end(),
                     [](const Trial& trial) { return trial.outside == nullptr; });
}

Tracer::Carries Tracer::carries_needed(int32_t body) const {
  Carries needed;
  for (const int32_t carry : index_.block(body).carries) {
    const ir::TensorId inside = index_.placed(carry).carried->inside;
    const Region& read = demand_[ir::index(inside)];
    needed.read.push_back(read.empty() ? Region::none(index_.shape(inside)) : read);
    const auto stored = stored_.find(inside);
    needed.stored.push_back(stored == stored_.end() ? Region::none(index_.shape(inside))
                                                    : stored->second);
  }
  return needed;
}

void Tracer::loop_pass(int32_t at, const Carries& carried) {
  const Placed& placed = index_.placed(at);
  const int32_t body = placed.bodies[0];
  const std::vector<int32_t>& carries = index_.block(body).carries;
  for (size_t i = 0; i < carries.size(); ++i) {
    trace_carry(carries[i], carried.read[i], carried.stored[i]);
  }
  if (const auto* loop = std::get_if<ir::While>(&placed.statement->body))
    read_control(at, loop->test);
  trace_block(body);
}

// What the steps need of each other if they need `carried`.
Tracer::Carries Tracer::estimate(int32_t at, const Carries& carried) {
  const int32_t body = index_.placed(at).bodies[0];
  std::vector<std::pair<ir::TensorId, Region>> saved;
  for (const ir::TensorId id : index_.tensors_in(body))
    saved.emplace_back(id, demand_[ir::index(id)]);
  const auto stored = stored_;
  trials_.push_back({body, nullptr});
  loop_pass(at, carried);
  trials_.pop_back();
  Carries needed = carries_needed(body);
  for (auto& [id, region] : saved) demand_[ir::index(id)] = std::move(region);
  stored_ = stored;
  return needed;
}

void Tracer::trace_loop(int32_t at) {
  const int32_t body = index_.placed(at).bodies[0];
  const std::vector<ir::TensorId> tensors = index_.tensors_in(body);
  const bool live = std::any_of(tensors.begin(), tensors.end(), [&](ir::TensorId id) {
    return !demand_[ir::index(id)].empty() || stored_.contains(id);
  });
  if (!live) return;
  const int64_t steps = index_.step_loop(index_.block(body).loops.back()).extent;
  Carries guess = carries_needed(body);
  const bool in_place = !stored_.empty();
  for (Region& region : guess.read) region = Region::full(region.shape());
  for (size_t i = 0; i < guess.stored.size(); ++i) {
    const ir::TensorId inside = index_.placed(index_.block(body).carries[i]).carried->inside;
    if (in_place && memory_of(inside)) guess.stored[i] = Region::full(guess.stored[i].shape());
  }
  const auto each = [](const Carries& a, const Carries& b, auto relation) {
    const auto all = [&](const std::vector<Region>& x, const std::vector<Region>& y) {
      return std::equal(x.begin(), x.end(), y.begin(), relation);
    };
    return all(a.read, b.read) && all(a.stored, b.stored);
  };
  const auto change = [](Carries& carries, auto how) {
    for (Region& region : carries.read) region = how(region);
    for (Region& region : carries.stored) region = how(region);
  };
  bool exact = true;
  for (int64_t trial = 1;; ++trial) {
    Carries found = estimate(at, guess);
    const bool solved = each(found, guess, same);
    guess = std::move(found);
    // The last `trial` steps are as they are in truth whatever was guessed of the others.
    const int64_t proved = std::max<int64_t>(steps - trial, 0);
    if (solved || proved == 0) break;
    if (trial % 2 != 0 && trial < kMaximumTrials) continue;
    const Carries last = guess;
    change(guess, [&](const Region& region) {
      return unite(at_steps(region, proved, steps), repeated_before(region, proved));
    });
    if (trial < kMaximumTrials) continue;
    // Out of patience: a guess that needs itself is part of the truth, and so are the last steps.
    exact = false;
    guess = estimate(at, guess);
    if (mode_ == Mode::Max) {
      change(guess, [](const Region& region) { return Region::full(region.shape()); });
    } else if (!each(estimate(at, guess), guess, covers)) {
      guess = last;
      change(guess, [&](const Region& region) { return at_steps(region, proved, steps); });
    }
    break;
  }
  loop_pass(at, guess);
  if (exact || mode_ != Mode::Min) return;
  for (const ir::TensorId id : tensors) {
    const int32_t producer = index_.producer(id);
    if (producer >= 0) result_.exact[static_cast<size_t>(producer)] = false;
  }
}

// All of a condition, by a loop or a branch.
void Tracer::read_control(int32_t at, ir::TensorId condition) {
  operator_ = grouping_.of_statement[static_cast<size_t>(at)];
  const Placed& placed = index_.placed(at);
  const bool loop = std::holds_alternative<ir::While>(placed.statement->body);
  const Block& block = loop ? index_.block(placed.bodies[0]) : index_.block_of(placed);
  Nest nest(index_.extents(block.loops));
  Piece piece;
  piece.nest = &nest;
  std::vector<Linear> steps;
  for (int32_t step = 0; step < nest.loop_count(); ++step) {
    piece.steps.push_back(step);
    steps.push_back(single(step));
  }
  FoldedAccess access = index_.fold(nest, condition, index_.with_steps(condition, {}, steps));
  const Region points = Region::full(nest.extents());
  read(piece, {std::move(access), {}, -1}, points, points);
}

void Tracer::trace_carry(int32_t at, const Region& read, const Region& stored) {
  const Statement& statement = prepared_.statements[static_cast<size_t>(at)];
  if (statement.generated) return;
  operator_ = grouping_.of_statement[static_cast<size_t>(at)];
  for (const Piece& piece : statement.pieces) {
    const Region points = restricted(piece, {}, &piece.domain, read);
    for (const Use& use : piece.uses) this->read(piece, use, points, read);
    if (stored.empty()) continue;
    const FoldedAccess& access = piece.uses.back().access;
    if (index_.is_port(access.base)) continue;
    const Region kept = restricted(piece, {}, &piece.domain, stored);
    need_result(access.base,
                image(*piece.nest, kept, access.subscripts, index_.shape(access.base)));
  }
}

void Tracer::trace_if(int32_t at) {
  const Placed& placed = index_.placed(at);
  if (placed.bodies.size() > 1) return trace_unknown_if(at);
  const int32_t body = placed.bodies[0];
  trace_block(body);
  const std::vector<ir::TensorId> tensors = index_.tensors_in(body);
  const bool live = std::any_of(tensors.begin(), tensors.end(),
                                [&](ir::TensorId id) { return !demand_[ir::index(id)].empty(); });
  if (live) read_control(at, std::get<ir::If>(placed.statement->body).condition);
}

std::map<ir::TensorId, Region> Tracer::trace_branch(int32_t at, int32_t body,
                                                    const ir::Branch& branch,
                                                    const std::vector<Region>& wanted) {
  std::map<ir::TensorId, Region> outside;
  trials_.push_back({body, &outside});
  for (size_t i = 0; i < wanted.size(); ++i) {
    operator_ = grouping_.of_statement[static_cast<size_t>(at)];
    if (wanted[i].empty()) continue;
    Nest nest(wanted[i].shape());
    std::vector<Linear> axes;
    for (int32_t axis = 0; axis < nest.loop_count(); ++axis) axes.push_back(single(axis));
    axes.resize(index_.shape(branch.values[i]).size());
    const FoldedAccess access = index_.fold(nest, branch.values[i], std::move(axes));
    Piece piece;
    piece.nest = &nest;
    read(piece, {access, {}, -1}, wanted[i], wanted[i]);
  }
  trace_block(body);
  trials_.pop_back();
  return outside;
}

// Either branch may run: what both need from outside is needed.
void Tracer::trace_unknown_if(int32_t at) {
  const Placed& placed = index_.placed(at);
  const auto& branch = std::get<ir::If>(placed.statement->body);
  std::vector<Region> wanted;
  for (const ir::TensorId result : branch.results) wanted.push_back(demand_[ir::index(result)]);
  const bool live = std::any_of(wanted.begin(), wanted.end(),
                                [](const Region& region) { return !region.empty(); });
  if (!live) return;
  if (mode_ == Mode::Min && !on_estimate()) {
    result_.live[static_cast<size_t>(at)] = true;
    result_.exact[static_cast<size_t>(at)] = false;
  }
  read_control(at, branch.condition);
  const auto taken = trace_branch(at, placed.bodies[0], branch.taken, wanted);
  const auto other = trace_branch(at, placed.bodies[1], branch.otherwise, wanted);
  operator_ = grouping_.of_statement[static_cast<size_t>(at)];
  for (const auto& [base, region] : taken) {
    const auto also = other.find(base);
    if (mode_ == Mode::Max) {
      read_region(base, also == other.end() ? region : unite(region, also->second));
    } else if (also != other.end()) {
      read_region(base, intersect(region, also->second));
    }
  }
  if (mode_ != Mode::Max) return;
  for (const auto& [base, region] : other) {
    if (!taken.contains(base)) read_region(base, region);
  }
}

void Tracer::read_region(ir::TensorId base, const Region& region) {
  if (region.empty()) return;
  need(base, region);
  if (on_trial()) return;
  if (index_.is_port(base)) merge(result_.ports[base], region);
  if (!is_outside(base)) return;
  if (!index_.is_port(base)) merge(result_.outside[base], region);
  const auto op = static_cast<size_t>(operator_);
  if (operator_ < 0 || grouping_.steps[op] > index_.loops(base).size()) return;
  merge(result_.reads[op][base], region);
}

}  // namespace solar::einsum
