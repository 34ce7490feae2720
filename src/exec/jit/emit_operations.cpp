// Operations on scalars, with the values that exec/lanes_unary.h and exec/lanes_binary.h give (math
// functions: within the accuracy stated in docs/performance.md).

#include <array>

#include "exec/jit/emit.h"

namespace solar::exec::native {
namespace {

const char* function_of(ScalarOp op) {
  switch (op) {
    case ScalarOp::Exp:
      return "exp";
    case ScalarOp::Log:
      return "log";
    case ScalarOp::Log1p:
      return "log1p";
    case ScalarOp::Expm1:
      return "expm1";
    case ScalarOp::Sin:
      return "sin";
    case ScalarOp::Cos:
      return "cos";
    case ScalarOp::Tan:
      return "tan";
    case ScalarOp::Tanh:
      return "tanh";
    case ScalarOp::Sinh:
      return "sinh";
    case ScalarOp::Cosh:
      return "cosh";
    case ScalarOp::Asin:
      return "asin";
    case ScalarOp::Acos:
      return "acos";
    case ScalarOp::Atan:
      return "atan";
    case ScalarOp::Erf:
      return "erf";
    default:
      return nullptr;
  }
}

const char* relation_of(ScalarOp op, bool real) {
  switch (op) {
    case ScalarOp::Less:
      return real ? "olt" : "slt";
    case ScalarOp::LessEqual:
      return real ? "ole" : "sle";
    case ScalarOp::Greater:
      return real ? "ogt" : "sgt";
    case ScalarOp::GreaterEqual:
      return real ? "oge" : "sge";
    case ScalarOp::Equal:
      return real ? "oeq" : "eq";
    default:
      return real ? "une" : "ne";
  }
}

}  // namespace

Value Emitter::math(const std::string& function, ComputeType type,
                    const std::vector<Value>& operands) {
  const bool single = type == ComputeType::F32;
  const char* scalar = llvm_type(type);
  const std::string name = single ? function + "f" : function;
  std::string list, signature, wide, shape;
  for (const Value& operand : operands) {
    const char* comma = list.empty() ? "" : ", ";
    list += fmt::format("{}{} {}", comma, scalar, operand);
    signature += fmt::format("{}{}", comma, scalar);
    wide += fmt::format("{}<{} x {}>", comma, single ? 8 : 4, scalar);
    shape += 'v';
  }
  text_.declare(fmt::format("declare {} @{}({})", scalar, name, signature));
  std::string marks = "nounwind willreturn memory(none)";
  if (target_.vector_functions.contains(function)) {
    const int lanes = single ? 8 : 4;
    const std::string vector = fmt::format("_ZGVdN{}{}_{}", lanes, shape, name);
    text_.declare(fmt::format("declare <{0} x {1}> @{2}({3})", lanes, scalar, vector, wide));
    vector_symbols_.insert(vector);
    marks += fmt::format(" \"vector-function-abi-variant\"=\"_ZGV_LLVM_N{}{}_{}({})\"", lanes,
                         shape, name, vector);
  }
  return text_.let("call {} @{}({}) {}", scalar, name, list, attributes(marks));
}

Value Emitter::intrinsic(const char* name, ComputeType type, const std::vector<Value>& operands) {
  const char* scalar = llvm_type(type);
  const char* suffix = type == ComputeType::F32 ? "f32" : "f64";
  std::string list, signature;
  for (const Value& operand : operands) {
    const char* comma = list.empty() ? "" : ", ";
    list += fmt::format("{}{} {}", comma, scalar, operand);
    signature += fmt::format("{}{}", comma, scalar);
  }
  text_.declare(fmt::format("declare {} @llvm.{}.{}({})", scalar, name, suffix, signature));
  return text_.let("call {} @llvm.{}.{}({})", scalar, name, suffix, list);
}

Value Emitter::float_unary(ScalarOp op, ComputeType type, const Value& x) {
  const char* t = llvm_type(type);
  const Value one = float_constant(type, 1);
  if (const char* function = function_of(op)) return math(function, type, {x});
  switch (op) {
    case ScalarOp::Neg:
      return text_.let("fneg {} {}", t, x);
    case ScalarOp::Abs:
      return intrinsic("fabs", type, {x});
    case ScalarOp::Sqrt:
      return intrinsic("sqrt", type, {x});
    case ScalarOp::Floor:
      return intrinsic("floor", type, {x});
    case ScalarOp::Ceil:
      return intrinsic("ceil", type, {x});
    case ScalarOp::Trunc:
      return intrinsic("trunc", type, {x});
    case ScalarOp::Round:
      return intrinsic("nearbyint", type, {x});
    case ScalarOp::Rsqrt: {
      const Value root = intrinsic("sqrt", type, {x});
      return text_.let("fdiv {} {}, {}", t, one, root);
    }
    case ScalarOp::Sigmoid: {
      const Value negative = text_.let("fneg {} {}", t, x);
      const Value power = math("exp", type, {negative});
      const Value sum = text_.let("fadd {} {}, {}", t, one, power);
      return text_.let("fdiv {} {}, {}", t, one, sum);
    }
    case ScalarOp::Sign: {
      const Value above = text_.let("fcmp ogt {} {}, 0.0", t, x);
      const Value below = text_.let("fcmp olt {} {}, 0.0", t, x);
      const Value plus = text_.let("uitofp i1 {} to {}", above, t);
      const Value minus = text_.let("uitofp i1 {} to {}", below, t);
      return text_.let("fsub {} {}, {}", t, plus, minus);
    }
    case ScalarOp::IsNan:
      return text_.let("fcmp uno {} {}, 0.0", t, x);
    case ScalarOp::IsInf: {
      const Value size = intrinsic("fabs", type, {x});
      return text_.let("fcmp oeq {} {}, {}", t, size,
                       float_constant(type, std::numeric_limits<double>::infinity()));
    }
    case ScalarOp::Lgamma:
      return host(type == ComputeType::F32 ? "solar_lgamma_f32" : "solar_lgamma_f64", t,
                  fmt::format("{} {}", t, x), t);
    default:
      unsupported();
      return one;
  }
}

Value Emitter::integer_unary(ScalarOp op, const Value& x) {
  switch (op) {
    case ScalarOp::Neg:
      return text_.let("sub i64 0, {}", x);
    case ScalarOp::Abs:
      text_.declare("declare i64 @llvm.abs.i64(i64, i1)");
      return text_.let("call i64 @llvm.abs.i64(i64 {}, i1 false)", x);
    case ScalarOp::Sign: {
      const Value above = text_.let("icmp sgt i64 {}, 0", x);
      const Value plus = text_.let("zext i1 {} to i64", above);
      const Value minus = text_.let("ashr i64 {}, 63", x);
      return text_.let("or i64 {}, {}", plus, minus);
    }
    case ScalarOp::Floor:
    case ScalarOp::Ceil:
    case ScalarOp::Round:
    case ScalarOp::Trunc:
      return x;
    case ScalarOp::IsNan:
    case ScalarOp::IsInf:
      return "false";
    default:
      unsupported();
      return x;
  }
}

Value Emitter::comparison(ScalarOp op, ComputeType type, const Value& x, const Value& y) {
  const bool real = type == ComputeType::F32 || type == ComputeType::F64;
  return text_.let("{} {} {} {}, {}", real ? "fcmp" : "icmp", relation_of(op, real),
                   llvm_type(type), x, y);
}

Value Emitter::float_binary(const ir::ScalarNode& n, ComputeType type, const Value& x,
                            const Value& y) {
  const char* t = llvm_type(type);
  switch (n.op) {
    case ScalarOp::Add:
      return text_.let("fadd {} {}, {}", t, x, y);
    case ScalarOp::Sub:
      return text_.let("fsub {} {}, {}", t, x, y);
    case ScalarOp::Mul:
      return text_.let("fmul {} {}, {}", t, x, y);
    case ScalarOp::Div:
      return text_.let("fdiv {} {}, {}", t, x, y);
    case ScalarOp::FloorDiv: {
      const Value quotient = text_.let("fdiv {} {}, {}", t, x, y);
      return intrinsic("floor", type, {quotient});
    }
    case ScalarOp::Mod:
      return host(type == ComputeType::F32 ? "solar_mod_f32" : "solar_mod_f64", t,
                  fmt::format("{0} {1}, {0} {2}", t, x, y), fmt::format("{0}, {0}", t));
    case ScalarOp::Max:
    case ScalarOp::Min: {
      // A NaN wins. One unordered comparison does where only the left can be one.
      const char* relation = n.op == ScalarOp::Max ? "gt" : "lt";
      if (is_number(n.b)) {
        const Value left = text_.let("fcmp u{} {} {}, {}", relation, t, x, y);
        return text_.let("select i1 {}, {} {}, {} {}", left, t, x, t, y);
      }
      Value left = text_.let("fcmp o{} {} {}, {}", relation, t, x, y);
      if (!is_number(n.a)) {
        const Value nan = text_.let("fcmp uno {} {}, 0.0", t, x);
        left = text_.let("or i1 {}, {}", left, nan);
      }
      return text_.let("select i1 {}, {} {}, {} {}", left, t, x, t, y);
    }
    case ScalarOp::Fmax:
    case ScalarOp::Fmin: {
      const Value beyond =
          text_.let("fcmp {} {} {}, {}", n.op == ScalarOp::Fmax ? "ogt" : "olt", t, x, y);
      const Value nan = text_.let("fcmp uno {} {}, 0.0", t, y);
      const Value left = text_.let("or i1 {}, {}", beyond, nan);
      return text_.let("select i1 {}, {} {}, {} {}", left, t, x, t, y);
    }
    case ScalarOp::Pow:
      return math("pow", type, {x, y});
    case ScalarOp::Atan2:
      return math("atan2", type, {x, y});
    default:
      return comparison(n.op, type, x, y);
  }
}

Value Emitter::integer_binary(ScalarOp op, const Value& x, const Value& y) {
  const auto plain = [&](const char* name) { return text_.let("{} i64 {}, {}", name, x, y); };
  switch (op) {
    case ScalarOp::Add:
      return plain("add");
    case ScalarOp::Sub:
      return plain("sub");
    case ScalarOp::Mul:
      return plain("mul");
    case ScalarOp::BitAnd:
      return plain("and");
    case ScalarOp::BitOr:
      return plain("or");
    case ScalarOp::BitXor:
      return plain("xor");
    case ScalarOp::Max:
    case ScalarOp::Fmax:
    case ScalarOp::Min:
    case ScalarOp::Fmin: {
      const char* name = op == ScalarOp::Max || op == ScalarOp::Fmax ? "smax" : "smin";
      text_.declare(fmt::format("declare i64 @llvm.{}.i64(i64, i64)", name));
      return text_.let("call i64 @llvm.{}.i64(i64 {}, i64 {})", name, x, y);
    }
    case ScalarOp::Div:
    case ScalarOp::FloorDiv:
    case ScalarOp::Mod: {
      // By zero: quotient 0. By -1: the machine's division may trap.
      const Value zero = text_.let("icmp eq i64 {}, 0", y);
      const Value minus_one = text_.let("icmp eq i64 {}, -1", y);
      const Value special = text_.let("or i1 {}, {}", zero, minus_one);
      const Value divisor = text_.let("select i1 {}, i64 1, i64 {}", special, y);
      const Value quotient = text_.let("sdiv i64 {}, {}", x, divisor);
      const Value rest = text_.let("srem i64 {}, {}", x, divisor);
      const Value uneven = text_.let("icmp ne i64 {}, 0", rest);
      const Value signs = text_.let("xor i64 {}, {}", x, divisor);
      const Value differ = text_.let("icmp slt i64 {}, 0", signs);
      const Value below = text_.let("and i1 {}, {}", uneven, differ);
      if (op == ScalarOp::Mod) {
        const Value raised = text_.let("add i64 {}, {}", rest, divisor);
        const Value floored = text_.let("select i1 {}, i64 {}, i64 {}", below, raised, rest);
        return text_.let("select i1 {}, i64 {}, i64 {}", zero, x, floored);
      }
      const Value one = text_.let("sext i1 {} to i64", below);
      const Value floored = text_.let("add i64 {}, {}", quotient, one);
      const Value negative = text_.let("sub i64 0, {}", x);
      const Value flipped = text_.let("select i1 {}, i64 {}, i64 {}", minus_one, negative, floored);
      return text_.let("select i1 {}, i64 0, i64 {}", zero, flipped);
    }
    case ScalarOp::Pow:
      return host("solar_power_i64", "i64", fmt::format("i64 {}, i64 {}", x, y), "i64, i64");
    case ScalarOp::Shl:
    case ScalarOp::Shr: {
      // Beyond 63 bits everything is shifted out.
      const Value beyond = text_.let("icmp ugt i64 {}, 63", y);
      const Value bits = text_.let("select i1 {}, i64 63, i64 {}", beyond, y);
      if (op == ScalarOp::Shr) return text_.let("ashr i64 {}, {}", x, bits);
      const Value shifted = text_.let("shl i64 {}, {}", x, bits);
      return text_.let("select i1 {}, i64 0, i64 {}", beyond, shifted);
    }
    default:
      return comparison(op, ComputeType::I64, x, y);
  }
}

Value Emitter::bool_binary(ScalarOp op, const Value& x, const Value& y) {
  switch (op) {
    case ScalarOp::And:
    case ScalarOp::BitAnd:
    case ScalarOp::Mul:
    case ScalarOp::Min:
      return text_.let("and i1 {}, {}", x, y);
    case ScalarOp::Or:
    case ScalarOp::BitOr:
    case ScalarOp::Add:
    case ScalarOp::Max:
      return text_.let("or i1 {}, {}", x, y);
    case ScalarOp::BitXor:
    case ScalarOp::NotEqual:
      return text_.let("xor i1 {}, {}", x, y);
    case ScalarOp::Less:
      return text_.let("icmp ult i1 {}, {}", x, y);
    case ScalarOp::LessEqual:
      return text_.let("icmp ule i1 {}, {}", x, y);
    case ScalarOp::Greater:
      return text_.let("icmp ugt i1 {}, {}", x, y);
    case ScalarOp::GreaterEqual:
      return text_.let("icmp uge i1 {}, {}", x, y);
    case ScalarOp::Equal:
      return text_.let("icmp eq i1 {}, {}", x, y);
    default:
      unsupported();
      return x;
  }
}

}  // namespace solar::exec::native
