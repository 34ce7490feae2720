"""aten.index: x[:, i, j] with tensors of indices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from solar.frontends.torch.ops.gather import index_select, wrapped
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solar.frontends.torch.builder import Builder, Value

_MOST = 4  # prelude functions: index_2 .. index_4


@lowering("aten.index.Tensor", "aten._unsafe_index.Tensor")
def index(b: Builder, x: Value, indices: Sequence[Value | None]) -> Value:
    axes, places = indexed_axes(b, x, indices)
    if len(axes) == 1:
        return _one(b, x, axes[0], places[0])
    if len(axes) > _MOST:
        raise b.unsupported(f"{len(axes)} tensors of indices")
    places = b.broadcast(*places)
    first = b.permute(x, [*axes, *(a for a in range(x.rank) if a not in axes)])
    shape = (*places[0].shape, *first.shape[len(axes) :])
    known = [*b.extents(places[0]), *b.extents(first)[len(axes) :]]
    y = b.call(f"index_{len(axes)}", first, *places, shape=shape, dtype=x.dtype, extents=known)
    return b.permute(y, order_of_result(axes, places[0].rank, y.rank))


def indexed_axes(b: Builder, x: Value, indices: Sequence[Value | None]) -> tuple[list[int], list[Value]]:
    """The axes that have indices, and the indices: integers that count from the start."""
    axes: list[int] = []
    places: list[Value] = []
    for axis, given in enumerate(indices):
        if given is None:
            continue
        if given.dtype in (torch.bool, torch.uint8):
            raise b.unsupported("a mask as index: the number of elements depends on data")
        axes.append(axis)
        places.append(wrapped(b, given, b.extent(x, axis)))
    return axes, places


def order_of_result(axes: Sequence[int], rank: int, whole: int) -> list[int]:
    """From the axes of the indices, then the rest, to torch's order: neighbouring axes are replaced where they are."""
    neighbours = axes[-1] - axes[0] + 1 == len(axes)
    before = axes[0] if neighbours else 0
    return [*range(rank, rank + before), *range(rank), *range(rank + before, whole)]


def _one(b: Builder, x: Value, axis: int, places: Value) -> Value:
    rows = index_select(b, x, axis, b.reshape(places, (-1,)))
    if places.rank == 1:
        return rows
    if places.rank == 0:
        return b.squeeze(rows, [axis])
    return b.split_axis(rows, axis, places.shape, [b.extent(places, a) for a in range(places.rank)])
