"""aten.index_put, aten.index_add, aten.index_copy, aten.index_fill, aten.index_reduce, aten.masked_scatter."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from solar.frontends.torch.ops.gather import wrapped
from solar.frontends.torch.ops.index import indexed_axes, order_of_result
from solar.frontends.torch.ops.scatter import filled, scatter_reduce
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solar.frontends.torch.builder import Builder, Value
    from solar.frontends.torch.dtypes import Number

_MOST = 3  # prelude functions: index_put_1 .. index_put_3


@lowering("aten.index_put.default", "aten._index_put_impl.default", "aten._unsafe_index_put.default")
def index_put(
    b: Builder, x: Value, indices: Sequence[Value | None], values: Value, accumulate: bool = False, unsafe: bool = False
) -> Value:
    given = [i for i in indices if i is not None]
    if len(given) == 1 and given[0].dtype == torch.bool and not accumulate and math.prod(values.shape) == 1:
        return _put_by_mask(b, x, [i is None for i in indices].index(False), given[0], values)
    axes, places = indexed_axes(b, x, indices)
    if len(axes) > _MOST:
        raise b.unsupported(f"{len(axes)} tensors of indices")
    places = b.broadcast(*places)
    order = [*axes, *(a for a in range(x.rank) if a not in axes)]
    first = b.permute(x, order)
    rest = first.shape[len(axes) :]
    flat = [b.reshape(p, (-1,)) for p in places]
    if accumulate or math.prod(values.shape) > 1:
        ordered = order_of_result(axes, places[0].rank, places[0].rank + len(rest))
        shape = (*places[0].shape, *rest)
        source = b.expand(b.cast(values, x.dtype), [shape[a] for a in ordered])
        source = b.permute(source, [ordered.index(a) for a in range(len(shape))])
        source = b.reshape(source, (flat[0].shape[0], *rest))
        y = _write(b, "add" if accumulate else "put", first, flat, source)
    else:
        y = filled(b, first, _touched(b, first, flat), b.reshape(values, ()))
    return b.permute(y, [order.index(a) for a in range(x.rank)])


def _put_by_mask(b: Builder, x: Value, axis: int, mask: Value, value: Value) -> Value:
    """x[mask] = one number. The mask covers its axes from `axis` on."""
    for _ in range(x.rank - axis - mask.rank):
        mask = b.unsqueeze(mask, -1)
    return filled(b, x, b.expand(mask, x.shape, b.extents(x)), b.reshape(value, ()))


def _write(b: Builder, how: str, x: Value, places: Sequence[Value], source: Value) -> Value:
    """`places`, one vector for each of the first axes of x."""
    function = f"index_{how}_{len(places)}"
    return b.call(function, x, *places, source, shape=x.shape, dtype=x.dtype, extents=b.extents(x))


def _touched(b: Builder, x: Value, places: Sequence[Value]) -> Value:
    """Where x is written to, over all of its axes."""
    count = len(places)
    known = b.extents(x)[:count]
    dims = dict(zip("ABC", known, strict=False))
    function = f"index_touched_{count}"
    mask = b.call(function, *places, shape=x.shape[:count], dtype=torch.bool, extents=known, dims=dims)
    for _ in range(x.rank - count):
        mask = b.unsqueeze(mask, -1)
    return b.expand(mask, x.shape, b.extents(x))


@lowering("aten.put.default")
def put(b: Builder, x: Value, index: Value, source: Value, accumulate: bool = False) -> Value:
    """x with elements of all of it, in its order, replaced or added to."""
    y = index_put(b, b.reshape(x, (-1,)), [b.reshape(index, (-1,))], b.reshape(source, (-1,)), accumulate)
    return b.reshape(y, x.shape)


def _along(b: Builder, how: str, x: Value, dim: int, index: Value, source: Value) -> Value:
    """The rows of one axis that a vector of indices names."""
    if x.rank == 0:
        return b.squeeze(_along(b, how, b.unsqueeze(x, 0), 0, index, b.reshape(source, (-1,))), [0])
    axis = x.axis(dim)
    order = [axis, *(a for a in range(x.rank) if a != axis)]
    places = wrapped(b, b.reshape(index, (-1,)), b.extent(x, axis))
    y = _write(b, how, b.permute(x, order), [places], b.permute(b.cast(source, x.dtype), order))
    return b.permute(y, [order.index(a) for a in range(x.rank)])


@lowering("aten.index_add.default")
def index_add(b: Builder, x: Value, dim: int, index: Value, source: Value, alpha: Number = 1) -> Value:
    if alpha != 1:
        source = b.pointwise("mul_scalar", source, alpha, compute=x.dtype)
    return _along(b, "add", x, dim, index, source)


@lowering("aten.index_copy.default")
def index_copy(b: Builder, x: Value, dim: int, index: Value, source: Value) -> Value:
    return _along(b, "put", x, dim, index, source)


@lowering("aten.index_fill.int_Scalar", "aten.index_fill.int_Tensor")
def index_fill(b: Builder, x: Value, dim: int, index: Value, value: Number | Value) -> Value:
    if x.rank == 0:
        return b.squeeze(index_fill(b, b.unsqueeze(x, 0), 0, index, value), [0])
    axis = x.axis(dim)
    order = [axis, *(a for a in range(x.rank) if a != axis)]
    places = wrapped(b, b.reshape(index, (-1,)), b.extent(x, axis))
    first = b.permute(x, order)
    y = filled(b, first, _touched(b, first, [places]), value)
    return b.permute(y, [order.index(a) for a in range(x.rank)])


@lowering("aten.index_reduce.default")
def index_reduce(
    b: Builder, x: Value, dim: int, index: Value, source: Value, reduce: str, include_self: bool = True
) -> Value:
    if x.rank == 0:
        return scatter_reduce(b, x, 0, b.reshape(index, (-1,)), b.reshape(source, (-1,)), reduce, include_self)
    for _ in range(source.rank - 1 - x.axis(dim)):
        index = b.unsqueeze(index, -1)
    places = b.expand(index, source.shape, b.extents(source))
    return scatter_reduce(b, x, dim, places, source, reduce, include_self)


@lowering("aten.masked_scatter.default")
def masked_scatter(b: Builder, x: Value, mask: Value, source: Value) -> Value:
    """Where the mask holds, the elements of `source` in their order."""
    wide, spread = b.broadcast(x, mask)
    flat = b.cast(b.reshape(spread, (-1,)), torch.int64)
    count = b.call("cumsum", flat, shape=flat.shape, dtype=torch.int64, extents=b.extents(flat))
    place = b.pointwise("maximum_scalar", b.pointwise("add_scalar", count, -1), 0)
    place = b.pointwise("minimum_scalar", place, math.prod(source.shape) - 1)
    values = b.reshape(b.cast(source, x.dtype), (-1,))
    chosen = b.call("index_select", values, place, shape=flat.shape, dtype=x.dtype, extents=b.extents(flat))
    return b.call("where_select", spread, b.reshape(chosen, wide.shape), wide, extents=b.extents(wide))
