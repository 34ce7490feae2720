#include "ir/types.h"

#include <array>

namespace solar::ir {
namespace {

struct TypeFacts {
  ElementType type;
  std::string_view name;
  ComputeType compute;
  int bits;
  double epsilon;
};

constexpr std::array<TypeFacts, 14> kTypes = {{
    {ElementType::F64, "f64", ComputeType::F64, 64, 0x1p-52},
    {ElementType::F32, "f32", ComputeType::F32, 32, 0x1p-23},
    {ElementType::F16, "f16", ComputeType::F32, 16, 0x1p-10},
    {ElementType::BF16, "bf16", ComputeType::F32, 16, 0x1p-7},
    {ElementType::F8E4M3, "f8e4m3", ComputeType::F32, 8, 0x1p-3},
    {ElementType::F8E5M2, "f8e5m2", ComputeType::F32, 8, 0x1p-2},
    {ElementType::F4E2M1, "f4e2m1", ComputeType::F32, 4, 0x1p-1},
    {ElementType::I64, "i64", ComputeType::I64, 64, 0},
    {ElementType::I32, "i32", ComputeType::I64, 32, 0},
    {ElementType::I16, "i16", ComputeType::I64, 16, 0},
    {ElementType::I8, "i8", ComputeType::I64, 8, 0},
    {ElementType::I4, "i4", ComputeType::I64, 4, 0},
    {ElementType::U8, "u8", ComputeType::I64, 8, 0},
    {ElementType::Bool, "bool", ComputeType::Bool, 8, 0},
}};

constexpr std::array<std::string_view, 7> kRoles = {"input", "param", "buffer", "state",
                                                    "const", "rng",   "value"};

constexpr std::array<StorageFormat, 4> kStorage = {{
    {"nvfp4", 16, 72},  // 16 elements of 4 bits, a scale of 8
    {"mxfp4", 32, 136},
    {"mxfp6", 32, 200},
    {"mxfp8", 32, 264},
}};

constexpr const TypeFacts& facts(ElementType type) { return kTypes[static_cast<size_t>(type)]; }

constexpr bool in_order() {
  for (size_t i = 0; i < kTypes.size(); ++i) {
    if (static_cast<size_t>(kTypes[i].type) != i) return false;
  }
  return true;
}
static_assert(in_order(), "kTypes follows the order of ElementType");

}  // namespace

std::string_view name(ElementType type) { return facts(type).name; }
std::string_view name(Role role) { return kRoles[static_cast<size_t>(role)]; }

std::optional<ElementType> element_type_named(std::string_view name) {
  for (const TypeFacts& f : kTypes) {
    if (f.name == name) return f.type;
  }
  return std::nullopt;
}

std::vector<std::string> element_type_names() {
  std::vector<std::string> names;
  for (const TypeFacts& f : kTypes) names.emplace_back(f.name);
  return names;
}

std::optional<Role> role_named(std::string_view name) {
  for (size_t i = 0; i + 1 < kRoles.size(); ++i) {  // `value` is not written
    if (kRoles[i] == name) return static_cast<Role>(i);
  }
  return std::nullopt;
}

const StorageFormat* storage_named(std::string_view name) {
  for (const StorageFormat& format : kStorage) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

bool is_float(ElementType type) {
  return facts(type).compute == ComputeType::F32 || facts(type).compute == ComputeType::F64;
}
bool is_integer(ElementType type) { return facts(type).compute == ComputeType::I64; }
ComputeType compute_type(ElementType type) { return facts(type).compute; }

ElementType wide(ElementType type) {
  switch (facts(type).compute) {
    case ComputeType::F32:
      return ElementType::F32;
    case ComputeType::I64:
      return ElementType::I64;
    default:
      return type;
  }
}

int storage_bits(ElementType type) { return facts(type).bits; }
double epsilon(ElementType type) { return facts(type).epsilon; }

}  // namespace solar::ir
