#pragma once
// A program while it is rewritten: a core program that nobody has proven yet, with an index of who
// defines and who reads what. Emitted and verified again at the end (emit.h).

#include <cstdint>
#include <string>
#include <vector>

#include "ir/core.h"

namespace solar::algebra {

class Working {
 public:
  /// `frozen`: parameters are known beforehand.
  explicit Working(ir::Program program, bool frozen = false);

  const ir::Program& program() const { return program_; }
  const ir::Tensor& tensor(ir::TensorId id) const { return program_.tensor(id); }

  /// Where a tensor is defined. No statement: a port, or a value that a loop hands to its body.
  struct Place {
    int32_t block = -1;  // of block()
    int32_t position = -1;
  };
  Place place(ir::TensorId id) const { return places_[ir::index(id)]; }
  const ir::Statement* producer(ir::TensorId id) const;
  const ir::Kernel* kernel(ir::TensorId id) const;  // that defines it as its (first) output
  const ir::View* view(ir::TensorId id) const;

  /// The statements that read it, by their first output; outputs and updates count as a reader of
  /// their own.
  const std::vector<ir::TensorId>& readers(ir::TensorId id) const {
    return readers_[ir::index(id)];
  }
  bool leaves(ir::TensorId id) const { return leaves_[ir::index(id)]; }
  /// Known beforehand, if parameters are: no input has to do with it.
  bool fixed(ir::TensorId id) const { return fixed_[ir::index(id)]; }

  /// The top level, and the bodies of repeats.
  size_t block_count() const { return blocks_.size(); }
  const std::vector<ir::Statement>& block(size_t i) const { return *blocks_[i]; }

  // Changes. Each brings the index up to date.
  ir::TensorId add_tensor(std::string name, ir::ElementType type, std::vector<int64_t> shape);
  /// Puts statements in the place of the one that defines `output`.
  void replace(ir::TensorId output, std::vector<ir::Statement> statements);
  /// Every reader of `old` reads `other` instead, of the same type and shape.
  void substitute(ir::TensorId old, ir::TensorId other);
  void remove_dead();

 private:
  void rebuild();
  void add_block(std::vector<ir::Statement>& statements);

  ir::Program program_;
  bool frozen_;
  std::vector<std::vector<ir::Statement>*> blocks_ = {};
  std::vector<Place> places_ = {};
  std::vector<std::vector<ir::TensorId>> readers_ = {};
  std::vector<bool> leaves_ = {};
  std::vector<bool> fixed_ = {};
};

/// Whether they are one program at two sizes: the same statements, and an extent of 1 in both or
/// neither.
bool same_structure(const ir::Program& a, const ir::Program& b);

}  // namespace solar::algebra
