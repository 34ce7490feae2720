#pragma once
// The statements of a program as symbols, equal for statements that differ only in their leaves
// (tensors from elsewhere, dims, bounds of slices, module paths), with their leaves. Private to
// ir/.

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/ast.h"
#include "ir/reroll/walk.h"

namespace solar::ir {

/// The `ordinal`-th tensor that a statement defines; statement -1: a port.
struct Reference {
  int32_t statement = -1;
  int32_t ordinal = -1;
  friend bool operator==(const Reference&, const Reference&) = default;
};

struct Leaf {
  enum class Kind : uint8_t { Use, Dim, Bounds, Module };
  Kind kind = Kind::Use;
  int32_t name = -1;        // interned; Bounds: the sliced tensor; -1: none
  Reference from = {};      // Use
  SliceBounds bounds = {};  // Bounds
};

struct Record {
  int32_t symbol = -1;  // -1: no other statement is like it
  std::vector<Leaf> leaves = {};
  std::vector<int32_t> defines = {};  // names by ordinal; -1: not visible outside
};

class Records {
 public:
  /// Linear in the text of the program.
  explicit Records(const ast::Program& program);

  const std::vector<Record>& all() const { return records_; }
  const Record& operator[](size_t i) const { return records_[i]; }
  const std::string& text(int32_t name) const { return texts_[static_cast<size_t>(name)]; }
  /// Statements that use a tensor, ascending; the number of statements stands for the outputs.
  const std::vector<int32_t>& users(int32_t name) const;
  /// Whether a tensor is needed for the outputs and updates.
  bool is_live(int32_t name) const { return live_[static_cast<size_t>(name)]; }
  int32_t intern(const std::string& text);
  int32_t id(const std::string& known) const { return ids_.at(known); }
  int32_t definition(const Reference& reference) const;
  const Walk::Names& dims() const { return dims_; }
  /// Whether a dim is nothing but the place of slices.
  bool is_place(const std::string& dim) const {
    return places_.contains(dim) && !extents_.contains(dim);
  }
  /// A name that nothing in the program has, like `wanted`; it is taken from then on.
  std::string fresh(const std::string& wanted);
  /// How many such names there are; those after the first so many are free again.
  size_t fresh_names() const { return fresh_.size(); }
  void forget_fresh(size_t kept);

 private:
  class Recorder;
  void find_live();
  std::vector<Record> records_;
  std::vector<int32_t> ports_;
  std::vector<std::string> texts_;
  std::unordered_map<std::string, int32_t> ids_;
  std::vector<Reference> definitions_;  // by name
  std::vector<std::vector<int32_t>> users_;
  std::vector<bool> live_;  // by name
  void note_extents(const ast::Expr& expr);
  Walk::Names dims_;
  Walk::Names places_;   // dims that name an index of a slice
  Walk::Names extents_;  // dims that are more than that
  Walk::Names taken_;
  std::vector<std::string> fresh_;
};

}  // namespace solar::ir
