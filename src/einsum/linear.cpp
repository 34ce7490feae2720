#include "einsum/linear.h"

namespace solar::einsum {

Linear constant(int64_t value) { return {{}, value}; }

Linear single(int32_t atom) { return {{{atom, 1}}, 0}; }

Linear add(const Linear& a, const Linear& b) {
  Linear sum{{}, wrapping_add(a.constant, b.constant)};
  auto i = a.terms.begin();
  auto j = b.terms.begin();
  while (i != a.terms.end() || j != b.terms.end()) {
    if (j == b.terms.end() || (i != a.terms.end() && i->atom < j->atom)) {
      sum.terms.push_back(*i++);
    } else if (i == a.terms.end() || j->atom < i->atom) {
      sum.terms.push_back(*j++);
    } else {
      const int64_t both = wrapping_add(i->coefficient, j->coefficient);
      if (both != 0) sum.terms.push_back({i->atom, both});
      ++i;
      ++j;
    }
  }
  return sum;
}

Linear scale(const Linear& a, int64_t factor) {
  if (factor == 0) return {};
  Linear product = a;
  product.constant = wrapping_mul(product.constant, factor);
  for (ir::Term& term : product.terms) term.coefficient = wrapping_mul(term.coefficient, factor);
  return product;
}

int64_t coefficient(const Linear& a, int32_t atom) {
  for (const ir::Term& term : a.terms) {
    if (term.atom == atom) return term.coefficient;
  }
  return 0;
}

Linear without(const Linear& a, int32_t atom) {
  Linear rest{{}, a.constant};
  for (const ir::Term& term : a.terms) {
    if (term.atom != atom) rest.terms.push_back(term);
  }
  return rest;
}

int32_t sole_atom(const Linear& a) {
  if (a.constant != 0 || a.terms.size() != 1 || a.terms[0].coefficient != 1) return -1;
  return a.terms[0].atom;
}

}  // namespace solar::einsum
