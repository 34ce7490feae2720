// Elements in memory and back, and casts: the same values as exec/element.h gives.

#include <bit>
#include <cmath>

#include "exec/jit/emit.h"

namespace solar::exec::native {

const char* llvm_type(ComputeType type) {
  switch (type) {
    case ComputeType::F32:
      return "float";
    case ComputeType::F64:
      return "double";
    case ComputeType::I64:
      return "i64";
    case ComputeType::Bool:
      break;
  }
  return "i1";
}

const char* stored_type(ElementType type) {
  switch (type) {
    case ElementType::F64:
      return "double";
    case ElementType::F32:
      return "float";
    case ElementType::F16:
      return "half";
    case ElementType::I64:
      return "i64";
    case ElementType::I32:
      return "i32";
    case ElementType::BF16:
    case ElementType::I16:
      return "i16";
    default:
      return "i8";
  }
}

namespace {

const char* name_of_tiny(ElementType type) {
  return type == ElementType::F8E4M3 ? "f8e4m3" : type == ElementType::F8E5M2 ? "f8e5m2" : "f4e2m1";
}

}  // namespace

Value Emitter::float_constant(ComputeType type, double value) const {
  if (type == ComputeType::F32) value = static_cast<float>(value);
  return fmt::format("0x{:016X}", std::bit_cast<uint64_t>(value));
}

Value Emitter::load(ElementType type, const Value& pointer) {
  const Value stored = text_.let("load {}, ptr {}", stored_type(type), pointer);
  return from_stored(type, stored);
}

Value Emitter::from_stored(ElementType type, const Value& stored) {
  switch (type) {
    case ElementType::F64:
    case ElementType::F32:
    case ElementType::I64:
      return stored;
    case ElementType::F16:
      if (!target_.half) unsupported();
      return text_.let("fpext half {} to float", stored);
    case ElementType::BF16: {
      const Value wide = text_.let("zext i16 {} to i32", stored);
      const Value bits = text_.let("shl i32 {}, 16", wide);
      return text_.let("bitcast i32 {} to float", bits);
    }
    case ElementType::I32:
    case ElementType::I16:
    case ElementType::I8:
      return text_.let("sext {} {} to i64", stored_type(type), stored);
    case ElementType::I4: {
      const Value low = text_.let("trunc i8 {} to i4", stored);
      return text_.let("sext i4 {} to i64", low);
    }
    case ElementType::U8:
      return text_.let("zext i8 {} to i64", stored);
    case ElementType::Bool:
      return text_.let("icmp ne i8 {}, 0", stored);
    default:
      return host(fmt::format("solar_decode_{}", name_of_tiny(type)).c_str(), "float",
                  fmt::format("i8 {}", stored), "i8");
  }
}

Value Emitter::as_stored(ElementType type, const Value& value) {
  switch (type) {
    case ElementType::F64:
    case ElementType::F32:
    case ElementType::I64:
      return value;
    case ElementType::F16:
      if (!target_.half) unsupported();
      return text_.let("fptrunc float {} to half", value);
    case ElementType::BF16:
      return encoded_bf16(value);
    case ElementType::I32:
    case ElementType::I16:
    case ElementType::I8:
    case ElementType::U8:
      return text_.let("trunc i64 {} to {}", value, stored_type(type));
    case ElementType::I4: {
      const Value low = text_.let("trunc i64 {} to i4", value);
      return text_.let("sext i4 {} to i8", low);
    }
    case ElementType::Bool:
      return text_.let("zext i1 {} to i8", value);
    default:
      return host(fmt::format("solar_encode_{}", name_of_tiny(type)).c_str(), "i8",
                  fmt::format("float {}", value), "float");
  }
}

void Emitter::store(ElementType type, const Value& value, const Value& pointer) {
  const Value stored = as_stored(type, value);
  text_.line("store {} {}, ptr {}", stored_type(type), stored, pointer);
}

/// Rounds to nearest even; any NaN becomes a quiet one of its sign.
Value Emitter::encoded_bf16(const Value& value) {
  const Value bits = text_.let("bitcast float {} to i32", value);
  const Value high = text_.let("lshr i32 {}, 16", bits);
  const Value odd = text_.let("and i32 {}, 1", high);
  const Value bias = text_.let("add i32 {}, 32767", odd);
  const Value sum = text_.let("add i32 {}, {}", bits, bias);
  const Value rounded = text_.let("lshr i32 {}, 16", sum);
  const Value sign = text_.let("and i32 {}, 32768", high);
  const Value nan = text_.let("or i32 {}, 32704", sign);
  const Value is_nan = text_.let("fcmp uno float {}, 0.0", value);
  const Value chosen = text_.let("select i1 {}, i32 {}, i32 {}", is_nan, nan, rounded);
  return text_.let("trunc i32 {} to i16", chosen);
}

Value Emitter::cast(const Value& value, ComputeType from, ElementType to) {
  const char* source = llvm_type(from);
  const bool real = from == ComputeType::F32 || from == ComputeType::F64;
  const ComputeType target = ir::compute_type(to);
  if (target == ComputeType::Bool) {
    if (from == ComputeType::Bool) return value;
    if (real) return text_.let("fcmp une {} {}, 0.0", source, value);
    return text_.let("icmp ne i64 {}, 0", value);
  }
  if (target == ComputeType::I64) return cast_to_integer(value, from, to);
  if (to == ElementType::F64 || to == ElementType::F32) {
    if (from == target) return value;
    if (from == ComputeType::Bool) {
      return text_.let("uitofp i1 {} to {}", value, llvm_type(target));
    }
    if (from == ComputeType::I64) {
      return text_.let("sitofp i64 {} to {}", value, llvm_type(target));
    }
    return text_.let("{} {} {} to {}", to == ElementType::F64 ? "fpext" : "fptrunc", source, value,
                     llvm_type(target));
  }
  return rounded(value, from, to);
}

/// To a float narrower than f32, as a float.
Value Emitter::rounded(const Value& value, ComputeType from, ElementType to) {
  if (from == ComputeType::F32) return from_stored(to, as_stored(to, value));
  if (from == ComputeType::Bool) {
    const Value real = text_.let("uitofp i1 {} to float", value);
    return from_stored(to, as_stored(to, real));
  }
  // Rounded once, from the exact value: f32 in between would round twice.
  Value real = value;
  if (from == ComputeType::I64) real = text_.let("sitofp i64 {} to double", value);
  const char* name = to == ElementType::F16      ? "solar_round_f16"
                     : to == ElementType::BF16   ? "solar_round_bf16"
                     : to == ElementType::F8E4M3 ? "solar_round_f8e4m3"
                     : to == ElementType::F8E5M2 ? "solar_round_f8e5m2"
                                                 : "solar_round_f4e2m1";
  return host(name, "float", fmt::format("double {}", real), "double");
}

Value Emitter::cast_to_integer(const Value& value, ComputeType from, ElementType to) {
  if (from == ComputeType::Bool) return text_.let("zext i1 {} to i64", value);
  const char* narrow = to == ElementType::I64   ? "i64"
                       : to == ElementType::I32 ? "i32"
                       : to == ElementType::I16 ? "i16"
                       : to == ElementType::I4  ? "i4"
                                                : "i8";
  const bool is_unsigned = to == ElementType::U8;
  Value low;
  if (from == ComputeType::I64) {
    if (to == ElementType::I64) return value;
    low = text_.let("trunc i64 {} to {}", value, narrow);
  } else {
    const char* source = llvm_type(from);
    const char* suffix = from == ComputeType::F32 ? "f32" : "f64";
    const char* kind = is_unsigned ? "fptoui" : "fptosi";
    text_.declare(
        fmt::format("declare {0} @llvm.{1}.sat.{0}.{2}({3})", narrow, kind, suffix, source));
    low = text_.let("call {0} @llvm.{1}.sat.{0}.{2}({3} {4})", narrow, kind, suffix, source, value);
    if (to == ElementType::I64) return low;
  }
  return text_.let("{} {} {} to i64", is_unsigned ? "zext" : "sext", narrow, low);
}

Value Emitter::host(const char* name, const char* result, const std::string& operands,
                    const std::string& signature) {
  text_.declare(fmt::format("declare {} @{}({})", result, name, signature));
  return text_.let("call {} @{}({}) {}", result, name, operands,
                   attributes("nounwind willreturn memory(none)"));
}

}  // namespace solar::exec::native
