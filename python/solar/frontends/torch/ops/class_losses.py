"""aten.cross_entropy_loss and aten.nll_loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.ops.loss_reduction import MEAN, NONE, reduced
from solar.frontends.torch.ops.reduction import accumulation
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Value
    from solar.frontends.torch.dtypes import Number

_IGNORED = -100


@lowering("aten.cross_entropy_loss.default")
def cross_entropy_loss(
    b: Builder,
    x: Value,
    target: Value,
    weight: Value | None = None,
    reduction: int = MEAN,
    ignore_index: int = _IGNORED,
    label_smoothing: float = 0.0,
) -> Value:
    scores = _classes_last(b, x)
    logs = b.call("log_softmax", scores, shape=scores.shape, dtype=x.dtype, extents=b.extents(scores))
    if target.dtype.is_floating_point:
        return _against_probabilities(b, logs, _classes_last(b, target), weight, reduction, label_smoothing)
    return _nll(b, logs, target, weight, reduction, ignore_index, label_smoothing)


@lowering("aten.nll_loss_nd.default", "aten.nll_loss.default", "aten.nll_loss2d.default")
def nll_loss(
    b: Builder,
    x: Value,
    target: Value,
    weight: Value | None = None,
    reduction: int = MEAN,
    ignore_index: int = _IGNORED,
) -> Value:
    return _nll(b, _classes_last(b, x), target, weight, reduction, ignore_index, 0.0)


def _classes_last(b: Builder, x: Value) -> Value:
    return b.to_last(x, [1 if x.rank > 1 else 0])


def _nll(
    b: Builder, logs: Value, target: Value, weight: Value | None, reduction: int, ignored: int, smoothing: float
) -> Value:
    shape, dtype = target.shape, logs.dtype
    known = b.extents(target)
    if weight is None:
        losses = b.call("nll", logs, target, ignored, shape=shape, dtype=dtype, extents=known)
    else:
        losses = b.call("nll_weighted", logs, target, weight, ignored, shape=shape, dtype=dtype, extents=known)
    if smoothing:
        operands = [logs, target] if weight is None else [logs, target, weight]
        name = "nll_uniform" if weight is None else "nll_uniform_weighted"
        uniform = b.call(name, *operands, ignored, shape=shape, dtype=dtype, extents=known)
        losses = _smoothed(b, losses, uniform, logs, smoothing)
    if reduction != MEAN:
        return reduced(b, losses, reduction)
    wide = accumulation(dtype)
    if weight is None:
        count = b.call("nll_count", target, ignored, shape=(), dtype=wide, dims={"T": dtype})
    else:
        count = b.call("nll_weight", target, weight, ignored, shape=(), dtype=wide)
    return b.call("weighted_mean", losses, count, shape=(), dtype=dtype)


def _smoothed(b: Builder, losses: Value, uniform: Value, logs: Value, amount: Number) -> Value:
    classes = b.extent(logs, logs.rank - 1)
    known = b.extents(losses)
    return b.call(
        "smooth_labels",
        losses,
        uniform,
        float(amount),
        shape=losses.shape,
        dtype=losses.dtype,
        extents=known,
        dims={"C": classes},
    )


def _against_probabilities(
    b: Builder, logs: Value, target: Value, weight: Value | None, reduction: int, smoothing: float
) -> Value:
    shape = logs.shape[:-1]
    known = b.extents(logs)[:-1]
    if smoothing:
        classes = b.extent(logs, logs.rank - 1)
        target = b.call(
            "smooth_probabilities",
            target,
            float(smoothing),
            shape=target.shape,
            dtype=target.dtype,
            extents=b.extents(target),
            dims={"C": classes},
        )
    if weight is not None:
        logs = b.pointwise("mul", logs, weight)
    losses = b.call("soft_nll", logs, target, shape=shape, dtype=logs.dtype, extents=known)
    return losses if reduction == NONE else reduced(b, losses, reduction)
