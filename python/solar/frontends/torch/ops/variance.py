"""aten.var, aten.std, aten.var_mean, aten.std_mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from solar.frontends.torch.ops.reduction import (
    accumulation,
    element_count,
    reduce_many,
    reduced_axes,
    with_kept_axes,
)
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Value
    from solar.frontends.torch.dtypes import Number

Dims = int | Sequence[int] | None


def _spread(b: Builder, function: str, x: Value, dim: Dims, correction: Number, keepdim: bool) -> tuple[Value, Value]:
    """The corrected variance or deviation, and the mean."""
    axes = reduced_axes(x, dim)
    if not axes:
        raise b.unsupported("the variance of a scalar")
    wide = accumulation(x.dtype)
    mean, variance, _ = reduce_many(b, "moments", x, axes, [wide] * 3)
    count = element_count(b, x, axes)
    extents = b.extents(variance)
    dims: dict[str, object] = {"N": count, "T": x.dtype}
    spread = b.call(
        function, variance, float(correction), shape=variance.shape, dtype=x.dtype, extents=extents, dims=dims
    )
    mean = b.cast(mean, x.dtype)
    return with_kept_axes(b, spread, axes, keepdim), with_kept_axes(b, mean, axes, keepdim)


def _one(correction: Number | None) -> Number:
    return 1 if correction is None else correction


@lowering("aten.var.correction")
def var(b: Builder, x: Value, dim: Dims = None, correction: Number | None = None, keepdim: bool = False) -> Value:
    return _spread(b, "corrected_variance", x, dim, _one(correction), keepdim)[0]


@lowering("aten.var.default")
def var_all(b: Builder, x: Value, unbiased: bool = True) -> Value:
    return _spread(b, "corrected_variance", x, None, int(unbiased), False)[0]


@lowering("aten.var.dim")
def var_dim(b: Builder, x: Value, dim: Dims, unbiased: bool = True, keepdim: bool = False) -> Value:
    return _spread(b, "corrected_variance", x, dim, int(unbiased), keepdim)[0]


@lowering("aten.std.correction")
def std(b: Builder, x: Value, dim: Dims = None, correction: Number | None = None, keepdim: bool = False) -> Value:
    return _spread(b, "corrected_deviation", x, dim, _one(correction), keepdim)[0]


@lowering("aten.std.default")
def std_all(b: Builder, x: Value, unbiased: bool = True) -> Value:
    return _spread(b, "corrected_deviation", x, None, int(unbiased), False)[0]


@lowering("aten.std.dim")
def std_dim(b: Builder, x: Value, dim: Dims, unbiased: bool = True, keepdim: bool = False) -> Value:
    return _spread(b, "corrected_deviation", x, dim, int(unbiased), keepdim)[0]


@lowering("aten.var_mean.correction")
def var_mean(
    b: Builder, x: Value, dim: Dims = None, correction: Number | None = None, keepdim: bool = False
) -> tuple[Value, Value]:
    return _spread(b, "corrected_variance", x, dim, _one(correction), keepdim)


@lowering("aten.std_mean.correction")
def std_mean(
    b: Builder, x: Value, dim: Dims = None, correction: Number | None = None, keepdim: bool = False
) -> tuple[Value, Value]:
    return _spread(b, "corrected_deviation", x, dim, _one(correction), keepdim)


@lowering("aten.var_mean.default")
def var_mean_all(b: Builder, x: Value, unbiased: bool = True) -> tuple[Value, Value]:
    return _spread(b, "corrected_variance", x, None, int(unbiased), False)


@lowering("aten.var_mean.dim")
def var_mean_dim(b: Builder, x: Value, dim: Dims, unbiased: bool = True, keepdim: bool = False) -> tuple[Value, Value]:
    return _spread(b, "corrected_variance", x, dim, int(unbiased), keepdim)


@lowering("aten.std_mean.default")
def std_mean_all(b: Builder, x: Value, unbiased: bool = True) -> tuple[Value, Value]:
    return _spread(b, "corrected_deviation", x, None, int(unbiased), False)


@lowering("aten.std_mean.dim")
def std_mean_dim(b: Builder, x: Value, dim: Dims, unbiased: bool = True, keepdim: bool = False) -> tuple[Value, Value]:
    return _spread(b, "corrected_deviation", x, dim, int(unbiased), keepdim)
