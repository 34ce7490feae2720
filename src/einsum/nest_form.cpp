#include "einsum/nest_form.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/checked.h"
#include "einsum/contraction.h"

namespace solar::einsum {

namespace {

/// floor(loop / unit) mod modulus: some digits of a loop in a mixed radix.
struct Digits {
  int32_t loop = 0;
  int64_t unit = 1;
  int64_t modulus = 1;
};

// The digits that the atoms stand for decide where the loops are split.
class Splitter {
 public:
  explicit Splitter(const Nest& nest) : nest_(nest) {
    for (int32_t loop = 0; loop < nest.loop_count(); ++loop)
      cuts_.push_back({1, nest.extent(loop)});
  }

  /// Notes what `value` needs. false: it is no sum of digits, or they cut a loop elsewhere.
  bool note(const Linear& value) {
    std::vector<std::set<int64_t>> cuts = cuts_;
    for (const ir::Term& term : value.terms) {
      const auto digits = digits_of(term.atom);
      if (!digits) return false;
      cuts[static_cast<size_t>(digits->loop)].insert(digits->unit);
      cuts[static_cast<size_t>(digits->loop)].insert(digits->unit * digits->modulus);
    }
    if (!std::all_of(cuts.begin(), cuts.end(), divide_each_other)) return false;
    cuts_ = std::move(cuts);
    return true;
  }

  /// After all notes. false: the places do not divide each other.
  bool split() {
    for (int32_t loop = 0; loop < nest_.loop_count(); ++loop) {
      const std::set<int64_t>& cuts = cuts_[static_cast<size_t>(loop)];
      // The most significant digit first, as loops are written.
      for (auto at = std::next(cuts.rbegin()); at != cuts.rend(); ++at) {
        const int64_t above = *std::prev(at);
        if (above % *at != 0) return false;
        parts_.push_back({loop, *at, above / *at});
      }
      if (cuts.size() == 1) parts_.push_back({loop, 1, 1});
    }
    return true;
  }

  const std::vector<Digits>& parts() const { return parts_; }

  Linear rewrite(const Linear& value) const {
    Linear sum = constant(value.constant);
    for (const ir::Term& term : value.terms) {
      const Digits whole = *digits_of(term.atom);
      for (size_t i = 0; i < parts_.size(); ++i) {
        const Digits& part = parts_[i];
        if (part.loop != whole.loop || part.unit < whole.unit ||
            part.unit >= whole.unit * whole.modulus)
          continue;
        sum = add(sum, scale(single(static_cast<int32_t>(i)),
                             wrapping_mul(term.coefficient, part.unit / whole.unit)));
      }
    }
    return sum;
  }

 private:
  static bool divide_each_other(const std::set<int64_t>& cuts) {
    return std::adjacent_find(cuts.begin(), cuts.end(), [](int64_t below, int64_t above) {
             return above % below != 0;
           }) == cuts.end();
  }

  std::optional<Digits> digits_of(int32_t atom) const {
    if (atom < nest_.loop_count()) return Digits{atom, 1, nest_.extent(atom)};
    const Atom& derived = nest_.atom(atom);
    const bool divides = derived.kind == Atom::Kind::FloorDiv;
    if (!divides && derived.kind != Atom::Kind::Mod) return std::nullopt;
    const int32_t inner = sole_atom(derived.operands[0]);
    if (inner < 0) return std::nullopt;
    auto digits = digits_of(inner);
    if (!digits || digits->modulus % derived.divisor != 0) return std::nullopt;
    if (divides) {
      digits->unit *= derived.divisor;
      digits->modulus /= derived.divisor;
    } else {
      digits->modulus = derived.divisor;
    }
    return digits;
  }

  const Nest& nest_;
  std::vector<std::set<int64_t>> cuts_ = {};
  std::vector<Digits> parts_ = {};
};

bool reads_at_start(const ir::Kernel& kernel) {
  const auto loads = [&](int32_t root) {
    std::vector<int32_t> open = {root};
    while (!open.empty()) {
      const int32_t id = open.back();
      open.pop_back();
      if (id < 0) continue;
      const ir::ScalarNode& node = kernel.nodes[static_cast<size_t>(id)];
      if (node.op == ir::ScalarOp::Load) return true;
      open.insert(open.end(), {node.a, node.b, node.c});
    }
    return false;
  };
  return loads(kernel.init) || loads(kernel.otherwise);
}

class Former {
 public:
  Former(const Statement& statement, const Region& domain, const ProgramIndex& index)
      : piece_(statement.pieces[0]),
        reader_(*statement.reader),
        domain_(domain),
        index_(index),
        splitter_(reader_.nest()) {}

  std::optional<NestForm> form() {
    if (!note_write() || !collect_reads() || !splitter_.split()) return std::nullopt;
    note_guards();
    const auto points = domain_.count();
    if (!points) return std::nullopt;
    form_.points = *points;
    make_loops();
    for (FormAccess& read : form_.reads) rewrite(read);
    rewrite(form_.write);
    for (const Guard& guard : reader_.guards()) {
      if (guard.kind != Guard::Kind::NonNegative || !noted(guard)) continue;
      form_.guards.push_back(splitter_.rewrite(guard.value));
    }
    describe();
    return std::move(form_);
  }

 private:
  bool noted(const Guard& guard) const {
    return std::find(guards_.begin(), guards_.end(), &guard) != guards_.end();
  }

  bool note_write() {
    form_.write = {piece_.output, piece_.target};
    return std::all_of(piece_.target.begin(), piece_.target.end(),
                       [&](const Linear& subscript) { return splitter_.note(subscript); });
  }

  bool collect_reads() {
    if (domain_.empty()) return false;
    std::vector<Region> touched;
    for (const Use& use : piece_.uses) {
      const auto known =
          std::find_if(form_.reads.begin(), form_.reads.end(), [&](const FormAccess& read) {
            return read.tensor == use.access.base && read.subscripts == use.access.subscripts;
          });
      const size_t at = static_cast<size_t>(known - form_.reads.begin());
      const bool is_new = known == form_.reads.end();
      if (is_new) add_read(use.access);
      const std::vector<int64_t>& whole = form_.reads[at].whole;
      std::vector<bool> axes(whole.size());
      for (size_t axis = 0; axis < whole.size(); ++axis) axes[axis] = whole[axis] > 0;
      const Region points =
          use.when.empty() ? domain_ : intersect(domain_, solve(reader_.nest(), use.when));
      Region elements =
          image(reader_.nest(), points, use.access.subscripts, index_.shape(use.access.base), axes);
      if (is_new) {
        touched.push_back(std::move(elements));
      } else {
        touched[at] = unite(touched[at], elements);
      }
    }
    const auto points = domain_.count();
    for (size_t i = 0; i < touched.size(); ++i) {
      const auto count = touched[i].count();
      if (!count || !points) return false;
      FormAccess& read = form_.reads[i];
      read.footprint = read.is_regular() ? *count : std::min(*count, *points);
    }
    const auto written =
        image(reader_.nest(), domain_, piece_.target, index_.shape(piece_.output)).count();
    form_.write.footprint = written.value_or(0);
    return written.has_value();
  }

  void add_read(const FoldedAccess& access) {
    FormAccess read{access.base, access.subscripts};
    const std::vector<int64_t>& shape = index_.shape(access.base);
    for (size_t axis = 0; axis < access.subscripts.size(); ++axis)
      read.whole.push_back(splitter_.note(access.subscripts[axis]) ? 0 : shape[axis]);
    form_.reads.push_back(std::move(read));
  }

  // A guard that is no sum of digits is left out: fewer guards only add points.
  void note_guards() {
    for (const Guard& guard : reader_.guards()) {
      if (guard.kind == Guard::Kind::NonNegative && reader_.nest().loops_only(guard.value))
        guards_.push_back(&guard);
    }
  }

  void make_loops() {
    std::map<int32_t, int> parts_of;
    for (const Digits& part : splitter_.parts()) ++parts_of[part.loop];
    for (const Digits& part : splitter_.parts()) {
      const auto own = reader_.kernel().loops.size();
      const auto at = static_cast<size_t>(part.loop);
      FormLoop loop;
      loop.extent = part.modulus;
      if (at < own) {
        const ir::Loop& written = reader_.kernel().loops[at];
        loop.name = written.name;
        loop.ordered = written.order != ir::Loop::Order::Any;
      } else {
        loop.name = index_.step_loop(reader_.loops()[at - own]).name;
        loop.ordered = loop.is_step = true;
      }
      if (parts_of[part.loop] > 1) loop.name += "/" + std::to_string(part.unit);
      form_.loops.push_back(std::move(loop));
    }
  }

  void rewrite(FormAccess& access) const {
    for (size_t axis = 0; axis < access.subscripts.size(); ++axis) {
      const bool whole = axis < access.whole.size() && access.whole[axis] > 0;
      access.subscripts[axis] = whole ? Linear{} : splitter_.rewrite(access.subscripts[axis]);
    }
  }

  void describe() {
    const LoopMask all = reader_.nest().loop_count() == kMaximumLoops
                             ? ~LoopMask{0}
                             : loop_bit(reader_.nest().loop_count()) - 1;
    LoopMask summed = all & ~reader_.target_mask();
    for (int32_t loop = 0; loop < reader_.nest().loop_count(); ++loop) {
      if (reader_.nest().extent(loop) == 1) summed &= ~loop_bit(loop);
    }
    form_.is_sum = summed != 0;
    const std::vector<Contraction> products = contractions_of(reader_);
    if (products.size() != 1 || products[0].factors.size() != 2 || form_.reads.size() != 2) return;
    const bool regular = std::all_of(form_.reads.begin(), form_.reads.end(),
                                     [](const FormAccess& read) { return read.is_regular(); });
    const bool plain =
        products[0].factors[0].reads.size() == 1 && products[0].factors[1].reads.size() == 1;
    // A loop of one factor alone is summed before the product: then there are fewer.
    form_.is_product =
        regular && plain && useful_macs(products[0], reader_, domain_) == form_.points;
  }

  const Piece& piece_;
  const KernelReader& reader_;
  const Region& domain_;
  const ProgramIndex& index_;
  Splitter splitter_;
  std::vector<const Guard*> guards_ = {};
  NestForm form_ = {};
};

// Loops over the axes of the result; each input is read where it lies in it.
std::optional<NestForm> concat_form(const Statement& statement, const ir::Concat& concat,
                                    const ProgramIndex& index) {
  NestForm form;
  form.write.tensor = concat.output;
  const std::vector<int64_t>& shape = index.shape(concat.output);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const bool step = axis >= index.program().tensor(concat.output).shape.size();
    form.loops.push_back({"i" + std::to_string(axis), shape[axis], step, step});
    form.write.subscripts.push_back(single(static_cast<int32_t>(axis)));
  }
  form.write.footprint = ir::element_count(shape);
  form.points = form.write.footprint;
  for (const Piece& piece : statement.pieces) {
    for (const Use& use : piece.uses) {
      FormAccess read{use.access.base, {}};
      for (const Linear& subscript : use.access.subscripts) {
        if (!piece.nest->loops_only(subscript)) return std::nullopt;
        // The piece's loops run from 0: its place in the result is taken off.
        Linear moved = constant(subscript.constant);
        for (const ir::Term& term : subscript.terms) {
          const int64_t place = piece.target[static_cast<size_t>(term.atom)].constant;
          moved = add(moved, scale(add(single(term.atom), constant(-place)), term.coefficient));
        }
        read.subscripts.push_back(std::move(moved));
        read.whole.push_back(0);
      }
      const auto count =
          image(*piece.nest, piece.domain, use.access.subscripts, index.shape(use.access.base))
              .count();
      if (!count) return std::nullopt;
      read.footprint = *count;
      form.reads.push_back(std::move(read));
    }
  }
  return form;
}

}  // namespace

bool FormAccess::is_regular() const {
  return std::all_of(whole.begin(), whole.end(), [](int64_t extent) { return extent == 0; });
}

std::optional<NestForm> nest_form(const Placed& placed, const Statement& statement,
                                  const Region& domain, const ProgramIndex& index) {
  if (statement.generated || placed.statement == nullptr) return std::nullopt;
  if (const auto* concat = std::get_if<ir::Concat>(&placed.statement->body))
    return concat_form(statement, *concat, index);
  if (statement.reader == nullptr || statement.scatter != nullptr || statement.pieces.size() != 1 ||
      statement.left_out_reads || statement.data_guarded)
    return std::nullopt;
  const ir::Kernel& kernel = statement.reader->kernel();
  const bool ragged = std::any_of(kernel.loops.begin(), kernel.loops.end(),
                                  [](const ir::Loop& loop) { return loop.ragged != nullptr; });
  if (ragged || kernel.second_output || kernel.data_guard >= 0 || reads_at_start(kernel))
    return std::nullopt;
  return Former(statement, domain, index).form();
}

}  // namespace solar::einsum
