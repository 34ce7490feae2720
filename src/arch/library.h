#pragma once
// Architecture files: `arch/*.toml` of the library, and the user's own by path. A file may say
// `extends = "h100-sxm"` (a name in the library, or a path relative to the file) and then gives
// only what differs.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "arch/machine.h"
#include "base/result.h"

namespace solar::arch {

/// A machine by its name in the library or by a path (anything with `/` or ending in `.toml`).
/// Failure: all problems of the file and of what it extends, in order of position; UnknownArch
/// offers the nearest names.
Result<Machine> load(std::string_view name_or_path, const std::filesystem::path& library);

/// Several machines, in the given order; a file named twice counts once. Failure: all problems of
/// all of them, and two different files of one name, since machines are told apart by it.
Result<std::vector<Machine>> load_all(const std::vector<std::string>& names_or_paths,
                                      const std::filesystem::path& library);

/// The names in the library, sorted.
Result<std::vector<std::string>> list(const std::filesystem::path& library);

/// All problems of one file, warnings included; empty if it is right.
Diagnostics check(std::string_view name_or_path, const std::filesystem::path& library);

}  // namespace solar::arch
