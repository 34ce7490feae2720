// Larger nests than enumeration is good for, against isl. In builds that found libisl.

#include <gtest/gtest.h>
#include <isl/ctx.h>
#include <isl/map.h>
#include <isl/options.h>
#include <isl/set.h>
#include <isl/val.h>

#include <cstdlib>
#include <iostream>

#include "einsum/lift_test_util.h"
#include "einsum/random_access_test_util.h"

namespace solar::einsum {
namespace {

std::string isl_text(const AccessExpr& expr) {
  using Kind = AccessExpr::Kind;
  std::string sum = std::to_string(expr.constant);
  for (const AccessExpr::Atom& atom : expr.atoms) {
    const std::string inner =
        atom.kind == Kind::Loop ? std::string(1, "ijkl"[atom.loop]) : isl_text(atom.operand[0]);
    std::string one = inner;
    if (atom.kind == Kind::FloorDiv) one = fmt::format("floor(({}) / {})", inner, atom.number);
    if (atom.kind == Kind::Mod) one = fmt::format("(({}) mod {})", inner, atom.number);
    if (atom.kind == Kind::Min) one = fmt::format("min({}, {})", inner, atom.number);
    if (atom.kind == Kind::Max) one = fmt::format("max({}, {})", inner, atom.number);
    sum += fmt::format(" + {}*{}", atom.coefficient, one);
  }
  return sum;
}

/// The loops, and where the guards hold.
std::pair<std::string, std::string> domain_text(const RandomAccess& random) {
  std::vector<std::string> loops, conditions;
  for (size_t i = 0; i < random.extents.size(); ++i) {
    loops.push_back(std::string(1, "ijkl"[i]));
    conditions.push_back(fmt::format("0 <= {} < {}", loops.back(), random.extents[i]));
  }
  for (const AccessGuard& guard : random.guards) {
    const std::string value = isl_text(guard.value);
    const bool zero = guard.kind == AccessGuard::Kind::Zero;
    if (guard.kind == AccessGuard::Kind::NonNegative)
      conditions.push_back(value + " >= 0");
    else
      conditions.push_back(fmt::format("{} {} 0", value, zero ? "=" : "!="));
  }
  return {fmt::format("[{}]", fmt::join(loops, ", ")),
          fmt::format("{}", fmt::join(conditions, " and "))};
}

/// -1: it takes isl too long. Then what it returns is wrong, not null.
int64_t count(isl_set* set, isl_ctx* context) {
  isl_val* const value = isl_set_count_val(set);
  const bool counted = isl_ctx_last_error(context) == isl_error_none && value != nullptr;
  const int64_t result = counted ? isl_val_get_num_si(value) : -1;
  isl_ctx_reset_error(context);
  isl_ctx_reset_operations(context);
  isl_val_free(value);
  isl_set_free(set);
  return result;
}

TEST(Isl, CountsOfLargerNestsAgree) {
  constexpr uint32_t kCount = 240;
  constexpr unsigned long kMostOperations = 30'000;  // then isl gives up
  const char* const replay = std::getenv("SOLAR_SEED");
  const auto only = replay == nullptr ? 0 : static_cast<uint32_t>(std::atoll(replay));
  isl_ctx* const context = isl_ctx_alloc();
  isl_options_set_on_error(context, ISL_ON_ERROR_CONTINUE);
  isl_ctx_set_max_operations(context, kMostOperations);
  int64_t points_of_all = 0, elements_of_all = 0;
  int counted_domains = 0, counted_images = 0;
  for (uint32_t seed = replay ? only : 1; seed <= (replay ? only : kCount) && !HasFailure();
       ++seed) {
    const RandomAccess random(seed, {.most_loops = 3, .most_points = 200000, .most_extent = 600});
    const std::string text = fmt::format(" SOLAR_SEED={}\n{}", seed, random.text());
    const Graph graph = lift_text(random.text());
    const auto [loops, where] = domain_text(random);
    isl_set* const domain =
        isl_set_read_from_str(context, fmt::format("{{ {} : {} }}", loops, where).c_str());
    isl_set* touched = nullptr;
    for (const auto& read : random.reads) {
      std::vector<std::string> subscripts;
      for (const AccessExpr& one : read) subscripts.push_back(isl_text(one));
      isl_map* const access = isl_map_read_from_str(
          context,
          fmt::format("{{ {} -> [{}] : {} }}", loops, fmt::join(subscripts, ", "), where).c_str());
      isl_set* const range = isl_map_range(access);
      touched = touched == nullptr ? range : isl_set_union(touched, range);
    }
    const int64_t points = count(domain, context);
    const int64_t elements = count(touched, context);
    if (points >= 0) {
      EXPECT_EQ(read_bytes(graph, 1), 4 * points) << text;
    }
    if (elements >= 0) {
      EXPECT_EQ(read_bytes(graph, 0), 4 * elements) << text;
    }
    counted_domains += points >= 0;
    counted_images += elements >= 0;
    points_of_all += std::max<int64_t>(points, 0);
    elements_of_all += std::max<int64_t>(elements, 0);
  }
  isl_ctx_free(context);
  if (replay != nullptr) return;
  EXPECT_GT(counted_domains, 120);
  EXPECT_GT(counted_images, 120);
  std::cout << fmt::format("{} domains of {} points, {} images of {} elements\n", counted_domains,
                           points_of_all, counted_images, elements_of_all);
}

}  // namespace
}  // namespace solar::einsum
