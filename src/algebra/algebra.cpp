#include "algebra/algebra.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "algebra/compare.h"
#include "algebra/emit.h"
#include "algebra/small_sizes.h"
#include "exec/executor.h"
#include "ir/verify.h"

namespace solar::algebra {
namespace {

constexpr size_t kMaximumStages = 12;
constexpr int kMaximumAttempts = 4;
constexpr size_t kDimsShown = 8;

int64_t statement_count(const std::vector<ir::Statement>& statements) {
  auto count = static_cast<int64_t>(statements.size());
  for (const ir::Statement& statement : statements) {
    if (const auto* repeat = std::get_if<ir::Repeat>(&statement.body))
      count += statement_count(repeat->body);
  }
  return count;
}

std::vector<Rewrite> rewrite(Working& working, Log& log, const Options& options) {
  fold_constants(working, log);
  share_common(working, log);
  working.remove_dead();
  reorder_sums(working, log);
  fold_constants(working, log);
  if (options.also) options.also(working, log);
  working.remove_dead();
  return log.all();
}

std::optional<ir::VerifiedProgram> proven(const ir::Program& program, bool in_f64,
                                          Emitted* emitted = nullptr) {
  auto text = emit(program, {.in_f64 = in_f64});
  if (!text) return std::nullopt;
  auto verified = ir::verify_text(text->text);
  if (!verified) return std::nullopt;
  if (emitted != nullptr) *emitted = std::move(*text);
  return std::move(*verified);
}

std::vector<std::string> names_of(const std::vector<Rewrite>& rewrites) {
  std::vector<std::string> names;
  for (const Rewrite& r : rewrites) names.push_back(Log::name_of(r));
  return names;
}

class Search {
 public:
  Search(const ir::VerifiedProgram& program, const ir::ast::File& file,
         const std::map<std::string, int64_t>& bindings, const Options& options)
      : program_(program), file_(file), bindings_(bindings), options_(options) {}

  Optimised run() {
    for (int attempt = 0; attempt < kMaximumAttempts; ++attempt) {
      Working working(*program_, options_.frozen);
      Log log(forbidden_, {}, sliced_.empty() ? nullptr : &choices_);
      const std::vector<Rewrite> found = rewrite(working, log, options_);
      if (found.empty() || cancelled()) return std::move(result_);
      if (sliced_.empty()) choices_ = log.choices;
      if (!proven(working.program(), false)) {
        result_.notes.push_back(
            fmt::format("{} {} dropped: the rewritten program cannot be written out or proven",
                        found.size(), found.size() == 1 ? "rewrite" : "rewrites"));
        return std::move(result_);
      }
      const bool known = !sliced_.empty() && all_of(found, sliced_);
      switch (known ? Verdict::Same : validate(found, {})) {
        case Verdict::Same:
          if (take(found)) return std::move(result_);
          result_.notes.push_back("the rewritten program cannot be proven");
          return std::move(result_);
        case Verdict::CannotRun:
          if (sliced_.empty() && validate_slices(found)) break;
          result_.notes.push_back(fmt::format(
              "{} dropped, since no size was found at which both programs run: {}{}",
              found.size() == 1 ? "a rewrite is" : fmt::format("{} rewrites are", found.size()),
              found[0].what, found.size() == 1 ? "" : ", ..."));
          return std::move(result_);
        case Verdict::Different:
          forbid_wrong(found);
          break;
      }
    }
    return std::move(result_);
  }

 private:
  bool cancelled() const { return options_.cancel != nullptr && *options_.cancel; }

  /// Those that differ alone; all, if none does.
  void forbid_wrong(const std::vector<Rewrite>& found) {
    const size_t before = forbidden_.size();
    if (found.size() <= kMaximumStages) {
      for (const Rewrite& r : found) {
        if (validate({r}, Log::name_of(r)) == Verdict::Same) continue;
        forbidden_.insert(Log::name_of(r));
        dropped(r);
      }
    }
    if (forbidden_.size() != before) return;
    for (const Rewrite& r : found) {
      forbidden_.insert(Log::name_of(r));
      dropped(r);
    }
  }

  void dropped(const Rewrite& r) {
    result_.notes.push_back(
        fmt::format("dropped, since it changes results in a run: {} ({})", r.what, r.kind));
  }

  static bool all_of(const std::vector<Rewrite>& found, const std::set<std::string>& names) {
    return std::all_of(found.begin(), found.end(),
                       [&](const Rewrite& r) { return names.contains(Log::name_of(r)); });
  }

  /// Each rewrite by itself, where the whole programs cannot be run. Forbids the others; false if
  /// none is left.
  bool validate_slices(const std::vector<Rewrite>& found) {
    const bool whole = slices_at(program_, found);
    if (whole) result_.validated = "each by itself at full size";
    for (const SmallSize& size : sizes_) {
      if (!sliced_.empty()) break;
      if (slices_at(size.program, found)) result_.validated = "each by itself at " + text_of(size);
    }
    if (sliced_.empty()) return false;
    for (const Rewrite& r : found) {
      if (sliced_.contains(Log::name_of(r))) continue;
      forbidden_.insert(Log::name_of(r));
      result_.notes.push_back(fmt::format(
          "dropped, since it was not run at any size or changes results: {} ({})", r.what, r.kind));
    }
    return true;
  }

  /// Adds to `sliced_` what is the same by itself at this size.
  bool slices_at(const ir::VerifiedProgram& original, const std::vector<Rewrite>& wanted) {
    Working working(*original, options_.frozen);
    Log log(forbidden_, {}, &choices_);
    log.wants_slices = true;
    const std::vector<Rewrite> found = rewrite(working, log, options_);
    if (names_of(found) != names_of(wanted)) return false;
    for (const auto& [name, slice] : log.slices) {
      if (cancelled()) return false;
      const auto before = proven(slice.before, false);
      const auto wide = proven(slice.before, true);
      const auto after = proven(slice.after, true);
      if (!before || !wide || !after) continue;
      const int64_t points = std::max(exec::estimate_points(*wide), exec::estimate_points(*after));
      if (points > options_.max_points) continue;
      if (compare(*before, *wide, *after, options_.seeds, options_.cancel) == Verdict::Same)
        sliced_.insert(name);
    }
    return !sliced_.empty();
  }

  static std::string text_of(const SmallSize& size) {
    std::vector<std::string> parts;
    for (const auto& [name, value] : size.dims) {
      if (parts.size() < kDimsShown) parts.push_back(fmt::format("{}={}", name, value));
    }
    if (size.dims.size() > kDimsShown)
      parts.push_back(fmt::format("and {} more", size.dims.size() - kDimsShown));
    return fmt::format("{}", fmt::join(parts, " "));
  }

  /// The original at some size against what the same rewrites make of it there.
  Verdict validate_at(const ir::VerifiedProgram& original, const std::vector<Rewrite>& wanted,
                      const std::optional<std::string>& only) const {
    Working working(*original, options_.frozen);
    Log log(forbidden_, only, &choices_);
    const std::vector<Rewrite> found = rewrite(working, log, options_);
    if (names_of(found) != names_of(wanted)) return Verdict::CannotRun;
    const auto rewritten = proven(working.program(), true);
    const auto wide = proven(*original, true);
    if (!rewritten || !wide) return Verdict::CannotRun;
    const int64_t points =
        std::max(exec::estimate_points(*wide), exec::estimate_points(*rewritten));
    if (points > options_.max_points) return Verdict::CannotRun;
    return compare(original, *wide, *rewritten, options_.seeds, options_.cancel);
  }

  Verdict validate(const std::vector<Rewrite>& wanted, const std::optional<std::string>& only) {
    if (exec::estimate_points(program_) <= options_.max_points) {
      const Verdict verdict = validate_at(program_, wanted, only);
      if (verdict != Verdict::CannotRun) {
        result_.validated = "at full size";
        return verdict;
      }
    }
    if (sizes_.empty()) sizes_ = small_sizes(program_, file_, bindings_, options_.max_points);
    for (const SmallSize& size : sizes_) {
      if (cancelled() || !size.runs) return Verdict::CannotRun;
      const Verdict verdict = validate_at(size.program, wanted, only);
      if (verdict == Verdict::CannotRun) continue;
      result_.validated = "at " + text_of(size);
      return verdict;
    }
    return Verdict::CannotRun;
  }

  /// Fills the stages: the program after each rewrite, as far as each can be told apart.
  bool take(const std::vector<Rewrite>& found) {
    std::set<std::string> later = forbidden_;
    for (const Rewrite& r : found) later.insert(Log::name_of(r));
    result_.rewrites = found;
    for (size_t i = 0; i < found.size(); ++i) {
      later.erase(Log::name_of(found[i]));
      const bool last = i + 1 == found.size();
      if (!last && found.size() > kMaximumStages) continue;
      Working working(*program_, options_.frozen);
      Log log(later, {}, &choices_);
      rewrite(working, log, options_);
      Emitted emitted;
      auto verified = proven(working.program(), false, &emitted);
      if (!verified) return false;
      emitted.names.resize(program_->tensors.size());
      result_.stages.push_back(
          {std::move(*verified), std::move(emitted.text), std::move(emitted.names)});
    }
    return true;
  }

  const ir::VerifiedProgram& program_;
  const ir::ast::File& file_;
  const std::map<std::string, int64_t>& bindings_;
  const Options& options_;
  std::set<std::string> forbidden_ = {};
  Choices choices_ = {};
  std::set<std::string> sliced_ = {};  // rewrites that are right by themselves
  std::vector<SmallSize> sizes_ = {};
  Optimised result_ = {};
};

}  // namespace

Optimised optimise(const ir::VerifiedProgram& program, const ir::ast::File& file,
                   const std::map<std::string, int64_t>& bindings, const Options& options) {
  if (statement_count(program->statements) > options.max_statements) {
    Optimised result;
    result.notes.push_back(fmt::format("the algebra was not looked at: more than {} statements",
                                       options.max_statements));
    return result;
  }
  return Search(program, file, bindings, options).run();
}

}  // namespace solar::algebra
