"""aten.cumsum, aten.cumprod, aten.cummax, aten.cummin, aten.logcumsumexp."""

from __future__ import annotations

import torch

from solar.frontends.torch.builder import Builder, Meta, Value
from solar.frontends.torch.registry import lowering


def _scan(b: Builder, function: str, x: Value, dim: int) -> Value:
    x = b.cast(x, b.result.dtype)
    if x.rank == 0:
        return b.copy(x)
    last = b.to_last(x, [dim])
    y = b.call(function, last, shape=last.shape, extents=b.extents(last))
    return b.from_last(y, [dim])


@lowering("aten.cumsum.default")
def cumsum(b: Builder, x: Value, dim: int, dtype: torch.dtype | None = None) -> Value:
    return _scan(b, "cumsum", x, dim)


@lowering("aten.cumprod.default")
def cumprod(b: Builder, x: Value, dim: int, dtype: torch.dtype | None = None) -> Value:
    return _scan(b, "cumprod", x, dim)


@lowering("aten.logcumsumexp.default")
def logcumsumexp(b: Builder, x: Value, dim: int) -> Value:
    return _scan(b, "logcumsumexp", x, dim)


def _extremum_scan(b: Builder, function: str, x: Value, dim: int) -> tuple[Value, Value]:
    if x.rank == 0:
        return b.copy(x), b.constant(0, (), torch.int64)
    if x.dtype == torch.bool:
        raise b.unsupported("an extremum of bool values")
    last = b.to_last(x, [dim])
    known = b.extents(last)
    metas = [Meta(last.shape, x.dtype), Meta(last.shape, torch.int64)]
    values, places = b.call_many(function, last, metas=metas, extents=[known, known])
    return b.from_last(values, [dim]), b.from_last(places, [dim])


@lowering("aten.cummax.default")
def cummax(b: Builder, x: Value, dim: int) -> tuple[Value, Value]:
    return _extremum_scan(b, "cummax", x, dim)


@lowering("aten.cummin.default")
def cummin(b: Builder, x: Value, dim: int) -> tuple[Value, Value]:
    return _extremum_scan(b, "cummin", x, dim)
