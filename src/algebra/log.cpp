#include "algebra/rewrite.h"

namespace solar::algebra {

Rewrite& Log::add(const Working& working, ir::TensorId tensor, std::string kind, std::string what) {
  Rewrite rewrite;
  rewrite.kind = std::move(kind);
  rewrite.tensor = working.tensor(tensor).name;
  rewrite.what = std::move(what);
  const ir::Statement* statement = working.producer(tensor);
  if (statement != nullptr && statement->group >= 0) {
    const ir::Group& group = working.program().groups[static_cast<size_t>(statement->group)];
    rewrite.op = group.op;
    rewrite.at = group.at;
    rewrite.module = group.module;
  }
  return all_.emplace_back(std::move(rewrite));
}

}  // namespace solar::algebra
