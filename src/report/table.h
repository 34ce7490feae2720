#pragma once
// Text in columns, and paragraphs, that fit a width. Widths are counted in code points of UTF-8.
// What is put in comes out printable.

#include <string>
#include <string_view>
#include <vector>

namespace solar::report {

/// Number of code points.
size_t columns_of(std::string_view text);

struct Column {
  std::string title;
  bool right = false;      // numbers
  size_t shrinks_to = 0;   // the least width when space is short; 0: never shrinks
  bool may_go = false;     // left out when even the shrunk columns do not fit; the last one first
  bool keeps_end = false;  // what is too long loses its beginning
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void row(std::vector<std::string> cells);
  /// Lines of at most `width` columns, indented by two, if the columns can shrink and go that far.
  /// Empty columns are left out. No rows: empty.
  std::string render(size_t width) const;
  /// The same, line by line; the first is the title.
  std::vector<std::string> lines(size_t width) const;

 private:
  std::vector<size_t> widths(size_t width) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_ = {};
};

/// `first` and the text, broken at blanks; later lines are indented by `indent`. Ends with a line
/// break.
std::string paragraph(std::string_view first, std::string_view text, size_t width, size_t indent);

}  // namespace solar::report
