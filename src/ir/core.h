#pragma once
// The elaborated program: calls inlined, types and dims bound, everything proven. What exec/,
// validate/ and einsum/ consume. Only verify() (verify.h) builds a VerifiedProgram.
//
// A statement defines its output tensors once (in a body: once a step); statements are in execution
// order. A body sees the tensors before it; what it defines is seen by no statement outside.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/span.h"
#include "ir/types.h"

namespace solar::ir {

enum class TensorId : int32_t {};
constexpr size_t index(TensorId id) { return static_cast<size_t>(id); }

/// The values of a constant in row-major order.
struct Constant {
  std::vector<double> numbers = {};    // of floats
  std::vector<int64_t> integers = {};  // of integers and bools
};

struct Tensor {
  std::string name;  // unique; names from inside calls are `call.inner`
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape = {};
  Role role = Role::Value;
  std::shared_ptr<const Constant> constant = nullptr;  // role const only
  std::vector<std::string> extents = {};  // per axis: the dim expression that gives it, as text
  std::string storage =
      {};  // block-scaled storage, `as nvfp4`: counts bytes, does not change values
  Place span = {};
};

/// One summand of a Linear: coefficient * atom. `atom` indexes the nest's atom table.
struct Term {
  int32_t atom = 0;
  int64_t coefficient = 0;
  friend bool operator==(const Term&, const Term&) = default;
};

/// An integer: sum of terms (sorted by atom, no zero coefficient) plus a constant.
struct Linear {
  std::vector<Term> terms = {};
  int64_t constant = 0;
  friend bool operator==(const Linear&, const Linear&) = default;
};

/// A condition on index values: NonNegative: value >= 0; Zero: value == 0; NonZero: value != 0.
struct Guard {
  enum class Kind : uint8_t { NonNegative, Zero, NonZero };
  Kind kind = Kind::NonNegative;
  Linear value = {};
  friend bool operator==(const Guard&, const Guard&) = default;
};

/// What a Linear is made of. Atoms 0 .. loops-1 of a nest are its loop variables (kind Loop); the
/// others are derived from atoms before them. FloorDiv and Mod: operands[0] by `divisor` (> 0),
/// flooring. Min, Max: of all operands. Select: operands[0] if every condition holds, else
/// operands[1]. DataRead (in `indexed` kernels, scatters, and of scalars in views): the integer
/// element of `tensor` at `operands`. Step: the value of Program::steps[step], inside its repeat.
struct Atom {
  enum class Kind : uint8_t { Loop, FloorDiv, Mod, Min, Max, Select, DataRead, Step };
  Kind kind = Kind::Loop;
  std::vector<Linear> operands = {};
  int64_t divisor = 0;
  std::vector<Guard> conditions = {};
  TensorId tensor = {};
  int32_t step = -1;
  friend bool operator==(const Atom&, const Atom&) = default;
};

/// A ragged loop visits begin <= variable < end, clipped to 0 .. extent-1; both contain DataReads
/// at loops before it.
struct RaggedRange {
  Linear begin = {};
  Linear end = {};
};

struct Loop {
  enum class Order : uint8_t { Any, Ascending, Descending };
  std::string name;
  int64_t extent = 1;
  Order order = Order::Any;
  std::string extent_text = {};                         // the dim expression, for formulas
  std::shared_ptr<const RaggedRange> ragged = nullptr;  // `indexed` only; else none
};

/// A read of `tensor`. Subscripts are proven inside the axes wherever the guards hold, except: a
/// `conditional` access stands inside a select branch and is evaluated only where that branch is
/// taken (an executor that evaluates it elsewhere must clamp the subscripts and throw the value
/// away); subscripts that contain a DataRead are checked when run.
struct Access {
  TensorId tensor = {};
  std::vector<Linear> subscripts = {};
  bool conditional = false;
};

enum class ScalarOp : uint8_t {
  Constant,  // `constant` (floats) or `integer` (integers and bool)
  Index,     // linears[reference] as i64
  Load,      // accesses[reference]
  Prev,      // the value stored for the previous step of the ordered loop
  Cast,      // a to `type`
  // one operand
  Neg,
  Not,
  Abs,
  Sign,
  Exp,
  Log,
  Log1p,
  Expm1,
  Sqrt,
  Rsqrt,
  Sin,
  Cos,
  Tan,
  Tanh,
  Sinh,
  Cosh,
  Asin,
  Acos,
  Atan,
  Erf,
  Lgamma,
  Sigmoid,
  Floor,
  Ceil,
  Round,
  Trunc,
  IsNan,
  IsInf,
  // two operands
  Add,
  Sub,
  Mul,
  Div,
  FloorDiv,
  Mod,
  Min,
  Max,
  Fmin,
  Fmax,
  Pow,
  Atan2,
  BitAnd,
  BitOr,
  BitXor,
  Shl,
  Shr,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Equal,
  NotEqual,
  And,
  Or,
  // three: a ? b : c
  Select
};

/// One node of a scalar expression, in postorder in its nest's `nodes`. `type` is the type of the
/// value.
struct ScalarNode {
  ScalarOp op = ScalarOp::Constant;
  ElementType type = ElementType::F32;
  int32_t a = -1, b = -1, c = -1;
  int32_t reference = -1;
  double constant = 0;
  int64_t integer = 0;
};

enum class Reduction : uint8_t { None, Sum, Product, Max, Min, And, Or, ArgMax, ArgMin };

/// One extended einsum. For every point of the loops where all guards hold:
///   output[target_loops] (reduction)= nodes[value]
/// Loops that are not target loops are reduced; the reduced loops come in the written order. A
/// reduction starts from `init` (or the operator's identity); an element that no point reaches gets
/// `otherwise` if given, else what the reduction starts from (an arg reduction: extreme value and
/// index 0). ArgMax/ArgMin define two tensors: the extreme value and nodes[second_value] at it;
/// ties go to the first point in loop order, a NaN wins. With an ordered loop the reduction is None
/// and Prev is the value stored for the previous step (`init` at the first; a step the guards skip
/// stores `otherwise`, which is the next Prev). `init` and `otherwise` may read tensors, at target
/// loops only.
struct Kernel {
  std::vector<Loop> loops = {};
  std::vector<Atom> atoms = {};
  std::vector<Linear> linears = {};
  std::vector<Access> accesses = {};
  std::vector<ScalarNode> nodes = {};
  std::vector<Guard> guards = {};
  int32_t data_guard = -1;  // `indexed` only: a bool node that must hold too, or -1
  Reduction reduction = Reduction::None;
  TensorId output = {};
  std::optional<TensorId> second_output = {};
  std::vector<int32_t> target_loops = {};  // the loop of each output axis, in axis order
  int32_t value = -1;
  int32_t second_value = -1;
  int32_t init = -1;
  int32_t otherwise = -1;
  bool indexed = false;
};

/// output = base, with nodes[value] combined into the element at `subscripts` for every point of
/// the nest where its guards hold. The nest's reduction says how (None: set, each element at most
/// once, checked when run); it has no target loops. Subscripts are checked when run.
struct Scatter {
  Kernel nest = {};
  std::vector<Linear> subscripts = {};  // in the nest's atoms
  std::optional<TensorId> base = {};    // absent: zeros
  bool donated = false;                 // the base may be overwritten in place
};

/// output[o] = input[subscripts(o)]: reshape, permute, expand, slice, flip. Costs nothing. Atoms 0
/// .. rank-1 are the output's axes. A slice with a run-time start contains DataReads of scalars,
/// checked when run.
struct View {
  TensorId output = {};
  TensorId input = {};
  std::vector<Atom> atoms = {};
  std::vector<Linear> subscripts = {};
};

struct Concat {
  TensorId output = {};
  std::vector<TensorId> inputs = {};
  int32_t axis = 0;
};

/// The first `count` of the axis in sorted order, with their positions; stable. NaN is largest, so
/// it comes last ascending, first descending.
struct Sort {
  TensorId values = {};
  TensorId positions = {};  // i64
  TensorId input = {};
  int32_t axis = 0;
  bool descending = false;
  int64_t count = 0;
};

/// What meets a condition, in order, at most `limit` of it (more is a run-time error), and how many
/// that is. Unique: the distinct values of the input, ascending, T[limit]. Nonzero: the subscripts
/// of its nonzero elements in row-major order, i64[limit, rank]. The rest is zeros.
struct Compact {
  enum class Kind : uint8_t { Unique, Nonzero };
  Kind kind = Kind::Unique;
  TensorId output = {};
  TensorId count = {};  // i64[]
  TensorId input = {};
};

/// An operator without a body. A hole is still to be written; an opaque one has a declared cost.
/// Neither runs.
struct Opaque {
  std::string op;
  bool hole = false;
  std::vector<TensorId> outputs = {};
  std::vector<TensorId> inputs = {};
  std::optional<int64_t> macs = {}, nominal = {};
  std::optional<int64_t> reads = {}, writes = {};  // bytes
};

struct Statement;

/// A value that goes round a loop: `inside` is what the body sees, first `initial`, then each
/// step's `next`; `result` is the last.
struct Carried {
  TensorId inside = {};
  TensorId initial = {};
  TensorId next = {};
  TensorId result = {};
};

/// `result[t]` is `element` of step t.
struct Stacked {
  TensorId element = {};
  TensorId result = {};
};

/// Runs the body once for every value of its step variable, in order.
struct Repeat {
  int32_t step = -1;  // index into Program::steps
  std::vector<Carried> carried = {};
  std::vector<Stacked> stacked = {};
  std::vector<Statement> body = {};
};

/// Runs the body until `test`, computed by its first `before_test` statements, is false or `limit`
/// steps are done (then it is a run-time error if the test would hold once more). The step whose
/// test is false has no effect.
struct While {
  int32_t control = -1;  // index into Program::controls
  int64_t limit = 0;
  TensorId test = {};
  size_t before_test = 0;
  std::vector<Carried> carried = {};
  std::vector<Statement> body = {};
};

struct Branch {
  std::vector<Statement> body = {};
  std::vector<TensorId> values = {};
};

struct If {
  int32_t control = -1;  // index into Program::controls
  TensorId condition = {};
  Branch taken = {};
  Branch otherwise = {};
  std::vector<TensorId> results = {};
};

/// What one source operator does; statements refer to their innermost group.
struct Group {
  std::string op;
  std::string at = {};
  std::string module = {};
  std::optional<int64_t> nominal = {};
};

struct Statement {
  std::variant<Kernel, View, Concat, Scatter, Sort, Compact, Opaque, Repeat, While, If> body;
  int32_t group = -1;     // index into groups, or -1
  std::string call = {};  // the chain of prelude functions it comes from, `linear`, or empty
  Place span = {};
};

struct Dim {
  std::string name;
  int64_t value = 0;
  std::string expression = {};  // derived dims: as written; free dims: empty
};

struct Update {
  TensorId state = {};
  TensorId value = {};
};

/// The variable of a repeat.
struct Step {
  std::string name;
  int64_t extent = 1;
  bool descending = false;
  std::string extent_text = {};
};

/// An `if` or `while`, for recording which way a run went.
struct Control {
  enum class Kind : uint8_t { If, While };
  Kind kind = Kind::If;
  std::string name;  // of its first result
  Place span = {};
};

struct Program {
  std::string name;
  std::vector<std::shared_ptr<const Source>> sources = {};  // every Place points into one of them
  std::vector<Dim> dims = {};
  std::vector<Tensor> tensors = {};
  std::vector<TensorId> ports = {};  // signature order
  std::vector<TensorId> outputs = {};
  std::vector<std::string> output_names = {};
  std::vector<Update> updates = {};
  std::vector<Group> groups = {};
  std::vector<Step> steps = {};
  std::vector<Control> controls = {};
  std::vector<Statement> statements = {};

  const Tensor& tensor(TensorId id) const { return tensors[index(id)]; }
};

/// A program whose every subscript, type and shape has been proven. Cheap to copy.
class VerifiedProgram {
 public:
  const Program& operator*() const { return *program_; }
  const Program* operator->() const { return program_.get(); }

 private:
  friend class Verifier;
  explicit VerifiedProgram(std::shared_ptr<const Program> program) : program_(std::move(program)) {}
  std::shared_ptr<const Program> program_;
};

/// The tensors that a statement reads (a loop: from outside of it) and defines (for its
/// surroundings).
std::vector<TensorId> inputs_of(const Statement& statement);
std::vector<TensorId> outputs_of(const Statement& statement);

/// Number of elements of a shape. The verifier has proven that it fits.
int64_t element_count(const std::vector<int64_t>& shape);

}  // namespace solar::ir
