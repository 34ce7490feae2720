#include "exec/tensor_file.h"

#include <fmt/format.h>

#include "base/file.h"
#include "exec/tensor_file_parts.h"

namespace solar::exec {

namespace {
constexpr const char* kFormatHint = "name the file *.safetensors or *.npz";
}

std::string shown(std::string_view name) {
  constexpr size_t kLongest = 80;
  std::string result(name.substr(0, kLongest));
  for (char& c : result) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return name.size() > kLongest ? result + "..." : result;
}

Result<NamedTensors> read_tensors(const std::string& path, const ReadLimits& limits) {
  const std::string_view kind = irregular_kind(path);
  if (!kind.empty()) {
    return tensor_file_error(path, fmt::format("it is {}, not a file", kind),
                             "write it to a file first");
  }
  if (path.ends_with(".safetensors")) return read_safetensors(path, limits);
  if (path.ends_with(".npz")) return read_npz(path, limits);
  return tensor_file_error(path, "unknown tensor file format", kFormatHint);
}

Result<Done> write_tensors(const std::string& path, const NamedTensors& tensors) {
  if (path.ends_with(".safetensors")) return write_safetensors(path, tensors);
  if (path.ends_with(".npz")) return write_npz(path, tensors);
  return tensor_file_error(path, "unknown tensor file format", kFormatHint);
}

}  // namespace solar::exec
