#include "exec/jit/structure_key.h"

#include <bit>

namespace solar::exec::native {
namespace {

class Key {
 public:
  /// Small numbers take one byte.
  void number(int64_t value) {
    if (value >= -100 && value <= 100) {
      bytes_ += static_cast<char>(value);
      return;
    }
    bytes_ += '\x7f';
    for (int i = 0; i < 8; ++i) bytes_ += static_cast<char>(value >> (8 * i));
  }
  template <class T>
  void enumerator(T value) {
    number(static_cast<int64_t>(value));
  }
  void numbers(const std::vector<int64_t>& values) {
    number(std::ssize(values));
    for (const int64_t value : values) number(value);
  }
  void terms(const ir::Linear& linear) {
    number(std::ssize(linear.terms));
    for (const ir::Term& term : linear.terms) number(term.atom), number(term.coefficient);
  }
  void linear(const ir::Linear& linear) {
    terms(linear);
    number(linear.constant);
  }
  void guards(const std::vector<ir::Guard>& guards) {
    number(std::ssize(guards));
    for (const ir::Guard& guard : guards) enumerator(guard.kind), linear(guard.value);
  }
  void data(const DataRef& ref) {
    enumerator(ref.type);
    numbers(ref.extents);
    numbers(ref.strides);
  }
  void atoms(const Nest& nest) {
    number(std::ssize(nest.atoms));
    for (size_t i = 0; i < nest.atoms.size(); ++i) {
      const ir::Atom& atom = nest.atoms[i];
      enumerator(atom.kind);
      if (atom.kind == ir::Atom::Kind::Loop) continue;
      number(atom.divisor);
      number(atom.step);
      number(std::ssize(atom.operands));
      for (const ir::Linear& operand : atom.operands) linear(operand);
      guards(atom.conditions);
      if (atom.kind == ir::Atom::Kind::DataRead) data(nest.atom_sources[i]);
    }
  }
  void accesses(const Nest& nest) {
    number(std::ssize(nest.accesses));
    for (const NestAccess& access : nest.accesses) {
      enumerator(access.from.type);
      number(access.conditional ? 1 : 0);
      number(access.data_dependent ? 1 : 0);
      terms(access.position);
      // What a guard keeps inside may leave its tensor without it.
      if (!access.data_dependent && nest.guards.empty()) continue;
      data(access.from);
      for (const ir::Linear& subscript : access.subscripts) linear(subscript);
    }
  }
  void expressions(const ir::Kernel& kernel) {
    number(std::ssize(kernel.linears));
    for (const ir::Linear& one : kernel.linears) linear(one);
    number(std::ssize(kernel.nodes));
    for (const ir::ScalarNode& node : kernel.nodes) {
      enumerator(node.op);
      enumerator(node.type);
      number(node.a), number(node.b), number(node.c), number(node.reference);
      if (node.op != ir::ScalarOp::Constant) continue;
      number(std::bit_cast<int64_t>(node.constant));
      number(node.integer);
    }
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_ = {};
};

}  // namespace

std::string structure_key(const Nest& nest) {
  const ir::Kernel& kernel = *nest.kernel;
  Key key;
  key.numbers(nest.extents);
  for (size_t loop = 0; loop < nest.extents.size(); ++loop) {
    key.number(nest.target[loop] ? 1 : 0);
    key.enumerator(kernel.loops[loop].order);
  }
  key.number(nest.ordered);
  key.numbers(nest.output_strides);
  key.enumerator(nest.output.type);
  key.number(kernel.second_output ? 1 : 0);
  if (kernel.second_output) {
    key.numbers(nest.second_strides);
    key.enumerator(nest.second_output.type);
  }
  key.atoms(nest);
  key.guards(nest.guards);
  key.accesses(nest);
  key.expressions(kernel);
  key.enumerator(kernel.reduction);
  for (const int32_t root :
       {kernel.value, kernel.second_value, kernel.init, kernel.otherwise, kernel.data_guard}) {
    key.number(root);
  }
  return key.take();
}

}  // namespace solar::exec::native
