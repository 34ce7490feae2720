"""Tensors made from nothing: zeros, ones, full and their likes, arange; tril and triu."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from solar.frontends.torch.builder import Builder, Meta, Value
from solar.frontends.torch.dtypes import Number, is_float
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Sequence


@lowering("aten.zeros.default", "aten.zeros_like.default", "aten.new_zeros.default")
def zeros(b: Builder, *size: Any, dtype: torch.dtype | None = None) -> Value:
    return b.constant(0, b.result.shape, b.result.dtype)


@lowering(
    "aten.empty.memory_format", "aten.empty_like.default", "aten.new_empty.default", "aten.empty_strided.default",
    "aten.new_empty_strided.default", "aten.empty_permuted.default",
)  # fmt: skip
def empty(b: Builder, *size: Any, dtype: torch.dtype | None = None) -> Value:
    """Any values will do: what reads them before a write gives nothing that can be compared."""
    return b.constant(0, b.result.shape, b.result.dtype)


@lowering("aten.ones.default", "aten.ones_like.default", "aten.new_ones.default")
def ones(b: Builder, *size: Any, dtype: torch.dtype | None = None) -> Value:
    return b.constant(1, b.result.shape, b.result.dtype)


@lowering("aten.full.default", "aten.full_like.default")
def full(b: Builder, size: Any, fill_value: Number, dtype: torch.dtype | None = None) -> Value:
    return b.constant(fill_value, b.result.shape, b.result.dtype)


@lowering("aten.new_full.default")
def new_full(b: Builder, x: Value, size: Sequence[int], fill_value: Number, dtype: torch.dtype | None = None) -> Value:
    return b.constant(fill_value, b.result.shape, b.result.dtype)


@lowering("aten.scalar_tensor.default")
def scalar_tensor(b: Builder, s: Number, dtype: torch.dtype | None = None) -> Value:
    return b.constant(s, (), b.result.dtype)


@lowering("aten.fill.Scalar")
def fill(b: Builder, x: Value, value: Number) -> Value:
    return b.constant(value, x.shape, x.dtype)


@lowering("aten.zero.default")
def zero(b: Builder, x: Value) -> Value:
    return b.constant(0, x.shape, x.dtype)


@lowering("aten.arange.default")
def arange(b: Builder, end: Number, dtype: torch.dtype | None = None) -> Value:
    return arange_step(b, 0, end, 1)


@lowering("aten.arange.start")
def arange_start(b: Builder, start: Number, end: Number, dtype: torch.dtype | None = None) -> Value:
    return arange_step(b, start, end, 1)


@lowering("aten.arange.start_step")
def arange_step(b: Builder, start: Number, end: Number, step: Number = 1, dtype: torch.dtype | None = None) -> Value:
    shape, dtype = b.result.shape, b.result.dtype
    count = b.dim("n", shape[0])
    if all(isinstance(v, int) for v in (start, step)):
        if (start, step) == (0, 1):
            result = b.call("iota", shape=shape, dtype=torch.int64, dims={"N": count}, extents=[count])
        else:
            result = b.call(
                "integer_range", start, step, shape=shape, dtype=torch.int64, dims={"N": count}, extents=[count]
            )
        return b.cast(result, dtype)
    if not is_float(dtype):
        raise b.unsupported("a range of integers with float bounds")
    return b.call("float_range", float(start), float(step), dims={"N": count, "T": dtype}, extents=[count])


@lowering("aten.tril_indices.default")
def tril_indices(b: Builder, row: int, col: int, offset: int = 0, dtype: torch.dtype | None = None) -> Value:
    return _triangle_indices(b, "tril", row, col, offset)


@lowering("aten.triu_indices.default")
def triu_indices(b: Builder, row: int, col: int, offset: int = 0, dtype: torch.dtype | None = None) -> Value:
    return _triangle_indices(b, "triu", row, col, offset)


def _triangle_indices(b: Builder, name: str, row: int, col: int, offset: int) -> Value:
    """The subscripts of a triangle's elements."""
    whole = b.constant(True, (row, col), torch.bool)
    dims: dict[str, object] = {"UP": max(offset, 0), "DOWN": max(-offset, 0)}
    mask = b.call(f"{name}_mask", whole, shape=(row, col), dtype=torch.bool, dims=dims, extents=b.extents(whole))
    count = b.dim("count", b.result.shape[1])
    metas = [Meta((b.result.shape[1], 2), torch.int64), Meta((), torch.int64)]
    places, _ = b.call_many("nonzero", mask, metas=metas, dims={"limit": count}, extents=[[count, "2"], []])
    return b.cast(b.transpose(places, 0, 1), b.result.dtype)


@lowering("aten.tril.default")
def tril(b: Builder, x: Value, diagonal: int = 0) -> Value:
    return _triangle(b, "tril", x, diagonal)


@lowering("aten.triu.default")
def triu(b: Builder, x: Value, diagonal: int = 0) -> Value:
    return _triangle(b, "triu", x, diagonal)


def _triangle(b: Builder, name: str, x: Value, diagonal: int) -> Value:
    function = f"{name}_mask" if x.dtype == torch.bool else name
    dims: dict[str, str | int | bool | torch.dtype] = {"UP": max(diagonal, 0), "DOWN": max(-diagonal, 0)}
    return b.call(function, x, dims=dims, extents=b.extents(x))
