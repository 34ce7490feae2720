#pragma once
// Reading and writing whole files. A file is written to a temporary name beside it and renamed, so
// that an interrupted program leaves the old file or the new one, never a half.

#include <string>
#include <string_view>

#include "base/result.h"

namespace solar {

/// What stands at `path` instead of a file: `a directory`, `a named pipe`, ...; empty for a regular
/// file, and where nothing is. Links are followed; nothing is opened, which could wait for ever.
std::string_view irregular_kind(const std::string& path);

/// The bytes of a file or of a pipe that a shell made (`<(...)`), at most 1 GiB. What is missing,
/// unreadable, larger, a directory, a named pipe, a socket or a device (other than standard input)
/// is a SourceFile diagnostic. `-`: standard input.
Result<std::string> read_file(const std::string& path);

/// Whether something can be written in place of `path`: not standard input, a pipe or a device.
bool is_regular_file(const std::string& path);

/// Replaces the file; `-` writes to standard output. Failures are OutputFile diagnostics.
Result<Done> write_file(const std::string& path, const std::string& content);

}  // namespace solar
