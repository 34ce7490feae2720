#include "exec/jit/kernel_store.h"

#include <fmt/format.h>

#include <chrono>

#include "exec/jit/emit.h"
#include "exec/jit/structure_key.h"

namespace solar::exec::native {
namespace {

constexpr const char* kVersion = "solar kernels 1";

/// The text with its one function called `name`.
std::string renamed(std::string text, const std::string& name) {
  const std::string placeholder = "@KERNEL(";
  const size_t at = text.find(placeholder);
  return text.replace(at, placeholder.size(), "@" + name + "(");
}

}  // namespace

CompiledKernel& KernelStore::entry(const Nest& nest) {
  const std::string key = structure_key(nest);
  const std::lock_guard lock(mutex_);
  auto& place = kernels_[key];
  if (!place) {
    place = std::make_unique<CompiledKernel>();
    place->order = choose_order(nest);
  }
  return *place;
}

void KernelStore::prepare(const Nest& nest, CompiledKernel& kernel) {
  const std::lock_guard lock(mutex_);
  if (kernel.function != nullptr || kernel.refused) return;
  Compiler* compiler = Compiler::get();
  const auto text =
      compiler == nullptr ? std::nullopt : emit_module(nest, kernel.order, compiler->target());
  if (!text) {
    kernel.refused = true;
    ++statistics_.refused;
    return;
  }
  const auto begin = std::chrono::steady_clock::now();
  const Target& target = compiler->target();
  const std::string key = fmt::format("{}\n{}\n{}\n{}\n{}", kVersion, target.compiler, target.cpu,
                                      target.features, *text);
  const std::string name = "solar_" + hash_of(key);
  kernel.function = compiler->linked(name);
  if (kernel.function == nullptr) {
    if (const auto object = disk_.find(key)) kernel.function = compiler->link(*object, name);
    if (kernel.function != nullptr) ++statistics_.from_disk;
  }
  if (kernel.function == nullptr) {
    const auto object = compiler->compile(renamed(*text, name), kernel.problem);
    if (object) kernel.function = compiler->link(*object, name);
    if (kernel.function != nullptr) {
      ++statistics_.compiled;
      disk_.put(key, *object);
    }
  }
  kernel.refused = kernel.function == nullptr;
  if (kernel.refused) ++statistics_.refused;
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  statistics_.compile_seconds += spent.count();
}

StoreStatistics KernelStore::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

}  // namespace solar::exec::native
