#pragma once
// Reading and writing whole files. A file is written to a temporary name beside it and renamed, so
// that an interrupted program leaves the old file or the new one, never a half.

#include <string>

#include "base/result.h"

namespace solar {

/// The bytes of a file or pipe, at most 1 GiB. What is missing, unreadable, larger, a directory or
/// a device (other than standard input) is a SourceFile diagnostic. `-`: standard input.
Result<std::string> read_file(const std::string& path);

/// Whether something can be written in place of `path`: not standard input, a pipe or a device.
bool is_regular_file(const std::string& path);

/// Replaces the file; `-` writes to standard output. Failures are OutputFile diagnostics.
Result<Done> write_file(const std::string& path, const std::string& content);

}  // namespace solar
