"""Views: statements that cost nothing. Every method returns its argument where nothing changes."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import torch

from solar.frontends.torch import names
from solar.frontends.torch.draft import Draft, Group, Meta, Statement, Value
from solar.frontends.torch.errors import NotLoweredError
from solar.frontends.torch.reshaping import Piece, atom_patterns, refine, without_minus_one

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Views:
    """The part of the builder that makes dims and views."""

    def __init__(self, name: str) -> None:
        self._draft = Draft(name)
        self._group = Group()
        self._draft.groups.append(self._group)

    # Dims.

    def dim(self, hint: str, value: int) -> str:
        """A new free dim with this value, to be used in texts and as an argument after `;`."""
        token = self._draft.token(self._group.base, hint)
        self._draft.dims[token] = value
        return token

    def extent(self, value: Value, axis: int) -> str:
        """The dim expression that is the extent of an axis."""
        return self._draft.extent(value, value.axis(axis))

    def extents(self, value: Value) -> list[str | None]:
        """The extents of all axes; give them to a result of the same shape."""
        return [self.extent(value, axis) for axis in range(value.rank)]

    def known_extents(self, value: Value) -> list[str | None]:
        """The extents that have a dim expression already."""
        return list(self._draft.extents[value.token])

    # Repeating.

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
        offset = len(shape) - value.rank
        tail = (s if n == -1 else n for n, s in zip(shape[offset:], value.shape, strict=True))
        shape = (*shape[:offset], *tail)
        if shape == value.shape:
            return value
        left: list[str] = []
        right: list[str] = []
        known: list[str | None] = []
        source = self.known_extents(value)
        for axis, (n, letter) in enumerate(zip(shape, self._letters(), strict=False)):
            if axis >= offset and value.shape[axis - offset] == n:
                left.append(letter)
                right.append(letter)
                known.append(source[axis - offset])
                continue
            given = (extents[axis] if extents is not None else None) or self.dim(f"{axis}", n)
            left += ["1"] if axis >= offset else []
            right.append(f"{letter}:{given}")
            known.append(given)
        return self._view(value, left, right, shape, known)

    # Reordering.

    def permute(self, value: Value, order: Sequence[int]) -> Value:
        """torch.permute."""
        order = [value.axis(a) for a in order]
        if order == sorted(order):
            return value
        letters = self._letters_of(value)
        known = self.known_extents(value)
        shape = [value.shape[a] for a in order]
        return self._view(value, letters, [letters[a] for a in order], shape, [known[a] for a in order])

    def transpose(self, value: Value, first: int, second: int) -> Value:
        """Two axes swapped."""
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

    def flip(self, value: Value, axes: Sequence[int]) -> Value:
        """Axes read backwards."""
        if not axes or not value.rank:
            return value
        flipped = {value.axis(a) for a in axes}
        items = ["reverse" if a in flipped else ":" for a in range(value.rank)]
        return self._slice(value, items, value.shape, self.known_extents(value), "flip")

    # Splitting and merging axes.

    def unsqueeze(self, value: Value, axis: int) -> Value:
        """A new axis of extent 1."""
        axis = axis % (value.rank + 1)
        letters = self._letters_of(value)
        shape = (*value.shape[:axis], 1, *value.shape[axis:])
        known = self.known_extents(value)
        right = [*letters[:axis], "1", *letters[axis:]]
        return self._view(value, letters, right, shape, [*known[:axis], "1", *known[axis:]])

    def squeeze(self, value: Value, axes: Sequence[int]) -> Value:
        """Drops those of the axes whose extent is 1."""
        dropped = {value.axis(a) for a in axes if value.rank and value.shape[value.axis(a)] == 1}
        if not dropped:
            return value
        letters = self._letters_of(value)
        left = ["1" if axis in dropped else letter for axis, letter in enumerate(letters)]
        kept = [axis for axis in range(value.rank) if axis not in dropped]
        source = self.known_extents(value)
        shape = [value.shape[a] for a in kept]
        return self._view(value, left, [letters[a] for a in kept], shape, [source[a] for a in kept])

    def split_axis(self, value: Value, axis: int, sizes: Sequence[int], extents: Sequence[str] | None = None) -> Value:
        """One axis as several, outermost first."""
        axis = value.axis(axis)
        parts = list(extents) if extents else [self.dim(f"{axis}_{i}", n) for i, n in enumerate(sizes)]
        letters = self._letters()
        before = [next(letters) for _ in range(axis)]
        atoms = [next(letters) for _ in sizes]
        after = [next(letters) for _ in range(axis + 1, value.rank)]
        group = ", ".join(f"{atom}:{part}" for atom, part in zip(atoms, parts, strict=True))
        source = self.known_extents(value)
        return self._view(
            value,
            [*before, f"({group})", *after],
            [*before, *atoms, *after],
            [*value.shape[:axis], *sizes, *value.shape[axis + 1 :]],
            [*source[:axis], *parts, *source[axis + 1 :]],
        )

    def merge_axes(self, value: Value, first: int, last: int) -> Value:
        """Axes first .. last (inclusive) as one."""
        first, last = value.axis(first), value.axis(last)
        if value.rank and first == last:
            return value
        merged = math.prod(value.shape[first : last + 1])
        return self.reshape(value, (*value.shape[:first], merged, *value.shape[last + 1 :]))

    def reshape(self, value: Value, shape: Sequence[int]) -> Value:
        """torch.view: the same elements in row-major order."""
        shape = without_minus_one(value.shape, shape)
        if shape == value.shape:
            return value
        pieces = refine(value.shape, shape)
        if pieces is not None:
            return self._reshape(value, shape, pieces)
        flat = self._reshape(value, (math.prod(value.shape),), [(list(range(value.rank)), [0], None)])
        return self._reshape(flat, shape, [([0], list(range(len(shape))), None)])

    # Parts.

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

    def index(self, value: Value, axis: int, position: int) -> Value:
        """value[position] along one axis, which is dropped. Negative positions count from the end."""
        axis = value.axis(axis)
        if position < 0:
            return self.slice_text(value, axis, f"{self.extent(value, axis)} - {-position}", None)
        return self.slice_text(value, axis, self.dim("index", position) if position else "0", None)

    def slice_text(self, value: Value, axis: int, item: str, extent: int | None) -> Value:
        """A slice written out; `extent` None means that the item is an index and drops the axis."""
        axis = value.axis(axis)
        items = [":"] * value.rank
        items[axis] = item
        known = self.known_extents(value)
        known[axis : axis + 1] = [] if extent is None else [None]
        left = () if extent is None else (extent,)
        return self._slice(value, items, (*value.shape[:axis], *left, *value.shape[axis + 1 :]), known, "slice")

    # Emitting.

    def _emit(self, results: Sequence[Value], operands: Sequence[Value], text: str, *, is_view: bool = False) -> None:
        defines = tuple(r.token for r in results)
        self._group.statements.append(Statement(defines, tuple(o.token for o in operands), text, is_view))

    def _value(self, meta: Meta, hint: str, extents: Sequence[str | None] | None = None) -> Value:
        value = Value(self._draft.token(self._group.base, hint), tuple(meta.shape), meta.dtype)
        if any(n < 1 for n in value.shape):
            raise NotLoweredError(f"a tensor of shape {list(value.shape)} has no elements")
        self._draft.extents[value.token] = list(extents) if extents is not None else [None] * value.rank
        return value

    def _slice(
        self, value: Value, items: Sequence[str], shape: Sequence[int], extents: Sequence[str | None], hint: str
    ) -> Value:
        result = self._value(Meta(tuple(shape), value.dtype), hint, extents)
        self._emit([result], [value], f"slice {result.token} = {value.token}[{', '.join(items)}]", is_view=True)
        return result

    def _view(
        self,
        value: Value,
        left: Sequence[str],
        right: Sequence[str],
        shape: Sequence[int],
        extents: Sequence[str | None],
    ) -> Value:
        result = self._value(Meta(tuple(shape), value.dtype), "view", extents)
        pattern = " ".join(filter(None, [", ".join(left), "->", ", ".join(right)]))
        self._emit([result], [value], f"view {result.token} = {value.token} {{ {pattern} }}", is_view=True)
        return result

    def _reshape(self, value: Value, shape: tuple[int, ...], pieces: Sequence[Piece]) -> Value:
        letters = self._letters()
        left = [""] * value.rank
        right = [""] * len(shape)
        known: list[str | None] = [None] * len(shape)
        for ins, outs, atoms in pieces:
            named = [next(letters) for _ in atoms or (ins if len(ins) >= len(outs) else outs)]
            if not ins or not outs:
                for i in ins:
                    left[i] = "1"
                for o in outs:
                    right[o] = known[o] = "1"
            elif atoms:
                dims = [self.dim(f"part_{i}", n) for i, n in enumerate(atoms)]
                self._place(left, ins, atom_patterns([value.shape[i] for i in ins], atoms, named, dims))
                self._place(right, outs, atom_patterns([shape[o] for o in outs], atoms, named, []))
            elif len(ins) == 1 and len(outs) == 1:
                left[ins[0]] = right[outs[0]] = named[0]
                known[outs[0]] = self.known_extents(value)[ins[0]]
            elif len(outs) == 1:
                self._place(left, ins, named)
                right[outs[0]] = f"({', '.join(named)})"
                known[outs[0]] = "*".join(_factor(self.extent(value, i)) for i in ins)
            else:
                dims = [self.dim(str(o), shape[o]) for o in outs]
                left[ins[0]] = f"({', '.join(f'{a}:{d}' for a, d in zip(named, dims, strict=True))})"
                self._place(right, outs, named)
                for o, dim in zip(outs, dims, strict=True):
                    known[o] = dim
        return self._view(value, left, right, shape, known)

    @staticmethod
    def _place(target: list[str], places: Sequence[int], texts: Sequence[str]) -> None:
        for place, text in zip(places, texts, strict=True):
            target[place] = text

    def _letters(self) -> Iterator[str]:
        return names.letters({port.name for port in self._draft.ports})

    def _letters_of(self, value: Value) -> list[str]:
        return [letter for _, letter in zip(value.shape, self._letters(), strict=False)]


def _factor(expression: str) -> str:
    return expression if re.fullmatch(r"[<>\w*]+", expression) else f"({expression})"
