// Runs many programs in one process, for the differential tests. A line of standard input names a
// program, a file of inputs, a file for the outputs and an executor, separated by tabs; the answer
// is one line of JSON: the kinds of the diagnostics (none: it ran) and their text.

#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/diagnostic_text.h"
#include "base/file.h"
#include "exec/executor.h"
#include "exec/tensor_file.h"
#include "ir/verify.h"

namespace solar {
namespace {

Result<Done> run(const std::string& program_path, const std::string& inputs_path,
                 const std::string& outputs_path, const exec::Executor& executor) {
  SOLAR_TRY(std::string text, read_file(program_path));
  SOLAR_TRY(const ir::VerifiedProgram program, ir::verify_text(text, {}, program_path));
  SOLAR_TRY(const exec::NamedTensors inputs, exec::read_tensors(inputs_path));
  exec::RunOptions options;
  options.memory_limit = int64_t{1} << 28;
  SOLAR_TRY(exec::Outputs outputs, executor.run(program, inputs, options));
  exec::NamedTensors named;
  for (auto& [name, tensor] : outputs.states) named["state/" + name] = std::move(tensor);
  for (size_t i = 0; i < outputs.outputs.size(); ++i)
    named[program->output_names[i]] = outputs.outputs[i];
  return exec::write_tensors(outputs_path, named);
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  for (const char c : line) {
    if (c == '\t') {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

int run_all() {
  std::map<std::string, std::unique_ptr<exec::Executor>> executors;
  executors["interpreter"] = exec::interpreter();
  executors["compiled"] = exec::jit(exec::Compile::Everything);
  std::string line;
  while (std::getline(std::cin, line)) {
    const std::vector<std::string> fields = fields_of(line);
    if (fields.size() != 4 || !executors.contains(fields[3])) {
      std::cerr << "expected PROGRAM, INPUTS, OUTPUTS and an executor, found `" << line << "`\n";
      return 2;
    }
    const auto done = run(fields[0], fields[1], fields[2], *executors[fields[3]]);
    nlohmann::json answer = {{"kinds", nlohmann::json::array()}, {"text", ""}};
    if (!done) {
      for (const Diagnostic& d : done.error()) answer["kinds"].push_back(slug(d.kind));
      answer["text"] = render_text(done.error());
    }
    std::cout << answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace solar

int main() { return solar::run_all(); }
