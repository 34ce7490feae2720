#include "arch/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "arch/document.h"
#include "arch/schema.h"

namespace solar::arch {

namespace fs = std::filesystem;

namespace {

Diagnostic unlisted(const fs::path& library, const std::error_code& error) {
  Diagnostic diagnostic{.kind = DiagnosticKind::ArchFile};
  diagnostic.message = fmt::format("cannot list the architecture library `{}`: {}",
                                   library.string(), error.message());
  diagnostic.hint =
      "the program's folder `arch` is missing; set SOLAR_ROOT to the folder that holds it";
  return diagnostic;
}

Diagnostic two_of_one_name(const std::string& id, const fs::path& a, const fs::path& b) {
  Diagnostic diagnostic{.kind = DiagnosticKind::Usage};
  diagnostic.message = fmt::format("two different architectures are called `{}`: `{}` and `{}`", id,
                                   a.string(), b.string());
  diagnostic.hint = "an architecture is called as its file is; rename one of the files";
  return diagnostic;
}

}  // namespace

Result<std::vector<std::string>> list(const fs::path& library) {
  std::error_code error;
  std::vector<std::string> names;
  fs::directory_iterator entries(library, error);
  while (!error && entries != fs::directory_iterator()) {
    const fs::path& path = entries->path();
    if (path.extension() == ".toml") names.push_back(path.stem().string());
    entries.increment(error);
  }
  if (error) return unlisted(library, error);
  std::sort(names.begin(), names.end());
  return names;
}

namespace {

struct Checked {
  Machine machine = {};
  Diagnostics diagnostics = {};
};

Checked load_checked(std::string_view name_or_path, const fs::path& library) {
  Checked result;
  Result<std::vector<Document>> documents = read_documents(name_or_path, library);
  if (!documents) {
    result.diagnostics = std::move(documents.error());
    return result;
  }
  result.machine = build_machine(*documents, result.diagnostics);
  sort_by_position(result.diagnostics);
  return result;
}

}  // namespace

Result<Machine> load(std::string_view name_or_path, const fs::path& library) {
  Checked checked = load_checked(name_or_path, library);
  if (has_errors(checked.diagnostics)) return std::move(checked.diagnostics);
  return std::move(checked.machine);
}

Result<std::vector<Machine>> load_all(const std::vector<std::string>& names_or_paths,
                                      const fs::path& library) {
  std::vector<Machine> machines;
  std::vector<fs::path> paths;
  Diagnostics errors;
  for (const std::string& name : names_or_paths) {
    Result<Machine> machine = load(name, library);
    if (!machine) {
      errors.insert(errors.end(), machine.error().begin(), machine.error().end());
      continue;
    }
    const fs::path path = is_path(name) ? fs::path(name) : library / (name + ".toml");
    const auto same_name = std::find_if(machines.begin(), machines.end(),
                                        [&](const Machine& m) { return m.id == machine->id; });
    if (same_name == machines.end()) {
      machines.push_back(std::move(*machine));
      paths.push_back(path);
      continue;
    }
    const fs::path& earlier = paths[static_cast<size_t>(same_name - machines.begin())];
    if (!same_file(earlier, path)) errors.push_back(two_of_one_name(machine->id, earlier, path));
  }
  if (!errors.empty()) return errors;
  return machines;
}

Diagnostics check(std::string_view name_or_path, const fs::path& library) {
  return load_checked(name_or_path, library).diagnostics;
}

}  // namespace solar::arch
