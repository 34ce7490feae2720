"""aten.gather, aten.index_select, aten.take: reads at indices that are data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.gather.default")
def gather(b: Builder, x: Value, dim: int, index: Value, sparse_grad: bool = False) -> Value:
    if x.rank == 0:
        y = gather(b, b.unsqueeze(x, 0), 0, b.reshape(index, (-1,)))
        return b.reshape(y, index.shape)
    axis = x.axis(dim)
    for other in range(x.rank):
        if other != axis:
            x = b.slice(x, other, 0, index.shape[other])
    rows = b.to_last(x, [axis])
    places = b.to_last(b.cast(index, torch.int64), [axis])
    y = b.call("gather", rows, places, shape=places.shape, dtype=x.dtype, extents=b.extents(places))
    return b.from_last(y, [axis])


@lowering("aten.index_select.default")
def index_select(b: Builder, x: Value, dim: int, index: Value) -> Value:
    if x.rank == 0:
        return b.reshape(index_select(b, b.unsqueeze(x, 0), 0, index), b.result.shape)
    axis = x.axis(dim)
    index = b.reshape(index, (-1,))
    rows = b.to_last(x, [axis])
    places = b.cast(index, torch.int64)
    shape = (*rows.shape[:-1], places.shape[0])
    known = [*b.extents(rows)[:-1], b.extent(places, 0)]
    y = b.call("index_select", rows, places, shape=shape, dtype=x.dtype, extents=known)
    return b.from_last(y, [axis])


@lowering("aten.take.default")
def take(b: Builder, x: Value, index: Value) -> Value:
    """Elements of all of x, in its order."""
    flat = b.reshape(x, (-1,))
    places = wrapped(b, b.reshape(index, (-1,)), b.extent(flat, 0))
    return b.reshape(index_select(b, flat, 0, places), index.shape)


def wrapped(b: Builder, places: Value, extent: str) -> Value:
    """Indices into an axis, of which negative ones count from the end."""
    return b.call(
        "wrapped_index",
        b.cast(places, torch.int64),
        shape=places.shape,
        dtype=torch.int64,
        extents=b.extents(places),
        dims={"N": extent},
    )
