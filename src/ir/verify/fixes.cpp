#include "ir/verify/fixes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ir/printer_text.h"

namespace solar::ir {
namespace {

Place place(const Source* source, size_t begin, size_t end) {
  return {source, static_cast<int32_t>(begin), static_cast<int32_t>(end)};
}

std::string_view text_of(Place place) {
  if (place.source == nullptr || place.begin > place.end) return {};
  const std::string_view text = place.source->text;
  if (static_cast<size_t>(place.end) > text.size()) return {};
  return text.substr(static_cast<size_t>(place.begin),
                     static_cast<size_t>(place.end - place.begin));
}

/// Where the name itself stands in a read, with its backquotes.
std::optional<Place> place_of(const std::string& name, Place read) {
  if (read.source == nullptr) return std::nullopt;
  const std::string& text = read.source->text;
  size_t begin = text.find(name, static_cast<size_t>(read.begin));
  if (begin == std::string::npos) return std::nullopt;
  size_t end = begin + name.size();
  if (end > static_cast<size_t>(read.end)) return std::nullopt;
  if (begin > 0 && end < text.size() && text[begin - 1] == '`' && text[end] == '`') {
    --begin;
    ++end;
  }
  return place(read.source, begin, end);
}

}  // namespace

Fixes replace(Place place, std::string text) {
  if (text_of(place).empty()) return {};
  return {{place, std::move(text), FixConfidence::Maybe}};
}

Fixes insert_after(Place place, std::string text) {
  if (text_of(place).empty()) return {};
  return {{Place{place.source, place.end, place.end}, std::move(text), FixConfidence::Maybe}};
}

Fixes rename(const std::string& name, Place place, const std::vector<std::string>& near) {
  if (near.size() != 1) return {};
  const auto found = place_of(name, place);
  return found ? replace(*found, name_text(near[0])) : Fixes{};
}

Fixes wrap(Place place, std::string_view function) {
  const std::string_view text = text_of(place);
  if (text.find('#') != std::string_view::npos) return {};  // a comment would hide what follows
  const bool closed = text.starts_with('(') && text.find(')') == text.size() - 1;
  return replace(place, fmt::format(fmt::runtime(closed ? "{}{}" : "{}({})"), function, text));
}

Fixes change_operator(const ast::Expr& binary, std::string_view to) {
  if (binary.kind != ast::ExprKind::Binary) return {};
  const Place between = {binary.span.source, binary.operands[0]->span.end,
                         binary.operands[1]->span.begin};
  const std::string_view text = text_of(between);
  const size_t at = text.find(binary.text);
  if (at == std::string_view::npos || text.find('#') != std::string_view::npos) return {};
  const size_t begin = static_cast<size_t>(between.begin) + at;
  return replace(place(between.source, begin, begin + binary.text.size()), std::string(to));
}

Fixes change_word_before(Place name, std::string_view word, std::string_view to) {
  if (name.source == nullptr) return {};
  const std::string_view before =
      std::string_view(name.source->text).substr(0, static_cast<size_t>(name.begin));
  const size_t last = before.find_last_not_of(" \t\r\n`");
  if (last == std::string_view::npos || !before.substr(0, last + 1).ends_with(word)) return {};
  const size_t begin = last + 1 - word.size();
  const size_t line = before.rfind('\n', begin) + 1;  // npos + 1 is 0
  if (before.substr(line, begin - line).find('#') != std::string_view::npos) return {};
  return replace(place(name.source, begin, last + 1), std::string(to));
}

}  // namespace solar::ir
