#include "arch/toml_file.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <string_view>

namespace solar::arch {
namespace {

/// toml++ counts lines and code points from 1; a Span counts bytes from 0.
class Offsets {
 public:
  explicit Offsets(std::string_view text) : text_(text) {
    starts_.push_back(0);
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') starts_.push_back(i + 1);
    }
  }

  int32_t offset(toml::source_position position) const {
    if (position.line == 0) return 0;
    const size_t line = std::min<size_t>(position.line, starts_.size()) - 1;
    size_t at = starts_[line];
    for (toml::source_index column = 1; column < position.column && at < text_.size(); ++column) {
      if (text_[at] == '\n') break;
      ++at;
      while (at < text_.size() && (static_cast<unsigned char>(text_[at]) & 0xC0U) == 0x80U) ++at;
    }
    return static_cast<int32_t>(at);
  }

 private:
  std::string_view text_;
  std::vector<size_t> starts_;
};

class Flattener {
 public:
  explicit Flattener(const std::shared_ptr<const Source>& source)
      : source_(source), offsets_(source->text) {}

  Span span(const toml::source_region& region) const {
    const int32_t begin = offsets_.offset(region.begin);
    return {source_, begin, std::max(begin, offsets_.offset(region.end))};
  }

  void table(const toml::table& table, const std::string& prefix) {
    for (const auto& [key, node] : table) {
      const std::string path = prefix + std::string(key.str());
      const toml::table* inner = node.as_table();
      if (inner != nullptr && !inner->empty()) {
        this->table(*inner, path + ".");
      } else {
        leaves_.push_back(leaf(path, span(key.source()), node));
      }
    }
  }

  std::vector<TomlLeaf> take() {
    std::stable_sort(leaves_.begin(), leaves_.end(), [](const TomlLeaf& a, const TomlLeaf& b) {
      return a.span.begin < b.span.begin;
    });
    return std::move(leaves_);
  }

 private:
  TomlLeaf leaf(const std::string& path, Span key_span, const toml::node& node) const {
    TomlLeaf result{.key = path, .key_span = std::move(key_span), .span = span(node.source())};
    if (const auto* text = node.as_string()) {
      result.kind = TomlLeaf::Kind::String;
      result.kind_name = "a string";
      result.text = text->get();
    } else if (const auto* integer = node.as_integer()) {
      result.kind = TomlLeaf::Kind::Integer;
      result.kind_name = "an integer";
      result.integer = integer->get();
      result.number = static_cast<double>(integer->get());
    } else if (const auto* number = node.as_floating_point()) {
      result.kind = TomlLeaf::Kind::Float;
      result.kind_name = "a number";
      result.number = number->get();
    } else if (const auto* array = node.as_array()) {
      result.kind = TomlLeaf::Kind::Strings;
      result.kind_name = "a list of strings";
      for (const toml::node& item : *array) {
        const auto* text = item.as_string();
        if (text == nullptr) {
          result.kind = TomlLeaf::Kind::Other;
          result.kind_name = "a list of other things than strings";
          break;
        }
        result.items.push_back({text->get(), span(item.source())});
      }
    } else {
      result.kind_name = node.is_table()     ? "a table"
                         : node.is_boolean() ? "a boolean"
                                             : "a date or time";
    }
    return result;
  }

  std::shared_ptr<const Source> source_;
  Offsets offsets_;
  std::vector<TomlLeaf> leaves_;
};

// toml++ takes a stack frame or more for each part of a dotted key.
constexpr int kMostDots = 1000;

/// The first place where a line has more dots than any key needs, or npos. Dots in strings count
/// too: no value of an architecture has that many.
size_t deep_key(std::string_view text) {
  int dots = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') dots = 0;
    if (text[i] == '.' && ++dots > kMostDots) return i;
  }
  return std::string_view::npos;
}

}  // namespace

Result<std::vector<TomlLeaf>> parse_toml(const std::shared_ptr<const Source>& source) {
  Flattener flattener(source);
  if (const size_t deep = deep_key(source->text); deep != std::string_view::npos) {
    const auto at = static_cast<int32_t>(deep);
    return Diagnostic{.kind = DiagnosticKind::ArchFile,
                      .message = fmt::format("a line with more than {} dots", kMostDots),
                      .span = {source, at, at + 1},
                      .hint = "keys have at most two parts: `[on_chip]`, then `l1_shared = ...`"};
  }
  try {
    flattener.table(toml::parse(std::string_view(source->text)), "");
  } catch (const toml::parse_error& error) {
    return Diagnostic{
        .kind = DiagnosticKind::ArchFile,
        .message = fmt::format("not valid TOML: {}", error.description()),
        .span = flattener.span(error.source()),
        .hint = "correct the text here; `solar arch show h100-sxm` names a file to imitate"};
  }
  return flattener.take();
}

}  // namespace solar::arch
