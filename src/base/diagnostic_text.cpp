#include "base/diagnostic_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace solar {
namespace {

constexpr size_t kMaxLine = 160;  // longer source lines are cut around the mark

std::string_view line_at(const std::string& text, int32_t offset, size_t& start) {
  const auto at = std::min(static_cast<size_t>(std::max(offset, 0)), text.size());
  start = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // npos + 1 == 0
  size_t end = text.find('\n', start);
  if (end == std::string::npos) end = text.size();
  if (end > start && text[end - 1] == '\r') --end;
  return std::string_view(text).substr(start, end - start);
}

/// `text` without control characters, which a terminal would obey; line breaks and tabs stay.
std::string printable(std::string text) {
  for (char& c : text) {
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    if (control && c != '\n' && c != '\t') c = '?';
  }
  return text;
}

/// The source line with `mark` under [begin, end), after `gutter` columns of line number.
std::string marked_line(const Span& span, const std::string& note, char mark) {
  size_t start = 0;
  std::string_view line = line_at(span.source->text, span.begin, start);
  size_t from = static_cast<size_t>(span.begin) - std::min(start, static_cast<size_t>(span.begin));
  size_t length = static_cast<size_t>(std::max(span.end - span.begin, 1));
  if (line.size() > kMaxLine) {
    const size_t cut = from > kMaxLine / 2 ? from - kMaxLine / 2 : 0;
    line = line.substr(std::min(cut, line.size()), kMaxLine);
    from -= cut;
  }
  length = std::max<size_t>(1, std::min(length, line.size() > from ? line.size() - from : 1));
  std::string shown = printable(std::string(line));
  std::replace(shown.begin(), shown.end(), '\t', ' ');
  const int number = position_of(*span.source, span.begin).line;
  return fmt::format("{:>5} | {}\n      | {}{}{}{}\n", number, shown, std::string(from, ' '),
                     std::string(length, mark), note.empty() ? "" : " ", note);
}

std::string_view confidence_word(FixConfidence confidence) {
  switch (confidence) {
    case FixConfidence::Always:
      return "fix";
    case FixConfidence::Maybe:
      return "fix (maybe)";
    case FixConfidence::HasPlaceholders:
      return "fix (fill in)";
  }
  return "fix";
}

}  // namespace

std::string render_text(const Diagnostic& d, bool colour) {
  const char* word = d.severity == Severity::Error     ? "error"
                     : d.severity == Severity::Warning ? "warning"
                                                       : "note";
  const char* on = !colour                           ? ""
                   : d.severity == Severity::Error   ? "\x1b[1;31m"
                   : d.severity == Severity::Warning ? "\x1b[1;33m"
                                                     : "\x1b[1;36m";
  const char* off = colour ? "\x1b[0m" : "";
  std::string place;
  if (d.span.source) {
    const Position p = position_of(*d.span.source, d.span.begin);
    place = fmt::format("{}:{}:{}: ", d.span.source->name, p.line, p.column);
  }
  std::string out =
      fmt::format("{}{}{}[{}]{}: {}\n", place, on, word, slug(d.kind), off, printable(d.message));
  if (d.span.source && !d.span.source->text.empty()) out += marked_line(d.span, "", '^');
  for (const Label& label : d.labels) {
    if (!label.span.source) continue;
    if (!d.span.source || label.span.source != d.span.source) {
      const Position p = position_of(*label.span.source, label.span.begin);
      out += fmt::format("  in {}:{}:{}\n", label.span.source->name, p.line, p.column);
    }
    out += marked_line(label.span, label.text, '-');
  }
  if (!d.hint.empty()) out += fmt::format("  = hint: {}\n", printable(d.hint));
  for (const Fix& fix : d.fixes) {
    out +=
        fmt::format("  = {}: `{}`\n", confidence_word(fix.confidence), printable(fix.replacement));
  }
  return out;
}

std::string render_text(const Diagnostics& diagnostics, bool colour) {
  std::string out;
  for (const Diagnostic& d : diagnostics) out += render_text(d, colour);
  return out;
}

}  // namespace solar
