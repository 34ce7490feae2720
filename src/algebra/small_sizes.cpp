#include "algebra/small_sizes.h"

#include <algorithm>
#include <optional>

#include "algebra/working.h"
#include "exec/executor.h"
#include "ir/statement_count.h"
#include "ir/verify.h"

namespace solar::algebra {
namespace {

using Dims = std::map<std::string, int64_t>;

constexpr int64_t kMaximumTries = 80;
constexpr int64_t kLeastTries = 8;
constexpr int64_t kMaximumStatements = 16000;  // that are verified in all
constexpr size_t kEnough = 2;

class Shrinker {
 public:
  Shrinker(const ir::VerifiedProgram& program, const ir::ast::File& file, const Dims& bindings,
           int64_t max_points)
      : program_(program), file_(file), bindings_(bindings), max_points_(max_points) {
    const int64_t statements = std::max<int64_t>(1, ir::count_statements(file));
    tries_ = std::clamp(kMaximumStatements / statements, kLeastTries, kMaximumTries);
    for (const ir::Dim& dim : program_->dims) {
      if (dim.expression.empty() && dim.value > 1) full_[dim.name] = dim.value;
    }
  }

  std::vector<SmallSize> run() {
    // Capped: most programs do not mind which sizes they have.
    for (const int64_t cap : {5, 8, 12}) {
      int64_t i = 0;
      Dims apart;
      for (const auto& [name, value] : full_) apart[name] = value <= cap ? value : cap + i++ % 3;
      keep(apart);
      if (found_.size() >= kEnough) return std::move(found_);
    }
    // In proportion, and then each alone as far as it can go.
    for (const int64_t by : {64, 32, 16, 8, 4, 2, 1}) {
      Dims dims;
      for (const auto& [name, value] : full_)
        dims[name] = value <= 4 ? value : std::max<int64_t>(2, value / by);
      auto program = bound_to(dims);
      if (!program) continue;
      if (exec::estimate_points(*program) > max_points_) shrink_each(dims, program);
      keep(dims, std::move(program));
      if (found_.size() >= kEnough) break;
    }
    if (found_.empty() && large_) found_.push_back(std::move(*large_));
    return std::move(found_);
  }

 private:
  using Program = std::optional<ir::VerifiedProgram>;

  /// The program there, if it is the same program.
  Program bound_to(const Dims& dims) {
    if (--tries_ < 0) return std::nullopt;
    ir::VerifyOptions options;
    options.bindings = bindings_;
    for (const auto& [name, value] : dims) options.bindings[name] = value;
    auto verified = ir::verify(file_, options);
    if (!verified || !same_structure(**verified, *program_)) return std::nullopt;
    return std::move(*verified);
  }

  void keep(const Dims& dims) { keep(dims, bound_to(dims)); }

  void keep(const Dims& dims, Program program) {
    if (!program) return;
    if (exec::estimate_points(*program) > max_points_) {
      const bool smaller =
          !large_ || exec::estimate_points(*program) < exec::estimate_points(large_->program);
      if (smaller) large_.emplace(SmallSize{dims, std::move(*program), false});
      return;
    }
    for (const SmallSize& known : found_) {
      if (known.dims == dims) return;
    }
    found_.push_back({dims, std::move(*program)});
  }

  /// The largest dims first, while there are too many points.
  void shrink_each(Dims& dims, Program& program) {
    std::vector<std::string> names;
    for (const auto& [name, value] : dims) names.push_back(name);
    std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
      return dims.at(a) > dims.at(b);
    });
    for (const std::string& name : names) {
      for (const int64_t value : {int64_t{3}, int64_t{5}, int64_t{12}, dims[name] / 2}) {
        if (value >= dims[name] || value < 2) continue;
        Dims smaller = dims;
        smaller[name] = value;
        auto there = bound_to(smaller);
        if (!there) continue;
        dims = std::move(smaller);
        program = std::move(there);
        break;
      }
      if (exec::estimate_points(*program) <= max_points_) return;
    }
  }

  const ir::VerifiedProgram& program_;
  const ir::ast::File& file_;
  const Dims& bindings_;
  int64_t max_points_;
  Dims full_ = {};
  int64_t tries_ = 0;
  std::vector<SmallSize> found_ = {};
  std::optional<SmallSize> large_ = {};
};

}  // namespace

std::vector<SmallSize> small_sizes(const ir::VerifiedProgram& program, const ir::ast::File& file,
                                   const std::map<std::string, int64_t>& bindings,
                                   int64_t max_points) {
  return Shrinker(program, file, bindings, max_points).run();
}

}  // namespace solar::algebra
