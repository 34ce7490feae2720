#include "driver/measured.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

namespace solar::driver {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "solar.measured/1";

Diagnostic wrong(const std::string& name, const std::string& where, const std::string& what) {
  return {.kind = DiagnosticKind::SourceFile,
          .message = fmt::format("`{}`{}: {}", name, where, what),
          .hint = "docs/headroom.md has the formats of measured times"};
}

constexpr double kRounding = 1.01;  // times may be rounded to different digits

bool is_time(double seconds) { return std::isfinite(seconds) && seconds > 0; }

/// `eager_min`: of the implementation `eager`, its minimum, in ms. `time_s`: of none.
struct Field {
  std::string implementation = {};
  bool is_min = false;
  double unit_s = 1e-3;
};

std::optional<Field> field_named(const std::string& name) {
  static const std::map<std::string, Field> plain = {
      {"time_s", {"", false, 1}},  {"time_ms", {"", false, 1e-3}}, {"time_us", {"", false, 1e-6}},
      {"min_s", {"", true, 1}},    {"min_ms", {"", true, 1e-3}},   {"min_us", {"", true, 1e-6}},
      {"mean_s", {"", false, 1}},  {"mean_ms", {"", false, 1e-3}}, {"mean_us", {"", false, 1e-6}},
      {"mean", {"", false, 1e-3}}, {"min", {"", true, 1e-3}},
  };
  if (const auto at = plain.find(name); at != plain.end()) return at->second;
  static const std::map<std::string, Field> ends = {
      {"_s", {"", false, 1}},     {"_ms", {"", false, 1e-3}},    {"_us", {"", false, 1e-6}},
      {"_min", {"", true, 1e-3}}, {"_min_ms", {"", true, 1e-3}}, {"_min_us", {"", true, 1e-6}},
      {"_min_s", {"", true, 1}}};
  std::optional<Field> found;
  size_t length = 0;
  for (const auto& [end, field] : ends) {
    if (name.size() <= end.size() || !name.ends_with(end) || end.size() <= length) continue;
    length = end.size();
    found = field;
    found->implementation = name.substr(0, name.size() - end.size());
  }
  return found;
}

/// Collects the times of one problem by implementation.
class Collector {
 public:
  Collector(std::string name, std::string implementation)
      : name_(std::move(name)), implementation_(std::move(implementation)) {}

  std::vector<Measured> all = {};

  /// One row: a problem with named numbers. `own` is the row's implementation, if it says one.
  Result<Done> add(const std::string& where, const std::string& problem, const std::string& device,
                   const std::string& own,
                   const std::vector<std::pair<std::string, std::optional<double>>>& numbers,
                   const std::string& hardware = {}) {
    if (problem.empty()) return wrong(name_, where, "a time without a problem's name");
    std::map<std::string, Measured> found;
    std::map<std::pair<std::string, bool>, std::string> names;  // of the fields that gave them
    for (const auto& [field_name, number] : numbers) {
      const auto field = field_named(field_name);
      if (!field) continue;
      if (!number || !is_time(*number * field->unit_s)) {
        return wrong(name_, where,
                     fmt::format("`{}` is not a positive, finite number", field_name));
      }
      const std::string of = !field->implementation.empty() ? field->implementation
                             : !own.empty()                 ? own
                                                            : implementation_;
      const auto [at, fresh] = names.try_emplace({of, field->is_min}, field_name);
      if (!fresh) {
        return wrong(name_, where,
                     fmt::format("`{}` and `{}` both give the {} of `{}`, one of them is expected",
                                 at->second, field_name, field->is_min ? "minimum" : "time", of));
      }
      Measured& measured = found[of];
      (field->is_min ? measured.min_s : measured.mean_s) = *number * field->unit_s;
    }
    for (auto& [of, measured] : found) {
      if (measured.min_s && measured.mean_s && *measured.min_s > kRounding * *measured.mean_s) {
        return wrong(name_, where,
                     fmt::format("the minimum `{}` is {:g} s, above the mean `{}` of {:g} s; at "
                                 "most the mean is expected",
                                 names.at({of, true}), *measured.min_s, names.at({of, false}),
                                 *measured.mean_s));
      }
      measured.hardware = hardware;
      measured.problem = problem;
      measured.implementation = of;
      measured.device = device;
      all.push_back(std::move(measured));
    }
    return Done{};
  }

 private:
  std::string name_;
  std::string implementation_;
};

using Numbers = std::vector<std::pair<std::string, std::optional<double>>>;

Numbers numbers_of(const Json& object) {
  Numbers numbers;
  for (const auto& [key, value] : object.items()) {
    if (value.is_null()) continue;  // not measured
    numbers.emplace_back(
        key, value.is_number() ? std::optional<double>(value.get<double>()) : std::nullopt);
  }
  return numbers;
}

std::string text_in(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

bool has_times(const Json& object) {
  for (const auto& [key, value] : object.items()) {
    if (field_named(key) && (value.is_number() || value.is_null())) return true;
  }
  return false;
}

/// `{"level1": {"1_x.py": {"mean": ms}}}`, KernelBench's own; `{"level1/1_x.py": {"eager_ms":
/// ms}}`, with or without a device around it.
Result<Done> add_nested(const Json& object, const std::string& name,
                        const std::vector<std::string>& path, Collector& collector) {
  for (const auto& [key, value] : object.items()) {
    if (!value.is_object()) continue;
    std::vector<std::string> inner = path;
    inner.push_back(key);
    if (!has_times(value)) {
      if (inner.size() < 3) {
        SOLAR_TRY([[maybe_unused]] const Done done, add_nested(value, name, inner, collector));
      }
      continue;
    }
    // What is around a problem whose name has a folder is a device.
    const bool with_folder = key.find('/') != std::string::npos;
    std::string problem = key;
    std::string device;
    if (!path.empty() && with_folder) device = path.back();
    if (!path.empty() && !with_folder) {
      problem = path.back() + "/" + key;
      if (path.size() > 1) device = path.front();
    }
    SOLAR_TRY([[maybe_unused]] const Done done,
              collector.add(fmt::format(", `{}`", problem), problem, device,
                            text_in(value, "implementation"), numbers_of(value),
                            text_in(value, "hardware")));
  }
  return Done{};
}

Result<Done> parse_json(const std::string& text, const std::string& name, Collector& collector) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return wrong(name, "", "not JSON");
  if (!json.is_object()) return wrong(name, "", "an object was expected");
  if (!json.contains("times")) return add_nested(json, name, {}, collector);
  if (text_in(json, "schema") != kSchema || !json["times"].is_array()) {
    return wrong(name, "", fmt::format("`times` is read as a list, with `schema` {}", kSchema));
  }
  size_t number = 0;
  for (const Json& row : json["times"]) {
    const std::string where = fmt::format(", times[{}]", number++);
    if (!row.is_object()) return wrong(name, where, "an object was expected");
    std::string device = text_in(row, "device");
    if (device.empty()) device = text_in(json, "device");
    Numbers numbers = numbers_of(row);
    std::erase_if(numbers, [](const auto& each) { return !field_named(each.first); });
    if (numbers.empty()) return wrong(name, where, "there is no time (`time_s`, `min_s`)");
    SOLAR_TRY([[maybe_unused]] const Done done,
              collector.add(where, text_in(row, "problem"), device, text_in(row, "implementation"),
                            numbers));
  }
  return Done{};
}

/// The records of RFC 4180; nothing if a quote is not closed.
std::optional<std::vector<std::vector<std::string>>> records_of(const std::string& text) {
  std::vector<std::vector<std::string>> records;
  std::vector<std::string> record;
  std::string cell;
  bool quoted = false;
  const auto end_record = [&] {
    record.push_back(std::move(cell));
    cell.clear();
    if (record.size() > 1 || !record.front().empty()) records.push_back(std::move(record));
    record.clear();
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"') {
        cell += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        cell += text[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      record.push_back(std::move(cell));
      cell.clear();
    } else if (c == '\n') {
      end_record();
    } else if (c != '\r') {
      cell += c;
    }
  }
  if (quoted) return std::nullopt;
  end_record();
  return records;
}

std::optional<double> number_of(const std::string& cell) {
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size()) return std::nullopt;
  return value;
}

Result<Done> parse_csv(const std::string& text, const std::string& name, Collector& collector) {
  const auto records = records_of(text);
  if (!records) return wrong(name, "", "a quote is not closed");
  const std::vector<std::string>& titles = records->front();
  std::map<std::string, size_t> column;
  bool times = false;
  std::map<std::pair<std::string, bool>, std::string> time_titles;
  for (size_t i = 0; i < titles.size(); ++i) {
    const auto field = field_named(titles[i]);
    const bool fresh = column.try_emplace(titles[i], i).second;
    times = times || field;
    if (!fresh && (field || titles[i] == "problem" || titles[i] == "device" ||
                   titles[i] == "implementation")) {
      return wrong(name, ", line 1",
                   fmt::format("two columns are called `{}`, one is expected", titles[i]));
    }
    if (!field) continue;
    const auto [at, first] =
        time_titles.try_emplace({field->implementation, field->is_min}, titles[i]);
    if (!first) {
      return wrong(
          name, ", line 1",
          fmt::format("the columns `{}` and `{}` both give the {}, one of them is expected",
                      at->second, titles[i], field->is_min ? "minimum" : "time"));
    }
  }
  if (!column.contains("problem") || !times) {
    return wrong(name, ", line 1",
                 "the titles must hold `problem` and a time (`time_s`, `eager_ms`, ...)");
  }
  for (size_t line = 1; line < records->size(); ++line) {
    const std::vector<std::string>& record = (*records)[line];
    const std::string where = fmt::format(", row {}", line + 1);
    if (record.size() != titles.size()) {
      return wrong(name, where,
                   fmt::format("{} cells, where the titles are {}", record.size(), titles.size()));
    }
    const auto cell = [&](const char* title) {
      const auto at = column.find(title);
      return at == column.end() ? std::string() : record[at->second];
    };
    Numbers numbers;
    for (size_t i = 0; i < titles.size(); ++i) {
      if (field_named(titles[i]) && !record[i].empty())
        numbers.emplace_back(titles[i], number_of(record[i]));
    }
    SOLAR_TRY(
        [[maybe_unused]] const Done done,
        collector.add(where, cell("problem"), cell("device"), cell("implementation"), numbers));
  }
  return Done{};
}

}  // namespace

Result<std::vector<Measured>> parse_measured(const std::string& file, const std::string& name,
                                             const std::string& implementation) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  const std::string text =
      file.starts_with(kByteOrderMark) ? file.substr(kByteOrderMark.size()) : file;
  Collector collector(name, implementation);
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return wrong(name, "", "the file is empty");
  const bool json = text[first] == '{' || text[first] == '[';
  SOLAR_TRY([[maybe_unused]] const Done done,
            json ? parse_json(text, name, collector) : parse_csv(text, name, collector));
  if (collector.all.empty()) return wrong(name, "", "there is no measured time");
  return std::move(collector.all);
}

}  // namespace solar::driver
