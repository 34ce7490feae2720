#pragma once
// Kernels as text. Private to algebra/.

#include <string>
#include <vector>

#include "ir/core.h"

namespace solar::algebra {

/// What names and types are in the text.
struct Vocabulary {
  const ir::Program* program = nullptr;
  bool in_f64 = false;
  std::vector<std::string> tensors = {};
  std::vector<std::string> steps = {};  // per Program::steps

  const std::string& name(ir::TensorId id) const { return tensors[ir::index(id)]; }
  std::string type(ir::ElementType type) const;
  std::string declaration(ir::TensorId id) const;
};

/// The index expressions of one nest.
class IndexText {
 public:
  IndexText(const Vocabulary& words, const std::vector<ir::Atom>& atoms,
            std::vector<std::string> loops)
      : words_(words), atoms_(atoms), loops_(std::move(loops)) {}

  std::string linear(const ir::Linear& value) const;
  std::string guard(const ir::Guard& guard) const;
  std::string access(ir::TensorId tensor, const std::vector<ir::Linear>& subscripts) const;
  const std::string& loop(size_t i) const { return loops_[i]; }
  /// A loop or step is in it: otherwise it is a number.
  bool varies(const ir::Linear& value) const { return !value.terms.empty(); }

 private:
  std::string atom(int32_t id) const;

  const Vocabulary& words_;
  const std::vector<ir::Atom>& atoms_;
  std::vector<std::string> loops_;
};

/// The statement. `output`, `loops`: names in place of the tensors' and loops' own.
std::string kernel_text(const Vocabulary& words, const ir::Kernel& kernel);
std::string kernel_text(const Vocabulary& words, const ir::Kernel& kernel,
                        const std::string& output, const std::vector<std::string>& loops);
std::string scatter_text(const Vocabulary& words, const ir::Scatter& scatter, ir::TensorId output);
std::string view_text(const Vocabulary& words, const ir::View& view);

}  // namespace solar::algebra
