"""Losses of two tensors, element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.ops.loss_reduction import MEAN, reduced
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Callable

    from solar.frontends.torch.builder import Builder, Operand, Value
    from solar.frontends.torch.dtypes import Number


def _simple(function: str) -> Callable[..., Value]:
    def lower(b: Builder, x: Value, target: Value, reduction: int = MEAN) -> Value:
        return reduced(b, b.pointwise(function, x, target), reduction)

    return lower


lowering("aten.mse_loss.default")(_simple("squared_error"))
lowering("aten.l1_loss.default")(_simple("absolute_error"))
lowering("aten.soft_margin_loss.default")(_simple("soft_margin"))


@lowering("aten.smooth_l1_loss.default")
def smooth_l1_loss(b: Builder, x: Value, target: Value, reduction: int = MEAN, beta: Number = 1.0) -> Value:
    if beta == 0:
        return reduced(b, b.pointwise("absolute_error", x, target), reduction)
    return reduced(b, b.pointwise("smooth_l1", x, target, beta), reduction)


@lowering("aten.huber_loss.default")
def huber_loss(b: Builder, x: Value, target: Value, reduction: int = MEAN, delta: Number = 1.0) -> Value:
    return reduced(b, b.pointwise("huber", x, target, delta), reduction)


@lowering("aten.kl_div.default")
def kl_div(b: Builder, x: Value, target: Value, reduction: int = MEAN, log_target: bool = False) -> Value:
    function = "kl_divergence_log" if log_target else "kl_divergence"
    return reduced(b, b.pointwise(function, x, target), reduction)


def _weighted(b: Builder, losses: Value, weight: Value | None) -> Value:
    return losses if weight is None else b.pointwise("mul", losses, weight)


@lowering("aten.binary_cross_entropy.default")
def binary_cross_entropy(
    b: Builder, x: Value, target: Value, weight: Value | None = None, reduction: int = MEAN
) -> Value:
    return reduced(b, _weighted(b, b.pointwise("binary_cross_entropy", x, target), weight), reduction)


@lowering("aten.binary_cross_entropy_with_logits.default")
def binary_cross_entropy_with_logits(
    b: Builder,
    x: Value,
    target: Value,
    weight: Value | None = None,
    pos_weight: Value | None = None,
    reduction: int = MEAN,
) -> Value:
    operands: list[Operand] = [x, target]
    function = "binary_cross_entropy_logits"
    if pos_weight is not None:
        operands.append(pos_weight)
        function += "_weighted"
    return reduced(b, _weighted(b, b.pointwise(function, *operands), weight), reduction)


@lowering("aten.hinge_embedding_loss.default")
def hinge_embedding_loss(b: Builder, x: Value, target: Value, margin: Number = 1.0, reduction: int = MEAN) -> Value:
    return reduced(b, b.pointwise("hinge_embedding", x, target, margin), reduction)


@lowering("aten.margin_ranking_loss.default")
def margin_ranking_loss(
    b: Builder, x: Value, other: Value, target: Value, margin: Number = 0.0, reduction: int = MEAN
) -> Value:
    return reduced(b, b.pointwise("margin_ranking", x, other, target, margin), reduction)
