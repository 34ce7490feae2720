#include "einsum/storage_policy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

namespace solar::einsum {
namespace {

using ir::ElementType;

constexpr std::array<std::pair<std::string_view, Stored>, 12> kStored = {{
    {"fp64", {ElementType::F64}},
    {"fp32", {ElementType::F32}},
    {"bf16", {ElementType::BF16}},
    {"fp16", {ElementType::F16}},
    {"fp8", {ElementType::F8E4M3}},
    {"fp4", {ElementType::F4E2M1}},
    {"int8", {ElementType::I8}},
    {"int4", {ElementType::I4}},
    {"nvfp4", {ElementType::F4E2M1, "nvfp4"}},
    {"mxfp4", {ElementType::F4E2M1, "mxfp4"}},
    {"mxfp6", {ElementType::F8E4M3, "mxfp6"}},
    {"mxfp8", {ElementType::F8E4M3, "mxfp8"}},
}};

std::string_view name_of(const Stored& stored) {
  const auto found = std::find_if(kStored.begin(), kStored.end(),
                                  [&](const auto& one) { return one.second == stored; });
  return found == kStored.end() ? "?" : found->first;
}

std::optional<Stored> storage_type_named(std::string_view name) {
  const auto found = std::find_if(kStored.begin(), kStored.end(),
                                  [&](const auto& one) { return one.first == name; });
  if (found == kStored.end()) return std::nullopt;
  return found->second;
}

}  // namespace

std::optional<Stored> StoragePolicy::of(const ir::Tensor& tensor) const {
  if (!ir::is_float(tensor.type)) return std::nullopt;
  switch (tensor.role) {
    case ir::Role::Param:
    case ir::Role::Buffer:
    case ir::Role::Const:
      return params;
    case ir::Role::State:
      return state;
    default:
      return activations;
  }
}

std::vector<std::string> storage_names() {
  std::vector<std::string> names = {"as-written"};
  for (const auto& [name, stored] : kStored) names.emplace_back(name);
  return names;
}

std::optional<StoragePolicy> storage_policy_named(std::string_view text) {
  StoragePolicy policy;
  if (text == "as-written") return policy;
  if (text.find('=') == std::string_view::npos) {
    const auto all = storage_type_named(text);
    if (!all) return std::nullopt;
    return StoragePolicy{all, all, all};
  }
  for (bool more = true; more;) {
    const size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string_view what = part.substr(0, equals);
    std::optional<Stored>* const kept = what == "params"        ? &policy.params
                                        : what == "state"       ? &policy.state
                                        : what == "activations" ? &policy.activations
                                                                : nullptr;
    if (kept == nullptr || kept->has_value()) return std::nullopt;
    const std::string_view how = part.substr(equals + 1);
    *kept = storage_type_named(how);
    if (!*kept) return std::nullopt;
  }
  return policy;
}

std::string name(const StoragePolicy& policy) {
  if (policy.as_written()) return "as-written";
  if (policy.params && policy.params == policy.state && policy.params == policy.activations)
    return std::string(name_of(*policy.params));
  std::vector<std::string> parts;
  const auto add = [&](const char* what, const std::optional<Stored>& how) {
    if (how) parts.push_back(fmt::format("{}={}", what, name_of(*how)));
  };
  add("params", policy.params);
  add("state", policy.state);
  add("activations", policy.activations);
  return fmt::format("{}", fmt::join(parts, ","));
}

}  // namespace solar::einsum
