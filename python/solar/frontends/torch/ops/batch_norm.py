"""aten.batch_norm in evaluation and in training, and the operators that it is made of."""

from __future__ import annotations

from typing import Any

import torch

from solar.frontends.torch.builder import Builder, Meta, Value
from solar.frontends.torch.dtypes import is_float
from solar.frontends.torch.registry import lowering


def wide(dtype: torch.dtype) -> torch.dtype:
    """The accumulation type."""
    if not is_float(dtype):
        return torch.int64
    return torch.float64 if dtype == torch.float64 else torch.float32


def moments(b: Builder, x: Value, count: int) -> tuple[Value, Value, Value]:
    """Mean, variance and unbiased variance over the last `count` axes."""
    if count > 4:
        raise b.unsupported(f"statistics over {count} axes")
    shape = x.shape[: x.rank - count]
    known = b.extents(x)[: x.rank - count]
    metas = [Meta(shape, wide(x.dtype))] * 3
    mean, variance, unbiased = b.call_many(
        f"moments{count}", x, metas=metas, hints=["mean", "variance", "unbiased"], extents=[known] * 3
    )
    return mean, variance, unbiased


def update_running(b: Builder, old: Value, new: Value, momentum: float) -> None:
    """Moves a running statistic towards that of the batch."""
    step = b.call(
        "running_statistic",
        old,
        b.cast(new, wide(old.dtype)),
        1.0 - momentum,
        float(momentum),
        shape=old.shape,
        dtype=old.dtype,
        extents=b.extents(old),
        hint="running",
    )
    b.write(old, step)


def reciprocal_deviation(b: Builder, variance: Value, eps: float) -> Value:
    """1 / sqrt(variance + eps)."""
    shifted = b.pointwise("add_scalar", variance, float(eps))
    return b.pointwise("rsqrt", shifted)


@lowering("aten.batch_norm.default")
def batch_norm(
    b: Builder,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value | None,
    running_var: Value | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Value:
    if training or running_mean is None or running_var is None:
        channel_first = b.permute(x, [1, 0, *range(2, x.rank)])
        mean, variance, unbiased = moments(b, channel_first, x.rank - 1)
        if training and running_mean is not None and running_var is not None:
            for old, new in ((running_mean, mean), (running_var, unbiased)):
                update_running(b, old, new, momentum)
    else:
        mean, variance = b.cast(running_mean, wide(x.dtype)), b.cast(running_var, wide(x.dtype))
    if weight is None and bias is None:
        return b.call("channel_norm_plain", x, mean, variance, float(eps), extents=b.extents(x))
    weight = b.constant(1, mean.shape, x.dtype) if weight is None else b.cast(weight, x.dtype)
    bias = b.constant(0, mean.shape, x.dtype) if bias is None else b.cast(bias, x.dtype)
    return b.call("channel_norm", x, mean, variance, weight, bias, float(eps), extents=b.extents(x))


def _with_statistics(
    b: Builder,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value | None,
    running_var: Value | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Value | None, ...]:
    """The result, and the statistics of the batch that a backward pass would need (in evaluation there are none)."""
    y = batch_norm(b, x, weight, bias, running_mean, running_var, training, momentum, eps)
    if not training:
        return (y, *[None] * (len(b.results) - 1))
    channel_first = b.permute(x, [1, 0, *range(2, x.rank)])
    mean, variance, _ = moments(b, channel_first, x.rank - 1)
    kept = [b.cast(v, b.results[1].dtype) for v in (mean, reciprocal_deviation(b, variance, eps))]
    return (y, *kept, *[None] * (len(b.results) - 3))


lowering("aten.native_batch_norm.default", "aten._native_batch_norm_legit.default")(_with_statistics)


@lowering("aten._native_batch_norm_legit.no_stats")
def without_running(
    b: Builder, x: Value, weight: Value | None, bias: Value | None, training: bool, momentum: float, eps: float
) -> tuple[Value | None, ...]:
    return _with_statistics(b, x, weight, bias, None, None, training, momentum, eps)


@lowering("aten._native_batch_norm_legit_no_training.default", "aten._batch_norm_no_update.default")
def in_evaluation(
    b: Builder,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value,
    running_var: Value,
    momentum: float,
    eps: float,
) -> tuple[Value | None, ...]:
    return _with_statistics(b, x, weight, bias, running_mean, running_var, False, momentum, eps)


@lowering("aten._batch_norm_with_update.default")
def with_update(
    b: Builder,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value,
    running_var: Value,
    momentum: float,
    eps: float,
) -> tuple[Value | None, ...]:
    return _with_statistics(b, x, weight, bias, running_mean, running_var, True, momentum, eps)


@lowering("aten._native_batch_norm_legit_functional.default", "aten._batch_norm_with_update_functional.default")
def functional(
    b: Builder,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value,
    running_var: Value,
    *settings: Any,
) -> tuple[Value | None, ...]:
    """The new running statistics are results, and nothing is written."""
    training, momentum, eps = settings if len(settings) == 3 else (True, *settings)
    metas, b.results = b.results, b.results[:-2]
    results = _with_statistics(b, x, weight, bias, running_mean, running_var, training, momentum, eps)
    b.results = metas
    stored, b.writes = [new for _, new in b.writes], []
    return (*results, *(stored or (running_mean, running_var)))
