"""What reductions share: the axes they name, calls by the number of axes, `keepdim`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from solar.frontends.torch.builder import Builder, Meta, Value
from solar.frontends.torch.dtypes import is_float

if TYPE_CHECKING:
    from collections.abc import Sequence

_MAX_AXES = 4


def accumulation(dtype: torch.dtype) -> torch.dtype:
    """The type in which values of type `dtype` are summed: the language's wide()."""
    if not is_float(dtype):
        return torch.int64 if dtype != torch.bool else torch.bool
    return torch.float64 if dtype == torch.float64 else torch.float32


def reduced_axes(x: Value, dim: int | Sequence[int] | None) -> list[int]:
    """The axes that `dim` names, ascending; None and an empty list mean all."""
    if dim is None or (not isinstance(dim, int) and len(dim) == 0):
        return list(range(x.rank))
    given = [dim] if isinstance(dim, int) else dim
    return sorted({x.axis(a) for a in given}) if x.rank else []


def reduce(b: Builder, function: str, x: Value, axes: Sequence[int], dtype: torch.dtype | None = None) -> Value:
    """Calls `<function>1` .. `<function>4`, by the number of reduced axes, which are dropped."""
    return reduce_many(b, function, x, axes, [dtype or x.dtype])[0]


def reduce_many(
    b: Builder, function: str, x: Value, axes: Sequence[int], dtypes: Sequence[torch.dtype]
) -> tuple[Value, ...]:
    """The same for a function with several results, one for each type."""
    axes = sorted(axes)
    if not axes:  # a scalar, as one element
        x, axes = b.unsqueeze(x, x.rank), [x.rank]
    if len(axes) > _MAX_AXES:
        if axes[-1] - axes[0] + 1 != len(axes):
            raise b.unsupported(f"a reduction over {len(axes)} axes that are not neighbours")
        x = b.merge_axes(x, axes[0], axes[-1])
        axes = axes[:1]
    last = b.to_last(x, axes)
    kept = x.rank - len(axes)
    metas = [Meta(last.shape[:kept], dtype) for dtype in dtypes]
    known = b.extents(last)[:kept]
    return b.call_many(f"{function}{len(axes)}", last, metas=metas, extents=[known] * len(metas))


def with_kept_axes(b: Builder, value: Value, axes: Sequence[int], keepdim: bool) -> Value:
    """`keepdim`: axes of extent 1 where axes were reduced."""
    if not keepdim:
        return value
    for axis in sorted(axes):
        value = b.unsqueeze(value, axis)
    return value


def element_count(b: Builder, x: Value, axes: Sequence[int]) -> str:
    """The product of the extents of axes, as a dim expression."""
    return "*".join(f"({b.extent(x, axis)})" for axis in axes) or "1"
