#pragma once
// The files that describe one machine: the named one and those it extends.

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arch/toml_file.h"
#include "base/result.h"

namespace solar::arch {

struct Document {
  std::filesystem::path path;
  std::string id;  // the file's name without `.toml`
  std::shared_ptr<const Source> source = nullptr;
  std::vector<TomlLeaf> leaves = {};
};

/// Whether the text names a file rather than an entry of the library.
bool is_path(std::string_view name_or_path);

/// Whether both paths lead to one file, which exists.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

/// The file and, nearest first, what it extends. Failure: unknown names, unreadable files, syntax,
/// cycles.
Result<std::vector<Document>> read_documents(std::string_view name_or_path,
                                             const std::filesystem::path& library);

}  // namespace solar::arch
