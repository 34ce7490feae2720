#include "frontend/requests.h"

#include <fmt/format.h>

#include "base/file.h"

namespace solar::frontend {

using nlohmann::json;

// The json library finds these by their names.

static void from_json(const json& object, SourceConstant& constant) {
  object.at("name").get_to(constant.name);
  object.at("value").get_to(constant.value);
  object.at("line").get_to(constant.line);
  object.at("kind").get_to(constant.kind);
  object.at("aliases").get_to(constant.aliases);
  constant.step = object.value("step", int64_t{1});
}

static void from_json(const json& object, Port& port) {
  object.at("name").get_to(port.name);
  object.at("role").get_to(port.role);
  if (const auto index = object.find("index"); index != object.end() && !index->is_null()) {
    port.index = index->get<int64_t>();
  }
  if (const auto key = object.find("key"); key != object.end() && !key->is_null()) {
    key->get_to(port.key);
  }
  if (const auto dtype = object.find("dtype"); dtype != object.end() && !dtype->is_null()) {
    dtype->get_to(port.dtype);
  }
}

static void to_json(json& object, const Port& port) {
  object = {{"name", port.name}, {"role", port.role}};
  if (port.index) object["index"] = *port.index;
  if (!port.key.empty()) object["key"] = port.key;
  if (!port.dtype.empty()) object["dtype"] = port.dtype;
}

static void from_json(const json& object, GoldenOutput& output) {
  object.at("dtype").get_to(output.dtype);
  object.at("shape").get_to(output.shape);
}

static void from_json(const json& object, TraceStep& step) {
  object.at("node").get_to(step.node);
  object.at("operator").get_to(step.op);
  object.at("at").get_to(step.at);
  object.at("module").get_to(step.module);
  for (const json& name : object.at("tensors"))
    step.tensors.push_back(name.is_null() ? "" : name.get<std::string>());
}

namespace {

/// Reads an answer's fields with `read`; an answer of another form is a WorkerFailed diagnostic.
template <class Value, class Read>
Result<Value> decode(const Reply& reply, Read read) {
  try {
    Value value;
    read(reply.result, value);
    return value;
  } catch (const json::exception& error) {
    return Diagnostic{
        .kind = DiagnosticKind::WorkerFailed,
        .message = fmt::format("a worker's answer lacks something: {}", error.what())};
  }
}

template <class Value>
void copy_cost(const Reply& reply, Value& value) {
  value.isolated = reply.isolated;
  value.seconds = reply.seconds;
  value.peak_rss = reply.peak_rss;
}

}  // namespace

Result<SourceFacts> inspect(WorkerPool& pool, const std::string& source, const Limits& limits,
                            const Control& control) {
  SOLAR_TRY(const Reply reply,
            pool.request({{"do", "inspect"}, {"source", source}}, limits, control));
  return decode<SourceFacts>(reply, [](const json& result, SourceFacts& facts) {
    result.at("path").get_to(facts.path);
    result.at("member").get_to(facts.member);
    result.at("defines").get_to(facts.defines);
    result.at("constants").get_to(facts.constants);
  });
}

Result<TracedProgram> trace(WorkerPool& pool, const SourceRequest& program, const std::string& out,
                            const Limits& limits, const Control& control) {
  const json body = {
      {"do", "trace"}, {"source", program.source}, {"overrides", program.overrides}, {"out", out}};
  SOLAR_TRY(const Reply reply, pool.request(body, limits, control));
  SOLAR_TRY(TracedProgram traced,
            decode<TracedProgram>(reply, [](const json& result, TracedProgram& value) {
              result.at("alir").get_to(value.path);
              result.at("name").get_to(value.name);
              result.at("form").get_to(value.form);
              result.at("mode").get_to(value.mode);
              result.at("ports").get_to(value.ports);
              result.at("warnings").get_to(value.warnings);
              value.constants_path = result.value("constants", "");
              value.steps_path = result.value("steps", "");
              value.recorded_path = result.value("recorded_path", false);
            }));
  SOLAR_TRY(traced.alir, read_file(traced.path));
  copy_cost(reply, traced);
  return traced;
}

Result<std::vector<TraceStep>> read_steps(const TracedProgram& traced) {
  SOLAR_TRY(const std::string text, read_file(traced.steps_path));
  try {
    return json::parse(text).get<std::vector<TraceStep>>();
  } catch (const json::exception& error) {
    return Diagnostic{.kind = DiagnosticKind::WorkerFailed,
                      .message = fmt::format("a trace's steps cannot be read: {}", error.what())};
  }
}

namespace {

/// What every run of the original is told.
json run_body(const GoldenRequest& request) {
  json body = {{"source", request.program.source},
               {"overrides", request.program.overrides},
               {"ports", request.ports},
               {"seed", request.seed},
               {"distribution", request.distribution},
               {"out", request.out}};
  if (!request.constants_path.empty()) body["constants"] = request.constants_path;
  return body;
}

}  // namespace

Result<std::string> run_steps(WorkerPool& pool, const GoldenRequest& request,
                              const std::vector<std::string>& nodes, const Limits& limits,
                              const Control& control) {
  json body = run_body(request);
  body["do"] = "steps";
  body["nodes"] = nodes;
  SOLAR_TRY(const Reply reply, pool.request(body, limits, control));
  return decode<std::string>(
      reply, [](const json& result, std::string& path) { result.at("path").get_to(path); });
}

Result<GoldenFile> golden(WorkerPool& pool, const GoldenRequest& request, const Limits& limits,
                          const Control& control) {
  json body = run_body(request);
  body["do"] = "golden";
  body["resolve"] = request.resolve;
  body["want_f64"] = request.want_f64;
  body["nearby"] = request.nearby;
  SOLAR_TRY(const Reply reply, pool.request(body, limits, control));
  SOLAR_TRY(GoldenFile file, decode<GoldenFile>(reply, [](const json& result, GoldenFile& value) {
              result.at("path").get_to(value.path);
              result.at("outputs").get_to(value.outputs);
              result.at("has_f64").get_to(value.has_f64);
              result.at("mode").get_to(value.mode);
              result.at("warnings").get_to(value.warnings);
            }));
  copy_cost(reply, file);
  return file;
}

}  // namespace solar::frontend
