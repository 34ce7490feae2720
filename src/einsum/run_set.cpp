#include "einsum/run_set.h"

#include <algorithm>

namespace solar::einsum {

namespace {

constexpr int64_t kMaximumBits = int64_t{1} << 26;

// Appends to sorted runs, merging with the last one where they touch.
void append(std::vector<Run>& runs, Run run) {
  if (run.begin >= run.end) return;
  if (!runs.empty() && run.begin <= runs.back().end) {
    runs.back().end = std::max(runs.back().end, run.end);
  } else {
    runs.push_back(run);
  }
}

void sort_and_merge(std::vector<Run>& runs) {
  std::sort(runs.begin(), runs.end(), [](Run a, Run b) { return a.begin < b.begin; });
  std::vector<Run> merged;
  for (const Run run : runs) append(merged, run);
  runs = std::move(merged);
}

}  // namespace

RunSet RunSet::interval(int64_t begin, int64_t end) { return from_runs({{begin, end}}); }

RunSet RunSet::from_runs(std::vector<Run> runs) {
  RunSet result;
  const bool canonical = [&] {
    for (size_t i = 0; i < runs.size(); ++i) {
      if (runs[i].begin >= runs[i].end) return false;
      if (i > 0 && runs[i].begin <= runs[i - 1].end) return false;
    }
    return true;
  }();
  if (!canonical) sort_and_merge(runs);
  result.runs_ = std::move(runs);
  for (const Run run : result.runs_) result.count_ += run.end - run.begin;
  return result;
}

std::vector<Run>::const_iterator RunSet::first_ending_after(int64_t value) const {
  return std::upper_bound(runs_.begin(), runs_.end(), value,
                          [](int64_t v, const Run& run) { return v < run.end; });
}

bool RunSet::contains(int64_t value) const {
  const auto run = first_ending_after(value);
  return run != runs_.end() && run->begin <= value;
}

bool RunSet::covers(const RunSet& other) const {
  for (const Run run : other.runs_) {
    const auto mine = first_ending_after(run.begin);
    if (mine == runs_.end() || mine->begin > run.begin || mine->end < run.end) return false;
  }
  return true;
}

bool RunSet::is_interval(int64_t begin, int64_t end) const {
  return runs_.size() == 1 && runs_[0].begin == begin && runs_[0].end == end;
}

RunSet unite(const RunSet& a, const RunSet& b) {
  std::vector<Run> merged;
  auto i = a.runs().begin();
  auto j = b.runs().begin();
  while (i != a.runs().end() || j != b.runs().end()) {
    const bool take_a = j == b.runs().end() || (i != a.runs().end() && i->begin <= j->begin);
    append(merged, take_a ? *i++ : *j++);
  }
  return RunSet::from_runs(std::move(merged));
}

RunSet intersect(const RunSet& a, const RunSet& b) {
  std::vector<Run> common;
  auto i = a.runs().begin();
  auto j = b.runs().begin();
  while (i != a.runs().end() && j != b.runs().end()) {
    append(common, {std::max(i->begin, j->begin), std::min(i->end, j->end)});
    if (i->end < j->end) {
      ++i;
    } else {
      ++j;
    }
  }
  return RunSet::from_runs(std::move(common));
}

RunSet subtract(const RunSet& a, const RunSet& b) {
  std::vector<Run> rest;
  auto j = b.runs().begin();
  for (Run run : a.runs()) {
    while (j != b.runs().end() && j->end <= run.begin) ++j;
    for (auto k = j; k != b.runs().end() && k->begin < run.end; ++k) {
      if (k->begin > run.begin) rest.push_back({run.begin, k->begin});
      run.begin = std::max(run.begin, k->end);
    }
    if (run.begin < run.end) rest.push_back(run);
  }
  return RunSet::from_runs(std::move(rest));
}

void RunSetBuilder::add(int64_t begin, int64_t end) {
  begin = std::max<int64_t>(begin, 0);
  end = std::min(end, universe_);
  if (begin >= end) return;
  if (!bits_.empty()) return mark(begin, end);
  if (!runs_.empty() && begin >= runs_.back().begin && begin <= runs_.back().end) {
    runs_.back().end = std::max(runs_.back().end, end);
    return;
  }
  if (runs_.size() >= compact_at_) {
    compact();
    if (!bits_.empty()) return mark(begin, end);
    if (runs_.size() >= kMaximumRuns) {
      truncated_ = true;
      return;
    }
  }
  if (!runs_.empty() && begin < runs_.back().begin) sorted_ = false;
  runs_.push_back({begin, end});
}

void RunSetBuilder::compact() {
  if (!sorted_ && universe_ <= kMaximumBits) {
    bits_.assign(static_cast<size_t>(universe_ + 63) / 64, 0);
    for (const Run run : runs_) mark(run.begin, run.end);
    runs_.clear();
    return;
  }
  if (!sorted_) sort_and_merge(runs_);
  sorted_ = true;
  compact_at_ = std::min(kMaximumRuns, std::max(compact_at_, runs_.size() * 2));
}

void RunSetBuilder::mark(int64_t begin, int64_t end) {
  constexpr uint64_t kAll = ~uint64_t{0};
  const auto first = static_cast<size_t>(begin / 64);
  const auto last = static_cast<size_t>((end - 1) / 64);
  const uint64_t head = kAll << (begin % 64);
  const uint64_t tail = kAll >> (63 - (end - 1) % 64);
  if (first == last) {
    bits_[first] |= head & tail;
    return;
  }
  bits_[first] |= head;
  for (size_t word = first + 1; word < last; ++word) bits_[word] = kAll;
  bits_[last] |= tail;
}

RunSet RunSetBuilder::finish() {
  if (bits_.empty()) return RunSet::from_runs(std::move(runs_));
  std::vector<Run> runs;
  int64_t begin = -1;
  for (int64_t at = 0; at < universe_; ++at) {
    const uint64_t word = bits_[static_cast<size_t>(at / 64)];
    if (at % 64 == 0 && (word == 0 || word == ~uint64_t{0})) {
      if (word == 0 && begin >= 0) {
        runs.push_back({begin, at});
        begin = -1;
      }
      if (word != 0 && begin < 0) begin = at;
      at += 63;
      continue;
    }
    const bool set = (word >> (at % 64)) & 1;
    if (set && begin < 0) begin = at;
    if (!set && begin >= 0) {
      runs.push_back({begin, at});
      begin = -1;
    }
  }
  if (begin >= 0) runs.push_back({begin, universe_});
  return RunSet::from_runs(std::move(runs));
}

}  // namespace solar::einsum
