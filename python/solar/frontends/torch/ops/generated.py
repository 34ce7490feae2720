"""Tensors made from nothing: zeros, ones, full and their likes, arange; tril and triu."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from solar.frontends.torch.dtypes import Number, is_float
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.zeros.default", "aten.zeros_like.default", "aten.new_zeros.default")
def zeros(b: Builder, *size: Any, dtype: torch.dtype | None = None) -> Value:
    return b.constant(0, b.result.shape, b.result.dtype)


@lowering("aten.empty.memory_format", "aten.empty_like.default", "aten.new_empty.default")
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
