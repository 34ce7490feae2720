#include "arch/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "arch/nearest.h"
#include "base/text.h"

namespace solar::arch {
namespace {

/// `dram.bandwidth` -> table `dram`, key `bandwidth`.
std::pair<std::string_view, std::string_view> split_key(std::string_view key) {
  const auto dot = key.rfind('.');
  if (dot == std::string_view::npos) return {{}, key};
  return {key.substr(0, dot), key.substr(dot + 1)};
}

std::string source_text(const Span& span) {
  if (span.source == nullptr || span.end <= span.begin) return {};
  return span.source->text.substr(static_cast<size_t>(span.begin),
                                  static_cast<size_t>(span.end - span.begin));
}

}  // namespace

std::optional<Reader::Found> Reader::find(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
  for (size_t i = 0; i < documents_.size(); ++i) {
    for (const TomlLeaf& leaf : documents_[i].leaves) {
      if (leaf.key == key) return Found{i, &leaf};
    }
  }
  return std::nullopt;
}

void Reader::wrong(const TomlLeaf& leaf, DiagnosticKind kind, std::string message,
                   std::string hint) {
  add({.kind = kind, .message = std::move(message), .span = leaf.span, .hint = std::move(hint)});
}

void Reader::missing(std::string_view key, std::string_view example) {
  const auto [table, name] = split_key(key);
  const std::string where =
      table.empty() ? "at the top of the file" : fmt::format("under `[{}]`", table);
  Span span{documents_.front().source, 0, 0};
  add({.kind = DiagnosticKind::ArchKey,
       .message = fmt::format("`{}` is missing", key),
       .span = std::move(span),
       .hint = fmt::format("add `{} = {}` {}, or `extends` an architecture that has it", name,
                           example, where)});
}

std::optional<std::string> Reader::text(std::string_view key) {
  const auto found = find(key);
  if (!found) return std::nullopt;
  const TomlLeaf& leaf = *found->leaf;
  if (leaf.kind == TomlLeaf::Kind::String && !leaf.text.empty()) return leaf.text;
  wrong(leaf, DiagnosticKind::ArchFile,
        fmt::format("`{}` must be a string that is not empty, found {}", key,
                    leaf.kind == TomlLeaf::Kind::String ? "an empty string" : leaf.kind_name),
        "write the value in double quotes");
  return std::nullopt;
}

std::optional<int64_t> Reader::positive_integer(std::string_view key) {
  const auto found = find(key);
  if (!found) return std::nullopt;
  const TomlLeaf& leaf = *found->leaf;
  if (leaf.kind == TomlLeaf::Kind::Integer && leaf.integer > 0) return leaf.integer;
  wrong(leaf, DiagnosticKind::ArchFile,
        fmt::format(
            "`{}` must be a positive integer, found {}", key,
            leaf.kind == TomlLeaf::Kind::Integer ? fmt::to_string(leaf.integer) : leaf.kind_name),
        "it has no unit and no quotes");
  return std::nullopt;
}

std::optional<double> Reader::positive_number(std::string_view key) {
  const auto found = find(key);
  if (!found) return std::nullopt;
  const TomlLeaf& leaf = *found->leaf;
  const bool number = leaf.kind == TomlLeaf::Kind::Integer || leaf.kind == TomlLeaf::Kind::Float;
  if (number && std::isfinite(leaf.number) && leaf.number > 0) return leaf.number;
  wrong(leaf, DiagnosticKind::ArchFile,
        fmt::format("`{}` must be a positive number, found {}", key,
                    number ? fmt::to_string(leaf.number) : leaf.kind_name),
        "it has no unit and no quotes");
  return std::nullopt;
}

const TomlLeaf* Reader::unit_text(std::string_view key, Dimension dimension) {
  const auto found = find(key);
  if (!found) return nullptr;
  const TomlLeaf& leaf = *found->leaf;
  if (leaf.kind == TomlLeaf::Kind::String) return &leaf;
  const std::string_view unit = example(dimension);
  Diagnostic diagnostic{
      .kind = DiagnosticKind::ArchUnit,
      .message = fmt::format("`{}` must be a string with a unit, found {}", key, leaf.kind_name),
      .span = leaf.span,
      .hint = fmt::format("write it like `\"{}\"`", unit)};
  if (leaf.kind == TomlLeaf::Kind::Integer || leaf.kind == TomlLeaf::Kind::Float) {
    diagnostic.message = fmt::format("`{}` has no unit", key);
    const std::string_view suffix = unit.substr(unit.find_first_not_of("0123456789. "));
    diagnostic.fixes.push_back(
        {.span = leaf.span,
         .replacement = fmt::format("\"{} {}\"", source_text(leaf.span), suffix),
         .confidence = FixConfidence::HasPlaceholders});
  }
  add(std::move(diagnostic));
  return nullptr;
}

std::optional<double> Reader::quantity(std::string_view key, Dimension dimension) {
  const TomlLeaf* leaf = unit_text(key, dimension);
  if (leaf == nullptr) return std::nullopt;
  Result<double> value = parse_quantity(leaf->text, dimension, leaf->span);
  if (value) return *value;
  for (Diagnostic& diagnostic : value.error()) {
    diagnostic.message = fmt::format("`{}`: {}", key, diagnostic.message);
    add(std::move(diagnostic));
  }
  return std::nullopt;
}

std::optional<int64_t> Reader::bytes(std::string_view key, bool none) {
  const TomlLeaf* leaf = unit_text(key, Dimension::Memory);
  if (leaf == nullptr) return std::nullopt;
  if (none && leaf->text == "none") return 0;
  Result<int64_t> value = parse_bytes(leaf->text, leaf->span);
  if (value) return *value;
  for (Diagnostic& diagnostic : value.error()) {
    diagnostic.message = fmt::format("`{}`: {}", key, diagnostic.message);
    add(std::move(diagnostic));
  }
  return std::nullopt;
}

std::vector<TomlString> Reader::strings(std::string_view key) {
  const auto found = find(key);
  if (!found) return {};
  const TomlLeaf& leaf = *found->leaf;
  if (leaf.kind == TomlLeaf::Kind::String) return {{leaf.text, leaf.span}};
  if (leaf.kind == TomlLeaf::Kind::Strings) return leaf.items;
  wrong(leaf, DiagnosticKind::ArchFile,
        fmt::format("`{}` must be a list of strings, found {}", key, leaf.kind_name),
        fmt::format("write `{} = [\"...\"]`", split_key(key).second));
  return {};
}

std::string Reader::keys_beside(std::string_view key) const {
  std::string_view table = split_key(key).first;
  std::vector<std::string> names;
  while (true) {
    for (const std::string& known : known_) {
      const auto [known_table, name] = split_key(known);
      if (known_table == table) names.emplace_back(name);
    }
    if (!names.empty() || table.empty()) break;
    table = split_key(table).first;
  }
  return fmt::format("remove it; the keys {} are {}",
                     table.empty() ? "at the top of the file" : fmt::format("of `[{}]`", table),
                     quoted_choices(names));
}

void Reader::refuse_unknown_keys() {
  for (const Document& document : documents_) {
    for (const TomlLeaf& leaf : document.leaves) {
      if (std::find(known_.begin(), known_.end(), leaf.key) != known_.end()) continue;
      if (leaf.kind_name == "a table" &&
          std::any_of(known_.begin(), known_.end(),
                      [&](const std::string& key) { return key.starts_with(leaf.key + "."); })) {
        continue;  // a table of the schema that happens to be empty
      }
      std::vector<std::string> near = nearest(leaf.key, known_, 3);
      if (near.empty()) {
        // The right name under the wrong table.
        const std::string_view name = split_key(leaf.key).second;
        for (const std::string& key : known_) {
          if (split_key(key).second == name) near.push_back(key);
        }
      }
      add({.kind = DiagnosticKind::ArchKey,
           .message = fmt::format("`{}` is not a key of architecture files", leaf.key),
           .span = leaf.key_span.end > leaf.key_span.begin ? leaf.key_span : leaf.span,
           .hint = near.empty() ? keys_beside(leaf.key)
                                : "did you mean " + quoted_choices(near) + "?"});
    }
  }
}

}  // namespace solar::arch
