#include "frontend/source_name.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/file.h"

namespace solar::frontend {
namespace {

constexpr const char* kForms = "a source is FILE.py, FILE.py:NAME, FILE.pt2, hf:MODEL or FILE.alir";

Diagnostic refusal(std::string message, std::string hint = "") {
  Diagnostic diagnostic;
  diagnostic.kind = DiagnosticKind::SourceFile;
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  return diagnostic;
}

/// Whether `text` can be sent to a worker, which reads UTF-8.
bool is_utf8(const std::string& text) {
  using nlohmann::json;
  return json(text).dump(-1, ' ', false, json::error_handler_t::ignore).size() ==
         json(text).dump(-1, ' ', false, json::error_handler_t::replace).size();
}

Result<Done> check_text(const std::string& source) {
  if (is_utf8(source)) return Done{};
  return refusal(fmt::format("the name of the source is not UTF-8: {}", source),
                 "rename it, or make a link to it with a plain name");
}

}  // namespace

SourceName split_source_name(const std::string& source) {
  struct stat info = {};
  const size_t colon = source.rfind(':');
  if (colon == std::string::npos || ::stat(source.c_str(), &info) == 0) return {source};
  return {source.substr(0, colon), source.substr(colon)};
}

Result<Done> check_source_name(const std::string& source) {
  if (is_model(source)) return check_text(source);
  const std::string path = split_source_name(source).file;
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return refusal(fmt::format("no such file: {}", path), kForms);
    return refusal(fmt::format("cannot read `{}`: {}", path, std::strerror(errno)));
  }
  const std::string_view kind = irregular_kind(path);
  if (!kind.empty()) return refusal(fmt::format("not a file but {}: {}", kind, path), kForms);
  if (!path.ends_with(".py") && !source.ends_with(".pt2")) {
    return refusal(fmt::format("unknown kind of source: {}", path), kForms);
  }
  if (::access(path.c_str(), R_OK) != 0) {
    return refusal(fmt::format("cannot read `{}`: {}", path, std::strerror(errno)));
  }
  return check_text(source);
}

}  // namespace solar::frontend
