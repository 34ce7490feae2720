#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "algebra/build.h"
#include "algebra/order.h"
#include "algebra/rewrite.h"
#include "algebra/terms.h"

namespace solar::algebra {
namespace {

constexpr double kWorthwhile = 1e-9;

struct Candidate {
  Expansion how = {};
  Expanded expanded = {};
  std::vector<Order> orders = {};  // per term
  double before = 0;               // of the kernel and of the producers that go with it
  double after = 0;
};

void add_loads(const Expr& expr, std::set<ir::TensorId>& loads) {
  if (expr.op == ir::ScalarOp::Load) loads.insert(expr.tensor);
  for (const ExprPtr& child : {expr.a, expr.b, expr.c}) {
    if (child != nullptr) add_loads(*child, loads);
  }
}

/// The merged producers that nothing else reads, nor the terms themselves.
std::vector<ir::TensorId> going(const Working& working, ir::TensorId root,
                                const Expanded& expanded) {
  const std::vector<ir::TensorId>& merged = expanded.merged;
  std::set<ir::TensorId> loads;
  for (const Term& term : expanded.terms) {
    for (const ExprPtr& factor : term.factors) add_loads(*factor, loads);
  }
  // Views between a producer and its reader go too.
  std::vector<ir::TensorId> gone = {root};
  const auto is_gone = [&](ir::TensorId id) {
    return std::find(gone.begin(), gone.end(), id) != gone.end();
  };
  const auto unread = [&](const auto& self, ir::TensorId id) -> bool {
    if (working.leaves(id)) return false;
    const std::vector<ir::TensorId>& readers = working.readers(id);
    return std::all_of(readers.begin(), readers.end(), [&](ir::TensorId reader) {
      return is_gone(reader) || (working.view(reader) != nullptr && self(self, reader));
    });
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const ir::TensorId id : merged) {
      if (is_gone(id) || loads.contains(id) || !unread(unread, id)) continue;
      gone.push_back(id);
      changed = true;
    }
  }
  gone.erase(gone.begin());
  return gone;
}

/// What a loop's body computes of what is known beforehand is computed in the loop all the same.
bool fixed_free(const Working& working, const ir::Kernel& kernel) {
  return working.place(kernel.output).block == 0;
}

double cost_of(const Working& working, const Expander& expander, const ir::Kernel& kernel) {
  const auto terms = expander.terms_of(kernel);
  return terms ? cost_of(*terms, fixed_free(working, kernel)) : 0;
}

std::optional<Candidate> candidate(const Working& working, const Expander& expander,
                                   const ir::Kernel& kernel, const Expansion& how,
                                   std::optional<Expanded> expanded) {
  if (!expanded || expanded->sums == 0) return std::nullopt;
  Candidate found;
  found.before = cost_of(working, expander, kernel);
  for (const ir::TensorId id : going(working, kernel.output, *expanded))
    found.before += cost_of(working, expander, *working.kernel(id));
  for (Term& term : expanded->terms) {
    found.orders.push_back(best_order(term, fixed_free(working, kernel)));
    found.after += found.orders.back().total();
  }
  found.how = how;
  found.expanded = std::move(*expanded);
  const bool cheaper = found.after < found.before * (1 - kWorthwhile);
  const bool vanishes = found.expanded.cancelled && found.after <= found.before;
  if (!cheaper && !vanishes) return std::nullopt;
  return found;
}

/// The best of several ways to write the kernel out.
std::optional<Candidate> best_candidate(const Working& working, const Expander& expander,
                                        const ir::Kernel& kernel) {
  auto whole = expander.expand(kernel, {});
  if (whole && whole->sums == 0) return std::nullopt;
  const bool single = whole && whole->sums == 1;  // then there is nothing less
  std::vector<std::vector<ir::TensorId>> tried;
  if (whole) tried.push_back(whole->merged);
  auto best = candidate(working, expander, kernel, {}, std::move(whole));
  if (single) return best;
  for (const Expansion& how :
       {Expansion{.unshared = true}, Expansion{.sums = 1}, Expansion{.sums = 1, .unshared = true},
        Expansion{.sums = 2, .unshared = true}}) {
    auto expanded = expander.expand(kernel, how);
    if (!expanded || std::find(tried.begin(), tried.end(), expanded->merged) != tried.end())
      continue;
    tried.push_back(expanded->merged);
    auto found = candidate(working, expander, kernel, how, std::move(expanded));
    if (found && (!best || found->before - found->after > best->before - best->after))
      best = std::move(found);
  }
  return best;
}

std::string what_of(const Working& working, const ir::Kernel& kernel, const Candidate& found,
                    const std::string& kind) {
  std::vector<std::string> sums;
  for (const ir::TensorId id : found.expanded.merged) {
    const ir::Kernel* producer = working.kernel(id);
    if (producer != nullptr && producer->reduction == ir::Reduction::Sum)
      sums.push_back(fmt::format("`{}`", working.tensor(id).name));
  }
  const std::string& name = working.tensor(kernel.output).name;
  const std::string of = fmt::format("{}", fmt::join(sums, ", "));
  if (kind == "cancel") {
    return fmt::format("in `{}` the terms of {} cancel{}", name, of,
                       found.expanded.terms.empty() ? ": it is 0" : "");
  }
  if (kind == "push-sum")
    return fmt::format("the sum `{}` of the product {} is taken of its operands first", name, of);
  std::vector<std::string> orders;
  for (size_t i = 0; i < found.orders.size(); ++i)
    orders.push_back(text_of(working, found.expanded.terms[i], found.orders[i]));
  return fmt::format("`{}` with {} written out: {}", name, of, fmt::join(orders, " + "));
}

/// The kernel written out as it was at another size, if it can be.
std::optional<Candidate> chosen(const Expander& expander, const ir::Kernel& kernel,
                                const Choice& choice) {
  auto expanded = expander.expand(kernel, choice.how);
  if (!expanded || expanded->terms.size() != choice.left.size()) return std::nullopt;
  Candidate found;
  for (size_t i = 0; i < choice.left.size(); ++i) {
    auto order = order_as(expanded->terms[i], choice.left[i]);
    if (!order) return std::nullopt;
    found.orders.push_back(std::move(*order));
  }
  found.expanded = std::move(*expanded);
  return found;
}

std::string kind_of(const Working& working, const Expander& expander, const ir::Kernel& kernel,
                    const Candidate& found) {
  if (found.expanded.cancelled) return "cancel";
  return cost_of(working, expander, kernel) > 0 ? "reorder" : "push-sum";
}

Choice choice_of(const Candidate& found) {
  Choice choice = {found.how, {}};
  for (const Order& order : found.orders) choice.left.push_back(order.left);
  return choice;
}

/// What is to be done with a kernel, and what it is called.
std::optional<Candidate> find(const Working& working, const Expander& expander,
                              const ir::Kernel& kernel, const Log& log, std::string& kind) {
  const std::string& name = working.tensor(kernel.output).name;
  if (log.wanted() == nullptr) {
    auto found = best_candidate(working, expander, kernel);
    if (found) kind = kind_of(working, expander, kernel, *found);
    return found && log.allows(kind, name) ? std::move(found) : std::nullopt;
  }
  for (const char* each : {"cancel", "reorder", "push-sum"}) {
    const auto at = log.wanted()->find(fmt::format("{} {}", each, name));
    if (at == log.wanted()->end() || !log.allows(each, name)) continue;
    kind = each;
    return chosen(expander, kernel, at->second);
  }
  return std::nullopt;
}

}  // namespace

void reorder_sums(Working& working, Log& log) {
  // The last ones first: what they reach is widest there.
  std::vector<ir::TensorId> roots;
  for (size_t b = 0; b < working.block_count(); ++b) {
    for (const ir::Statement& statement : working.block(b)) {
      const auto* kernel = std::get_if<ir::Kernel>(&statement.body);
      if (kernel != nullptr && kernel->reduction == ir::Reduction::Sum &&
          !is_unit_reduction(*kernel))
        roots.push_back(kernel->output);
    }
  }
  std::reverse(roots.begin(), roots.end());
  std::optional<Expander> expander(working);
  for (const ir::TensorId root : roots) {
    const ir::Kernel* kernel = working.kernel(root);
    if (kernel == nullptr) continue;
    if (!working.leaves(root) && working.readers(root).empty()) continue;  // gone meanwhile
    std::string kind;
    const auto found = find(working, *expander, *kernel, log, kind);
    if (!found) continue;
    Rewrite& rewrite = log.add(working, root, kind, what_of(working, *kernel, *found, kind));
    for (const ir::TensorId id : found->expanded.merged) {
      const ir::Kernel* producer = working.kernel(id);
      if (producer != nullptr && cost_of(working, *expander, *producer) > 0)
        rewrite.products.push_back(working.tensor(id).name);
    }
    const std::string name = Log::name_of(rewrite);
    log.choices[name] = choice_of(*found);
    auto built = build(working, root, found->expanded.terms, found->orders);
    if (log.wants_slices) log.slices[name] = slice_of(working, root, found->expanded.merged, built);
    working.replace(root, std::move(built));
    working.remove_dead();
    expander.emplace(working);  // what it knew is of the program before
  }
}

}  // namespace solar::algebra
