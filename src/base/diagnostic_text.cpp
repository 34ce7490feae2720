#include "base/diagnostic_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"

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

/// Number of code points.
size_t columns_of(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

/// `at`, or the start of the character that it lies in.
size_t character_start(std::string_view text, size_t at) {
  const auto inside = [&](size_t i) {
    return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U;
  };
  size_t start = std::min(at, text.size());
  for (int i = 0; i < 3 && start > 0 && inside(start); ++i) --start;
  return start;
}

/// `file:line:column`.
std::string place_text(const Span& span) {
  const Position p = position_of(*span.source, span.begin);
  return fmt::format("{}:{}:{}", printable_line(span.source->name), p.line, p.column);
}

/// The source line, and below it `mark` under [begin, end).
std::string marked_line(const Span& span, const std::string& note, char mark) {
  size_t start = 0;
  std::string_view line = line_at(span.source->text, span.begin, start);
  size_t from = static_cast<size_t>(span.begin) - std::min(start, static_cast<size_t>(span.begin));
  size_t length = static_cast<size_t>(std::max(span.end - span.begin, 1));
  if (line.size() > kMaxLine) {
    const size_t cut = character_start(line, from > kMaxLine / 2 ? from - kMaxLine / 2 : 0);
    line.remove_prefix(cut);
    line = line.substr(0, character_start(line, kMaxLine));
    from -= cut;
  }
  from = std::min(from, line.size());
  const size_t marked = character_start(line, std::min(from + length, line.size()));
  // What is escaped is wider than in the file, so the mark is measured in what is shown.
  const size_t indent = columns_of(printable_line(line.substr(0, from)));
  const size_t width =
      marked > from ? columns_of(printable_line(line.substr(from, marked - from))) : 1;
  const int number = position_of(*span.source, span.begin).line;
  return fmt::format("{:>5} | {}\n      | {}{}{}{}\n", number, printable_line(line),
                     std::string(indent, ' '), std::string(width, mark), note.empty() ? "" : " ",
                     printable_line(note));
}

std::string fix_text(const Fix& fix) {
  const std::string_view text = fix.span.source ? fix.span.source->text : std::string_view();
  const auto begin = std::min(static_cast<size_t>(std::max(fix.span.begin, 0)), text.size());
  const auto old = text.substr(begin, static_cast<size_t>(std::max(fix.span.end, 0)) - begin);
  if (old.empty()) return fmt::format("insert `{}`", fix.replacement);
  if (fix.replacement.empty()) return fmt::format("remove `{}`", old);
  return fmt::format("replace `{}` by `{}`", old, fix.replacement);
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
    place = place_text(d.span) + ": ";
  }
  std::string out =
      fmt::format("{}{}{}[{}]{}: {}\n", place, on, word, slug(d.kind), off, printable(d.message));
  if (d.span.source && !d.span.source->text.empty()) out += marked_line(d.span, "", '^');
  for (const Label& label : d.labels) {
    if (!label.span.source) continue;
    if (!d.span.source || label.span.source != d.span.source) {
      out += fmt::format("  in {}\n", place_text(label.span));
    }
    out += marked_line(label.span, label.text, '-');
  }
  if (!d.hint.empty()) out += fmt::format("  = hint: {}\n", printable(d.hint));
  for (const Fix& fix : d.fixes) {
    out += fmt::format("  = {}: {}\n", confidence_word(fix.confidence), printable(fix_text(fix)));
  }
  return out;
}

std::string render_text(const Diagnostics& diagnostics, bool colour) {
  std::string out;
  for (const Diagnostic& d : diagnostics) out += render_text(d, colour);
  return out;
}

}  // namespace solar
