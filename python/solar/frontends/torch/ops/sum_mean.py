"""aten.sum, aten.mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.ops.reduction import reduce, reduced_axes, with_kept_axes
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.sum.default", "aten.sum.dim_IntList")
def sum_(
    b: Builder,
    x: Value,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    dtype: torch.dtype | None = None,
) -> Value:
    return _total(b, "sum", x, dim, keepdim)


@lowering("aten.mean.default", "aten.mean.dim")
def mean(
    b: Builder,
    x: Value,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    dtype: torch.dtype | None = None,
) -> Value:
    return _total(b, "mean", x, dim, keepdim)


def _total(b: Builder, function: str, x: Value, dim: int | Sequence[int] | None, keepdim: bool) -> Value:
    x = b.cast(x, b.result.dtype)
    axes = reduced_axes(x, dim)
    if not axes:
        return b.copy(x)
    return with_kept_axes(b, reduce(b, function, x, axes), axes, keepdim)
