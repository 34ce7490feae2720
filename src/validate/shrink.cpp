#include "validate/shrink.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <optional>
#include <set>

namespace solar::validate {
namespace {

constexpr int64_t kBatchCap = 3;

bool is_batch(const std::string& name) {
  std::string lower;
  for (char c : name) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower.find("batch") != std::string::npos;
}

int64_t halved(int64_t value, int64_t cap) {
  while (value > cap) value /= 2;
  return std::max<int64_t>(value, 1);
}

/// Multiples near `small` that keep most of its factors of two.
std::vector<int64_t> alternatives(int64_t small, int variant) {
  std::vector<int64_t> values = {small};
  if (small % 2 == 0) values.push_back(small / 2 * 3);
  if (small % 4 == 0) {
    values.push_back(small / 4 * 5);
    values.push_back(small / 4 * 3);
    values.push_back(small / 4 * 7);
  }
  values.push_back(small * 2);
  values.push_back(small + 1);
  values.push_back(small + 2);
  values.push_back(small + 3);
  std::rotate(values.begin(), values.begin() + variant % static_cast<int>(values.size()),
              values.end());
  return values;
}

/// The size of a batch that is to be tiny.
std::optional<int64_t> tiny_batch(const frontend::SourceConstant& constant, int variant,
                                  Batch batch) {
  if (batch != Batch::Tiny || !is_batch(constant.name) || constant.value <= kBatchCap)
    return std::nullopt;
  return kBatchCap - (variant % 2);
}

/// What each value stays a multiple of: the steps of all constants that have it.
std::map<int64_t, int64_t> steps_of(const std::vector<frontend::SourceConstant>& constants) {
  std::map<int64_t, int64_t> steps;
  for (const frontend::SourceConstant& constant : constants) {
    int64_t& step = steps.try_emplace(constant.value, 1).first->second;
    if (constant.step < 1 || constant.value % constant.step != 0) continue;
    const int64_t both = std::lcm(step, constant.step);
    if (constant.value % both == 0) step = both;
  }
  return steps;
}

/// Values for a constant, the first the most wanted; of several steps, as one may hide a mistake.
std::vector<int64_t> candidates(int64_t value, int64_t step, int64_t cap, int variant) {
  const int64_t small = halved(value, cap);
  if (step == 1) return alternatives(small, variant);
  std::vector<int64_t> values =
      alternatives(std::max<int64_t>((small + step - 1) / step, 2), variant);
  for (int64_t& each : values) each *= step;
  return values;
}

}  // namespace

Overrides shrink(const std::vector<frontend::SourceConstant>& constants, int64_t cap, bool distinct,
                 int variant, const std::vector<std::string>& kept, Batch batch) {
  Overrides overrides;
  std::map<int64_t, int64_t> chosen;  // by the full value: equal constants stay equal
  const std::map<int64_t, int64_t> steps = steps_of(constants);
  std::set<int64_t> taken;
  for (const frontend::SourceConstant& constant : constants) {
    const bool keep = std::find(kept.begin(), kept.end(), constant.name) != kept.end();
    const bool tiny = batch == Batch::Tiny && is_batch(constant.name);
    if (keep || constant.value <= (tiny ? kBatchCap : std::max(kSmallConstant, cap)))
      taken.insert(constant.value);
  }
  for (const frontend::SourceConstant& constant : constants) {
    if (std::find(kept.begin(), kept.end(), constant.name) != kept.end()) continue;
    if (const auto tiny = tiny_batch(constant, variant, batch)) {
      overrides[constant.name] = *tiny;
      continue;
    }
    if (constant.value <= std::max(kSmallConstant, cap))
      continue;  // also numbers of layers and heads
    const auto known = chosen.find(constant.value);
    int64_t small = known != chosen.end() ? known->second : constant.value;
    if (known == chosen.end()) {
      const int64_t step = steps.at(constant.value);
      small = candidates(constant.value, step, cap, 0).front();
      for (int64_t other : candidates(constant.value, step, cap, variant)) {
        if (other < 2 || other >= constant.value || (distinct && taken.contains(other))) continue;
        small = other;
        break;
      }
      chosen[constant.value] = small;
      taken.insert(small);
    }
    if (small < constant.value) overrides[constant.name] = small;
  }
  return overrides;
}

Overrides divide(const std::vector<frontend::SourceConstant>& constants, int64_t divisor,
                 int variant, Batch batch) {
  Overrides overrides;
  for (const frontend::SourceConstant& constant : constants) {
    if (const auto tiny = tiny_batch(constant, variant, batch)) {
      overrides[constant.name] = *tiny;
    } else if (batch == Batch::Kept && is_batch(constant.name)) {
      continue;
    } else if (constant.value > kSmallConstant && constant.value % divisor == 0) {
      overrides[constant.name] = constant.value / divisor;
    }
  }
  return overrides;
}

bool has_shared_batch(const std::vector<frontend::SourceConstant>& constants) {
  return std::any_of(constants.begin(), constants.end(), [&](const auto& one) {
    return is_batch(one.name) &&
           std::any_of(constants.begin(), constants.end(), [&](const auto& other) {
             return other.name != one.name && other.value == one.value;
           });
  });
}

}  // namespace solar::validate
