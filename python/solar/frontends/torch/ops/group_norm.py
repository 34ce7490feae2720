"""aten.group_norm, aten.native_group_norm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.ops.batch_norm import moments, reciprocal_deviation
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.group_norm.default")
def group_norm(
    b: Builder,
    x: Value,
    num_groups: int,
    weight: Value | None = None,
    bias: Value | None = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Value:
    sizes = [num_groups, x.shape[1] // num_groups]
    parts = [b.dim("groups", sizes[0]), b.dim("channels", sizes[1])]
    grouped = b.split_axis(x, 1, sizes, parts)
    mean, variance, _ = moments(b, grouped, grouped.rank - 2)
    known = b.extents(grouped)
    if weight is None and bias is None:
        result = b.call(
            "group_normalize_plain", grouped, mean, variance, float(eps), shape=grouped.shape, extents=known
        )
    else:
        scale = b.constant(1, (x.shape[1],), x.dtype) if weight is None else b.cast(weight, x.dtype)
        shift = b.constant(0, (x.shape[1],), x.dtype) if bias is None else b.cast(bias, x.dtype)
        scale, shift = b.split_axis(scale, 0, sizes, parts), b.split_axis(shift, 0, sizes, parts)
        result = b.call(
            "group_normalize", grouped, mean, variance, scale, shift, float(eps), shape=grouped.shape, extents=known
        )
    return b.merge_axes(result, 1, 2)


@lowering("aten.native_group_norm.default")
def native_group_norm(
    b: Builder,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    batch: int,
    channels: int,
    size: int,
    group: int,
    eps: float,
) -> tuple[Value, Value, Value]:
    grouped = b.split_axis(x, 1, [group, channels // group])
    mean, variance, _ = moments(b, grouped, grouped.rank - 2)
    deviation = reciprocal_deviation(b, variance, eps)
    statistics = [b.cast(v, meta.dtype) for v, meta in zip((mean, deviation), b.results[1:], strict=True)]
    return group_norm(b, x, group, weight, bias, eps), statistics[0], statistics[1]
