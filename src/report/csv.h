#pragma once
// Cells of CSV files (RFC 4180).

#include <string>

namespace solar::report {

/// The text as a cell, quoted if it must be.
inline std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace solar::report
