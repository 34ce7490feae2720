#pragma once
// The scalar functions of the language. Private to ir/.

#include <string>
#include <string_view>
#include <vector>

#include "ir/core.h"

namespace solar::ir {

enum class ScalarOperands : uint8_t { Numbers, Floats, Integers };

struct ScalarFunction {
  std::string_view name;
  ScalarOp op;
  int arity;
  ScalarOperands operands;
  bool yields_bool = false;
};

const ScalarFunction* scalar_function_named(std::string_view name);
std::vector<std::string> scalar_function_names();

}  // namespace solar::ir
