#pragma once
// The program as written: what the parser makes and the printer prints. Nothing here is checked.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/span.h"
#include "ir/types.h"

namespace solar::ir::ast {

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

struct Name {
  std::string text;
  Place span = {};
};

enum class ExprKind : uint8_t {
  Integer,
  Float,
  Bool,
  Prev,
  Name,
  Read,
  Pack,
  Call,
  Unary,
  Binary,
  Chain
};

/// Operators are kept as their token: + - * / // % and or, - not, < <= > >= == !=. A Pack is a loop
/// pack `*l` as a subscript, or a dim pack as the extent of one.
struct Expr {
  ExprKind kind = ExprKind::Integer;
  int32_t height = 1;  // of the tree; the parser bounds it, so that recursion over it is safe
  Place span = {};
  // Name, Read, Pack, Call: the name; literals: as written; operators: the token, a Chain's
  // separated by spaces
  std::string text = {};
  int64_t integer = 0;  // Integer, Bool
  double number = 0;    // Float
  // Call: arguments; Read: subscripts; Unary: 1; Binary: 2; Chain: n
  std::vector<ExprPtr> operands = {};
};

std::vector<std::string_view> chain_operators(const Expr& chain);

/// ELEM, a type parameter, or wide() of either.
struct ElementRef {
  std::string name;
  bool wide = false;
  Place span = {};
};

struct Type {
  ElementRef element = {};
  std::vector<ExprPtr> extents = {};  // a Pack: a dim pack `*L`
  std::string storage = {};           // `as NAME`
  Place span = {};
};

struct Declaration {
  Name name = {};
  Type type = {};
};

struct Loop {
  Name name = {};  // of the variable, or of the pack when `pack`
  bool pack = false;
  enum class Order : uint8_t { Any, Ascending, Descending } order = Order::Any;
  ExprPtr extent = nullptr;  // of a pack: the dim pack
  ExprPtr begin = nullptr;   // ragged: `in begin .. end`
  ExprPtr end = nullptr;
};

struct Let {
  Name name = {};
  ExprPtr value = nullptr;
};

struct Target {
  Name tensor = {};
  std::vector<ExprPtr> subscripts = {};
  Place span = {};
};

/// `kernel`, `indexed` and `scatter`.
struct Kernel {
  bool indexed = false;  // may read data-dependently
  bool scatter = false;  // then `indexed` too
  std::vector<Declaration> outputs = {};
  std::vector<Loop> loops = {};
  std::vector<Let> lets = {};
  std::vector<ExprPtr> guards = {};
  std::vector<Target> targets = {};
  std::string assign = {};  // "=", "+=", "max=", ...
  Place assign_span = {};
  std::vector<ExprPtr> values = {};
  ExprPtr init = nullptr;
  ExprPtr otherwise = nullptr;
  Name base = {};  // scatter only; no text: absent
  bool donated = false;
  bool unique = false;
  Place base_span = {};
  Place unique_span = {};
};

struct Axis {
  enum class Kind : uint8_t { Name, One, Pack, Group } kind = Kind::Name;
  std::string name = {};
  ExprPtr extent = nullptr;
  std::vector<Axis> group = {};
  Place span = {};
};

struct View {
  Name output = {};
  Name input = {};
  std::vector<Axis> left = {};
  std::vector<Axis> right = {};
};

struct SliceItem {
  enum class Kind : uint8_t { Index, Range, Reverse, Ellipsis, RunTime } kind = Kind::Range;
  ExprPtr start = nullptr;  // Index: the index; RunTime: the name of the start
  ExprPtr stop = nullptr;   // RunTime: the size
  ExprPtr step = nullptr;
  Place span = {};
};

struct Slice {
  Name output = {};
  Name input = {};
  std::vector<SliceItem> items = {};
};

/// A tensor name, or a literal.
struct Argument {
  ExprPtr expr = nullptr;  // Name, Integer, Float, Bool, or Unary minus of a literal
};

struct Attribute {
  Name name = {};
  ExprPtr value = nullptr;  // a dim expression, an element type's name, or a bool
};

struct Call {
  std::vector<Name> results = {};
  bool tuple = false;  // results written in parentheses
  Name function = {};
  std::vector<Argument> arguments = {};
  std::vector<Attribute> attributes = {};
  std::optional<std::string> module = {};  // what `*` is in the module paths of the function
};

struct Dims {
  std::vector<Let> dims = {};
};
struct Require {
  ExprPtr condition = nullptr;
};
struct Update {
  Name state = {};
  Name value = {};
};

/// The last statement of a body: the values that leave it.
struct Next {
  std::vector<Name> values = {};
  std::vector<Name> stacked = {};
};
struct Test {
  Name value = {};
};

/// An operator without a body.
struct Opaque {
  bool hole = false;
  std::vector<Declaration> outputs = {};
  std::string op = {};
  std::vector<Name> inputs = {};
  ExprPtr macs = nullptr, nominal = nullptr, reads = nullptr, writes = nullptr;
};

struct Statement;
struct Block {
  std::vector<Statement> statements = {};
  std::vector<std::string> trailing_comments = {};
};

struct Op {
  std::string name = {};
  std::optional<std::string> at = {};
  std::optional<std::string> module = {};
  ExprPtr nominal = nullptr;
  Block block = {};
};

/// A value carried round a loop: what it is called inside, and the tensor or literal it starts
/// with.
struct Initial {
  Name name = {};
  ExprPtr value = nullptr;
};

struct Repeat {
  std::vector<Name> results = {};
  std::vector<Name> stacked = {};
  bool descending = false;
  Name step = {};
  ExprPtr extent = nullptr;
  std::vector<Initial> carried = {};
  Block block = {};
};

struct While {
  std::vector<Name> results = {};
  ExprPtr limit = nullptr;
  std::vector<Initial> carried = {};
  Block block = {};
};

struct If {
  std::vector<Name> results = {};
  Name condition = {};
  Block taken = {};
  Block otherwise = {};
};

struct Statement {
  std::variant<Dims, Require, Op, Kernel, View, Slice, Call, Update, Repeat, While, If, Next, Test,
               Opaque>
      body;
  std::vector<std::string> comments = {};  // the comment lines before it
  Place span = {};
};

struct Port {
  Role role = Role::Input;
  Declaration declaration = {};
  std::vector<ExprPtr> values = {};  // const only
};

struct Program {
  Name name = {};
  std::vector<Port> ports = {};
  std::vector<Name> outputs = {};
  Block block = {};
  std::vector<std::string> comments = {};
  Place span = {};
};

struct Generic {
  enum class Kind : uint8_t { Dim, Pack, Type } kind = Kind::Dim;
  Name name = {};
};

struct Function {
  Name name = {};
  std::vector<Generic> generics = {};
  std::vector<Declaration> parameters = {};
  std::vector<Name> results = {};
  Block block = {};
  std::vector<std::string> comments = {};
  Place span = {};
};

struct File {
  std::vector<std::shared_ptr<const Source>> sources = {};  // every Place points into one of them
  std::vector<Function> functions = {};
  std::optional<Program> program = {};
  std::vector<std::string> trailing_comments = {};
};

}  // namespace solar::ir::ast
