#include "arch/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "arch/quantity.h"
#include "arch/reader.h"

namespace solar::arch {
namespace {

constexpr double kLargestPeakScale = 100;

template <class T>
std::optional<T> as(std::optional<double> value) {
  if (!value) return std::nullopt;
  return T{*value};
}

std::optional<Bytes> as_bytes(std::optional<int64_t> value) {
  if (!value) return std::nullopt;
  return Bytes{*value};
}

std::string rate_key(UnitClass unit, NumberFormat format) {
  return fmt::format("peak.{}.{}", name(unit), name(format));
}

void read_identity(Reader& reader, const std::vector<Document>& documents, Machine& machine) {
  machine.id = documents.front().id;
  for (size_t i = 1; i < documents.size(); ++i) machine.extends.push_back(documents[i].id);
  reader.find("extends");
  const auto name_at = reader.find("name");
  if (const auto text = reader.text("name")) {
    machine.name =
        name_at->document == 0 ? *text : fmt::format("{}, changed by {}", *text, machine.id);
  } else if (!name_at) {
    reader.missing("name", "\"NVIDIA H100 SXM\"");
  }
  machine.vendor = reader.text("vendor").value_or("");
  machine.year = reader.positive_integer("year");
  machine.compute_units = reader.positive_integer("compute_units");
  machine.notes = reader.text("notes").value_or("");
  for (const TomlString& item : reader.strings("source")) machine.source.push_back(item.text);
  if (!reader.find("source")) reader.missing("source", "[\"https://...\"]");
  machine.tdp = as<Watts>(reader.quantity("tdp", Dimension::Power));
  machine.interconnect = as<BytesPerSecond>(reader.quantity("interconnect", Dimension::Bandwidth));
  machine.datasheet_clock = as<Hertz>(reader.quantity("clock.datasheet", Dimension::Frequency));
  machine.max_clock = as<Hertz>(reader.quantity("clock.max", Dimension::Frequency));
}

void read_memory(Reader& reader, Machine& machine) {
  if (const auto value = reader.quantity("dram.bandwidth", Dimension::Bandwidth)) {
    machine.dram_bandwidth = {*value};
  } else if (!reader.find("dram.bandwidth")) {
    reader.missing("dram.bandwidth", "\"3.35 TB/s\"");
  }
  if (const auto value = reader.bytes("dram.size")) {
    machine.dram_size = {*value};
  } else if (!reader.find("dram.size")) {
    reader.missing("dram.size", "\"80 GB\"");
  }
  machine.dram_type = reader.text("dram.type").value_or("");
  machine.last_level_cache = as_bytes(reader.bytes("on_chip.last_level_cache", true));
  machine.l1_shared = as_bytes(reader.bytes("on_chip.l1_shared", true));
  machine.register_file = as_bytes(reader.bytes("on_chip.register_file", true));
  machine.tensor_memory = as_bytes(reader.bytes("on_chip.tensor_memory", true));
  machine.other_on_chip = as_bytes(reader.bytes("on_chip.other", true));
}

/// One peak in MAC/s; absent or `none`: no such rate.
std::optional<double> read_peak(Reader& reader, const std::string& key, NumberFormat format,
                                const Machine& machine) {
  const auto found = reader.find(key);
  if (!found) return std::nullopt;
  const TomlLeaf& leaf = *found->leaf;
  if (leaf.kind == TomlLeaf::Kind::String && leaf.text == "none") return std::nullopt;
  if (leaf.kind == TomlLeaf::Kind::String && has_unit_of(leaf.text, Dimension::MacsPerCycle)) {
    const auto per_cycle = reader.quantity(key, Dimension::MacsPerCycle);
    if (per_cycle && !machine.datasheet_clock) {
      reader.wrong(leaf, DiagnosticKind::ArchUnit,
                   fmt::format("`{}` is a rate per cycle, but there is no `clock.datasheet`", key),
                   "add `datasheet = \"1.83 GHz\"` under `[clock]`");
      return std::nullopt;
    }
    return per_cycle ? std::optional(*per_cycle * machine.datasheet_clock->value) : std::nullopt;
  }
  const Dimension dimension = is_integer(format) ? Dimension::OpRate : Dimension::FlopRate;
  const auto rate = reader.quantity(key, dimension);
  return rate ? std::optional(*rate / 2) : std::nullopt;  // 1 MAC = 2 flop
}

void read_peaks(Reader& reader, Machine& machine) {
  bool any_key = false;
  for (const UnitClass unit : kAllUnitClasses) {
    for (const NumberFormat format : kAllNumberFormats) {
      const std::string key = rate_key(unit, format);
      any_key = any_key || reader.find(key).has_value();
      if (const auto peak = read_peak(reader, key, format, machine)) {
        machine.rates.push_back({.format = format, .unit = unit, .peak = {*peak}});
      }
    }
  }
  if (!any_key) reader.missing("peak.vector.fp32", "\"67 Tflop/s\"");
  machine.sparsity_factor = reader.positive_integer("sparsity_factor").value_or(1);
  if (!reader.find("sparsity_factor")) reader.missing("sparsity_factor", "2");
}

/// Whether `key` is given further down the chain than one of `newer`: then it described an older
/// value.
bool outlived(Reader& reader, std::string_view key, std::initializer_list<std::string_view> newer) {
  const auto found = reader.find(key);
  if (!found) return false;
  return std::any_of(newer.begin(), newer.end(), [&](std::string_view other) {
    const auto at = reader.find(other);
    return at && at->document < found->document;
  });
}

void read_strict(Reader& reader, Machine& machine) {
  const auto scale = reader.positive_number("strict.peak_scale");
  if (scale && !outlived(reader, "strict.peak_scale", {"clock.datasheet", "clock.max"})) {
    machine.strict_peak_scale = *scale;
    if (*scale < 1 || *scale > kLargestPeakScale) {
      reader.wrong(
          *reader.find("strict.peak_scale")->leaf, DiagnosticKind::ArchFile,
          *scale < 1
              ? fmt::format(
                    "`strict.peak_scale` is {}, but strict rates are never below the datasheet's",
                    *scale)
              : fmt::format("`strict.peak_scale` is {}, but no clock is {} times the datasheet's",
                            *scale, kLargestPeakScale),
          "give maximum clock / datasheet clock, at least 1");
    }
  }
  const auto bandwidth = reader.quantity("strict.dram_bandwidth", Dimension::Bandwidth);
  if (bandwidth && !outlived(reader, "strict.dram_bandwidth", {"dram.bandwidth"})) {
    machine.strict_dram_bandwidth = BytesPerSecond{*bandwidth};
    if (*bandwidth < machine.dram_bandwidth.value) {
      reader.wrong(*reader.find("strict.dram_bandwidth")->leaf, DiagnosticKind::ArchFile,
                   "`strict.dram_bandwidth` is below `dram.bandwidth`",
                   "give memory clock x bus width, or leave the key out if it is not known");
    }
  }
}

void check_clocks(Reader& reader, const Machine& machine) {
  if (!machine.datasheet_clock || !machine.max_clock) return;
  const double ratio = machine.max_clock->value / machine.datasheet_clock->value;
  if (ratio < 1) {
    reader.wrong(*reader.find("clock.max")->leaf, DiagnosticKind::ArchFile,
                 "`clock.max` is below `clock.datasheet`", "exchange the two, or correct one");
  } else if (machine.strict_peak_scale && std::abs(*machine.strict_peak_scale / ratio - 1) > 0.01) {
    reader.add({.kind = DiagnosticKind::ArchFile,
                .severity = Severity::Warning,
                .message = fmt::format(
                    "`strict.peak_scale` is {}, but `clock.max` / `clock.datasheet` is {:.3f}",
                    *machine.strict_peak_scale, ratio),
                .span = reader.find("strict.peak_scale")->leaf->span,
                .hint = "the two should agree within a hundredth"});
  }
}

void read_uncertain(Reader& reader, const std::vector<Document>& documents, Machine& machine) {
  const auto found = reader.find("uncertain");
  for (const TomlString& item : reader.strings("uncertain")) {
    const bool given =
        std::any_of(documents.begin(), documents.end(), [&](const Document& document) {
          return std::any_of(document.leaves.begin(), document.leaves.end(),
                             [&](const TomlLeaf& leaf) { return leaf.key == item.text; });
        });
    if (!given) {
      reader.add({.kind = DiagnosticKind::ArchKey,
                  .message = fmt::format("`uncertain` names `{}`, which has no value", item.text),
                  .span = item.span,
                  .hint = "name keys of this file in full, such as `peak.tensor.tf32`"});
    } else if (reader.find(item.text)->document >= found->document) {
      machine.uncertain.push_back(item.text);
    }
  }
  for (Rate& rate : machine.rates) {
    rate.uncertain = machine.is_uncertain(rate_key(rate.unit, rate.format));
  }
}

}  // namespace

Machine build_machine(const std::vector<Document>& documents, Diagnostics& diagnostics) {
  Machine machine;
  Reader reader(documents, diagnostics);
  read_identity(reader, documents, machine);
  read_memory(reader, machine);
  read_peaks(reader, machine);
  read_strict(reader, machine);
  check_clocks(reader, machine);
  reader.strings("uncertain");
  reader.refuse_unknown_keys();
  read_uncertain(reader, documents, machine);
  return machine;
}

}  // namespace solar::arch
