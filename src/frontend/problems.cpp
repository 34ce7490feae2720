#include "frontend/problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.h"

namespace solar::frontend {
namespace {

constexpr int kLogLines = 12;

using Sources = std::map<std::string, std::shared_ptr<const Source>>;

std::string text_field(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

DiagnosticKind kind_named(const std::string& name) {
  for (DiagnosticKind kind : all_diagnostic_kinds()) {
    if (slug(kind) == name) return kind;
  }
  return DiagnosticKind::WorkerFailed;
}

/// The text of a line without its indentation; nowhere if there is no such file or line.
Span line_span(Sources& sources, const std::string& file, int64_t line) {
  if (file.empty() || line < 1) return {};
  auto& source = sources[file];
  if (!source) {
    auto text = read_file(file);
    source = std::make_shared<Source>(Source{file, text ? std::move(*text) : ""});
  }
  const std::string& text = source->text;
  size_t begin = 0;
  for (int64_t i = 1; i < line; ++i) {
    begin = text.find('\n', begin);
    if (begin == std::string::npos) return {};
    ++begin;
  }
  const size_t end = std::min(text.find('\n', begin), text.size());
  while (begin < end && (text[begin] == ' ' || text[begin] == '\t')) ++begin;
  if (end > static_cast<size_t>(INT32_MAX)) return {};
  return {source, static_cast<int32_t>(begin), static_cast<int32_t>(end)};
}

std::string last_lines(const std::string& text, int count) {
  size_t end = text.size();
  while (end > 0 && (text[end - 1] == '\n' || text[end - 1] == ' ')) --end;
  size_t begin = end;
  for (int lines = 0; begin > 0; --begin) {
    if (text[begin - 1] == '\n' && ++lines == count) break;
  }
  return text.substr(begin, end - begin);
}

/// One problem of the protocol as a diagnostic.
Diagnostic to_diagnostic(Sources& sources, const nlohmann::json& problem) {
  const auto line = problem.find("line");
  const bool has_line = line != problem.end() && line->is_number_integer();
  const std::string file = text_field(problem, "file");
  Diagnostic diagnostic;
  diagnostic.kind = kind_named(text_field(problem, "kind"));
  diagnostic.message = text_field(problem, "message");
  diagnostic.hint = text_field(problem, "hint");
  diagnostic.span = line_span(sources, file, has_line ? line->get<int64_t>() : 0);
  const bool unplaced = !diagnostic.span.source && !file.empty();
  if (unplaced && diagnostic.kind != DiagnosticKind::SourceFile) {
    diagnostic.message = fmt::format("{}: {}", file, diagnostic.message);
  }
  return diagnostic;
}

}  // namespace

void append_log(Diagnostics& diagnostics, const std::string& log) {
  const std::string tail = last_lines(log, kLogLines);
  if (tail.empty()) return;
  const auto kind = diagnostics.empty() ? DiagnosticKind::WorkerFailed : diagnostics.front().kind;
  diagnostics.push_back({.kind = kind,
                         .severity = Severity::Note,
                         .message = "the program printed, at the end:\n" + tail});
}

Diagnostics to_diagnostics(const nlohmann::json& answer) {
  Diagnostics result;
  Sources sources;
  const auto problems = answer.find("problems");
  if (problems != answer.end() && problems->is_array()) {
    for (const nlohmann::json& problem : *problems) {
      if (!problem.is_object()) continue;
      result.push_back(to_diagnostic(sources, problem));
      // A traceback matters where the fault is ours; the user's own carries its place.
      if (result.back().kind == DiagnosticKind::WorkerFailed) {
        append_log(result, text_field(problem, "traceback_tail"));
      }
    }
  }
  if (result.empty()) {
    result.push_back(
        {.kind = DiagnosticKind::WorkerFailed, .message = "a worker failed without saying why"});
  }
  append_log(result, text_field(answer, "log"));
  return result;
}

}  // namespace solar::frontend
