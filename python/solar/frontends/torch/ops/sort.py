"""aten.sort, aten.argsort, aten.topk, aten.kthvalue: the language's own statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from solar.frontends.torch.builder import Builder, Meta, Value
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Sequence


def _sorted(b: Builder, x: Value, dim: int, descending: bool) -> tuple[Value, Value]:
    if x.rank == 0:
        return b.copy(x), b.constant(0, (), torch.int64)
    known = b.extents(x)
    metas = [Meta(x.shape, x.dtype), Meta(x.shape, torch.int64)]
    dims = {"axis": x.axis(dim), "descending": descending}
    values, places = b.call_many("sort", _ordered(b, x), metas=metas, dims=dims, extents=[known, known])
    return values, places


def _ordered(b: Builder, x: Value) -> Value:
    if x.dtype == torch.bool:
        raise b.unsupported("an order of bool values")
    return x


@lowering("aten.sort.default")
def sort(b: Builder, x: Value, dim: int = -1, descending: bool = False) -> tuple[Value, Value]:
    return _sorted(b, x, dim, descending)


@lowering("aten.sort.stable")
def sort_stable(
    b: Builder, x: Value, stable: bool | None = None, dim: int = -1, descending: bool = False
) -> tuple[Value, Value]:
    return _sorted(b, x, dim, descending)


@lowering("aten.msort.default")
def msort(b: Builder, x: Value) -> Value:
    return _sorted(b, x, 0, False)[0]


@lowering("aten.argsort.default")
def argsort(b: Builder, x: Value, dim: int = -1, descending: bool = False) -> Value:
    if x.rank == 0:
        return b.constant(0, (), torch.int64)
    dims = {"axis": x.axis(dim), "descending": descending}
    return b.call("argsort", _ordered(b, x), extents=b.extents(x), dims=dims)


@lowering("aten.argsort.stable")
def argsort_stable(b: Builder, x: Value, stable: bool, dim: int = -1, descending: bool = False) -> Value:
    return argsort(b, x, dim, descending)


@lowering("aten.topk.default")
def topk(b: Builder, x: Value, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Value, Value]:
    if x.rank == 0:
        return b.copy(x), b.constant(0, (), torch.int64)
    values, places = _best(b, x, k, x.axis(dim), largest)
    return values, places


def _best(b: Builder, x: Value, k: int, axis: int, largest: bool) -> Sequence[Value]:
    """The k largest or smallest elements along an axis, in order, and their places."""
    count = b.dim("k", k)
    known = [*b.extents(x)[:axis], count, *b.extents(x)[axis + 1 :]]
    shape = (*x.shape[:axis], k, *x.shape[axis + 1 :])
    metas = [Meta(shape, x.dtype), Meta(shape, torch.int64)]
    dims = {"axis": axis, "k": count, "descending": largest}
    return b.call_many("topk", _ordered(b, x), metas=metas, dims=dims, extents=[known, known])


@lowering("aten.kthvalue.default")
def kthvalue(b: Builder, x: Value, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Value, ...]:
    if x.rank == 0:
        return b.copy(x), b.constant(0, (), torch.int64)
    axis = x.axis(dim)
    last = [b.slice(part, axis, k - 1, k) for part in _best(b, x, k, axis, False)]
    return tuple(last if keepdim else [b.squeeze(part, [axis]) for part in last])
