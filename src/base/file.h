#pragma once
// Reading and writing whole files. A file is written to a temporary name beside it and renamed, so
// that an interrupted program leaves the old file or the new one, never a half.

#include <string>

#include "base/result.h"

namespace solar {

/// The file's bytes; a missing, unreadable or directory path is a SourceFile diagnostic.
Result<std::string> read_file(const std::string& path);

/// Replaces the file; `-` writes to standard output. Failures are OutputFile diagnostics.
Result<Done> write_file(const std::string& path, const std::string& content);

}  // namespace solar
