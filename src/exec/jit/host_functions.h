#pragma once
// Functions of this program that compiled code calls by name.

#include <span>

namespace solar::exec::native {

struct HostFunction {
  const char* name;
  void* address;
};

std::span<const HostFunction> host_functions();

}  // namespace solar::exec::native
