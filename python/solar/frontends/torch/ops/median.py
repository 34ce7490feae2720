"""aten.median, aten.nanmedian: an element in the middle of the sorted ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from solar.frontends.torch.ops.gather import gather
from solar.frontends.torch.ops.reduction import reduce
from solar.frontends.torch.ops.sort import kthvalue, sort
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.median.dim")
def median_dim(b: Builder, x: Value, dim: int, keepdim: bool = False) -> tuple[Value, Value]:
    """The lower of two in the middle; a NaN among them is the median."""
    if x.rank == 0:
        return b.copy(x), b.constant(0, (), torch.int64)
    value, place = kthvalue(b, x, (x.shape[x.axis(dim)] + 1) // 2, dim, True)
    if x.dtype.is_floating_point:
        largest, where = kthvalue(b, x, x.shape[x.axis(dim)], dim, True)  # a NaN, if there is one
        hidden = b.pointwise("is_nan", largest, dtype=torch.bool)
        value = b.call("where_select", hidden, largest, value, shape=value.shape, extents=b.extents(value))
        place = b.call(
            "where_select", hidden, where, place, shape=place.shape, dtype=torch.int64, extents=b.extents(place)
        )
    if keepdim:
        return value, place
    return b.squeeze(value, [x.axis(dim)]), b.squeeze(place, [x.axis(dim)])


@lowering("aten.nanmedian.dim")
def nanmedian_dim(b: Builder, x: Value, dim: int, keepdim: bool = False) -> tuple[Value, Value]:
    """The same without the NaNs, which sorting puts last."""
    if x.rank == 0 or not x.dtype.is_floating_point:
        return median_dim(b, x, dim, keepdim)
    axis = x.axis(dim)
    values, places = sort(b, x, dim)
    numbers = b.pointwise("logical_not", b.pointwise("is_nan", x, dtype=torch.bool))
    count = b.unsqueeze(reduce(b, "sum", b.cast(numbers, torch.int64), [axis]), axis)
    middle = b.pointwise("maximum_scalar", b.pointwise("add_scalar", count, -1), 0)
    middle = b.pointwise("integer_floor_div_scalar", middle, 2)
    results = [gather(b, given, axis, middle) for given in (values, places)]
    if not keepdim:
        results = [b.squeeze(given, [axis]) for given in results]
    return results[0], results[1]


@lowering("aten.median.default")
def median(b: Builder, x: Value) -> Value:
    return median_dim(b, b.reshape(x, (-1,)), 0)[0]


@lowering("aten.nanmedian.default")
def nanmedian(b: Builder, x: Value) -> Value:
    return nanmedian_dim(b, b.reshape(x, (-1,)), 0)[0]
