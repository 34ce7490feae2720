// Reports rendered and compared with tests/golden/report/; SOLAR_UPDATE_GOLDENS=1 rewrites them.

#include "report/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "base/printable.h"
#include "report/format.h"
#include "report/json.h"
#include "report/table.h"
#include "report/text.h"

namespace solar::report {
namespace {

namespace fs = std::filesystem;

void expect_golden(const std::string& name, const std::string& found) {
  const fs::path golden = fs::path(SOLAR_ROOT) / "tests" / "golden" / "report" / name;
  const char* update = std::getenv("SOLAR_UPDATE_GOLDENS");
  if (update != nullptr && std::string(update) == "1") {
    fs::create_directories(golden.parent_path());
    std::ofstream(golden, std::ios::binary) << found;
  }
  std::ifstream stream(golden, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  EXPECT_EQ(found, text.str()) << golden << "; `make golden` rewrites it";
}

Validation passed() {
  return {.status = "passed",
          .method = "two-trace",
          .max_abs_error = 2.4e-7,
          .max_rel_error = 1.2e-7,
          .worst_tolerance_share = 0.031,
          .worst_place = "y[0, 3]: expected 1.5, got 1.5000002",
          .tolerance_factor = 8,
          .bindings = {{"B", 2}, {"K", 7}},
          .seeds = 6,
          .distributions = {"example", "normal", "large"},
          .notes = {"dim T kept at full size"},
          .mode = "eval"};
}

Bound bound(const std::string& arch, const std::string& mode, double compute, double memory,
            int64_t traffic, std::vector<std::string> assumptions) {
  Bound b;
  b.arch = arch;
  b.mode = mode;
  b.compute_s = compute;
  b.memory_s = memory;
  b.time_s = std::max(compute, memory);
  b.traffic_bytes = traffic;
  b.limiter = compute > memory ? "vector" : "memory";
  b.operational_intensity = 12.5;
  b.assumptions = {"as-written-graph", "classical-products", "cold-cache"};
  if (mode == "unfused") b.assumptions.push_back("no-fusion");
  b.assumptions.push_back("datasheet-peaks");
  for (std::string& a : assumptions) b.assumptions.push_back(std::move(a));
  b.without = {{"cold-cache", b.compute_s}, {"datasheet-peaks", b.time_s / 2}};
  return b;
}

/// A linear layer, a relu and a masked product on two machines.
Report small_report() {
  Report r;
  r.source = "models/net.py";
  r.program = "Net";
  r.mode = "eval";
  r.dims = {{"B", 64, ""}, {"H", 8, ""}, {"K", 1024, "H*128"}};
  r.validation = passed();
  r.totals.macs = 134217728;
  r.totals.macs_useful = 100663296;
  r.totals.flops = 201326592;
  r.totals.elementwise_ops = 65536;
  r.totals.special_ops = 12;
  r.totals.bytes_read_inputs = 262144;
  r.totals.bytes_read_params = 4194304;
  r.totals.bytes_written_outputs = 262144;
  r.nodes = {{.id = "n0",
              .op = "aten.linear",
              .at = "models/net.py:12",
              .module = "blocks.0.fc",
              .einsum = "p[b,n] = sum{k} x[b,k] * w[n,k]",
              .macs = 67108864,
              .macs_useful = 67108864,
              .formula = "B*K*K",
              .bytes_in = 4456448,
              .bytes_out = 262144},
             {.id = "n1",
              .op = "aten.relu",
              .at = "models/net.py:13",
              .elementwise_ops = 65536,
              .bytes_in = 262144,
              .bytes_out = 262144},
             {.id = "n2",
              .op = "aten.scaled_dot_product_attention_with_a_long_name",
              .macs = 67108864,
              .macs_useful = 33554432,
              .special_ops = 12,
              .bytes_in = 262144,
              .bytes_out = 262144}};
  r.bounds = {bound("h100-sxm", "unfused", 3.1e-6, 1.6e-6, 5767168, {"tf32-allowed"}),
              bound("h100-sxm", "fused", 3.0e-6, 1.4e-6, 4718592, {"tf32-allowed"}),
              bound("a6000", "unfused", 5.2e-6, 7.5e-6, 5767168, {}),
              bound("a6000", "fused", 5.2e-6, 6.1e-6, 4718592, {})};
  r.bounds[0].node_times = {{0, 2.1e-6, 2.1e-6, 1.41e-6, "vector", 28.4, 4718592},
                            {1, 1.6e-7, 0, 1.6e-7, "memory", 0.0, 524288},
                            {2, 8.4e-7, 8.4e-7, 1.6e-7, "vector", std::nullopt, 524288}};
  r.arch_names = {{"h100-sxm", "NVIDIA H100 SXM"}, {"a6000", "NVIDIA RTX A6000"}};
  r.warnings = {"forward() has one more argument, left at its default"};
  r.timings_s = {.trace = 1.5, .validate = 2.25, .lift = 0.125, .bound = 0.0625};
  return r;
}

Report deep_report() {
  Report r = small_report();
  r.bounds.resize(2);
  r.bounds[0].node_times.clear();
  r.nodes.clear();
  for (size_t i = 0; i < 30; ++i) {
    r.nodes.push_back({.id = "n" + std::to_string(i),
                       .op = "aten.linear",
                       .at = "net.py:" + std::to_string(i + 1),
                       .macs = 1000,
                       .macs_useful = 1000,
                       .bytes_in = 999,
                       .bytes_out = 1});
    const double time = 3.1e-6 * static_cast<double>(i + 1) / 465;
    r.bounds[0].node_times.push_back(
        {i, time, 0, time, "memory", std::nullopt, i < 25 ? 1000 : 600});
  }

  r.validation = {};
  r.validation.reason = "--no-validate";
  r.warnings = {"validation skipped: --no-validate"};
  r.totals.data_dependent = DataDependent{1024, 4096, 1048576};
  r.totals.least = LeastTraffic{512, 512, 262144};
  r.totals.exact = false;
  return r;
}

Report failed_report() {
  Report r = small_report();
  r.validation.status = "failed";
  r.validation.method = "full";
  r.validation.bindings = {};
  r.validation.notes = {};
  r.validation.worst_tolerance_share = 41.5;
  r.validation.reason = "output `y` differs from the original in 3 of 65536 elements";
  r.warnings = {"validation failed: " + r.validation.reason};
  r.bounds.clear();
  r.arch_names.clear();
  return r;
}

Inverse small_inverse() {
  Inverse i;
  i.source = "policy.py";
  i.program = "Policy";
  i.validation = passed();
  i.target_s = 0.002;
  i.macs_useful = 3000000000;
  i.traffic_bytes = 250000000;
  i.formats = {{"bf16", "tensor", 2000000000, 1e12}, {"fp32", "vector", 1000000000, 5e11}};
  i.tensor_macs_per_second = 1e12;
  i.vector_macs_per_second = 5e11;
  i.bandwidth_bytes_per_second = 1.25e11;
  i.machines = {{"thor", "NVIDIA Jetson AGX Thor", 130.0, 8.1, 2.18, 2.18, 0.91, ""},
                {"h100-sxm", "NVIDIA H100 SXM", 494.7, 66.9, 26.8, 26.8, 11.2, ""},
                {"toy", "A toy", 0.5, {}, 0.8, 0.5, 0.4, ""},
                {"old", "Old", {}, {}, {}, {}, {}, "`old` has no bf16 rate, it has fp32"}};
  i.assumptions = {"as-written-graph", "classical-products", "cold-cache"};
  return i;
}

void expect_fits(const std::string& text, size_t width) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(columns_of(line), width) << line;
    EXPECT_FALSE(line.ends_with(' ')) << "`" << line << "`";
  }
  EXPECT_TRUE(text.ends_with('\n'));
  EXPECT_FALSE(text.ends_with("\n\n"));
}

TEST(ReportText, TwoArchitectures) { expect_golden("two_archs.txt", render_text(small_report())); }

TEST(ReportText, ManyOperatorsNotValidated) {
  expect_golden("not_validated.txt", render_text(deep_report()));
}

TEST(ReportText, FailedWithoutArchitectures) {
  expect_golden("failed.txt", render_text(failed_report()));
}

TEST(ReportText, Narrow) {
  expect_golden("narrow.txt", render_text(small_report(), {.width = 60}));
}

TEST(ReportText, Compare) { expect_golden("compare.txt", render_compare(small_report())); }

TEST(ReportText, Inverse) { expect_golden("inverse.txt", render_text(small_inverse())); }

TEST(ReportText, FitsEveryWidth) {
  for (const int width : {1, 60, 72, 80, 99, 100, 300}) {
    const size_t columns = static_cast<size_t>(std::clamp(width, 60, 100));
    for (const Report& r : {small_report(), deep_report(), failed_report()}) {
      expect_fits(render_text(r, {.width = width}), columns);
      expect_fits(render_compare(r, {.width = width}), columns);
    }
    expect_fits(render_text(small_inverse(), {.width = width}), columns);
  }
}

TEST(ReportText, ColourChangesNothingElse) {
  for (const Report& r : {small_report(), deep_report(), failed_report()}) {
    std::string painted = render_text(r, {.colour = true});
    EXPECT_NE(painted.find('\x1b'), std::string::npos);
    for (size_t at; (at = painted.find('\x1b')) != std::string::npos;) {
      painted.erase(at, painted.find('m', at) - at + 1);
    }
    EXPECT_EQ(painted, render_text(r));
  }
}

TEST(ReportText, EmptyReport) {
  Report r;
  r.source = "a.py";
  r.program = "f";
  expect_fits(render_text(r), 100);
  r.bounds = {bound("x", "unfused", 0, 0, 0, {}), bound("x", "fused", 0, 0, 0, {})};
  const std::string text = render_text(r);
  expect_fits(text, 100);
  EXPECT_EQ(text.find("nan"), std::string::npos) << text;
  EXPECT_EQ(text.find("inf"), std::string::npos) << text;
}

TEST(ReportText, TheModeIsNamedWhereThereIsOne) {
  Report r = small_report();
  const auto title = [&] { return render_text(r).substr(0, render_text(r).find('\n')); };
  EXPECT_NE(title().find(", eval mode, "), std::string::npos) << title();
  r.mode = "as exported";
  EXPECT_NE(title().find(", as exported, "), std::string::npos) << title();
  r.mode = "";
  EXPECT_EQ(title().find(" mode"), std::string::npos) << title();
  EXPECT_EQ(title().find(", ,"), std::string::npos) << title();
}

TEST(ReportText, NamesCannotBreakTheLayout) {
  Report r = small_report();
  const std::string hostile =
      "\x1b[2J\xc2\x9b"
      "1m\xe2\x80\xae\x9b\x07";
  r.source += hostile;
  r.program += hostile;
  r.mode += hostile;
  r.dims[0].name += hostile;
  r.nodes[0].at = "net" + hostile + ".py:1";
  r.nodes[2].module = hostile;
  r.validation.worst_place = hostile;
  r.validation.reason = hostile;
  r.validation.notes = {hostile};
  r.validation.bindings[hostile] = 3;
  r.arch_names["h100-sxm"] = hostile;
  for (Bound& b : r.bounds) {
    if (b.arch == "a6000") b.arch = hostile;
  }
  r.nodes[0].op = "a\nb\tc\x1b[31m";
  r.nodes[0].module = "sch\xc3\xb6n.\xe5\xb1\xa4";
  r.warnings = {"two\nlines \x1b[2J"};
  const std::string text = render_text(r);
  expect_fits(text, 100);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("a b c"), std::string::npos);
  EXPECT_EQ(text, printable(text));
  r.validation.status = "failed";
  for (const std::string& other : {render_text(r), render_compare(r)}) {
    EXPECT_EQ(other, printable(other));
  }
  std::string painted = render_text(r, {.colour = true});
  for (size_t at; (at = painted.find("\x1b[")) != std::string::npos;) {
    const size_t end = painted.find('m', at);
    ASSERT_LE(end - at, 6U) << "a colour of ours";
    painted.erase(at, end - at + 1);
  }
  EXPECT_EQ(painted, render_text(r));
  Inverse i = small_inverse();
  i.source += hostile;
  i.machines[0].arch = i.machines[3].arch = i.machines[3].error = hostile;
  EXPECT_EQ(render_text(i), printable(render_text(i)));
  const std::string json = render_json(r);
  EXPECT_EQ(json, printable(json));
  EXPECT_EQ(nlohmann::json::parse(json).at("mode").get<std::string>().substr(0, 4 + 4),
            "eval\x1b[2J");
}

/// A paragraph's lines joined.
std::string unwrapped(std::string text) {
  for (size_t at; (at = text.find("\n  ")) != std::string::npos;) text.replace(at, 3, " ");
  return text;
}

TEST(ReportText, ValidationNamesTheWorstPlacesOwnError) {
  Report r = small_report();
  EXPECT_NE(render_text(r).find("nearest to its tolerance: y[0, 3]: expected 1.5, got 1.5000002, "
                                "0.031 of its tolerance"),
            std::string::npos);
  // An integer differs: no number says how far, and the floats' errors lie elsewhere.
  r.validation.status = "failed";
  r.validation.worst_tolerance_share = std::numeric_limits<double>::infinity();
  r.validation.worst_place = "n[7]: expected 45, got -128";
  const std::string text = render_text(r, {.width = 100});
  EXPECT_NE(text.find("worst: n[7]: expected 45, got -128, which must be equal"), std::string::npos)
      << text;
  EXPECT_EQ(text.find(" inf"), std::string::npos) << text;
  r.validation = passed();
  r.validation.max_abs_error = r.validation.max_rel_error = r.validation.worst_tolerance_share = 0;
  r.validation.worst_place = "";
  EXPECT_NE(unwrapped(render_text(r)).find("; all values are equal"), std::string::npos);
}

TEST(ReportText, BytesAreThoseThatTheTimesBelongTo) {
  Report r = small_report();
  r.bounds.resize(2);
  r.bounds[0].node_times[0].traffic_bytes = 2000;
  r.totals.data_dependent = DataDependent{2000, 4456448, 4718592};
  r.totals.least = LeastTraffic{1000, 1000, 262144};
  const std::string text = render_text(r);
  EXPECT_NE(text.find("compulsory traffic     264.1 kB: 1 kB inputs, 1 kB parameters, 262.1 kB"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("at least 2 kB"), std::string::npos) << text;
  EXPECT_NE(text.find("2 kB    4.719 MB  2.1 us"), std::string::npos) << text;
  // Of a warm cache the example's bytes are not known.
  Report warm = r;
  for (Bound& b : warm.bounds) b.cache = "warm";
  EXPECT_EQ(render_text(warm).find("at example  "), std::string::npos) << render_text(warm);
  EXPECT_EQ(render_text(warm).find("4.719 MB  2.1 us"), std::string::npos) << render_text(warm);
  // An example that is not known is not shown.
  r.totals.data_dependent->example_known = false;
  const std::string unknown = render_text(r);
  EXPECT_EQ(unknown.find("at example"), std::string::npos) << unknown;
  EXPECT_EQ(unknown.find("at the example inputs"), std::string::npos) << unknown;
}

TEST(ReportText, OperatorsOfAModelAreNamedByTheirModule) {
  Report r = small_report();
  for (Node& node : r.nodes) {
    node.at = "gpt2.py:283";
    node.module = "model.transformer.h.0.attn.c_attn";
  }
  EXPECT_NE(render_text(r).find(" gpt2.py:283 model.tr"), std::string::npos) << render_text(r);
  r.source = "hf:gpt2";
  const std::string text = render_text(r);
  EXPECT_NE(text.find("attn.c_attn gpt2.py  "), std::string::npos) << text;
  EXPECT_EQ(text.find("gpt2.py:283 mo"), std::string::npos) << text;
}

TEST(ReportText, AdviceNamesTheWayToEmulatedFp32) {
  Report r = small_report();
  EXPECT_EQ(render_text(r).find("--strict"), std::string::npos);
  for (Bound& b : r.bounds) b.assumptions.push_back("no-fp32-emulation");
  EXPECT_NE(render_text(r).find("`--strict`"), std::string::npos);
  for (Bound& b : r.bounds) b.precision = "fp32";
  const std::string fp32 = render_text(r);
  EXPECT_NE(fp32.find("`--strict`"), std::string::npos);
  EXPECT_EQ(fp32.find("`--precision"), std::string::npos);
}

TEST(ReportJson, Report) {
  const std::string text = render_json(small_report());
  expect_golden("report.json", text);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json.at("schema"), "solar.report/1");
  EXPECT_TRUE(json.at("totals").at("macs").is_number_integer());
  EXPECT_TRUE(json.at("bounds")[0].at("traffic_bytes").is_number_integer());
  EXPECT_FALSE(json.at("totals").contains("data_dependent"));
  EXPECT_EQ(json.at("rewrites"), nlohmann::json::array());
  EXPECT_FALSE(json.at("nodes")[1].contains("formula"));
}

TEST(ReportJson, DataDependentAndSkipped) {
  const auto json = nlohmann::json::parse(render_json(deep_report()));
  EXPECT_EQ(json.at("totals").at("data_dependent"),
            nlohmann::json({{"min", 1024}, {"example", 4096}, {"max", 1048576}}));
  EXPECT_EQ(json.at("validation"),
            nlohmann::json({{"status", "skipped"}, {"reason", "--no-validate"}}));
}

TEST(ReportJson, Inverse) { expect_golden("inverse.json", render_json(small_inverse())); }

TEST(ReportJson, CountsStayExact) {
  Report r;
  r.totals.macs = std::numeric_limits<int64_t>::max();
  const auto json = nlohmann::json::parse(render_json(r));
  EXPECT_EQ(json.at("totals").at("macs").get<int64_t>(), std::numeric_limits<int64_t>::max());
}

TEST(ReportJson, SurvivesWhatJsonCannotSay) {
  Report r = small_report();
  r.source = "bad\xff.py";
  r.validation.max_abs_error = std::numeric_limits<double>::infinity();
  const auto json = nlohmann::json::parse(render_json(r));
  EXPECT_EQ(json.at("source"), "bad\xef\xbf\xbd.py");
  EXPECT_FALSE(json.at("validation").contains("max_abs_error"));
}

TEST(Format, Quantities) {
  EXPECT_EQ(time_text(0), "0 s");
  EXPECT_EQ(time_text(1.234e-3), "1.234 ms");
  EXPECT_EQ(time_text(0.99999e-3), "1 ms");
  EXPECT_EQ(time_text(0.9995e-3), "999.5 us");
  EXPECT_EQ(time_text(42), "42 s");
  EXPECT_EQ(time_text(5e-15), "0.005 ps");
  EXPECT_EQ(si_text(5e-320, "B"), "5e-320 B");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(999999), "1 MB");
  EXPECT_EQ(macs_text(67108864), "67.11 MMAC");
  EXPECT_EQ(count_text(12), "12");
  EXPECT_EQ(count_text(65536), "65.54 k");
  EXPECT_EQ(ratio_text(2.414), "2.41x");
  EXPECT_EQ(ratio_text(26.84), "26.8x");
  EXPECT_EQ(ratio_text(494.7), "495x");
  EXPECT_EQ(ratio_text(1), "1.00x");
  EXPECT_EQ(ratio_text(0.9996), "0.9996x");  // nothing reads as 1 that is not
  EXPECT_EQ(ratio_text(0.999996), "0.999996x");
  EXPECT_EQ(ratio_text(1.0004), "1.0004x");
  EXPECT_EQ(ratio_text(1 + 1e-12), "1.00x");
  EXPECT_EQ(percent_text(1), "100.0%");
  EXPECT_EQ(percent_text(0.99964), "99.96%");
  EXPECT_EQ(percent_text(0.4521), "45.2%");
  EXPECT_EQ(percent_text(0.0001), "<0.1%");
  EXPECT_EQ(percent_text(0), "0.0%");
}

TEST(Paragraph, BreaksAtBlanks) {
  EXPECT_EQ(paragraph("x: ", "aaa bbb ccc", 8, 2), "x: aaa\n  bbb\n  ccc\n");
  EXPECT_EQ(paragraph("", "", 8, 2), "\n");
  EXPECT_EQ(paragraph("", "unbreakable", 4, 2), "unbreakable\n");
}

TEST(Json, NoTextIsTakenForAList) {
  Report r;
  r.source = "\x01list 0";
  r.program = ": <discarded>";
  r.warnings = {"\"nodes\": <discarded>", "a\n\"nodes\": <discarded>,"};
  r.nodes.push_back({.id = "n0", .op = "\": <discarded>"});
  const auto json = nlohmann::json::parse(render_json(r));
  EXPECT_EQ(json["source"], r.source);
  EXPECT_EQ(json["program"], r.program);
  EXPECT_EQ(json["warnings"], r.warnings);
  EXPECT_EQ(json["nodes"][0]["op"], r.nodes[0].op);
}

}  // namespace
}  // namespace solar::report
