"""Builds an IR program statement by statement. This is what lowerings are written against.

Names are decided last: while building, a value or dim stands in the text as a token, so that the result of a
source operator can carry the operator's name. Statements nobody uses are left out.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch

from solar.frontends.torch import names
from solar.frontends.torch.draft import Group, Meta, Operand, Port, Program, Value, literal
from solar.frontends.torch.dtypes import Number, number, promote, type_name
from solar.frontends.torch.errors import NotLoweredError
from solar.frontends.torch.rendering import render
from solar.frontends.torch.views import Views

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Builder", "Meta", "Operand", "Value"]


class Builder(Views):
    """Lowerings call everything up to `unsupported`; the rest is for the tracer."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.results: tuple[Meta, ...] = ()
        self.strides: dict[Value, tuple[int, ...]] = {}
        self.offsets: dict[Value, int] = {}  # where a tensor starts in its memory, if not at its start
        self.writes: list[tuple[Value, Value]] = []

    @property
    def result(self) -> Meta:
        """Shape and type of what the current operator returns, as the framework computed them."""
        return self.results[0]

    # Calls of prelude functions.

    def call(
        self,
        function: str,
        *arguments: Operand,
        shape: Sequence[int] | None = None,
        dtype: torch.dtype | None = None,
        extents: Sequence[str | None] | None = None,
        dims: Mapping[str, object] | None = None,
        hint: str = "",
    ) -> Value:
        """`let y = function(arguments; dims)`. Without `shape` and `dtype` the result has the operator's."""
        shape = self.result.shape if shape is None else tuple(shape)
        meta = Meta(shape, self.result.dtype if dtype is None else dtype)
        hints = [hint or function]
        return self.call_many(function, *arguments, metas=[meta], dims=dims, hints=hints, extents=[extents])[0]

    def call_many(
        self,
        function: str,
        *arguments: Operand,
        metas: Sequence[Meta],
        dims: Mapping[str, object] | None = None,
        hints: Sequence[str] | None = None,
        extents: Sequence[Sequence[str | None] | None] | None = None,
    ) -> tuple[Value, ...]:
        """`let (a, b) = function(arguments; dims)`, one result for each of `metas`."""
        results = tuple(
            self._value(meta, hints[i] if hints else f"{function}_{i}", extents[i] if extents else None)
            for i, meta in enumerate(metas)
        )
        left = ", ".join(r.token for r in results)
        if len(results) > 1:
            left = f"({left})"
        given = ", ".join(a.token if isinstance(a, Value) else literal(a) for a in arguments)
        if dims:
            given += "; " + ", ".join(f"{name} = {_attribute(v)}" for name, v in dims.items())
            given = given.removeprefix(" ")
        self._emit(results, [a for a in arguments if isinstance(a, Value)], f"let {left} = {function}({given})")
        return results

    def pointwise(
        self,
        function: str,
        *operands: Operand,
        compute: torch.dtype | None = None,
        dtype: torch.dtype | None = None,
        dims: Mapping[str, object] | None = None,
    ) -> Value:
        """Calls an elementwise function: tensors are promoted as torch does (or cast to `compute`) and broadcast.

        Numbers become literals of the accumulation type. The result has type `dtype`, by default `compute`.
        """
        compute = compute or self.promoted(*operands)
        tensors = self.broadcast(*(self.cast(o, compute) for o in operands if isinstance(o, Value)))
        rest = iter(tensors)
        arguments = [next(rest) if isinstance(o, Value) else number(o, compute) for o in operands]
        known = self._common_extents(tensors)
        return self.call(function, *arguments, shape=tensors[0].shape, dtype=dtype or compute, extents=known, dims=dims)

    def promoted(self, *operands: Operand) -> torch.dtype:
        """The type in which torch combines these operands."""
        return promote(*((o.dtype, o.rank) if isinstance(o, Value) else o for o in operands))

    def cast(self, value: Value, dtype: torch.dtype) -> Value:
        """`value` in another element type; itself if it has that type."""
        if value.dtype == dtype:
            return value
        known = self.known_extents(value)
        return self.call("cast", value, shape=value.shape, dtype=dtype, extents=known, dims={"T": dtype})

    def copy(self, value: Value) -> Value:
        """A copy, which is a source operator of its own (`contiguous`, `clone`)."""
        return self.call("copy", value, shape=value.shape, dtype=value.dtype, extents=self.known_extents(value))

    def constant(self, value: Number, shape: Sequence[int], dtype: torch.dtype) -> Value:
        """A tensor filled with one number."""
        scalar = self.call("constant", number(value, dtype), shape=(), dtype=dtype, dims={"T": dtype})
        return self.expand(scalar, shape)

    def concat(self, values: Sequence[Value], axis: int) -> Value:
        """`let y = concat(...)`."""
        if len(values) == 1:
            return self.copy(values[0])
        axis = values[0].axis(axis)
        shape = list(values[0].shape)
        shape[axis] = sum(v.shape[axis] for v in values)
        known = self._common_extents(values)
        known[axis] = None
        result = self._value(Meta(tuple(shape), values[0].dtype), "cat", known)
        parts = ", ".join(v.token for v in values)
        self._emit([result], values, f"let {result.token} = concat({parts}; axis = {axis})")
        return result

    def stack(self, values: Sequence[Value], axis: int) -> Value:
        """`let y = stack(...)`: along a new axis."""
        if len(values) == 1:
            return self.unsqueeze(values[0], axis)
        axis %= values[0].rank + 1
        shape = list(values[0].shape)
        shape.insert(axis, len(values))
        known = self._common_extents(values)
        known.insert(axis, None)
        result = self._value(Meta(tuple(shape), values[0].dtype), "stacked", known)
        parts = ", ".join(v.token for v in values)
        self._emit([result], values, f"let {result.token} = stack({parts}; axis = {axis})")
        return result

    def kernel(self, result: Meta, text: str, operands: Sequence[Value], extents: Sequence[str]) -> Value:
        """A loop nest written out. Only for operators whose argument is itself a nest, as einsum's equation is.

        `text` follows `kernel NAME: TYPE[extents]`, with `@` for the name.
        """
        value = self._value(result, "nest", list(extents))
        declared = f"{type_name(result.dtype)}[{', '.join(extents)}]"
        body = text.replace("@", value.token)
        self._emit([value], operands, f"kernel {value.token}: {declared} {{ {body} }}")
        return value

    # Writes to parts of a tensor.

    def write_slice(self, base: Value, value: Value, axis: int, start: int, step: int = 1) -> Value:
        """`base` with `value` in its places start, start + step, ... along an axis."""
        axis = base.axis(axis)
        if value.shape == base.shape:
            return value
        last, part = self.to_last(base, [axis]), self.to_last(value, [axis])
        dims = {"START": self.dim("start", start) if start else 0, "STEP": step}
        y = self.call(
            "write_slice", last, part, shape=last.shape, dtype=base.dtype, extents=self.extents(last), dims=dims
        )
        return self.from_last(y, [axis])

    def write_diagonal(self, base: Value, value: Value, offset: int, first: int, second: int) -> Value:
        """`base` with `value` on a diagonal of two of its axes; the diagonal is the last axis of `value`."""
        last = self.to_last(base, [first, second])
        dims = {"UP": max(offset, 0), "DOWN": max(-offset, 0)}
        y = self.call(
            "write_diagonal", last, value, shape=last.shape, dtype=base.dtype, extents=self.extents(last), dims=dims
        )
        return self.from_last(y, [first, second])

    # State, random numbers, memory layout, counts.

    def write(self, old: Value, new: Value) -> None:
        """The operator stores `new` in the tensor that `old` is (running statistics, say)."""
        self.writes.append((old, new))

    def rng(self, name: str, shape: Sequence[int], dtype: torch.dtype) -> Value:
        """A tensor of random numbers, drawn by the caller."""
        return self.port("rng", name, shape, dtype)

    def is_contiguous(self, value: Value) -> bool:
        """Whether torch keeps the tensor in row-major order without gaps."""
        return self._sample(value).is_contiguous()

    def in_memory(self, value: Value) -> Value:
        """The elements in the order in which torch keeps them. Raises NotLoweredError where these are not together."""
        strides = self.strides.get(value, ())
        order = sorted(range(len(strides)), key=lambda axis: (-strides[axis], axis))
        shape = [value.shape[axis] for axis in order]
        if strides and not torch.empty_strided(shape, [strides[a] for a in order], device="meta").is_contiguous():
            raise NotLoweredError("its argument is not contiguous in memory")
        return self.permute(value, order) if strides else value

    def is_viewable(self, value: Value, shape: Sequence[int]) -> bool:
        """Whether torch can reshape the tensor without a copy."""
        try:
            self._sample(value).view(tuple(shape))
        except RuntimeError:
            return False
        return True

    def nominal(self, expression: str) -> None:
        """Declares the multiply-accumulates that a FLOP counter means, where the box count of the nests differs."""
        self._group.nominal = expression

    def unsupported(self, reason: str) -> NotLoweredError:
        """`raise b.unsupported("ceil_mode with dilation")`."""
        return NotLoweredError(reason)

    # For the tracer.

    def port(
        self, role: str, name: str, shape: Sequence[int], dtype: torch.dtype, values: Sequence[Number] = ()
    ) -> Value:
        """A tensor of the signature. Its axes are free dims."""
        if type_name(dtype) is None:
            raise NotLoweredError(f"the type {dtype} is not supported")
        value = self._value(Meta(tuple(shape), dtype), "")
        self._draft.hints[value.token] = (name, "")
        self.extents(value)
        self._draft.ports.append(Port(role, value, name, tuple(values)))
        return value

    @contextmanager
    def operator(self, name: str, at: str, module: str, base: str) -> Iterator[None]:
        """Everything emitted inside belongs to one source operator."""
        self._group = Group(name, at, module, "", names.identifier(base))
        self._draft.groups.append(self._group)
        try:
            yield
        finally:
            self._group = Group()
            self._draft.groups.append(self._group)

    def name_result(self, value: Value, base: str) -> None:
        """Gives the result of the current operator the operator's own name."""
        if self._draft.hints[value.token][0] == self._group.base:
            self._draft.hints[value.token] = (names.identifier(base), "")

    def emitted(self) -> int:
        """The number of statements of the current operator so far."""
        return len(self._group.statements)

    def only_views(self, before: int) -> bool:
        """Whether the current operator has done nothing but views since it had `before` statements."""
        return all(s.is_view for s in self._group.statements[before:])

    def output(self, value: Value) -> None:
        """One more output of the program."""
        self._draft.outputs.append(value.token)

    def has_outputs(self) -> bool:
        """Whether the program has any output yet."""
        return bool(self._draft.outputs)

    def update(self, state: Value, value: Value) -> None:
        """The state port's value after the program."""
        self._draft.updates.append((state.token, value.token))
        for port in self._draft.ports:
            if port.value is state:
                port.role = "state"

    def finish(self) -> Program:
        """The program's text, without what nobody uses."""
        return render(self._draft)

    def _sample(self, value: Value) -> torch.Tensor:
        """A tensor without storage that has the value's layout."""
        strides = self.strides.get(value)
        if strides is None:
            return torch.empty(value.shape, device="meta")
        return torch.empty_strided(value.shape, strides, device="meta")

    def _common_extents(self, values: Sequence[Value]) -> list[str | None]:
        columns = zip(*(self.known_extents(v) for v in values), strict=True)
        return [next((e for e in column if e is not None), None) for column in columns]


def _attribute(value: object) -> str:
    """A value after `;` in a call: a dim expression, an integer, a flag, an element type."""
    if isinstance(value, torch.dtype):
        name = type_name(value)
        if name is None:
            raise NotLoweredError(f"the type {value} is not supported")
        return name
    return literal(value) if isinstance(value, bool) else str(value)
