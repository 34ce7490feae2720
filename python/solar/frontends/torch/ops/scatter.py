"""aten.scatter, aten.scatter_add, aten.scatter_reduce: writes to places that are data, along one axis."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from solar.frontends.torch.builder import Builder, Operand, Value
from solar.frontends.torch.dtypes import is_float
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.dtypes import Number

_FUNCTIONS = {
    "sum": "scatter_add",
    "add": "scatter_add",
    "prod": "scatter_mul",
    "multiply": "scatter_mul",
    "amax": "scatter_max",
    "amin": "scatter_min",
}


def _write(b: Builder, function: str, x: Value, dim: int, index: Value, source: Value | None) -> Value:
    """`function` on the axis moved to the end; `source` may be larger than the index."""
    if x.rank == 0:
        source = None if source is None else b.reshape(source, (-1,))
        y = _write(b, function, b.unsqueeze(x, 0), 0, b.reshape(index, (-1,)), source)
        return b.squeeze(y, [0])
    axis = x.axis(dim)
    operands = [b.to_last(x, [axis]), b.to_last(b.cast(index, torch.int64), [axis])]
    if source is not None:
        for other in range(x.rank):
            source = b.slice(source, other, 0, index.shape[other])
        operands.append(b.to_last(source, [axis]))
    dtype = {"scatter_touched": torch.bool, "scatter_count": torch.int64}.get(function, x.dtype)
    y = b.call(function, *operands, shape=operands[0].shape, dtype=dtype, extents=b.extents(operands[0]))
    return b.from_last(y, [axis])


@lowering("aten.scatter.src")
def scatter_src(b: Builder, x: Value, dim: int, index: Value, src: Value) -> Value:
    return _write(b, "scatter_set", x, dim, index, src)


@lowering("aten.scatter.value")
def scatter_value(b: Builder, x: Value, dim: int, index: Value, value: Number) -> Value:
    """One number: a place may be given twice."""
    touched = _write(b, "scatter_touched", x, dim, index, None)
    return filled(b, x, touched, value)


def filled(b: Builder, x: Value, touched: Value, value: Operand) -> Value:
    """x with one number where a mask of its shape holds."""
    given = value if isinstance(value, Value) else b.constant(value, (), x.dtype)
    return b.call("masked_fill", x, touched, b.cast(given, x.dtype), shape=x.shape, dtype=x.dtype, extents=b.extents(x))


@lowering("aten.scatter.reduce")
def scatter_with(b: Builder, x: Value, dim: int, index: Value, src: Value, reduce: str) -> Value:
    return _write(b, _FUNCTIONS[reduce], x, dim, index, src)


@lowering("aten.scatter.value_reduce")
def scatter_value_with(b: Builder, x: Value, dim: int, index: Value, value: Number, reduce: str) -> Value:
    return _write(b, _FUNCTIONS[reduce], x, dim, index, b.constant(value, index.shape, x.dtype))


@lowering("aten.scatter_add.default")
def scatter_add(b: Builder, x: Value, dim: int, index: Value, src: Value) -> Value:
    return _write(b, "scatter_add", x, dim, index, src)


@lowering("aten.scatter_reduce.two")
def scatter_reduce(
    b: Builder, x: Value, dim: int, index: Value, src: Value, reduce: str, include_self: bool = True
) -> Value:
    if reduce == "mean":
        return _mean(b, x, dim, index, src, include_self)
    if not include_self:
        touched = _write(b, "scatter_touched", x, dim, index, None)
        x = filled(b, x, touched, _neutral(b, reduce, x.dtype))
    return _write(b, _FUNCTIONS[reduce], x, dim, index, src)


def _mean(b: Builder, x: Value, dim: int, index: Value, src: Value, include_self: bool) -> Value:
    if not is_float(x.dtype):
        raise b.unsupported("the mean of integers")
    count = _write(b, "scatter_count", x, dim, index, None)
    if not include_self:
        x = filled(b, x, b.pointwise("gt_scalar", count, 0, dtype=torch.bool), 0)
    total = _write(b, "scatter_add", x, dim, index, src)
    count = b.pointwise("add_scalar", count, 1) if include_self else b.pointwise("maximum_scalar", count, 1)
    return b.pointwise("div", total, count, compute=x.dtype)


def _neutral(b: Builder, reduce: str, dtype: torch.dtype) -> Operand:
    """The number that changes nothing."""
    if reduce in ("sum", "prod"):
        return int(reduce == "prod")
    if is_float(dtype):
        return -math.inf if reduce == "amax" else math.inf
    info = torch.iinfo(dtype)
    if reduce == "amin":
        return info.max
    # The smallest i64 is no literal.
    return b.pointwise("add_scalar", b.constant(info.min + 1, (), dtype), -1) if info.min < 0 else 0
