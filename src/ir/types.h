#pragma once
// Element types and roles of tensors.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace solar::ir {

enum class ElementType : uint8_t {
  F64,
  F32,
  F16,
  BF16,
  F8E4M3,
  F8E5M2,
  F4E2M1,
  I64,
  I32,
  I16,
  I8,
  I4,
  U8,
  Bool
};

enum class Role : uint8_t { Input, Param, Buffer, State, Const, Rng, Value };

/// What a scalar is computed in: f64 for f64, f32 for every narrower float, i64 for integers.
enum class ComputeType : uint8_t { F64, F32, I64, Bool };

/// Storage in blocks along the last axis, with one scale a block; `block_bits` contains the scale.
struct StorageFormat {
  std::string_view name;
  int64_t block = 0;
  int64_t block_bits = 0;
};
/// nvfp4, mxfp4, mxfp6 or mxfp8; null if none has that name.
const StorageFormat* storage_named(std::string_view name);

std::string_view name(ElementType type);
std::string_view name(Role role);
std::optional<ElementType> element_type_named(std::string_view name);
std::vector<std::string> element_type_names();
std::optional<Role> role_named(std::string_view name);

bool is_float(ElementType type);
bool is_integer(ElementType type);
ComputeType compute_type(ElementType type);
/// The accumulation type: f32 for narrower floats, i64 for integers, otherwise the type itself.
ElementType wide(ElementType type);
/// Bits of one element in DRAM: 4 for f4e2m1 and i4, 8 for bool.
int storage_bits(ElementType type);
/// Machine epsilon of a float type (2^-23 for f32); 0 for integers and bool.
double epsilon(ElementType type);

}  // namespace solar::ir
