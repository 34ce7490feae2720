"""aten.layer_norm, aten.native_layer_norm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.ops.batch_norm import reciprocal_deviation
from solar.frontends.torch.ops.reduction import accumulation, reduce_many, with_kept_axes
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.layer_norm.default")
def layer_norm(
    b: Builder,
    x: Value,
    normalized_shape: Sequence[int],
    weight: Value | None = None,
    bias: Value | None = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Value:
    n = len(normalized_shape)
    flat = x
    if n > 1:  # the normalised axes are contiguous in meaning: as one
        flat = b.merge_axes(x, x.rank - n, x.rank - 1)
        weight = None if weight is None else b.merge_axes(weight, 0, n - 1)
        bias = None if bias is None else b.merge_axes(bias, 0, n - 1)
    known = b.extents(flat)
    if weight is None and bias is None:
        result = b.call("layer_norm_plain", flat, float(eps), shape=flat.shape, extents=known)
    elif bias is None:
        assert weight is not None
        result = b.call("layer_norm_scaled", flat, b.cast(weight, x.dtype), float(eps), shape=flat.shape, extents=known)
    else:
        weight = b.constant(1, bias.shape, x.dtype) if weight is None else b.cast(weight, x.dtype)
        bias = b.cast(bias, x.dtype)
        result = b.call("layer_norm", flat, weight, bias, float(eps), shape=flat.shape, extents=known)
    if n == 1:
        return result
    parts = [b.extent(x, axis) for axis in range(x.rank - n, x.rank)]
    return b.split_axis(result, -1, x.shape[x.rank - n :], parts)


@lowering("aten.native_layer_norm.default")
def native_layer_norm(
    b: Builder, x: Value, normalized_shape: Sequence[int], weight: Value | None, bias: Value | None, eps: float
) -> tuple[Value, Value, Value]:
    axes = range(x.rank - len(normalized_shape), x.rank)
    mean, variance, _ = reduce_many(b, "moments", x, axes, [accumulation(x.dtype)] * 3)
    statistics = [b.cast(v, b.results[1].dtype) for v in (mean, reciprocal_deviation(b, variance, eps))]
    mean, deviation = (with_kept_axes(b, v, axes, True) for v in statistics)
    return layer_norm(b, x, normalized_shape, weight, bias, eps), mean, deviation
