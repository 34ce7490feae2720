// The cache-aware mode in the text report.

#include <fmt/format.h>

#include <algorithm>

#include "report/format.h"
#include "report/table.h"
#include "report/text_parts.h"

namespace solar::report {
namespace {

constexpr size_t kGroupsShown = 8;

std::string bytes_or_dash(const std::optional<int64_t>& bytes) {
  return bytes ? bytes_text(static_cast<double>(*bytes)) : "-";
}

std::string machines_table(const std::vector<ArchBounds>& archs, const Style& style) {
  Table table({{.title = "arch", .shrinks_to = 12},
               {.title = "at least", .right = true},
               {.title = "traffic", .right = true, .may_go = true},
               {.title = "on chip", .right = true, .may_go = true},
               {.title = "a plan takes", .right = true},
               {.title = "traffic", .right = true, .may_go = true},
               {.title = "in a cache of", .right = true, .may_go = true},
               {.title = "gap", .right = true}});
  for (const ArchBounds& a : archs) {
    if (a.cache_aware == nullptr || !a.cache_aware->cache_aware) continue;
    const CacheAware& found = *a.cache_aware->cache_aware;
    const bool both = found.witness_s && found.certified_s > 0;
    table.row({a.arch, time_text(found.certified_s),
               bytes_text(static_cast<double>(found.certified_bytes)),
               bytes_or_dash(found.certified_capacity_bytes),
               found.witness_s ? time_text(*found.witness_s) : "-",
               bytes_or_dash(found.witness_bytes), bytes_or_dash(found.witness_capacity_bytes),
               both ? ratio_text(*found.witness_s / found.certified_s) : "-"});
  }
  return table.render(style.width());
}

std::string groups_text(const ArchBounds& a, const Style& style) {
  std::vector<const PlanGroup*> order;
  for (const PlanGroup& group : a.cache_aware->cache_aware->groups) order.push_back(&group);
  std::stable_sort(order.begin(), order.end(),
                   [](const PlanGroup* x, const PlanGroup* y) { return x->time_s > y->time_s; });
  std::string text;
  for (size_t i = 0; i < order.size() && i < kGroupsShown; ++i) {
    const PlanGroup& group = *order[i];
    text += paragraph("  - ",
                      fmt::format("{}, {}, {}: {}", time_text(group.time_s),
                                  bytes_text(static_cast<double>(group.traffic_bytes)),
                                  group.strategy, group.schedule),
                      style.width(), 4);
  }
  if (order.size() > kGroupsShown)
    text += fmt::format("  - and {} more groups\n", order.size() - kGroupsShown);
  return text;
}

}  // namespace

std::string cache_text(const std::vector<ArchBounds>& archs, const Style& style) {
  const auto first = std::find_if(archs.begin(), archs.end(), [](const ArchBounds& a) {
    return a.cache_aware != nullptr && a.cache_aware->cache_aware;
  });
  if (first == archs.end()) return "";
  const CacheAware& found = *first->cache_aware->cache_aware;
  std::string text = style.heading("with caches of finite size") + machines_table(archs, style);
  if (!found.products.empty()) {
    text += paragraph("  ",
                      fmt::format("{}: `{}` {} more than compulsory traffic ({})", first->arch,
                                  fmt::join(found.products, "`, `"),
                                  found.products.size() == 1 ? "forces" : "force", found.theorem),
                      style.width(), 4);
  }
  for (const std::string& note : found.notes)
    text += paragraph(fmt::format("  {}: ", first->arch), note, style.width(), 4);
  if (!found.groups.empty())
    text += fmt::format("  the plan on {}:\n", first->arch) + groups_text(*first, style);
  return text + "\n";
}

}  // namespace solar::report
