#pragma once
// What a terminal may be sent of texts that are not ours: names of operators and files, messages of
// programs, source lines.

#include <string>
#include <string_view>

namespace solar {

/// `text` with everything that a terminal would obey or misread as an escape: control characters
/// (C0 other than line breaks and tabs, DEL, C1), controls of the writing direction, separators of
/// lines, byte order marks (`\x1b`, `\u202e`), and bytes that are not UTF-8 (`\xff`). Idempotent.
std::string printable(std::string_view text);

/// The same on one line: line breaks and tabs become blanks, so that columns keep their place.
std::string printable_line(std::string_view text);

}  // namespace solar
