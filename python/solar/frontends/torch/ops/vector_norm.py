"""aten.linalg_vector_norm, aten.norm."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from solar.frontends.torch.ops.reduction import accumulation, reduce, reduced_axes, with_kept_axes
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

    from solar.frontends.torch.builder import Builder, Value
    from solar.frontends.torch.dtypes import Number


def norm_over(b: Builder, x: Value, order: Number, axes: Sequence[int]) -> Value:
    """The vector norm over axes, which are dropped."""
    if math.isinf(order):
        return reduce(b, "reduce_max" if order > 0 else "reduce_min", b.pointwise("abs", x), axes)
    wide = accumulation(x.dtype)
    simple = order in (0, 1, 2)
    power = f"power{int(order)}" if simple else "power_p"
    operands = [] if simple else [float(order)]
    powers = b.call(power, x, *operands, shape=x.shape, dtype=wide, extents=b.extents(x))
    total = reduce(b, "sum", powers, axes)
    root = "root_p" if not simple else "root2" if order == 2 else "root1"
    return b.call(
        root, total, *operands, shape=total.shape, dtype=x.dtype, extents=b.extents(total), dims={"T": x.dtype}
    )


@lowering("aten.linalg_vector_norm.default")
def linalg_vector_norm(
    b: Builder,
    x: Value,
    ord: Number = 2,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    dtype: torch.dtype | None = None,
) -> Value:
    x = b.cast(x, b.result.dtype)
    axes = reduced_axes(x, dim)
    return with_kept_axes(b, norm_over(b, x, ord, axes), axes, keepdim)


@lowering("aten.norm.Scalar")
def norm_scalar(b: Builder, x: Value, p: Number = 2) -> Value:
    return linalg_vector_norm(b, x, p)


@lowering("aten.norm.ScalarOpt_dim", "aten.norm.ScalarOpt_dim_dtype")
def norm_dim(
    b: Builder,
    x: Value,
    p: Number | None,
    dim: Sequence[int],
    keepdim: bool = False,
    dtype: torch.dtype | None = None,
) -> Value:
    return linalg_vector_norm(b, x, 2 if p is None else p, dim, keepdim)


@lowering("aten.frobenius_norm.dim")
def frobenius_norm(b: Builder, x: Value, dim: Sequence[int], keepdim: bool = False) -> Value:
    return linalg_vector_norm(b, x, 2, dim, keepdim)
