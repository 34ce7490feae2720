"""aten.instance_norm, aten.rms_norm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from solar.frontends.torch.ops.batch_norm import batch_norm, update_running
from solar.frontends.torch.ops.reduction import accumulation, reduce, reduce_many, with_kept_axes
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.instance_norm.default")
def instance_norm(
    b: Builder,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value | None,
    running_var: Value | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = False,
) -> Value:
    if not use_input_stats:
        return batch_norm(b, x, weight, bias, running_mean, running_var, False, momentum, eps)
    axes = list(range(2, x.rank))
    wide = accumulation(x.dtype)
    mean, variance, unbiased = reduce_many(b, "moments", x, axes, [wide] * 3)
    for running, found in ((running_mean, mean), (running_var, unbiased)):
        if running is not None:
            update_running(b, running, reduce(b, "mean", found, [0]), momentum)
    over_x = [b.broadcast(with_kept_axes(b, v, axes, True), x)[0] for v in (mean, variance)]
    known = b.extents(x)
    if weight is None and bias is None:
        return b.call("standardize", x, *over_x, float(eps), extents=known)
    channels = x.shape[1:2]
    weight = b.constant(1, channels, x.dtype) if weight is None else weight
    bias = b.constant(0, channels, x.dtype) if bias is None else bias
    affine = [_per_channel(b, v, x) for v in (weight, bias)]
    return b.call("standardize_affine", x, *over_x, *affine, float(eps), extents=known)


def _per_channel(b: Builder, value: Value, x: Value) -> Value:
    for _ in range(x.rank - 2):
        value = b.unsqueeze(value, -1)
    return b.broadcast(value, x)[0]


@lowering("aten.rms_norm.default")
def rms_norm(
    b: Builder, x: Value, normalized_shape: Sequence[int], weight: Value | None = None, eps: float | None = None
) -> Value:
    n = len(normalized_shape)
    if n > 1:  # the normalised axes as one
        flat = b.merge_axes(x, x.rank - n, x.rank - 1)
        scale = None if weight is None else b.merge_axes(weight, 0, n - 1)
        y = rms_norm(b, flat, flat.shape[-1:], scale, eps)
        return b.split_axis(y, -1, normalized_shape, [b.extent(x, axis) for axis in range(x.rank - n, x.rank)])
    # torch takes the epsilon of the type in which it computes.
    epsilon = torch.finfo(accumulation(x.dtype)).eps if eps is None else eps
    known = b.extents(x)
    if weight is None:
        return b.call("rms_norm", x, float(epsilon), shape=x.shape, extents=known)
    return b.call("rms_norm_affine", x, weight, float(epsilon), shape=x.shape, extents=known)
