// NumPy archives: a zip file with one NAME.npy per array.

#include <unistd.h>
#include <zip.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/checked.h"
#include "exec/npy.h"
#include "exec/tensor_file.h"
#include "exec/tensor_file_parts.h"

namespace solar::exec {
namespace {

constexpr size_t kHeaderRoom = 1 << 16;

struct DiscardArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct CloseEntry {
  void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};
using Archive = std::unique_ptr<zip_t, DiscardArchive>;
using ArchiveEntry = std::unique_ptr<zip_file_t, CloseEntry>;

/// Bytes read before the end of the entry, at most `bytes`; -1 on an error.
int64_t read_up_to(zip_file_t* entry, char* out, int64_t bytes) {
  int64_t done = 0;
  while (done < bytes) {
    const zip_int64_t n = zip_fread(entry, out + done, static_cast<zip_uint64_t>(bytes - done));
    if (n < 0) return -1;
    if (n == 0) break;
    done += n;
  }
  return done;
}

/// Column-major elements to row-major ones.
Result<TensorData> from_column_major(const TensorData& columns) {
  SOLAR_TRY(TensorData rows, TensorData::make(columns.type(), columns.shape()));
  const auto& shape = columns.shape();
  const auto width = static_cast<size_t>(memory_bytes(columns.type()));
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t axis = 1; axis < shape.size(); ++axis)
    strides[axis] = strides[axis - 1] * shape[axis - 1];
  std::vector<int64_t> position(shape.size(), 0);
  std::byte* out = rows.mutable_data();
  int64_t from = 0;
  for (int64_t i = 0; i < rows.count(); ++i) {
    std::memcpy(out + static_cast<size_t>(i) * width,
                columns.data() + static_cast<size_t>(from) * width, width);
    for (size_t axis = shape.size(); axis-- > 0;) {
      from += strides[axis];
      if (++position[axis] < shape[axis]) break;
      from -= strides[axis] * shape[axis];
      position[axis] = 0;
    }
  }
  return rows;
}

Result<TensorData> read_entry(const std::string& path, const std::string& name, zip_file_t* entry,
                              int64_t limit_bytes) {
  const auto failed = [&](std::string_view what) {
    return tensor_file_error(path, fmt::format("array `{}`: {}", shown(name), what));
  };
  std::string start(kHeaderRoom, '\0');
  const int64_t got = read_up_to(entry, start.data(), static_cast<int64_t>(start.size()));
  if (got < 0) return failed("damaged or encrypted");
  start.resize(static_cast<size_t>(got));
  auto parsed = parse_npy_header(start);
  if (const auto* problem = std::get_if<std::string>(&parsed)) return failed(*problem);
  auto& header = std::get<NpyHeader>(parsed);
  const auto count = checked_product(header.shape);
  const auto bytes = count ? checked_mul(*count, memory_bytes(header.type)) : std::nullopt;
  if (!bytes || *bytes > limit_bytes) {
    return failed(fmt::format("{} takes more than the limit of {} bytes",
                              describe(header.type, header.shape), limit_bytes));
  }
  SOLAR_TRY(TensorData tensor, TensorData::make(header.type, header.shape));
  const int64_t at_hand = std::min(*bytes, got - header.data_begin);
  auto* out = reinterpret_cast<char*>(tensor.mutable_data());
  std::memcpy(out, start.data() + header.data_begin, static_cast<size_t>(at_hand));
  char extra = 0;
  const bool complete = read_up_to(entry, out + at_hand, *bytes - at_hand) == *bytes - at_hand;
  if (!complete || got - header.data_begin > *bytes || read_up_to(entry, &extra, 1) != 0) {
    return failed(fmt::format("its data are not the {} bytes of {}", *bytes,
                              describe(header.type, header.shape)));
  }
  if (header.fortran_order && header.shape.size() > 1) return from_column_major(tensor);
  return tensor;
}

}  // namespace

Result<NamedTensors> read_npz(const std::string& path, const ReadLimits& limits) {
  int code = 0;
  const Archive archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!archive) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    auto diagnostic =
        tensor_file_error(path, fmt::format("cannot open: {}", zip_error_strerror(&error)));
    zip_error_fini(&error);
    return diagnostic;
  }
  NamedTensors result;
  int64_t room = limits.bytes;
  const zip_int64_t entries = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < entries; ++i) {
    const char* raw_name = zip_get_name(archive.get(), static_cast<zip_uint64_t>(i), 0);
    std::string name = raw_name == nullptr ? "" : raw_name;
    if (!name.ends_with(".npy")) {
      return tensor_file_error(path, fmt::format("entry `{}` is not a .npy array", shown(name)));
    }
    name.resize(name.size() - 4);
    const ArchiveEntry entry(zip_fopen_index(archive.get(), static_cast<zip_uint64_t>(i), 0));
    if (!entry)
      return tensor_file_error(path,
                               fmt::format("array `{}` is damaged or encrypted", shown(name)));
    SOLAR_TRY(TensorData tensor, read_entry(path, name, entry.get(), room));
    room -= tensor.bytes();
    result.insert_or_assign(name, std::move(tensor));
  }
  return result;
}

Result<Done> write_npz(const std::string& path, const NamedTensors& tensors) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  const auto failed = [&](const char* what) {
    ::unlink(temporary.c_str());
    return Diagnostic{.kind = DiagnosticKind::OutputFile,
                      .message = fmt::format("cannot write `{}`: {}", path, what)};
  };
  std::vector<std::pair<std::string, const TensorData*>> arrays;
  for (const auto& [name, tensor] : tensors) {
    const auto header = npy_header(tensor.type(), tensor.shape());
    if (!header) {
      return tensor_file_error(
          path,
          fmt::format("tensor `{}`: .npz files cannot hold {}", name, ir::name(tensor.type())),
          "write a .safetensors file");
    }
    arrays.emplace_back(*header, &tensor);
  }
  int code = 0;
  Archive archive(zip_open(temporary.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code));
  if (!archive) return failed("cannot create the file beside it");
  size_t i = 0;
  for (const auto& [name, tensor] : tensors) {
    // The header and the elements must be one buffer; libzip reads it when the archive is closed.
    const auto& [header, data] = arrays[i++];
    const size_t bytes = header.size() + static_cast<size_t>(data->bytes());
    auto* buffer = static_cast<char*>(std::malloc(bytes));
    if (buffer == nullptr) return failed("out of memory");
    std::memcpy(buffer, header.data(), header.size());
    std::memcpy(buffer + header.size(), data->data(), static_cast<size_t>(data->bytes()));
    zip_source_t* source = zip_source_buffer(archive.get(), buffer, bytes, 1);
    if (source == nullptr) {
      std::free(buffer);
      return failed("out of memory");
    }
    const zip_int64_t entry =
        zip_file_add(archive.get(), (name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8);
    if (entry < 0) {
      zip_source_free(source);
      return failed(zip_strerror(archive.get()));
    }
    zip_set_file_compression(archive.get(), static_cast<zip_uint64_t>(entry), ZIP_CM_STORE, 0);
  }
  if (tensors.empty()) {
    // libzip makes no file for an archive without entries: write the end-of-directory record
    // itself.
    archive.reset();
    FILE* file = std::fopen(temporary.c_str(), "wb");
    const std::string record = std::string("PK\x05\x06") + std::string(18, '\0');
    const bool ok =
        file != nullptr && std::fwrite(record.data(), 1, record.size(), file) == record.size();
    if ((file != nullptr && std::fclose(file) != 0) || !ok) return failed(std::strerror(errno));
  } else if (zip_close(archive.get()) != 0) {
    return failed(zip_strerror(archive.get()));
  } else {
    static_cast<void>(archive.release());  // closed
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) return failed(std::strerror(errno));
  return Done{};
}

}  // namespace solar::exec
