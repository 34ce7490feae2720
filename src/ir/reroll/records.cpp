#include "ir/reroll/records.h"

#include <fmt/format.h>

#include "ir/lexer.h"

namespace solar::ir {
namespace {

constexpr int32_t kUndefined = -2;

}  // namespace

/// Fills one record.
class Records::Recorder : public StatementVisitor {
 public:
  explicit Recorder(Records& all) : all_(all) {}
  Record record = {};
  std::string shape = {};
  bool alone = false;

  void fixed(std::string_view text) override {
    shape += text;
    shape += '\n';
  }
  void binder(const std::string& name) override {
    fixed(name);
    all_.taken_.insert(name);
  }
  void use(std::string& name) override {
    fixed("use");
    const int32_t id = all_.intern(name);
    record.leaves.push_back({Leaf::Kind::Use, id, all_.definitions_[static_cast<size_t>(id)]});
  }
  void define(std::string& name, bool visible) override {
    fixed(visible ? "define" : "inner");
    all_.taken_.insert(name);
    record.defines.push_back(visible ? all_.intern(name) : -1);
  }
  void dim(std::string& name) override {
    fixed("dim");
    all_.extents_.insert(name);
    record.leaves.push_back({Leaf::Kind::Dim, all_.intern(name)});
  }
  void bounds(SliceBounds& bounds) override {
    fixed("bounds");
    Leaf leaf;
    leaf.kind = Leaf::Kind::Bounds;
    leaf.bounds = bounds;
    if (!bounds.input.empty()) leaf.name = all_.intern(bounds.input);
    const bool names_place = bounds.index && bounds.start->kind == ast::ExprKind::Name;
    if (names_place) {
      all_.places_.insert(bounds.start->text);
    } else {
      all_.note_extents(*bounds.start);
    }
    if (bounds.stop) all_.note_extents(*bounds.stop);
    record.leaves.push_back(std::move(leaf));
  }
  void module(std::optional<std::string>& path) override {
    fixed(path ? "module" : "none");
    record.leaves.push_back({Leaf::Kind::Module, path ? all_.intern(*path) : -1});
  }
  void barrier() override { alone = true; }

 private:
  Records& all_;
};

Records::Records(const ast::Program& program) {
  for (const ast::Statement& statement : program.block.statements) {
    const auto* dims = std::get_if<ast::Dims>(&statement.body);
    if (dims == nullptr) continue;
    for (const ast::Let& dim : dims->dims) {
      dims_.insert(dim.name.text);
      note_extents(*dim.value);
    }
  }
  taken_.insert(dims_.begin(), dims_.end());
  for (const ast::Port& port : program.ports) {
    const int32_t id = intern(port.declaration.name.text);
    taken_.insert(port.declaration.name.text);
    for (const ast::ExprPtr& extent : port.declaration.type.extents) note_extents(*extent);
    definitions_[static_cast<size_t>(id)] = {-1, static_cast<int32_t>(ports_.size())};
    ports_.push_back(id);
  }
  std::unordered_map<std::string, int32_t> symbols;
  for (const ast::Statement& statement : program.block.statements) {
    const auto number = static_cast<int32_t>(records_.size());
    ast::Statement copy = statement;
    Recorder recorder(*this);
    Walk(dims_, recorder).run(copy);
    Record& record = recorder.record;
    if (!recorder.alone) {
      record.symbol =
          symbols.try_emplace(recorder.shape, static_cast<int32_t>(symbols.size())).first->second;
    }
    for (const Leaf& leaf : record.leaves) {
      if (leaf.kind != Leaf::Kind::Use) continue;
      std::vector<int32_t>& users = users_[static_cast<size_t>(leaf.name)];
      if (users.empty() || users.back() != number) users.push_back(number);
    }
    for (size_t i = 0; i < record.defines.size(); ++i) {
      if (record.defines[i] < 0) continue;
      definitions_[static_cast<size_t>(record.defines[i])] = {number, static_cast<int32_t>(i)};
    }
    records_.push_back(std::move(record));
  }
  for (const ast::Name& output : program.outputs) {
    users_[static_cast<size_t>(intern(output.text))].push_back(
        static_cast<int32_t>(records_.size()));
  }
  find_live();
}

void Records::note_extents(const ast::Expr& expr) {
  if (expr.kind == ast::ExprKind::Name) extents_.insert(expr.text);
  for (const ast::ExprPtr& operand : expr.operands) note_extents(*operand);
}

void Records::find_live() {
  live_.assign(texts_.size(), false);
  std::vector<bool> needed(records_.size() + 1, false);
  needed.back() = true;
  for (size_t i = records_.size(); i-- > 0;) {
    needed[i] = records_[i].symbol < 0;
    for (const int32_t name : records_[i].defines) {
      if (name < 0) continue;
      for (const int32_t user : users(name)) {
        if (needed[static_cast<size_t>(user)]) live_[static_cast<size_t>(name)] = true;
      }
      if (is_live(name)) needed[i] = true;
    }
  }
}

int32_t Records::intern(const std::string& text) {
  const auto [at, fresh] = ids_.try_emplace(text, static_cast<int32_t>(texts_.size()));
  if (fresh) {
    texts_.push_back(text);
    users_.emplace_back();
    definitions_.push_back({kUndefined, -1});
    live_.push_back(false);
  }
  return at->second;
}

const std::vector<int32_t>& Records::users(int32_t name) const {
  return users_[static_cast<size_t>(name)];
}

int32_t Records::definition(const Reference& reference) const {
  const auto ordinal = static_cast<size_t>(reference.ordinal);
  return reference.statement < 0
             ? ports_[ordinal]
             : records_[static_cast<size_t>(reference.statement)].defines[ordinal];
}

std::string Records::fresh(const std::string& wanted) {
  std::string name = wanted;
  for (int number = 2; is_reserved(name) || !taken_.insert(name).second; ++number) {
    name = fmt::format("{}_{}", wanted, number);
  }
  fresh_.push_back(name);
  return name;
}

void Records::forget_fresh(size_t kept) {
  for (; fresh_.size() > kept; fresh_.pop_back()) taken_.erase(fresh_.back());
}

}  // namespace solar::ir
