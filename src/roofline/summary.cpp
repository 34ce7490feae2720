#include "roofline/summary.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string_view>

#include "roofline/roofline.h"

namespace solar::roofline {

using arch::Machine;
using arch::Rate;

namespace {

std::string scaled(double value, std::string_view unit) {
  constexpr std::array<std::string_view, 5> kPrefixes = {"", "k", "M", "G", "T"};
  size_t prefix = 0;
  while (value >= 1000 && prefix + 1 < kPrefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  return fmt::format("{:.6g} {}{}", value, kPrefixes[prefix], unit);
}

std::string storage(Bytes bytes) {
  const double value = static_cast<double>(bytes.value);
  if (bytes.value == 0) return "none";
  if (value >= 1024 * 1024) return fmt::format("{:.6g} MiB", value / (1024 * 1024));
  if (value >= 1024) return fmt::format("{:.6g} KiB", value / 1024);
  return fmt::format("{} B", bytes.value);
}

class Lines {
 public:
  void field(std::string_view label, const std::string& value) {
    text_ += fmt::format("  {:<20}{}\n", label, value.empty() ? "not known" : value);
  }
  void optional_field(std::string_view label, const std::optional<Bytes>& bytes) {
    field(label, bytes ? storage(*bytes) : "");
  }
  void line(const std::string& text) { text_ += text + "\n"; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// Breaks at blanks so that lines stay within 100 columns.
std::string wrapped(std::string_view text, size_t indent) {
  constexpr size_t kColumns = 100;
  std::string result;
  size_t column = indent;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    if (column > indent && column + 1 + word.size() > kColumns) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
  }
  return result;
}

void rates(Lines& lines, const Machine& machine) {
  lines.line(fmt::format("  {:<8}{:<8}{:>18}{:>18}{:>14}", "peak", "units", "dense rate", "MAC/s",
                         "ridge point"));
  for (const Rate& rate : machine.rates) {
    const std::string_view unit = arch::is_integer(rate.format) ? "op/s" : "flop/s";
    lines.line(fmt::format(
        "  {:<8}{:<8}{:>18}{:>18}{:>14}{}", arch::name(rate.format), arch::name(rate.unit),
        scaled(2 * rate.peak.value, unit), scaled(rate.peak.value, "MAC/s"),
        fmt::format("{:.1f}", ridge_point(rate.peak, machine.dram_bandwidth).value),
        rate.uncertain ? "  uncertain" : ""));
  }
}

}  // namespace

std::string summary(const Machine& machine) {
  Lines lines;
  lines.line(fmt::format("{}: {}", machine.id, machine.name));
  rates(lines, machine);
  lines.line(
      "  (ridge point: flop or int op per byte of DRAM traffic where compute and memory take "
      "equally long)");
  lines.field("sparsity factor", fmt::format("{} (not used by bounds)", machine.sparsity_factor));
  lines.field("DRAM bandwidth", scaled(machine.dram_bandwidth.value, "B/s"));
  lines.field("DRAM size",
              fmt::format("{:.6g} GB{}{}", static_cast<double>(machine.dram_size.value) / 1e9,
                          machine.dram_type.empty() ? "" : " ", machine.dram_type));
  lines.optional_field("last-level cache", machine.last_level_cache);
  lines.optional_field("L1 and shared", machine.l1_shared);
  lines.optional_field("register file", machine.register_file);
  lines.optional_field("tensor memory", machine.tensor_memory);
  lines.optional_field("other on chip", machine.other_on_chip);
  lines.field("clock", machine.datasheet_clock ? scaled(machine.datasheet_clock->value, "Hz") : "");
  lines.field("maximum clock", machine.max_clock ? scaled(machine.max_clock->value, "Hz") : "");
  lines.field("strict peaks",
              machine.strict_peak_scale ? fmt::format("x {}", *machine.strict_peak_scale) : "");
  lines.field("strict bandwidth", machine.strict_dram_bandwidth
                                      ? scaled(machine.strict_dram_bandwidth->value, "B/s")
                                      : "");
  lines.field("TDP", machine.tdp ? scaled(machine.tdp->value, "W") : "");
  lines.field("interconnect",
              machine.interconnect ? scaled(machine.interconnect->value, "B/s") : "");
  if (!machine.uncertain.empty()) {
    lines.field("uncertain", wrapped(fmt::format("{}", fmt::join(machine.uncertain, " ")), 22));
  }
  if (!machine.extends.empty())
    lines.field("extends", fmt::format("{}", fmt::join(machine.extends, ", ")));
  if (!machine.notes.empty()) lines.field("notes", wrapped(machine.notes, 22));
  for (const std::string& source : machine.source) lines.field("source", source);
  return lines.take();
}

}  // namespace solar::roofline
