#include "ir/verify/functions.h"

#include <array>

namespace solar::ir {
namespace {

using enum ScalarOperands;

constexpr std::array kFunctions = {
    ScalarFunction{"abs", ScalarOp::Abs, 1, Numbers},
    ScalarFunction{"acos", ScalarOp::Acos, 1, Floats},
    ScalarFunction{"asin", ScalarOp::Asin, 1, Floats},
    ScalarFunction{"atan", ScalarOp::Atan, 1, Floats},
    ScalarFunction{"atan2", ScalarOp::Atan2, 2, Floats},
    ScalarFunction{"bitand", ScalarOp::BitAnd, 2, Integers},
    ScalarFunction{"bitor", ScalarOp::BitOr, 2, Integers},
    ScalarFunction{"bitxor", ScalarOp::BitXor, 2, Integers},
    ScalarFunction{"ceil", ScalarOp::Ceil, 1, Floats},
    ScalarFunction{"cos", ScalarOp::Cos, 1, Floats},
    ScalarFunction{"cosh", ScalarOp::Cosh, 1, Floats},
    ScalarFunction{"erf", ScalarOp::Erf, 1, Floats},
    ScalarFunction{"exp", ScalarOp::Exp, 1, Floats},
    ScalarFunction{"expm1", ScalarOp::Expm1, 1, Floats},
    ScalarFunction{"floor", ScalarOp::Floor, 1, Floats},
    ScalarFunction{"fmax", ScalarOp::Fmax, 2, Floats},
    ScalarFunction{"fmin", ScalarOp::Fmin, 2, Floats},
    ScalarFunction{"isinf", ScalarOp::IsInf, 1, Floats, true},
    ScalarFunction{"isnan", ScalarOp::IsNan, 1, Floats, true},
    ScalarFunction{"lgamma", ScalarOp::Lgamma, 1, Floats},
    ScalarFunction{"log", ScalarOp::Log, 1, Floats},
    ScalarFunction{"log1p", ScalarOp::Log1p, 1, Floats},
    ScalarFunction{"max", ScalarOp::Max, 2, Numbers},
    ScalarFunction{"min", ScalarOp::Min, 2, Numbers},
    ScalarFunction{"pow", ScalarOp::Pow, 2, Numbers},
    ScalarFunction{"round", ScalarOp::Round, 1, Floats},
    ScalarFunction{"rsqrt", ScalarOp::Rsqrt, 1, Floats},
    ScalarFunction{"shl", ScalarOp::Shl, 2, Integers},
    ScalarFunction{"shr", ScalarOp::Shr, 2, Integers},
    ScalarFunction{"sigmoid", ScalarOp::Sigmoid, 1, Floats},
    ScalarFunction{"sign", ScalarOp::Sign, 1, Numbers},
    ScalarFunction{"sin", ScalarOp::Sin, 1, Floats},
    ScalarFunction{"sinh", ScalarOp::Sinh, 1, Floats},
    ScalarFunction{"sqrt", ScalarOp::Sqrt, 1, Floats},
    ScalarFunction{"tan", ScalarOp::Tan, 1, Floats},
    ScalarFunction{"tanh", ScalarOp::Tanh, 1, Floats},
    ScalarFunction{"trunc", ScalarOp::Trunc, 1, Floats},
};

}  // namespace

const ScalarFunction* scalar_function_named(std::string_view name) {
  for (const ScalarFunction& function : kFunctions) {
    if (function.name == name) return &function;
  }
  return nullptr;
}

std::vector<std::string> scalar_function_names() {
  std::vector<std::string> names;
  for (const ScalarFunction& function : kFunctions) names.emplace_back(function.name);
  return names;
}

}  // namespace solar::ir
