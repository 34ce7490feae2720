// Every function of the prelude, called at small sizes, counted by the lifter and by going through
// all points.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iostream>
#include <set>

#include "einsum/brute_force_test_util.h"
#include "einsum/lift_test_util.h"
#include "ir/parser.h"
#include "ir/prelude.h"
#include "ir/prelude_call_test_util.h"

namespace solar::einsum {
namespace {

// Sizes that the rules below do not give.
const std::map<std::string, std::map<std::string, int64_t>> kOwnSizes = {
    {"conv_transpose3d", {{"N", 1}, {"G", 2}, {"I", 2}, {"O", 1}}},
    {"conv_transpose3d_bias", {{"N", 1}, {"G", 2}, {"I", 2}, {"O", 1}}},
    {"diagonal", {{"M", 3}, {"N", 4}, {"K", 2}, {"UP", 1}, {"DOWN", 0}}},
    {"gate_inputs", {{"G", 8}}},
    {"gqa", {{"H", 4}, {"G", 2}}},
    {"gqa_causal", {{"H", 4}, {"G", 2}}},
    {"grid_sample2d", {{"K", 2}}},
    {"grid_sample3d", {{"K", 2}, {"N", 2}, {"O", 2}, {"P", 2}, {"Q", 2}}},
    {"search_sorted", {{"STEPS", 2}}},
    {"sdpa_window", {{"W", 2}}},
    {"sliding_windows", {{"N", 2}, {"K", 3}, {"STEP", 2}}},
    {"write_diagonal", {{"M", 3}, {"N", 4}, {"K", 2}, {"UP", 1}, {"DOWN", 0}}},
    {"write_slice", {{"N", 9}, {"K", 3}, {"START", 1}, {"STEP", 2}}},
};

// By what dims are called in the prelude. `other`: with other strides, paddings, ceil modes.
int64_t size_of(const std::string& function, const std::string& name, bool other) {
  const auto own = kOwnSizes.find(function);
  if (own != kOwnSizes.end() && own->second.contains(name)) return own->second.at(name);
  const bool transposed = function.starts_with("conv_transpose");
  if (name == "W") return transposed ? 4 : other ? 8 : 7;
  if (name == "H" || name == "Z" || name == "D") return transposed ? 2 : other ? 6 : 5;
  const bool taps = name == "P" || name == "R" || name == "Q";
  if (taps && function.find("conv") != std::string::npos) return name == "R" ? 3 : 2;
  if (name == "UP" || name == "DOWN" || name == "RIGHT") return other ? 0 : 1;
  if (name == "BY" || name == "BEFORE" || name == "AFTER") return other ? 1 : 2;
  if (name.size() != 2 || std::string("WHDZ").find(name[1]) == std::string::npos)
    return 3 + (name[0] + (other ? 1 : 0)) % 3;
  const bool wide = (name[1] == 'W') != other;
  switch (name[0]) {
    case 'R':  // taps
      return wide ? 3 : 2;
    case 'S':  // stride
      return wide ? (other ? 3 : 2) : 1;
    case 'Q':  // outputs of adaptive pooling
      return other ? 3 : 4;
    case 'L':
    case 'D':  // dilation
      return transposed == wide ? 2 : 1;
    case 'U':
    case 'C':  // ceil mode
      return wide ? (other ? 2 : 1) : 0;
    case 'E':  // extra outputs
      return transposed ? 1 : 0;
    case 'M':  // counted margins
      return wide ? 1 : 0;
    default:  // padding
      return other && !wide ? 0 : 1;
  }
}

/// Functions of which something is counted only at its least, and why. All others are equal.
const std::map<std::string, std::string> kLeast = {
    {"embedding_bag_max", "rows that are padding by their index, data, are left out"},
    {"embedding_bag_mean", "as above"},
    {"embedding_bag_sum", "as above"},
    {"embedding_bag_weighted", "as above"},
    {"grid_sample2d", "taps outside of the image by their index, data, are left out"},
    {"grid_sample3d", "as above"},
    {"search_sorted", "the indices are computed in a loop: their values are not known"},
};
/// Besides, where only a part of the results is needed.
const std::map<std::string, std::string> kLeastOfPart = {
    {"cummax", "the place of the maximum is the last step's, or not, by data"},
    {"cummin", "as above"},
    {"index_add_1", "whether an update lands in the part is data"},
    {"index_add_2", "as above"},
    {"index_add_3", "as above"},
    {"index_put_1", "as above"},
    {"index_put_2", "as above"},
    {"index_put_3", "as above"},
    {"index_touched_1", "as above"},
    {"index_touched_2", "as above"},
    {"index_touched_3", "as above"},
    {"max_unpool", "as above"},
    {"scatter_add", "as above"},
    {"scatter_count", "as above"},
    {"scatter_max", "as above"},
    {"scatter_min", "as above"},
    {"scatter_mul", "as above"},
    {"scatter_set", "as above"},
    {"scatter_touched", "as above"},
};

/// What the indices of a call are. Those of a function that writes every place at most once differ.
PortValues index_values(const ir::Program& program, const std::string& function) {
  const bool once = function.starts_with("index_put") || function == "scatter_set";
  const bool searches = function == "search_sorted";  // indices that it computes of its inputs
  PortValues values;
  uint32_t random = 12345;
  for (const ir::TensorId port : program.ports) {
    const ir::Tensor& tensor = program.tensor(port);
    if (tensor.type != ir::ElementType::I64 && !searches) continue;
    std::vector<int64_t>& all = values[port];
    const int64_t last = tensor.shape.empty() ? 1 : tensor.shape.back();
    for (int64_t i = 0; i < ir::element_count(tensor.shape); ++i) {
      random = random * 1664525 + 1013904223;
      const bool ascending =
          (once && tensor.name == "i") || tensor.name == "ptr" || tensor.name == "edges";
      all.push_back(ascending ? i % last : static_cast<int64_t>(random >> 16) % 3);
    }
  }
  return values;
}

/// Scalar operations at one point that touch data.
int64_t operations(const ir::Kernel& kernel) {
  std::vector<bool> used(kernel.nodes.size(), false), data(kernel.nodes.size(), false);
  for (const int32_t root : {kernel.value, kernel.second_value}) {
    if (root >= 0) used[static_cast<size_t>(root)] = true;
  }
  for (size_t i = kernel.nodes.size(); i-- > 0;) {
    const ir::ScalarNode& node = kernel.nodes[i];
    for (const int32_t operand : {node.a, node.b, node.c}) {
      if (operand >= 0 && used[i]) used[static_cast<size_t>(operand)] = true;
    }
  }
  int64_t count = kernel.reduction != ir::Reduction::None;
  for (size_t i = 0; i < kernel.nodes.size(); ++i) {
    const ir::ScalarNode& node = kernel.nodes[i];
    data[i] = node.op == ir::ScalarOp::Load || node.op == ir::ScalarOp::Prev;
    for (const int32_t operand : {node.a, node.b, node.c}) {
      if (operand >= 0 && data[static_cast<size_t>(operand)]) data[i] = true;
    }
    count += used[i] && data[i] && node.a >= 0 && node.op != ir::ScalarOp::Cast;
  }
  return count;
}

void mark_loops(const ir::Kernel& kernel, const ir::Linear& value, std::vector<bool>& loops) {
  for (const ir::Term& term : value.terms) {
    const auto id = static_cast<size_t>(term.atom);
    if (id < loops.size()) loops[id] = true;
    for (const ir::Linear& operand : kernel.atoms[id].operands) mark_loops(kernel, operand, loops);
  }
}

/// The loops of each read that the sum of products multiplies; empty where it is none.
std::vector<std::vector<bool>> factors(const ir::Kernel& kernel, int32_t id) {
  const ir::ScalarNode& node = kernel.nodes[static_cast<size_t>(id)];
  if (node.op == ir::ScalarOp::Cast) return factors(kernel, node.a);
  if (node.op == ir::ScalarOp::Load) {
    std::vector<bool> loops(kernel.loops.size(), false);
    for (const auto& one : kernel.accesses[static_cast<size_t>(node.reference)].subscripts)
      mark_loops(kernel, one, loops);
    return {loops};
  }
  if (node.op != ir::ScalarOp::Mul) return {};
  auto all = factors(kernel, node.a);
  const auto more = factors(kernel, node.b);
  if (all.empty() || more.empty()) return {};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// The same program without the first element along the last axis of its results, and along the
/// first without the last.
std::string part_of_results(std::string text) {
  const auto program = ir::verify_text(text);
  if (!program) return text;
  std::vector<std::string> results;
  std::string slices;
  for (size_t i = 0; i < (*program)->outputs.size(); ++i) {
    const auto& shape = (*program)->tensor((*program)->outputs[i]).shape;
    results.push_back(fmt::format("out{}", i));
    if (shape.empty() || shape.back() < 2) continue;
    std::string items;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      const bool last = axis + 1 == shape.size();
      items += axis > 0 ? ", " : "";
      items += last        ? fmt::format("1:{}", shape[axis])
               : axis == 0 ? fmt::format("0:{}", std::max<int64_t>(shape[axis] - 1, 1))
                           : ":";
    }
    slices += fmt::format("  slice part{} = {}[{}]\n", i, results.back(), items);
    results.back() = fmt::format("part{}", i);
  }
  const size_t begin = text.find("-> (") + 4;
  text.replace(begin, text.find(')', begin) - begin, fmt::format("{}", fmt::join(results, ", ")));
  return text.insert(text.rfind('}'), slices);
}

int64_t bytes_of(const ir::Tensor& tensor, int64_t elements) {
  return elements * std::max(ir::storage_bits(tensor.type) / 8, 1);
}

class Comparison {
 public:
  Comparison(const std::string& function, const std::string& text) : text_(text) {
    const auto program = ir::verify_text(text);
    if (!program) {
      differ(messages(program.error()));
      return;
    }
    program_ = &**program;
    const PortValues values = index_values(**program, function);
    truth_.emplace(**program, std::vector<exec::ControlPath>{}, values);
    LiftOptions options;
    options.compute_masks = false;
    options.index_values = [&](ir::TensorId id) -> std::optional<std::vector<int64_t>> {
      const auto found = values.find(id);
      return found == values.end() ? std::nullopt : std::optional(found->second);
    };
    const auto graph = lift(*program, options);
    if (!graph) {
      differ(messages(graph.error()));
      return;
    }
    check_reads(*graph);
    check_writes(*graph);
    for (const Node& node : graph->nodes) check_node(node);
    // Zeros that only values show leave less, never more.
    options.compute_masks = true;
    const auto followed = lift(*program, options);
    if (!followed || followed->totals.macs_useful > graph->totals.macs_useful ||
        followed->totals.bytes_read_inputs.min > graph->totals.bytes_read_inputs.min)
      differ("more with masks");
  }

  const std::vector<std::string>& differences() const { return differences_; }
  int contractions = 0;
  int nodes = 0;
  bool least_only = false;

 private:
  void differ(std::string what) { differences_.push_back(std::move(what)); }

  void check_range(const std::string& what, const ByteRange& found, int64_t expected, bool known) {
    if (found.min.value <= expected && found.max.value >= expected &&
        (!known || found.example.value == expected))
      return;
    differ(fmt::format("{}: {} .. {} .. {} bytes, {} expected", what, found.min.value,
                       found.example.value, found.max.value, expected));
  }

  void check_reads(const Graph& graph) {
    for (const ir::TensorId port : program_->ports) {
      ByteRange found;
      for (const Footprint& read : graph.reads) {
        if (read.tensor == port) found = read.bytes;
      }
      const ir::Tensor& tensor = program_->tensor(port);
      const int64_t expected = bytes_of(tensor, static_cast<int64_t>(truth_->needed(port).size()));
      check_range(tensor.name, found, expected, graph.totals.example_known);
      least_only = least_only || !graph.totals.example_known;
      if (!graph.totals.depends_on_data && found.min != found.max)
        differ(tensor.name + ": a range");
    }
  }

  void check_writes(const Graph& graph) {
    ByteRange found;
    for (const Footprint& write : graph.writes) {
      found.min.value += write.bytes.min.value;
      found.example.value += write.bytes.example.value;
      found.max.value += write.bytes.max.value;
    }
    check_range("results", found, truth_->stored_bytes(), true);
  }

  void check_node(const Node& node) {
    const auto number = static_cast<size_t>(node.statement);
    const ir::Statement& statement = *truth_->unrolled().statements()[number];
    const auto* kernel = std::get_if<ir::Kernel>(&statement.body);
    const auto* scatter = std::get_if<ir::Scatter>(&statement.body);
    if (scatter != nullptr) kernel = &scatter->nest;
    if (kernel == nullptr) return;
    ++nodes;
    least_only = least_only || !node.exact;
    const bool generated = truth_->generated(kernel->output);
    int64_t points = generated ? 0 : truth_->useful_points(number);
    int64_t found = node.elementwise_ops + node.special_ops;
    int64_t expected = points * operations(*kernel);
    if (node.is_contraction) {
      ++contractions;
      const auto reads = factors(*kernel, kernel->value);
      if (reads.size() < 2) return differ(node.einsum + " is no product");
      if (reads.size() > 2) {
        expected = points * static_cast<int64_t>(reads.size() - 1);
        if (node.exact || node.macs_useful.value > expected) differ(node.einsum + " is too much");
        return;
      }
      std::vector<bool> loops = reads[0];
      for (size_t i = 0; i < loops.size(); ++i) loops[i] = loops[i] || reads[1][i];
      for (size_t i = 0; i < loops.size(); ++i) {
        const auto& targets = kernel->target_loops;
        const bool target = std::find(targets.begin(), targets.end(), i) != targets.end();
        if (!target && reads[0][i] != reads[1][i]) differ(node.einsum + " sums a factor alone");
      }
      found = node.macs_useful.value;
      expected = generated ? 0 : truth_->useful_points(number, loops);
    }
    if (found == expected || (!node.exact && found < expected)) return;
    differ(fmt::format("{}: {} counted, {} expected", node.einsum, found, expected));
  }

  std::string text_;
  const ir::Program* program_ = nullptr;
  std::optional<BruteForce> truth_ = {};
  std::vector<std::string> differences_ = {};
};

std::string type_of(const ir::ast::Function& f, const ir::DimValues& sizes) {
  for (const char* type : {"f32", "i64", "bool"}) {
    if (ir::verify_text(ir::call_of(f, type, 1, sizes))) return type;
  }
  return "f32";
}

template <class Map>
std::set<std::string> keys(const Map& map) {
  std::set<std::string> all;
  for (const auto& [key, value] : map) all.insert(key);
  return all;
}

TEST(PreludeCounting, EveryFunctionEqualsEnumeration) {
  int functions = 0, contractions = 0, nodes = 0, calls = 0;
  std::set<std::string> least, least_of_part;
  for (const ir::PreludeFile& prelude : ir::prelude_files()) {
    const auto file = ir::parse_text(prelude.name, prelude.text);
    ASSERT_TRUE(file);
    for (const ir::ast::Function& f : file->functions) {
      ++functions;
      for (const bool other : {false, true}) {
        const auto sizes = [&](const std::string& function, const std::string& dim) {
          return size_of(function, dim, other);
        };
        const std::string type = type_of(f, sizes);
        for (const size_t rank : {size_t{0}, size_t{1}}) {
          const std::string text = ir::call_of(f, type, rank, sizes);
          for (const std::string& program : {text, part_of_results(text)}) {
            const Comparison comparison(f.name.text, program);
            EXPECT_EQ(fmt::format("{}", fmt::join(comparison.differences(), "\n")), "") << program;
            ++calls;
            contractions += comparison.contractions;
            nodes += comparison.nodes;
            if (!comparison.least_only || least.contains(f.name.text)) continue;
            (program == text ? least : least_of_part).insert(f.name.text);
          }
        }
      }
    }
  }
  EXPECT_EQ(least, keys(kLeast));
  EXPECT_EQ(least_of_part, keys(kLeastOfPart));
  std::cout << fmt::format("{} functions, {} calls, {} nodes, {} contractions\n", functions, calls,
                           nodes, contractions);
  EXPECT_GT(functions, 300);
}

}  // namespace
}  // namespace solar::einsum
