"""aten.instance_norm without running statistics, aten.rms_norm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from solar.frontends.torch.ops.reduction import accumulation, reduce_many, with_kept_axes
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
    if running_mean is not None or running_var is not None or not use_input_stats:
        raise b.unsupported("running statistics")
    axes = list(range(2, x.rank))
    wide = accumulation(x.dtype)
    mean, variance, _ = reduce_many(b, "moments", x, axes, [wide] * 3)
    over_x = [b.broadcast(with_kept_axes(b, v, axes, True), x)[0] for v in (mean, variance)]
    known = b.extents(x)
    if weight is None or bias is None:
        if weight is not bias:
            raise b.unsupported("a weight without a bias")
        return b.call("standardize", x, *over_x, float(eps), extents=known)
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
    if len(normalized_shape) != 1:
        raise b.unsupported("a norm over several axes")
    # torch takes the epsilon of the type in which it computes.
    epsilon = torch.finfo(accumulation(x.dtype)).eps if eps is None else eps
    known = b.extents(x)
    if weight is None:
        return b.call("rms_norm", x, float(epsilon), extents=known)
    return b.call("rms_norm_affine", x, weight, float(epsilon), extents=known)
