#include "driver/retrace.h"

#include <fmt/format.h>

#include "frontend/source_name.h"

namespace solar::driver {

std::string retrace_text(const std::string& source) {
  if (frontend::is_model(source)) {
    return "`--set NAME=VALUE` traces the model again with another `batch_size`, "
           "`sequence_length` or integer of its configuration";
  }
  const std::string file = frontend::split_source_name(source).file;
  if (!file.ends_with(".py")) return "";
  return fmt::format("`--set NAME=VALUE` traces `{}` again with another of its constants", file);
}

Diagnostics with_retrace(Diagnostics errors, const std::string& source) {
  const std::string text = retrace_text(source);
  if (errors.empty() || text.empty()) return errors;
  std::string& hint = errors.front().hint;
  hint += (hint.empty() ? "" : "; ") + text;
  return errors;
}

}  // namespace solar::driver
