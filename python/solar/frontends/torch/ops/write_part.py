"""aten.slice_scatter, aten.select_scatter, aten.diagonal_scatter: a tensor with a part of it replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.slice_scatter.default")
def slice_scatter(
    b: Builder, x: Value, src: Value, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Value:
    axis = x.axis(dim)
    low, high, _ = slice(start, end, step).indices(x.shape[axis])
    count = max(0, -(-(high - low) // step))
    shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
    return b.write_slice(x, b.expand(b.cast(src, x.dtype), shape), axis, low, step)


@lowering("aten.select_scatter.default")
def select_scatter(b: Builder, x: Value, src: Value, dim: int, index: int) -> Value:
    axis = x.axis(dim)
    return b.write_slice(x, b.unsqueeze(b.cast(src, x.dtype), axis), axis, index % x.shape[axis])


@lowering("aten.diagonal_scatter.default")
def diagonal_scatter(b: Builder, x: Value, src: Value, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Value:
    return b.write_diagonal(x, b.cast(src, x.dtype), offset, dim1, dim2)
