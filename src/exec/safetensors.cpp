// The safetensors format: 8 bytes little-endian header length, a JSON header, then the tensors'
// bytes.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/checked.h"
#include "exec/tensor_file.h"
#include "exec/tensor_file_parts.h"

namespace solar::exec {
namespace {

using nlohmann::json;

constexpr TypeName kSafetensorsTypes[] = {
    {ElementType::F64, "F64"},   {ElementType::F32, "F32"},        {ElementType::F16, "F16"},
    {ElementType::BF16, "BF16"}, {ElementType::F8E4M3, "F8_E4M3"}, {ElementType::F8E5M2, "F8_E5M2"},
    {ElementType::I64, "I64"},   {ElementType::I32, "I32"},        {ElementType::I16, "I16"},
    {ElementType::I8, "I8"},     {ElementType::U8, "U8"},          {ElementType::Bool, "BOOL"},
};
constexpr int64_t kLongestHeader = 100'000'000;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

bool read_at(int fd, void* data, int64_t bytes, int64_t offset) {
  auto* out = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t n = ::pread(fd, out, static_cast<size_t>(bytes), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    out += n;
    bytes -= n;
    offset += n;
  }
  return true;
}

bool write_all(int fd, const void* data, int64_t bytes) {
  const auto* in = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = ::write(fd, in, static_cast<size_t>(bytes));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    in += n;
    bytes -= n;
  }
  return true;
}

struct Entry {
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape = {};
  int64_t begin = 0;
  int64_t bytes = 0;
};

std::optional<int64_t> natural(const json& value) {
  if (!value.is_number_unsigned()) return std::nullopt;
  const auto n = value.get<uint64_t>();
  if (n > static_cast<uint64_t>(INT64_MAX)) return std::nullopt;
  return static_cast<int64_t>(n);
}

/// One tensor's header, checked against the bytes that follow the header. The string is what is
/// wrong.
std::variant<Entry, std::string> parse_entry(const json& value, int64_t data_bytes) {
  if (!value.is_object()) return "expected an object";
  const auto dtype = value.find("dtype");
  const auto shape = value.find("shape");
  const auto offsets = value.find("data_offsets");
  if (dtype == value.end() || !dtype->is_string()) return "`dtype` is missing or not a string";
  if (shape == value.end() || !shape->is_array()) return "`shape` is missing or not a list";
  if (offsets == value.end() || !offsets->is_array() || offsets->size() != 2) {
    return "`data_offsets` is missing or not a pair";
  }
  Entry entry;
  const auto type = type_named(kSafetensorsTypes, dtype->get_ref<const std::string&>());
  if (!type) return fmt::format("unknown dtype `{}`", shown(dtype->get_ref<const std::string&>()));
  entry.type = *type;
  for (const json& extent : *shape) {
    const auto n = natural(extent);
    if (!n) return "`shape` must hold non-negative integers";
    entry.shape.push_back(*n);
  }
  const auto begin = natural((*offsets)[0]);
  const auto end = natural((*offsets)[1]);
  if (!begin || !end || *begin > *end || *end > data_bytes) {
    return fmt::format("`data_offsets` {} leave the file's {} data bytes", offsets->dump(),
                       data_bytes);
  }
  const auto count = checked_product(entry.shape);
  const auto bytes = count ? checked_mul(*count, memory_bytes(entry.type)) : std::nullopt;
  if (!bytes || *bytes != *end - *begin) {
    return fmt::format("{} does not take the {} bytes between its offsets",
                       describe(entry.type, entry.shape), *end - *begin);
  }
  entry.begin = *begin;
  entry.bytes = *bytes;
  return entry;
}

}  // namespace

Result<NamedTensors> read_safetensors(const std::string& path, const ReadLimits& limits) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info = {};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0) {
    return tensor_file_error(path, fmt::format("cannot open: {}", std::strerror(errno)));
  }
  if (!S_ISREG(info.st_mode)) return tensor_file_error(path, "not a regular file");
  const int64_t size = info.st_size;
  uint64_t header_bytes = 0;
  if (size < 8 || !read_at(file.get(), &header_bytes, 8, 0)) {
    return tensor_file_error(path,
                             fmt::format("{} bytes are too few for a safetensors file", size));
  }
  if (header_bytes > static_cast<uint64_t>(std::min(size - 8, kLongestHeader))) {
    return tensor_file_error(
        path, fmt::format("its header claims {} bytes, the file has {}", header_bytes, size),
        "is it a safetensors file, and complete?");
  }
  std::string text(header_bytes, ' ');
  if (!read_at(file.get(), text.data(), static_cast<int64_t>(header_bytes), 8)) {
    return tensor_file_error(path, "the header cannot be read");
  }
  const json header = json::parse(text, nullptr, false);
  if (!header.is_object()) return tensor_file_error(path, "its header is not a JSON object");
  const int64_t data_begin = 8 + static_cast<int64_t>(header_bytes);
  NamedTensors result;
  int64_t total = 0;
  for (const auto& [name, value] : header.items()) {
    if (name == "__metadata__") continue;
    auto parsed = parse_entry(value, size - data_begin);
    if (const auto* problem = std::get_if<std::string>(&parsed)) {
      return tensor_file_error(path, fmt::format("tensor `{}`: {}", shown(name), *problem));
    }
    auto& entry = std::get<Entry>(parsed);
    total += entry.bytes;  // both terms are far below 2^62: each is at most the file's size
    if (total > limits.bytes) {
      return tensor_file_error(
          path, fmt::format("its tensors take more than the limit of {} bytes", limits.bytes));
    }
    SOLAR_TRY(TensorData tensor, TensorData::make(entry.type, std::move(entry.shape)));
    if (!read_at(file.get(), tensor.mutable_data(), entry.bytes, data_begin + entry.begin)) {
      return tensor_file_error(path, fmt::format("tensor `{}` cannot be read", shown(name)));
    }
    result.emplace(name, std::move(tensor));
  }
  return result;
}

Result<Done> write_safetensors(const std::string& path, const NamedTensors& tensors) {
  json header = json::object();
  int64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    const auto type = name_of(kSafetensorsTypes, tensor.type());
    if (!type) {
      return tensor_file_error(path, fmt::format("tensor `{}`: safetensors files cannot hold {}",
                                                 name, ir::name(tensor.type())));
    }
    header[name] = {{"dtype", *type},
                    {"shape", tensor.shape()},
                    {"data_offsets", {offset, offset + tensor.bytes()}}};
    offset += tensor.bytes();
  }
  std::string text = header.dump(-1, ' ', false, json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');  // aligns the data
  const uint64_t header_bytes = text.size();

  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  const auto failed = [&](int error) {
    ::unlink(temporary.c_str());
    return Diagnostic{.kind = DiagnosticKind::OutputFile,
                      .message = fmt::format("cannot write `{}`: {}", path, std::strerror(error))};
  };
  {
    const Descriptor file(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (file.get() < 0) return failed(errno);
    bool ok = write_all(file.get(), &header_bytes, 8) &&
              write_all(file.get(), text.data(), static_cast<int64_t>(text.size()));
    for (const auto& [name, tensor] : tensors)
      ok = ok && write_all(file.get(), tensor.data(), tensor.bytes());
    if (!ok) return failed(errno);
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) return failed(errno);
  return Done{};
}

}  // namespace solar::exec
