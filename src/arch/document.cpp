#include "arch/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <system_error>

#include "arch/library.h"
#include "arch/nearest.h"
#include "base/file.h"
#include "base/text.h"

namespace solar::arch {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargestFile = 1 << 20;
constexpr size_t kMostDocuments = 16;

Diagnostic unreadable(const fs::path& path, std::string_view why, const Span& span) {
  return {.kind = DiagnosticKind::ArchFile,
          .message = fmt::format("cannot read the architecture file `{}`: {}", path.string(), why),
          .span = span,
          .hint = "give the path of a TOML file, or a name from `solar arch list`"};
}

Result<std::string> read_text(const fs::path& path, const Span& span) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    if (status.type() == fs::file_type::not_found) return unreadable(path, "no such file", span);
    return unreadable(path, error.message(), span);
  }
  if (!fs::is_regular_file(status)) {
    const std::string_view kind = irregular_kind(path.string());
    return unreadable(path, fmt::format("it is {}, not a regular file", kind), span);
  }
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) return unreadable(path, error.message(), span);
  if (size > kLargestFile) return unreadable(path, "it is larger than 1 MiB", span);
  std::ifstream stream(path, std::ios::binary);
  std::string text(static_cast<size_t>(size), '\0');
  if (!stream || !stream.read(text.data(), static_cast<std::streamsize>(size))) {
    return unreadable(path, "permission denied or a read error", span);
  }
  return text;
}

Result<Document> read_document(const fs::path& path, const Span& span) {
  SOLAR_TRY(std::string text, read_text(path, span));
  Document document{.path = path, .id = path.stem().string()};
  document.source = std::make_shared<const Source>(Source{path.string(), std::move(text)});
  SOLAR_TRY(document.leaves, parse_toml(document.source));
  return document;
}

Result<fs::path> library_file(std::string_view name, const fs::path& library, const Span& span) {
  SOLAR_TRY(const std::vector<std::string> names, list(library));
  if (std::find(names.begin(), names.end(), name) != names.end()) {
    return library / (std::string(name) + ".toml");
  }
  const std::vector<std::string> near = nearest(name, names);
  std::string hint = near.empty() ? std::string() : "did you mean " + quoted_choices(near) + "? ";
  hint +=
      "`solar arch list` shows all; a file of your own is given by its path, such as `./my.toml`";
  return Diagnostic{.kind = DiagnosticKind::UnknownArch,
                    .message = fmt::format("no architecture is called `{}`", name),
                    .span = span,
                    .hint = std::move(hint)};
}

/// The file that `document` extends, if any.
Result<std::optional<std::pair<fs::path, Span>>> base_of(const Document& document,
                                                         const fs::path& library) {
  using Base = std::optional<std::pair<fs::path, Span>>;
  for (const TomlLeaf& leaf : document.leaves) {
    if (leaf.key != "extends") continue;
    if (leaf.kind != TomlLeaf::Kind::String || leaf.text.empty()) {
      return Diagnostic{
          .kind = DiagnosticKind::ArchFile,
          .message = fmt::format("`extends` must be a string, not {}",
                                 leaf.text.empty() && leaf.kind == TomlLeaf::Kind::String
                                     ? "an empty one"
                                     : leaf.kind_name),
          .span = leaf.span,
          .hint = "name one architecture: `extends = \"h100-sxm\"`"};
    }
    if (is_path(leaf.text)) return Base({document.path.parent_path() / leaf.text, leaf.span});
    SOLAR_TRY(fs::path path, library_file(leaf.text, library, leaf.span));
    return Base({std::move(path), leaf.span});
  }
  return Base();
}

}  // namespace

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

bool is_path(std::string_view name_or_path) {
  return name_or_path.find('/') != std::string_view::npos || name_or_path.ends_with(".toml");
}

Result<std::vector<Document>> read_documents(std::string_view name_or_path,
                                             const fs::path& library) {
  fs::path path = name_or_path;
  Span span;
  if (!is_path(name_or_path)) {
    SOLAR_TRY(path, library_file(name_or_path, library, span));
  }
  std::vector<Document> documents;
  while (true) {
    SOLAR_TRY(Document document, read_document(path, span));
    documents.push_back(std::move(document));
    SOLAR_TRY(const auto base, base_of(documents.back(), library));
    if (!base) return documents;
    std::tie(path, span) = *base;
    const bool cycle =
        std::any_of(documents.begin(), documents.end(),
                    [&](const Document& earlier) { return same_file(earlier.path, path); });
    if (cycle || documents.size() == kMostDocuments) {
      return Diagnostic{
          .kind = DiagnosticKind::ArchFile,
          .message = cycle ? fmt::format("`{}` extends itself", path.string())
                           : fmt::format("more than {} files extend each other", kMostDocuments),
          .span = span,
          .hint = "let the last file of the chain stand by itself"};
    }
  }
}

}  // namespace solar::arch
