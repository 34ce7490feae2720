#include "driver/graph_work.h"

#include <fmt/format.h>

#include <initializer_list>

namespace solar::driver {
namespace {

roofline::Work work_of(const std::vector<einsum::MacClass>& classes, Bytes traffic) {
  roofline::Work work;
  for (const einsum::MacClass& c : classes) work.macs.push_back({c.type, c.is_convolution, c.macs});
  work.traffic = traffic;
  return work;
}

Diagnostic overflow(const char* what) {
  Diagnostic diagnostic;
  diagnostic.kind = DiagnosticKind::CountOverflow;
  diagnostic.message = fmt::format("the {} do not fit 64 bits", what);
  diagnostic.hint = "bind smaller dims";
  return diagnostic;
}

Result<Bytes> sum(std::initializer_list<Bytes> parts, const char* what) {
  Bytes total;
  for (const Bytes part : parts) {
    const auto next = checked_add(total, part);
    if (!next) return overflow(what);
    total = *next;
  }
  return total;
}

}  // namespace

Result<std::vector<roofline::Work>> operator_work(const einsum::Graph& graph) {
  std::vector<roofline::Work> work;
  for (const einsum::Operator& op : graph.operators) {
    SOLAR_TRY(const Bytes traffic,
              sum({op.bytes_in.min, op.bytes_out.min}, "bytes of an operator"));
    work.push_back(work_of(op.mac_classes, traffic));
  }
  return work;
}

Result<roofline::Work> graph_work(const einsum::Graph& all) {
  const einsum::Graph& graph = all.least ? *all.least : all;
  const einsum::Totals& t = graph.totals;
  SOLAR_TRY(const Bytes traffic,
            sum({t.bytes_read_inputs.min, t.bytes_read_params.min, t.bytes_written_outputs.min},
                "bytes of the program"));
  roofline::Work work = work_of(graph.mac_classes, traffic);
  work.rewritten = t.rewritten;
  return work;
}

}  // namespace solar::driver
