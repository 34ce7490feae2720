#pragma once
// LLVM, opened when first needed: text to object, object to function. The one place that knows it.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "exec/jit/target.h"

namespace solar::exec::native {

using KernelFunction = int32_t (*)(void* const* pointers, const int64_t* constants, int64_t begin,
                                   int64_t end);

class Compiler {
 public:
  /// The process' compiler, made at the first call; null where LLVM cannot be had. Machine code
  /// lives as long as the process.
  static Compiler* get();
  ~Compiler();

  const Target& target() const { return target_; }

  /// An object whose function is `name`, or nothing (with `problem` set).
  std::optional<std::string> compile(const std::string& text, std::string& problem);
  /// The function `name` of an object; null if it cannot be linked. A name stands for one text.
  KernelFunction link(const std::string& object, const std::string& name);
  /// A function linked before, or null.
  KernelFunction linked(const std::string& name);

 private:
  struct State;
  Compiler();
  static std::unique_ptr<Compiler> make();

  std::mutex mutex_;
  Target target_;
  std::unordered_map<std::string, KernelFunction> functions_ = {};
  std::unique_ptr<State> state_;
};

}  // namespace solar::exec::native
