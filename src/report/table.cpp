#include "report/table.h"

#include <algorithm>

#include "base/printable.h"

namespace solar::report {
namespace {

constexpr std::string_view kGap = "  ";
constexpr std::string_view kCut = "...";

bool starts_code_point(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

/// The byte at which code point `count` starts.
size_t byte_of(std::string_view text, size_t count) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (starts_code_point(text[i]) && count-- == 0) return i;
  }
  return text.size();
}

std::string cut(const std::string& text, size_t width, bool keep_end) {
  const size_t columns = columns_of(text);
  if (columns <= width) return text;
  const size_t kept = width > kCut.size() ? width - kCut.size() : 0;
  if (keep_end) return std::string(kCut) + text.substr(byte_of(text, columns - kept));
  return text.substr(0, byte_of(text, kept)) + std::string(kCut);
}

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

void Table::row(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = printable_line(cell);
  rows_.push_back(std::move(cells));
}

size_t columns_of(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), starts_code_point));
}

std::vector<size_t> Table::widths(size_t width) const {
  std::vector<size_t> result(columns_.size(), 0);
  for (size_t c = 0; c < columns_.size(); ++c) {
    for (const auto& row : rows_) result[c] = std::max(result[c], columns_of(row[c]));
    if (result[c] > 0) result[c] = std::max(result[c], columns_of(columns_[c].title));
  }
  const auto total = [&] {
    size_t sum = 0;
    for (const size_t w : result) sum += w > 0 ? w + kGap.size() : 0;
    return sum;
  };
  while (total() > width) {
    size_t widest = columns_.size();
    size_t last = columns_.size();
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c].may_go && result[c] > 0) last = c;
      const size_t least = columns_[c].shrinks_to;
      if (least == 0 || result[c] <= least) continue;
      if (widest == columns_.size() || result[c] > result[widest]) widest = c;
    }
    if (widest < columns_.size()) {
      --result[widest];
    } else if (last < columns_.size()) {
      result[last] = 0;
    } else {
      break;
    }
  }
  return result;
}

std::vector<std::string> Table::lines(size_t width) const {
  std::vector<std::string> result;
  if (rows_.empty()) return result;
  const std::vector<size_t> wide = widths(width);
  const auto add = [&](const auto& cell) {
    std::string line;
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (wide[c] == 0) continue;
      const std::string text = cut(cell(c), wide[c], columns_[c].keeps_end);
      const std::string blanks(wide[c] - std::min(wide[c], columns_of(text)), ' ');
      line += std::string(kGap) + (columns_[c].right ? blanks + text : text + blanks);
    }
    result.push_back(without_trailing_blanks(std::move(line)));
  };
  add([&](size_t c) { return columns_[c].title; });
  for (const auto& row : rows_) add([&](size_t c) { return row[c]; });
  return result;
}

std::string Table::render(size_t width) const {
  std::string text;
  for (const std::string& line : lines(width)) text += line + "\n";
  return text;
}

std::string paragraph(std::string_view first, std::string_view text, size_t width, size_t indent) {
  std::string result = printable_line(first);
  size_t column = columns_of(result);
  bool word_before = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(" \n\t\r"), text.size());
    const std::string word = printable(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    const size_t blanks = word_before ? 1 : 0;
    if (column + blanks + columns_of(word) > width && column > indent) {
      result = without_trailing_blanks(std::move(result)) + "\n" + std::string(indent, ' ');
      column = indent;
    } else {
      result.append(blanks, ' ');
      column += blanks;
    }
    result += word;
    column += columns_of(word);
    word_before = true;
  }
  return without_trailing_blanks(std::move(result)) + "\n";
}

}  // namespace solar::report
