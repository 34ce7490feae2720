"""Builds the text of an IR program, statement by statement.

Names are decided last: while building, a value or dim stands in the text as a token, so that the result of a
source operator can carry the operator's name. Statements nobody uses are left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch

from solar.frontends.torch import names
from solar.frontends.torch.dtypes import Number, number, promote, type_name
from solar.frontends.torch.errors import NotLowered

_TOKEN = re.compile(r"<(\d+)>")


@dataclass(frozen=True, eq=False)
class Value:
    """A tensor of the program. Compared by identity."""

    token: str
    shape: tuple[int, ...]
    dtype: torch.dtype

    @property
    def rank(self) -> int:
        return len(self.shape)

    def axis(self, axis: int) -> int:
        """A torch axis number, negative ones counted from the end, as an index."""
        return axis % self.rank if self.rank else 0


Operand = Value | int | float | bool


@dataclass(frozen=True)
class Meta:
    """Shape and type of a result, as the framework computed them."""

    shape: tuple[int, ...]
    dtype: torch.dtype


@dataclass
class _Statement:
    defines: tuple[str, ...]
    uses: tuple[str, ...]
    text: str
    is_view: bool


@dataclass
class _Group:
    operator: str = ""
    at: str = ""
    module: str = ""
    nominal: str = ""
    base: str = ""
    statements: list[_Statement] = field(default_factory=list)


@dataclass
class _Port:
    role: str
    value: Value
    name: str
    values: tuple[Number, ...] = ()


class Builder:
    """What a lowering writes to. Lowerings use the methods without underscore up to `update`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._tokens = 0
        self._hints: dict[str, tuple[str, str]] = {}  # token -> (base name or token it is derived from, suffix)
        self._dims: dict[str, int] = {}
        self._extents: dict[str, list[str | None]] = {}
        self._ports: list[_Port] = []
        self._groups: list[_Group] = []
        self._group = _Group()
        self._outputs: list[str] = []
        self._updates: list[tuple[str, str]] = []
        self.results: tuple[Meta, ...] = ()
        self.strides: dict[Value, tuple[int, ...]] = {}
        self.writes: list[tuple[Value, Value]] = []

    # What the current operator returns, as the framework computed it.

    @property
    def result(self) -> Meta:
        return self.results[0]

    # Dims.

    def dim(self, hint: str, value: int) -> str:
        """A new free dim with this value, to be used in texts and as an argument after `;`."""
        token = self._token(self._group.base, hint)
        self._dims[token] = value
        return token

    def extent(self, value: Value, axis: int) -> str:
        """The dim expression that is the extent of an axis."""
        axis = value.axis(axis)
        known = self._extents[value.token][axis]
        if known is None:
            known = self._token(value.token, str(axis))
            self._dims[known] = value.shape[axis]
            self._extents[value.token][axis] = known
        return known

    def extents(self, value: Value) -> list[str | None]:
        """The extents known so far; give them to a result of the same shape."""
        for axis in range(value.rank):
            self.extent(value, axis)
        return list(self._extents[value.token])

    # Calls of prelude functions.

    def call(
        self,
        function: str,
        *arguments: Operand,
        shape: Sequence[int] | None = None,
        dtype: torch.dtype | None = None,
        extents: Sequence[str | None] | None = None,
        dims: dict[str, str | int | bool | torch.dtype] | None = None,
        hint: str = "",
    ) -> Value:
        """`let y = function(arguments; dims)`. Without `shape` and `dtype` the result has the operator's."""
        shape = self.result.shape if shape is None else tuple(shape)
        meta = Meta(tuple(shape), self.result.dtype if dtype is None else dtype)
        return self.call_many(
            function, *arguments, metas=[meta], dims=dims, hints=[hint or function], extents=[extents]
        )[0]

    def call_many(
        self,
        function: str,
        *arguments: Operand,
        metas: Sequence[Meta],
        dims: dict[str, str | int | bool | torch.dtype] | None = None,
        hints: Sequence[str] | None = None,
        extents: Sequence[Sequence[str | None] | None] | None = None,
    ) -> tuple[Value, ...]:
        """`let (a, b) = function(arguments; dims)`, one result for each of `metas`."""
        results = tuple(
            self._value(
                meta.shape, meta.dtype, hints[i] if hints else f"{function}_{i}", extents[i] if extents else None
            )
            for i, meta in enumerate(metas)
        )
        left = ", ".join(r.token for r in results)
        if len(results) > 1:
            left = f"({left})"
        given = ", ".join(_argument(a) for a in arguments)
        if dims:
            given += "; " + ", ".join(f"{name} = {_attribute(v)}" for name, v in dims.items())
        self._emit(results, [a for a in arguments if isinstance(a, Value)], f"let {left} = {function}({given})")
        return results

    def cast(self, value: Value, dtype: torch.dtype) -> Value:
        """`value` in another element type; itself if it has that type."""
        if value.dtype == dtype:
            return value
        if type_name(dtype) is None:
            raise NotLowered(f"the type {dtype} is not supported")
        return self.call(
            "cast", value, shape=value.shape, dtype=dtype, extents=self._extents[value.token], dims={"T": dtype}
        )

    def copy(self, value: Value) -> Value:
        """A copy, which is a source operator of its own (`contiguous`, `clone`)."""
        return self.call("copy", value, shape=value.shape, dtype=value.dtype, extents=self._extents[value.token])

    def constant(self, value: Number, shape: Sequence[int], dtype: torch.dtype) -> Value:
        """A tensor filled with one number."""
        scalar = self.call("constant", number(value, dtype), shape=(), dtype=dtype, dims={"T": dtype})
        return self.expand(scalar, shape)

    def pointwise(
        self,
        function: str,
        *operands: Operand,
        compute: torch.dtype | None = None,
        dtype: torch.dtype | None = None,
        dims: dict[str, str | int | bool | torch.dtype] | None = None,
    ) -> Value:
        """Calls an elementwise function: tensors are promoted as torch does (or cast to `compute`) and broadcast.

        Numbers become literals of the accumulation type. The result has type `dtype`, by default `compute`.
        """
        compute = compute or self.promoted(*operands)
        tensors = self.broadcast(*(self.cast(o, compute) for o in operands if isinstance(o, Value)))
        rest = iter(tensors)
        arguments = [next(rest) if isinstance(o, Value) else number(o, compute) for o in operands]
        shape = tensors[0].shape
        known = self._common_extents(tensors)
        return self.call(function, *arguments, shape=shape, dtype=dtype or compute, extents=known, dims=dims)

    def promoted(self, *operands: Operand) -> torch.dtype:
        """The type in which torch combines these operands."""
        return promote(*((o.dtype, o.rank) if isinstance(o, Value) else o for o in operands))

    # Views. They cost nothing, and return their argument where nothing changes.

    def broadcast(self, *values: Value) -> list[Value]:
        """The values expanded to their common shape."""
        shape = torch.broadcast_shapes(*(v.shape for v in values))
        known: list[str | None] = []
        for axis in range(-len(shape), 0):
            source = next(v for v in values if -axis <= v.rank and v.shape[axis] == shape[axis])
            expanded = any(-axis > v.rank or v.shape[axis] != shape[axis] for v in values)
            known.append(self.extent(source, axis) if expanded else None)
        return [self.expand(v, shape, known) for v in values]

    def expand(self, value: Value, shape: Sequence[int], extents: Sequence[str | None] | None = None) -> Value:
        """torch.expand: new leading axes, and axes of extent 1 repeated. `extents` names the new extents."""
        shape = tuple(shape)
        offset = len(shape) - value.rank
        shape = shape[:offset] + tuple(n if s == -1 else s for s, n in zip(shape[offset:], value.shape, strict=True))
        if shape == value.shape:
            return value
        left: list[str] = []
        right: list[str] = []
        known: list[str | None] = []
        letters = self._letters()
        for axis, n in enumerate(shape):
            letter = next(letters)
            if axis < offset or value.shape[axis - offset] != n:
                given = extents[axis] if extents is not None else None
                given = given or self.dim(f"{axis}", n)
                left += ["1"] if axis >= offset else []
                right.append(f"{letter}:{given}")
                known.append(given)
            else:
                left.append(letter)
                right.append(letter)
                known.append(self._extents[value.token][axis - offset])
        return self._view(value, left, right, shape, known)

    def permute(self, value: Value, order: Sequence[int]) -> Value:
        order = [value.axis(a) for a in order]
        if order == sorted(order):
            return value
        letters = [letter for letter, _ in zip(self._letters(), order, strict=False)]
        known = self._extents[value.token]
        shape = [value.shape[a] for a in order]
        return self._view(value, letters, [letters[a] for a in order], shape, [known[a] for a in order])

    def transpose(self, value: Value, first: int, second: int) -> Value:
        order = list(range(value.rank))
        first, second = value.axis(first), value.axis(second)
        if value.rank:
            order[first], order[second] = order[second], order[first]
        return self.permute(value, order)

    def to_last(self, value: Value, axes: Sequence[int]) -> Value:
        """The named axes moved behind the others, in the order given."""
        last = [value.axis(a) for a in axes]
        return self.permute(value, [a for a in range(value.rank) if a not in last] + last)

    def from_last(self, value: Value, axes: Sequence[int]) -> Value:
        """Undoes `to_last`: the last axes go to the places named."""
        places = [value.axis(a) for a in axes]
        order = [a for a in range(value.rank) if a not in places] + places
        return self.permute(value, [order.index(a) for a in range(value.rank)])

    def unsqueeze(self, value: Value, axis: int) -> Value:
        axis = axis % (value.rank + 1)
        letters = [letter for letter, _ in zip(self._letters(), value.shape, strict=False)]
        shape = value.shape[:axis] + (1,) + value.shape[axis:]
        known = self._extents[value.token]
        right = letters[:axis] + ["1"] + letters[axis:]
        return self._view(value, letters, right, shape, [*known[:axis], "1", *known[axis:]])

    def squeeze(self, value: Value, axes: Sequence[int]) -> Value:
        """Drops those of the axes whose extent is 1."""
        dropped = {value.axis(a) for a in axes if value.rank and value.shape[value.axis(a)] == 1}
        if not dropped:
            return value
        letters = [letter for letter, _ in zip(self._letters(), value.shape, strict=False)]
        left = ["1" if axis in dropped else letter for axis, letter in enumerate(letters)]
        kept = [axis for axis in range(value.rank) if axis not in dropped]
        known = [self._extents[value.token][a] for a in kept]
        return self._view(value, left, [letters[a] for a in kept], [value.shape[a] for a in kept], known)

    def split_axis(self, value: Value, axis: int, sizes: Sequence[int], extents: Sequence[str] | None = None) -> Value:
        """One axis as several, outermost first."""
        axis = value.axis(axis)
        letters = self._letters()
        left: list[str] = []
        right: list[str] = []
        known: list[str | None] = []
        for a in range(value.rank):
            if a != axis:
                left.append(next(letters))
                right.append(left[-1])
                known.append(self._extents[value.token][a])
                continue
            parts = list(extents) if extents else [self.dim(f"{axis}_{i}", n) for i, n in enumerate(sizes)]
            atoms = [next(letters) for _ in sizes]
            left.append("(" + ", ".join(f"{atom}:{part}" for atom, part in zip(atoms, parts, strict=True)) + ")")
            right += atoms
            known += parts
        shape = value.shape[:axis] + tuple(sizes) + value.shape[axis + 1 :]
        return self._view(value, left, right, shape, known)

    def merge_axes(self, value: Value, first: int, last: int) -> Value:
        """Axes first .. last (inclusive) as one."""
        first, last = value.axis(first), value.axis(last)
        if value.rank and first == last:
            return value
        shape = value.shape
        return self.reshape(value, shape[:first] + (math.prod(shape[first : last + 1]),) + shape[last + 1 :])

    def reshape(self, value: Value, shape: Sequence[int]) -> Value:
        """torch.view: the same elements in row-major order."""
        shape = _without_minus_one(value.shape, shape)
        if shape == value.shape:
            return value
        pieces = _refine(value.shape, shape)
        if pieces is None:
            flat = self._reshape(value, (math.prod(value.shape),), [(list(range(value.rank)), [0], None)])
            return self._reshape(flat, shape, [([0], list(range(len(shape))), None)])
        return self._reshape(value, shape, pieces)

    def slice(self, value: Value, axis: int, start: int, stop: int, step: int = 1) -> Value:
        """value[start:stop:step] along one axis; 0 <= start < stop <= extent."""
        axis = value.axis(axis)
        n = value.shape[axis]
        if (start, stop, step) == (0, n, 1):
            return value
        low = self.dim("start", start) if start else ""
        high = self.dim("stop", stop) if stop != n else ""
        extent = -(-(stop - start) // step)
        return self.slice_text(value, axis, f"{low}:{high}" + (f":{step}" if step != 1 else ""), extent)

    def slice_text(self, value: Value, axis: int, item: str, extent: int | None) -> Value:
        """A slice written out; `extent` None means that the item is an index and drops the axis."""
        axis = value.axis(axis)
        items = [":"] * value.rank
        items[axis] = item
        known = list(self._extents[value.token])
        known[axis : axis + 1] = [] if extent is None else [None]
        shape = value.shape[:axis] + (() if extent is None else (extent,)) + value.shape[axis + 1 :]
        result = self._value(shape, value.dtype, "slice", known)
        self._emit([result], [value], f"slice {result.token} = {value.token}[{', '.join(items)}]", is_view=True)
        return result

    def index(self, value: Value, axis: int, position: int) -> Value:
        """value[position] along one axis, which is dropped. Negative positions count from the end."""
        axis = value.axis(axis)
        if position < 0:
            return self.slice_text(value, axis, f"{self.extent(value, axis)} - {-position}", None)
        return self.slice_text(value, axis, self.dim("index", position) if position else "0", None)

    def flip(self, value: Value, axes: Sequence[int]) -> Value:
        if not axes or not value.rank:
            return value
        flipped = {value.axis(a) for a in axes}
        items = ["reverse" if a in flipped else ":" for a in range(value.rank)]
        result = self._value(value.shape, value.dtype, "flip", self._extents[value.token])
        self._emit([result], [value], f"slice {result.token} = {value.token}[{', '.join(items)}]", is_view=True)
        return result

    # Joining, nominal counts, state.

    def concat(self, values: Sequence[Value], axis: int) -> Value:
        """`let y = concat(...)`."""
        if len(values) == 1:
            return self.copy(values[0])
        axis = values[0].axis(axis)
        shape = list(values[0].shape)
        shape[axis] = sum(v.shape[axis] for v in values)
        known = list(self._common_extents(values))
        known[axis] = None
        result = self._value(shape, values[0].dtype, "cat", known)
        parts = ", ".join(v.token for v in values)
        self._emit([result], values, f"let {result.token} = concat({parts}; axis = {axis})")
        return result

    def kernel(self, result: Meta, text: str, operands: Sequence[Value], extents: Sequence[str]) -> Value:
        """A loop nest written out. Only for operators whose argument is itself a nest, as einsum's equation is.

        `text` follows `kernel NAME: TYPE[extents]`, with `@` for the name.
        """
        value = self._value(result.shape, result.dtype, "nest", list(extents))
        declared = f"{type_name(result.dtype)}[{', '.join(extents)}]"
        body = text.replace("@", value.token)
        self._emit([value], operands, f"kernel {value.token}: {declared} {{ {body} }}")
        return value

    def nominal(self, expression: str) -> None:
        """Declares the multiply-accumulates that a FLOP counter means, where the box count of the nests differs."""
        self._group.nominal = expression

    def write(self, old: Value, new: Value) -> None:
        """The operator stores `new` in the tensor that `old` is (running statistics, say)."""
        self.writes.append((old, new))

    def rng(self, name: str, shape: Sequence[int], dtype: torch.dtype) -> Value:
        """A tensor of random numbers, drawn by the caller."""
        return self.port("rng", name, shape, dtype)

    def is_contiguous(self, value: Value) -> bool:
        """Whether torch keeps the tensor in row-major order without gaps."""
        sample = torch.empty_strided(value.shape, self._strides(value), device="meta")
        return sample.is_contiguous()

    def is_viewable(self, value: Value, shape: Sequence[int]) -> bool:
        """Whether torch can reshape the tensor without a copy."""
        try:
            torch.empty_strided(value.shape, self._strides(value), device="meta").view(tuple(shape))
        except RuntimeError:
            return False
        return True

    def unsupported(self, reason: str) -> NotLowered:
        """`raise b.unsupported("ceil_mode with dilation")`."""
        return NotLowered(reason)

    # For the tracer.

    def port(
        self, role: str, name: str, shape: Sequence[int], dtype: torch.dtype, values: Sequence[Number] = ()
    ) -> Value:
        """A tensor of the signature. Its axes are free dims."""
        if type_name(dtype) is None:
            raise NotLowered(f"the type {dtype} is not supported")
        value = self._value(shape, dtype, "")
        self._hints[value.token] = (name, "")
        for axis in range(value.rank):
            self.extent(value, axis)
        self._ports.append(_Port(role, value, name, tuple(values)))
        return value

    @contextmanager
    def operator(self, name: str, at: str, module: str, base: str) -> Iterator[None]:
        """Everything emitted inside belongs to one source operator."""
        self._group = _Group(name, at, module, "", names.identifier(base))
        self._groups.append(self._group)
        try:
            yield
        finally:
            self._group = _Group()

    def name_result(self, value: Value, base: str) -> None:
        """Gives the result of an operator the operator's own name."""
        if self._hints[value.token][0] == self._groups[-1].base:
            self._hints[value.token] = (names.identifier(base), "")

    def only_views(self) -> bool:
        """Whether the current operator has done nothing but views."""
        return all(s.is_view for s in self._group.statements)

    def stand_in(self, meta: Meta) -> Value:
        """A value for the result of an operator that could not be lowered."""
        return self._value(meta.shape, meta.dtype, "missing")

    def has_outputs(self) -> bool:
        return bool(self._outputs)

    def output(self, value: Value) -> None:
        self._outputs.append(value.token)

    def update(self, state: Value, value: Value) -> None:
        """The state port's value after the program."""
        self._updates.append((state.token, value.token))
        for port in self._ports:
            if port.value is state:
                port.role = "state"

    def finish(self) -> Program:
        """The program's text, without what nobody uses."""
        from solar.frontends.torch.rendering import render

        return render(self)

    # Parts of the above.

    def _strides(self, value: Value) -> tuple[int, ...]:
        known = self.strides.get(value)
        if known is None:
            strides = [1] * value.rank
            for axis in range(value.rank - 2, -1, -1):
                strides[axis] = strides[axis + 1] * value.shape[axis + 1]
            known = tuple(strides)
        return known

    def _token(self, base: str, suffix: str) -> str:
        self._tokens += 1
        token = f"<{self._tokens}>"
        self._hints[token] = (base, suffix)
        return token

    def _value(
        self, shape: Sequence[int], dtype: torch.dtype, hint: str, extents: Sequence[str | None] | None = None
    ) -> Value:
        value = Value(self._token(self._group.base, hint), tuple(shape), dtype)
        if any(n < 1 for n in value.shape):
            raise NotLowered(f"a tensor of shape {list(value.shape)} has no elements")
        self._extents[value.token] = list(extents) if extents is not None else [None] * value.rank
        return value

    def _emit(self, results: Sequence[Value], operands: Sequence[Value], text: str, *, is_view: bool = False) -> None:
        defines = tuple(r.token for r in results)
        self._group.statements.append(_Statement(defines, tuple(o.token for o in operands), text, is_view))

    def _view(
        self,
        value: Value,
        left: Sequence[str],
        right: Sequence[str],
        shape: Sequence[int],
        extents: Sequence[str | None],
    ) -> Value:
        result = self._value(shape, value.dtype, "view", extents)
        text = f"view {result.token} = {value.token} {{ {', '.join(left)} -> {', '.join(right)} }}"
        self._emit([result], [value], text.replace("{  ->", "{ ->").replace("->  }", "-> }"), is_view=True)
        return result

    def _reshape(self, value: Value, shape: tuple[int, ...], pieces: list[Piece]) -> Value:
        letters = self._letters()
        left = [""] * value.rank
        right = [""] * len(shape)
        known: list[str | None] = [None] * len(shape)
        source = self._extents[value.token]
        for ins, outs, atoms in pieces:
            if len(ins) == 1 and len(outs) == 1:
                left[ins[0]] = right[outs[0]] = next(letters)
                known[outs[0]] = source[ins[0]]
            elif not ins:
                for out in outs:
                    right[out] = known[out] = "1"
            elif not outs:
                for i in ins:
                    left[i] = "1"
            elif len(outs) == 1:
                names_in = [next(letters) for _ in ins]
                for i, letter in zip(ins, names_in, strict=True):
                    left[i] = letter
                right[outs[0]] = f"({', '.join(names_in)})"
                known[outs[0]] = "*".join(_factor(self.extent(value, i)) for i in ins)
            elif len(ins) == 1:
                names_out = [next(letters) for _ in outs]
                parts = [self.dim(str(out), shape[out]) for out in outs]
                left[ins[0]] = "(" + ", ".join(f"{a}:{p}" for a, p in zip(names_out, parts, strict=True)) + ")"
                for out, letter, part in zip(outs, names_out, parts, strict=True):
                    right[out], known[out] = letter, part
            else:
                assert atoms is not None
                self._refined(ins, outs, atoms, value, shape, left, right, letters)
        return self._view(value, left, right, shape, known)

    def _refined(
        self,
        ins: list[int],
        outs: list[int],
        atoms: list[int],
        value: Value,
        shape: tuple[int, ...],
        left: list[str],
        right: list[str],
        letters: Iterator[str],
    ) -> None:
        """Fills in the patterns of axes that share atoms in a way that is neither a split nor a merge."""
        parts = [self.dim(f"part_{i}", n) for i, n in enumerate(atoms)]
        named = [next(letters) for _ in atoms]

        def pattern(extents: list[int], with_extents: bool) -> list[str]:
            texts: list[str] = []
            position = 0
            for extent in extents:
                if extent == 1:
                    texts.append("1")
                    continue
                mine: list[str] = []
                product = 1
                while product != extent:
                    mine.append(f"{named[position]}:{parts[position]}" if with_extents else named[position])
                    product *= atoms[position]
                    position += 1
                if len(mine) == 1:
                    texts.append(mine[0].partition(":")[0])
                else:
                    texts.append(f"({', '.join(mine)})")
            return texts

        for axis, text in zip(ins, pattern([value.shape[i] for i in ins], True), strict=True):
            left[axis] = text
        for axis, text in zip(outs, pattern([shape[o] for o in outs], False), strict=True):
            right[axis] = text

    def _common_extents(self, values: Sequence[Value]) -> list[str | None]:
        columns = zip(*(self._extents[v.token] for v in values), strict=True)
        return [next((e for e in column if e is not None), None) for column in columns]

    def _letters(self) -> Iterator[str]:
        taken = {port.name for port in self._ports}
        return names.letters(taken)


@dataclass(frozen=True)
class Program:
    """A finished program: its text, and the names that its ports and results got."""

    text: str
    port_names: dict[Value, str]
    output_names: tuple[str, ...]
    updates: dict[str, str]
    roles: dict[Value, str]
    dropped: int


Piece = tuple[list[int], list[int], list[int] | None]


def _factor(expression: str) -> str:
    return expression if re.fullmatch(r"[<>\w*]+", expression) else f"({expression})"


def _argument(argument: Operand) -> str:
    return argument.token if isinstance(argument, Value) else literal(argument)


def literal(value: Number) -> str:
    """A number as the language writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return repr(float(value))


def _attribute(value: str | int | bool | torch.dtype) -> str:
    if isinstance(value, torch.dtype):
        name = type_name(value)
        if name is None:
            raise NotLowered(f"the type {value} is not supported")
        return name
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _without_minus_one(old: Sequence[int], new: Sequence[int]) -> tuple[int, ...]:
    known = math.prod(n for n in new if n != -1)
    return tuple(math.prod(old) // known if n == -1 else n for n in new)


def _refine(old: Sequence[int], new: Sequence[int]) -> list[Piece] | None:
    """Groups axes of both shapes with equal products; None if a group has no common refinement.

    An axis of extent 1 stays with a neighbour where it can: a batch of one then gives the program that a batch of
    two gives.
    """
    pieces: list[Piece] = []
    i = j = 0
    while i < len(old) and j < len(new):
        ins, outs = [i], [j]
        left, right = old[i], new[j]
        i, j = i + 1, j + 1
        while left != right:
            if left < right:
                left *= old[i]
                ins.append(i)
                i += 1
            else:
                right *= new[j]
                outs.append(j)
                j += 1
        atoms: list[int] | None = None
        if len(ins) > 1 and len(outs) > 1:
            atoms = _atoms([old[a] for a in ins], [new[a] for a in outs])
            if atoms is None:
                return None
        pieces.append((ins, outs, atoms))
    if i < len(old):
        pieces.append((list(range(i, len(old))), [], None))
    if j < len(new):
        pieces.append(([], list(range(j, len(new))), None))
    return pieces


def _atoms(old: list[int], new: list[int]) -> list[int] | None:
    """Extents, outermost first, of which both shapes are made, or None."""
    bounds: set[int] = set()
    for shape in (old, new):
        product = 1
        for extent in reversed(shape):
            product *= extent
            bounds.add(product)
    atoms: list[int] = []
    previous = 1
    for bound in sorted(bounds):
        if bound % previous:
            return None
        if bound != previous:
            atoms.append(bound // previous)
        previous = bound
    return atoms[::-1]
