"""aten.max, aten.min, aten.amax, aten.amin, aten.aminmax, aten.argmax, aten.argmin.

The values come from a plain reduction and the positions from an arg reduction, so that unused positions cost nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from solar.frontends.torch.builder import Builder, Meta, Value
from solar.frontends.torch.ops.reduction import reduce, reduced_axes, with_kept_axes
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Sequence


def _numeric(b: Builder, x: Value) -> Value:
    if x.dtype == torch.bool:
        raise b.unsupported("an extremum of bool values")
    return x


def _position(b: Builder, function: str, x: Value, axis: int) -> Value:
    """Where the extremum is along one axis, which is dropped."""
    known = b.extents(x)
    shape = x.shape[:axis] + x.shape[axis + 1 :]
    kept = known[:axis] + known[axis + 1 :]
    metas = [Meta(shape, x.dtype), Meta(shape, torch.int64)]
    return b.call_many(function, b.to_last(x, [axis]), metas=metas, extents=[kept, kept])[1]


def _along(b: Builder, kind: str, x: Value, dim: int, keepdim: bool) -> tuple[Value, Value]:
    if x.rank == 0:
        return b.copy(x), b.constant(0, (), torch.int64)
    axis = x.axis(dim)
    values = reduce(b, f"reduce_{kind}", _numeric(b, x), [axis])
    positions = _position(b, f"arg{kind}", x, axis)
    return with_kept_axes(b, values, [axis], keepdim), with_kept_axes(b, positions, [axis], keepdim)


@lowering("aten.max.dim")
def max_dim(b: Builder, x: Value, dim: int, keepdim: bool = False) -> tuple[Value, Value]:
    return _along(b, "max", x, dim, keepdim)


@lowering("aten.min.dim")
def min_dim(b: Builder, x: Value, dim: int, keepdim: bool = False) -> tuple[Value, Value]:
    return _along(b, "min", x, dim, keepdim)


def _extremum(b: Builder, function: str, x: Value, dim: int | Sequence[int] | None, keepdim: bool) -> Value:
    axes = reduced_axes(x, dim)
    if not axes:
        return b.copy(x)
    return with_kept_axes(b, reduce(b, function, _numeric(b, x), axes), axes, keepdim)


@lowering("aten.max.default")
def max_all(b: Builder, x: Value) -> Value:
    return _extremum(b, "reduce_max", x, None, False)


@lowering("aten.min.default")
def min_all(b: Builder, x: Value) -> Value:
    return _extremum(b, "reduce_min", x, None, False)


@lowering("aten.amax.default")
def amax(b: Builder, x: Value, dim: Sequence[int] = (), keepdim: bool = False) -> Value:
    return _extremum(b, "reduce_max", x, dim, keepdim)


@lowering("aten.amin.default")
def amin(b: Builder, x: Value, dim: Sequence[int] = (), keepdim: bool = False) -> Value:
    return _extremum(b, "reduce_min", x, dim, keepdim)


@lowering("aten.aminmax.default")
def aminmax(b: Builder, x: Value, dim: int | None = None, keepdim: bool = False) -> tuple[Value, Value]:
    return amin(b, x, () if dim is None else (dim,), keepdim), amax(b, x, () if dim is None else (dim,), keepdim)


def _arg(b: Builder, function: str, x: Value, dim: int | None, keepdim: bool) -> Value:
    if x.rank == 0:
        return b.constant(0, (), torch.int64)
    _numeric(b, x)
    if dim is None:
        position = _position(b, function, b.reshape(x, (-1,)), 0)
        return with_kept_axes(b, position, range(x.rank), keepdim)
    axis = x.axis(dim)
    return with_kept_axes(b, _position(b, function, x, axis), [axis], keepdim)


@lowering("aten.argmax.default")
def argmax(b: Builder, x: Value, dim: int | None = None, keepdim: bool = False) -> Value:
    return _arg(b, "argmax", x, dim, keepdim)


@lowering("aten.argmin.default")
def argmin(b: Builder, x: Value, dim: int | None = None, keepdim: bool = False) -> Value:
    return _arg(b, "argmin", x, dim, keepdim)
