"""Runs Affine Loop IR with NumPy, apart from the project's own executor.

Every tensor carries one more axis in front, the *sample*: a program is evaluated on many inputs at once. A kernel is
evaluated over its whole iteration space by broadcasting, so sizes should be small.

Two arithmetics: `exact=True` computes all floats in float64 and never rounds to a narrower type, which tells whether
two programs mean the same function; `exact=False` rounds as the language says (float32 inside, a store rounds to the
tensor's type).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import numpy_control, numpy_kernel, numpy_scatter, numpy_selection
from .alir_nodes import (
    Apply,
    Axis,
    Dims,
    Expression,
    File,
    Function,
    If,
    Item,
    Kernel,
    Name,
    Number,
    Opaque,
    Pack,
    Repeat,
    Require,
    Slice,
    Statement,
    Type,
    Unary,
    Update,
    View,
    While,
)
from .numpy_values import FLOATS, INTEGERS, Array, ProgramError, Tensor, dim_value, dtype_of, round_to, widened


@dataclass(frozen=True)
class Outcome:
    """What a program gives: its outputs by name, and the new values of its states."""

    outputs: dict[str, Array]
    states: dict[str, Array]


class Scope:
    """The names of one function or program body."""

    def __init__(self, functions: Mapping[str, Function], samples: int, exact: bool) -> None:
        self.functions = functions
        self.samples = samples
        self.exact = exact
        self.dims: dict[str, int] = {}
        self.steps: dict[str, int] = {}  # variables of the repeats around
        self.packs: dict[str, tuple[int, ...]] = {}
        self.types: dict[str, str] = {}
        self.tensors: dict[str, Tensor] = {}
        self.updates: dict[str, str] = {}

    # --- types ----------------------------------------------------------------------------------------

    def element(self, type_: Type) -> str:
        element = self.types.get(type_.element, type_.element)
        return widened(element) if type_.wide else element

    def shape(self, type_: Type) -> tuple[int, ...]:
        shape: list[int] = []
        for extent in type_.extents:
            if isinstance(extent, Pack):
                shape.extend(self.packs[extent.name])
            else:
                shape.append(dim_value(extent, self.dims))
        return tuple(shape)

    # --- statements -----------------------------------------------------------------------------------

    def declare(self, body: tuple[Statement, ...]) -> None:
        """The dims alone: a signature uses them before the body runs."""
        for statement in body:
            if isinstance(statement, Dims):
                for name, value in statement.values.items():
                    self.dims[name] = dim_value(value, self.dims)

    def run(self, body: tuple[Statement, ...]) -> None:
        for statement in body:
            if isinstance(statement, Dims):
                self.declare((statement,))
            elif isinstance(statement, Require):
                if not dim_value(statement.condition, self.dims):
                    raise ProgramError("a required condition does not hold")
            elif isinstance(statement, Kernel) and statement.scatter:
                self.tensors.update(numpy_scatter.run(statement, self))
            elif isinstance(statement, Kernel):
                self.tensors.update(numpy_kernel.run(statement, self))
            elif isinstance(statement, View):
                self.tensors[statement.output] = self.view(statement)
            elif isinstance(statement, Slice):
                self.tensors[statement.output] = self.slice(statement)
            elif isinstance(statement, Apply):
                self.tensors.update(self.apply(statement))
            elif isinstance(statement, Update):
                self.updates[statement.state] = statement.value
            elif isinstance(statement, Repeat):
                self.tensors.update(numpy_control.repeat(statement, self))
            elif isinstance(statement, While):
                self.tensors.update(numpy_control.run_while(statement, self))
            elif isinstance(statement, If):
                self.tensors.update(numpy_control.run_if(statement, self))
            elif isinstance(statement, Opaque):
                raise ProgramError(f"`{statement.operator}` has no body", "hole")

    def view(self, view: View) -> Tensor:
        source = self.tensors[view.source]
        named = sum(not axis.pack for axis in view.left)
        rank = source.values.ndim - 1
        sizes: dict[str, int] = {}
        order: list[str] = []  # atoms of the source, outermost first
        packs: dict[str, list[str]] = {}
        position = 0
        for axis in view.left:
            if axis.pack:
                atoms = [f"*{axis.name}{i}" for i in range(rank - named)]
                packs[axis.name] = atoms
                for atom in atoms:
                    sizes[atom] = source.shape[position]
                    position += 1
                order.extend(atoms)
            else:
                order.extend(self.split(axis, source.shape[position], sizes))
                position += 1
        if position != rank:
            raise ProgramError(f"view of `{view.source}`: {position} axes for rank {rank}")
        values = source.values.reshape((self.samples, *(sizes[atom] for atom in order)))

        right: list[str] = []
        shape: list[int] = []
        for axis in view.right:
            members = axis.group if axis.group is not None else (axis,)
            extent = 1
            for member in members:
                if member.pack:
                    right.extend(packs[member.name])
                    if axis.pack:
                        shape.extend(sizes[atom] for atom in packs[member.name])
                    else:  # in a group: merged with its other members
                        extent *= int(np.prod([sizes[atom] for atom in packs[member.name]]))
                    continue
                if member.name != "1":
                    if member.name not in sizes:
                        if member.extent is None:
                            raise ProgramError(f"view: extent of `{member.name}` unknown")
                        sizes[member.name] = dim_value(member.extent, self.dims)
                    right.append(member.name)
                    extent *= sizes[member.name]
            if not axis.pack:
                shape.append(extent)
        new = [atom for atom in right if atom not in order]
        if len(set(right)) != len(right) or set(order) - set(right):
            raise ProgramError("view: an axis is dropped or repeated")
        values = values.reshape(values.shape + (1,) * len(new))
        placed = order + new
        values = values.transpose((0, *(1 + placed.index(atom) for atom in right)))
        values = np.broadcast_to(values, (self.samples, *(sizes[atom] for atom in right)))
        return Tensor(source.element, values.reshape((self.samples, *shape)))

    def split(self, axis: Axis, extent: int, sizes: dict[str, int]) -> list[str]:
        """The atoms of one axis; fills in their sizes."""
        members = axis.group if axis.group is not None else (axis,)
        known, open_atom = 1, None
        atoms = []
        for member in members:
            if member.name == "1":
                continue
            atoms.append(member.name)
            if member.extent is None:
                if open_atom is not None:
                    raise ProgramError("view: two extents to infer in one axis")
                open_atom = member.name
            else:
                sizes[member.name] = dim_value(member.extent, self.dims)
                known *= sizes[member.name]
        if open_atom is not None:
            sizes[open_atom] = extent // known
            known *= sizes[open_atom]
        if known != extent:
            raise ProgramError(f"view: axis of extent {extent} split into {known}")
        return atoms

    def slice(self, slice_: Slice) -> Tensor:
        source = self.tensors[slice_.source]
        rank = source.values.ndim - 1
        index: list[Any] = [slice(None)]
        starts: list[tuple[int, Item]] = []
        bounds = {**self.dims, **self.steps}
        for item in slice_.items:
            extent = source.shape[len(index) - 1] if len(index) <= rank else 0
            if item.kind == "...":
                index.extend([slice(None)] * (rank - len(slice_.items) + 1))
                continue
            if item.kind == "reverse":
                index.append(slice(None, None, -1))
                continue
            if item.kind == "at":
                starts.append((len(index) - 1, item))
                index.append(slice(None))
                continue
            start = 0 if item.start is None else dim_value(item.start, bounds)
            if item.kind == "index":
                if not 0 <= start < extent:
                    raise ProgramError("slice: index outside the axis")
                index.append(start)
                continue
            stop = extent if item.stop is None else dim_value(item.stop, bounds)
            step = 1 if item.step is None else dim_value(item.step, bounds)
            if not 0 <= start < stop <= extent:
                raise ProgramError("slice: range outside the axis")
            index.append(slice(start, stop, step))
        values = source.values
        for axis, item in starts:
            values = self.at(values, axis, item)
        return Tensor(source.element, values[tuple(index)])

    def at(self, values: Array, axis: int, item: Item) -> Array:
        """A range of one axis whose start is a tensor's value."""
        assert isinstance(item.start, Name)
        assert item.stop is not None
        size = dim_value(item.stop, self.dims)
        starts = self.tensors[item.start.name].values
        if ((starts < 0) | (starts + size > values.shape[axis + 1])).any():
            raise ProgramError("a run-time slice leaves its axis", "index-out-of-range")
        place = starts[:, None] + np.arange(size)
        place = place.reshape(len(starts), *([1] * axis), size, *([1] * (values.ndim - axis - 2)))
        return np.take_along_axis(values, place, axis=axis + 1)

    def single(self, sample: int) -> "Scope":
        """The same names on one sample alone."""
        inner = Scope(self.functions, 1, self.exact)
        inner.dims, inner.steps, inner.packs, inner.types = self.dims, dict(self.steps), self.packs, self.types
        inner.tensors = {n: Tensor(t.element, t.values[sample : sample + 1]) for n, t in self.tensors.items()}
        return inner

    # --- calls ----------------------------------------------------------------------------------------

    def apply(self, call: Apply) -> dict[str, Tensor]:
        if call.function in numpy_selection.OPERATIONS:
            return numpy_selection.OPERATIONS[call.function](call, self)
        if call.function not in self.functions:
            raise ProgramError(f"no function `{call.function}`")
        function = self.functions[call.function]
        inner = Scope(self.functions, self.samples, self.exact)
        generics = {name: kind for kind, name in function.generics}
        for name, value in call.attributes.items():
            if generics.get(name) == "type":
                assert isinstance(value, Name)
                inner.types[name] = self.types.get(value.name, value.name)
            else:
                inner.dims[name] = dim_value(value, self.dims)
        for argument, (_, type_) in zip(call.arguments, function.parameters, strict=True):
            if isinstance(argument, Name):
                inner.bind(type_, self.tensors[argument.name], generics)
        for argument, (name, type_) in zip(call.arguments, function.parameters, strict=True):
            tensor = self.argument(argument, inner.element(type_))
            if tensor.shape != inner.shape(type_):
                raise ProgramError(f"{call.function}: `{name}` has shape {tensor.shape}, not {inner.shape(type_)}")
            inner.tensors[name] = tensor
        inner.run(function.body)
        results = [inner.tensors[name] for name in function.results]
        return dict(zip(call.results, results, strict=True))

    def bind(self, type_: Type, tensor: Tensor, generics: Mapping[str, str]) -> None:
        """Takes dims, packs and types of a parameter from its argument."""
        if generics.get(type_.element) == "type" and not type_.wide:
            if self.types.setdefault(type_.element, tensor.element) != tensor.element:
                raise ProgramError(f"two types for `{type_.element}`")
        elif not type_.wide and self.element(type_) != tensor.element:
            raise ProgramError(f"argument of type {tensor.element}, not {type_.element}")
        packs = [i for i, extent in enumerate(type_.extents) if isinstance(extent, Pack)]
        extents: list[Expression | Pack] = list(type_.extents)
        shape: list[Any] = list(tensor.shape)
        if packs:
            first, length = packs[0], len(shape) - len(extents) + 1
            pack = extents[first]
            assert isinstance(pack, Pack)
            found = tuple(shape[first : first + length])
            if self.packs.setdefault(pack.name, found) != found:
                raise ProgramError(f"two shapes for `*{pack.name}`")
            del extents[first]
            del shape[first : first + length]
        if len(shape) != len(extents):
            raise ProgramError(f"argument of rank {len(tensor.shape)}, not {len(type_.extents)}")
        for extent, size in zip(extents, shape, strict=True):
            if isinstance(extent, Name) and self.dims.setdefault(extent.name, size) != size:
                raise ProgramError(f"two sizes for `{extent.name}`")

    def argument(self, argument: Expression, element: str | None) -> Tensor:
        if isinstance(argument, Name):
            return self.tensors[argument.name]
        sign = 1
        if isinstance(argument, Unary):
            sign, argument = -1, argument.operand
        assert isinstance(argument, Number)
        if element is None:
            raise ProgramError("a literal where a tensor is needed")
        values = np.full(self.samples, sign * argument.value, dtype=dtype_of(element, self.exact))
        return Tensor(element, round_to(values, element, self.exact))


def evaluate(
    file: File,
    prelude: Mapping[str, Function],
    ports: Mapping[str, npt.NDArray[Any]],
    exact: bool,
) -> Outcome:
    """Runs the file's program. `ports`: name -> values with the sample axis in front; `const` ports need none."""
    program = file.program
    if program is None:
        raise ProgramError("the file holds no program")
    samples = len(next(iter(ports.values())))
    scope = Scope({**prelude, **file.functions}, samples, exact)
    scope.declare(program.body)
    for port in program.ports:
        element, shape = scope.element(port.type), scope.shape(port.type)
        if element not in FLOATS and element not in INTEGERS and element != "bool":
            raise ProgramError(f"element type {element}")
        if port.values is not None:
            values = np.broadcast_to(np.array(port.values).reshape(shape), (samples, *shape))
        else:
            values = np.asarray(ports[port.name])
        if values.shape != (samples, *shape):
            raise ProgramError(f"`{port.name}` has shape {values.shape[1:]}, not {shape}")
        values = values.astype(dtype_of(element, exact))
        scope.tensors[port.name] = Tensor(element, round_to(values, element, exact))
    scope.run(program.body)
    outputs = {name: scope.tensors[name].values for name in program.results}
    states = {state: scope.tensors[value].values for state, value in scope.updates.items()}
    return Outcome(outputs, states)
