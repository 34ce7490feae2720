"""The nodes of Affine Loop IR text as the oracle reads it. `at` is the start and end offset in the text."""

from dataclasses import dataclass, field
from typing import TypeAlias

At: TypeAlias = tuple[int, int]


class UnreadableError(Exception):
    """The text uses something this reader does not know."""


@dataclass(frozen=True)
class Number:
    at: At
    value: int | float | bool


@dataclass(frozen=True)
class Name:
    at: At
    name: str


@dataclass(frozen=True)
class Pack:
    """`*l` as a subscript, an extent or an axis."""

    at: At
    name: str


@dataclass(frozen=True)
class Read:
    at: At
    tensor: str
    subscripts: tuple["Expression | Pack", ...]


@dataclass(frozen=True)
class Call:
    """A scalar function or a cast."""

    at: At
    function: str
    arguments: tuple["Expression", ...]


@dataclass(frozen=True)
class Unary:
    at: At
    operator: str
    operand: "Expression"


@dataclass(frozen=True)
class Binary:
    at: At
    operator: str
    operator_at: At
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True)
class Chain:
    """`a < b <= c`."""

    at: At
    operands: tuple["Expression", ...]
    operators: tuple[str, ...]
    operators_at: tuple[At, ...]


Expression: TypeAlias = Number | Name | Read | Call | Unary | Binary | Chain


@dataclass(frozen=True)
class Type:
    element: str
    wide: bool
    extents: tuple["Expression | Pack", ...]


@dataclass(frozen=True)
class Loop:
    variable: str
    extent: "Expression | Pack"
    order: str = ""  # "seq", "revseq"
    begin: "Expression | None" = None  # a ragged loop visits begin <= variable < end
    end: "Expression | None" = None


@dataclass(frozen=True)
class Target:
    at: At
    tensor: str
    subscripts: tuple["Expression | Pack", ...]


@dataclass(frozen=True)
class Kernel:
    at: At
    types: dict[str, Type]
    loops: tuple[Loop, ...]
    lets: dict[str, Expression]
    guards: tuple[Expression, ...]
    where_at: At  # from `where` to the end of the last guard; empty without guards
    targets: tuple[Target, ...]
    assign: str
    assign_at: At
    values: tuple[Expression, ...]
    init: Expression | None
    otherwise: Expression | None
    scatter: bool = False
    base: str | None = None
    unique: bool = False


@dataclass(frozen=True)
class Axis:
    """A view's axis: `name`, `name:extent`, `1`, `*name` or a group of axes."""

    at: At
    name: str = ""
    extent: Expression | None = None
    pack: bool = False
    group: tuple["Axis", ...] | None = None


@dataclass(frozen=True)
class View:
    at: At
    output: str
    source: str
    left: tuple[Axis, ...]
    right: tuple[Axis, ...]


@dataclass(frozen=True)
class Item:
    """One item of a slice: "index", "range", "reverse", "at" (`start` names a tensor, `stop` is the size) or "..."."""

    kind: str
    start: Expression | None = None
    stop: Expression | None = None
    step: Expression | None = None


@dataclass(frozen=True)
class Slice:
    at: At
    output: str
    source: str
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Apply:
    """A call of a function or of an operation of the language, such as `concat` and `sort`."""

    at: At
    results: tuple[str, ...]
    function: str
    function_at: At
    arguments: tuple[Expression, ...]
    attributes: dict[str, Expression]


@dataclass(frozen=True)
class Dims:
    at: At
    values: dict[str, Expression]


@dataclass(frozen=True)
class Require:
    at: At
    condition: Expression


@dataclass(frozen=True)
class Update:
    at: At
    state: str
    value: str


@dataclass(frozen=True)
class Next:
    """The last statement of a loop's or branch's body."""

    at: At
    values: tuple[str, ...]
    stacked: tuple[str, ...]


@dataclass(frozen=True)
class Test:
    at: At
    condition: str


@dataclass(frozen=True)
class Repeat:
    at: At
    results: tuple[str, ...]
    stacks: tuple[str, ...]
    step: str
    extent: Expression
    descending: bool
    carried: tuple[tuple[str, Expression], ...]
    body: tuple["Statement", ...]


@dataclass(frozen=True)
class While:
    at: At
    results: tuple[str, ...]
    limit: Expression
    carried: tuple[tuple[str, Expression], ...]
    body: tuple["Statement", ...]


@dataclass(frozen=True)
class If:
    at: At
    results: tuple[str, ...]
    condition: str
    taken: tuple["Statement", ...]
    otherwise: tuple["Statement", ...]


@dataclass(frozen=True)
class Opaque:
    at: At
    hole: bool
    types: dict[str, Type]
    operator: str
    arguments: tuple[Expression, ...]


Statement: TypeAlias = (
    Kernel | View | Slice | Apply | Dims | Require | Update | Next | Test | Repeat | While | If | Opaque
)


@dataclass(frozen=True)
class Port:
    role: str
    name: str
    type: Type
    values: tuple[float, ...] | None


@dataclass(frozen=True)
class Function:
    at: At
    name: str
    name_at: At
    generics: tuple[tuple[str, str], ...]  # (kind, name): "dim", "pack", "type"
    parameters: tuple[tuple[str, Type], ...]
    results: tuple[str, ...]
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Program:
    at: At
    name: str
    ports: tuple[Port, ...]
    results: tuple[str, ...]
    body: tuple[Statement, ...]


@dataclass
class File:
    text: str
    functions: dict[str, Function] = field(default_factory=dict)
    program: Program | None = None
