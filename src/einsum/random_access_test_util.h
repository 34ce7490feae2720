#pragma once
// Random nests that read one tensor in one to three places under guards, as ALIR text and as
// expressions that a test evaluates by itself.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace solar::einsum {

/// An index expression: coefficient * atom + .. + constant.
struct AccessExpr {
  enum class Kind : uint8_t { Loop, FloorDiv, Mod, Min, Max };
  struct Atom {
    Kind kind = Kind::Loop;
    int64_t coefficient = 1;
    size_t loop = 0;
    std::vector<AccessExpr> operand = {};  // of the derived kinds: one
    int64_t number = 0;                    // the divisor, or the limit
  };
  std::vector<Atom> atoms = {};
  int64_t constant = 0;

  int64_t value(const std::vector<int64_t>& loops) const {
    int64_t sum = constant;
    for (const Atom& atom : atoms) {
      int64_t at = 0;
      if (atom.kind == Kind::Loop) {
        at = loops[atom.loop];
      } else {
        at = atom.operand[0].value(loops);
        if (atom.kind == Kind::Min) at = std::min(at, atom.number);
        if (atom.kind == Kind::Max) at = std::max(at, atom.number);
        if (atom.kind == Kind::FloorDiv || atom.kind == Kind::Mod) {
          const int64_t rest = (at % atom.number + atom.number) % atom.number;
          at = atom.kind == Kind::Mod ? rest : (at - rest) / atom.number;
        }
      }
      sum += atom.coefficient * at;
    }
    return sum;
  }

  bool linear() const {
    return std::all_of(atoms.begin(), atoms.end(),
                       [](const Atom& atom) { return atom.kind == Kind::Loop; });
  }

  std::string text() const {
    std::string sum;
    for (const Atom& atom : atoms) {
      std::string one = atom.kind == Kind::Loop ? std::string(1, "ijkl"[atom.loop])
                                                : "(" + atom.operand[0].text() + ")";
      if (atom.kind == Kind::FloorDiv) one = fmt::format("({} // {})", one, atom.number);
      if (atom.kind == Kind::Mod) one = fmt::format("({} % {})", one, atom.number);
      if (atom.kind == Kind::Min) one = fmt::format("min({}, {})", one, atom.number);
      if (atom.kind == Kind::Max) one = fmt::format("max({}, {})", one, atom.number);
      sum += fmt::format("{}{}*{}", sum.empty() ? "" : " + ", atom.coefficient, one);
    }
    return fmt::format("{}{}{}", sum, sum.empty() ? "" : " + ", constant);
  }
};

struct AccessGuard {
  enum class Kind : uint8_t { NonNegative, Zero, NonZero };
  Kind kind = Kind::NonNegative;
  AccessExpr value = {};

  bool holds(const std::vector<int64_t>& loops) const {
    const int64_t at = value.value(loops);
    return kind == Kind::NonNegative ? at >= 0 : (at == 0) == (kind == Kind::Zero);
  }
  std::string text() const {
    const char* const relation = kind == Kind::NonNegative ? ">="
                                 : kind == Kind::Zero      ? "=="
                                                           : "!=";
    return fmt::format("{} {} 0", value.text(), relation);
  }
};

struct AccessLimits {
  int most_loops = 4;
  int64_t most_points = 1200;
  int64_t most_extent = 16;
  int least_reads = 1;
  bool derived = true;  // floor divisions, remainders, min and max
};

/// y[t] += x[..] + x[..] + w[all loops]; `w` shows the points.
class RandomAccess {
 public:
  explicit RandomAccess(uint32_t seed, const AccessLimits& limits = {})
      : random_(seed), limits_(limits) {
    const int loops = pick(1, limits.most_loops);
    int64_t points = 1;
    for (int i = 0; i < loops; ++i) {
      const int64_t most = std::min(limits.most_extent, limits.most_points / points);
      extents.push_back(pick(1, static_cast<int>(std::max<int64_t>(most, 1))));
      points *= extents.back();
    }
    const int rank = pick(1, 3);
    const int count = std::max(limits.least_reads, chance(50) ? 1 : pick(2, 3));
    reads.resize(static_cast<size_t>(count));
    for (int axis = 0; axis < rank; ++axis) add_axis();
    for (int i = pick(0, 2); i > 0; --i) guards.push_back(guard());
    while (targets < extents.size() && chance(30)) ++targets;
  }

  std::vector<int64_t> extents = {};
  std::vector<int64_t> shape = {};                  // of x
  std::vector<std::vector<AccessExpr>> reads = {};  // per read: its subscripts
  std::vector<AccessGuard> guards = {};
  size_t targets = 0;  // the first loops are the output's

  std::string text() const { return program(" + ", true); }
  /// The reads multiplied, without `w`.
  std::string product_text() const { return program(" * ", false); }

  std::string program(const char* operation, bool with_points) const {
    std::vector<std::string> names, loops, all, conditions;
    for (size_t i = 0; i < extents.size(); ++i) {
      names.push_back(std::string(1, "ijkl"[i]));
      loops.push_back(fmt::format("{}:{}", names.back(), extents[i]));
    }
    for (const auto& read : reads) {
      std::vector<std::string> subscripts;
      for (const AccessExpr& one : read) subscripts.push_back(one.text());
      all.push_back(fmt::format("x[{}]", fmt::join(subscripts, ", ")));
    }
    if (with_points) all.push_back(fmt::format("w[{}]", fmt::join(names, ", ")));
    for (const AccessGuard& one : guards) conditions.push_back(one.text());
    const std::vector<std::string> own(names.begin(),
                                       names.begin() + static_cast<int64_t>(targets));
    const std::vector<int64_t> output(extents.begin(),
                                      extents.begin() + static_cast<int64_t>(targets));
    return fmt::format(
        "program t(input x: f32[{}], input w: f32[{}]) -> (y) {{\n  kernel y: f32[{}] {{ for {} "
        "{}{}"
        "\n    y[{}] += {} }}\n}}\n",
        fmt::join(shape, ", "), fmt::join(extents, ", "), fmt::join(output, ", "),
        fmt::join(loops, ", "), conditions.empty() ? "" : "where ", fmt::join(conditions, ", "),
        fmt::join(own, ", "), fmt::join(all, operation));
  }

  /// Visits every point where the guards hold.
  template <class Visit>
  void each_point(Visit visit) const {
    std::vector<int64_t> at(extents.size(), 0);
    for (;;) {
      if (std::all_of(guards.begin(), guards.end(),
                      [&](const AccessGuard& one) { return one.holds(at); }))
        visit(at);
      size_t loop = at.size();
      while (loop > 0 && ++at[loop - 1] == extents[loop - 1]) at[--loop] = 0;
      if (loop == 0) return;
    }
  }

 private:
  int pick(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<uint32_t>(high - low + 1));
  }
  bool chance(int percent) { return pick(1, 100) <= percent; }
  size_t any_loop() { return static_cast<size_t>(pick(0, static_cast<int>(extents.size()) - 1)); }

  AccessExpr sum(int most, int largest) {
    AccessExpr expr;
    const int terms = std::min(pick(1, most), static_cast<int>(extents.size()));
    std::vector<size_t> loops(extents.size());
    std::iota(loops.begin(), loops.end(), size_t{0});
    std::shuffle(loops.begin(), loops.end(), random_);
    for (int i = 0; i < terms; ++i) {
      int64_t factor = chance(50) ? 1 : pick(1, largest);
      if (chance(20)) factor = -factor;
      expr.atoms.push_back({AccessExpr::Kind::Loop, factor, loops[static_cast<size_t>(i)], {}, 0});
    }
    expr.constant = chance(40) ? pick(-4, 4) : 0;
    return expr;
  }

  AccessExpr::Atom derived() {
    using Kind = AccessExpr::Kind;
    const Kind kinds[] = {Kind::FloorDiv, Kind::FloorDiv, Kind::Mod,
                          Kind::Mod,      Kind::Min,      Kind::Max};
    const Kind kind = kinds[pick(0, 5)];
    const bool limit = kind == Kind::Min || kind == Kind::Max;
    return {kind, chance(70) ? 1 : pick(1, 4), 0, {sum(2, 3)}, limit ? pick(0, 9) : pick(2, 5)};
  }

  AccessExpr subscript() {
    AccessExpr expr = sum(3, 5);
    if (limits_.derived && chance(35)) {
      if (chance(50)) expr.atoms.clear();
      for (int i = pick(1, 2); i > 0; --i) expr.atoms.push_back(derived());
    }
    if (chance(5)) expr.atoms.clear();
    return expr;
  }

  // One subscript of each read, and an extent: what they reach, or less, where guards cut it off.
  void add_axis() {
    int64_t low = 0, high = 0;
    bool plain = true;
    std::vector<AccessExpr> each;
    for (size_t i = 0; i < reads.size(); ++i) {
      AccessExpr expr = subscript();
      if (i > 0 && chance(40)) {
        expr = each[0];
        expr.constant += pick(-1, 2);
      }
      plain = plain && expr.linear();
      each.push_back(std::move(expr));
    }
    bool first = true;
    const std::vector<AccessGuard> kept = std::move(guards);
    guards.clear();
    each_point([&](const std::vector<int64_t>& at) {
      for (const AccessExpr& expr : each) {
        const int64_t value = expr.value(at);
        low = first ? value : std::min(low, value);
        high = first ? value : std::max(high, value);
        first = false;
      }
    });
    guards = kept;
    const int64_t shift = chance(70) ? -low : -low - pick(0, 2);
    const int64_t reached = high + shift + 1;
    const int64_t extent = chance(60) ? reached + pick(0, 2)
                                      : pick(1, static_cast<int>(std::max<int64_t>(reached, 1)));
    const bool inside = plain && low + shift >= 0 && reached <= extent;
    for (size_t i = 0; i < reads.size(); ++i) {
      each[i].constant += shift;
      if (!inside) {
        guards.push_back({AccessGuard::Kind::NonNegative, each[i]});
        AccessExpr rest = negated(each[i]);
        rest.constant += extent - 1;
        guards.push_back({AccessGuard::Kind::NonNegative, rest});
      }
      reads[i].push_back(each[i]);
    }
    shape.push_back(std::max<int64_t>(extent, 1));
  }

  static AccessExpr negated(AccessExpr expr) {
    for (AccessExpr::Atom& atom : expr.atoms) atom.coefficient = -atom.coefficient;
    expr.constant = -expr.constant;
    return expr;
  }

  AccessGuard guard() {
    AccessExpr value = sum(3, 3);
    const int kind = pick(0, 9);
    if (kind < 6 || !limits_.derived)
      return {kind == 0   ? AccessGuard::Kind::NonZero
              : kind == 1 ? AccessGuard::Kind::Zero
                          : AccessGuard::Kind::NonNegative,
              std::move(value)};
    AccessExpr outer;
    outer.atoms.push_back({kind == 6 ? AccessExpr::Kind::FloorDiv : AccessExpr::Kind::Mod,
                           1,
                           0,
                           {value},
                           pick(2, 4)});
    outer.constant = -pick(0, 1);
    if (kind == 6) return {AccessGuard::Kind::NonNegative, std::move(outer)};
    return {chance(80) ? AccessGuard::Kind::Zero : AccessGuard::Kind::NonZero, std::move(outer)};
  }

  std::mt19937 random_;
  AccessLimits limits_;
};

}  // namespace solar::einsum
