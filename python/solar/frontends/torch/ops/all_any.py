"""aten.all, aten.any, aten.prod."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.ops.logic import truth
from solar.frontends.torch.ops.reduction import reduce, reduced_axes, with_kept_axes
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

    from solar.frontends.torch.builder import Builder, Value


def _holds(b: Builder, function: str, x: Value, dim: int | Sequence[int] | None, keepdim: bool) -> Value:
    axes = reduced_axes(x, dim)
    result = with_kept_axes(b, reduce(b, function, truth(b, x), axes), axes, keepdim)
    return b.cast(result, b.result.dtype)


@lowering("aten.all.default", "aten.all.dim", "aten.all.dims")
def all_of(b: Builder, x: Value, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Value:
    return _holds(b, "reduce_all", x, dim, keepdim)


@lowering("aten.any.default", "aten.any.dim", "aten.any.dims")
def any_of(b: Builder, x: Value, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Value:
    return _holds(b, "reduce_any", x, dim, keepdim)


@lowering("aten.prod.default")
def prod(b: Builder, x: Value, dtype: torch.dtype | None = None) -> Value:
    axes = reduced_axes(x, None)
    return reduce(b, "prod", b.cast(x, b.result.dtype), axes)


@lowering("aten.prod.dim_int")
def prod_dim(b: Builder, x: Value, dim: int, keepdim: bool = False, dtype: torch.dtype | None = None) -> Value:
    axes = reduced_axes(x, dim)
    return with_kept_axes(b, reduce(b, "prod", b.cast(x, b.result.dtype), axes), axes, keepdim)
