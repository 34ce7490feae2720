"""Operators that draw random numbers: the numbers become inputs of the program, of role `rng`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.dropout.default")
def dropout(b: Builder, x: Value, p: float, train: bool) -> Value:
    """In training, x times a 0/1 mask divided by 1 - p; otherwise x itself."""
    if not train or p == 0:
        return x
    return _nothing_kept(b, x) if p == 1 else _masked(b, x, p)[0]


def _nothing_kept(b: Builder, x: Value) -> Value:
    """With p = 1 torch draws nothing, and multiplies by zeros."""
    return b.pointwise("mul_scalar", x, 0.0)


def _masked(b: Builder, x: Value, p: float) -> tuple[Value, Value]:
    mask = b.rng("dropout_mask", x.shape, x.dtype)
    scale = 0.0 if p == 1 else 1.0 / (1.0 - p)
    return b.call("dropout", x, mask, scale, shape=x.shape, dtype=x.dtype, extents=b.extents(x)), mask


@lowering("aten.native_dropout.default")
def native_dropout(b: Builder, x: Value, p: float, train: bool | None = None) -> tuple[Value, Value]:
    """The result and the mask."""
    if train is False or p == 0:
        return b.copy(x), b.constant(True, x.shape, torch.bool)
    y, mask = _masked(b, x, p)
    return y, b.pointwise("ne_scalar", mask, 0, dtype=torch.bool)


@lowering("aten.feature_dropout.default", "aten.alpha_dropout.default", "aten.feature_alpha_dropout.default")
def other_dropout(b: Builder, x: Value, p: float, train: bool) -> Value:
    if not train or p == 0:
        return x
    if p == 1:
        return _nothing_kept(b, x)
    raise b.unsupported("this kind of dropout in training mode; call .eval() on the model")


@lowering(
    "aten.rand.default", "aten.randn.default", "aten.rand_like.default", "aten.randn_like.default",
    "aten.randint.default", "aten.randint.low", "aten.randint_like.default", "aten.randint_like.low_dtype",
    "aten.randperm.default", "aten.bernoulli.default", "aten.bernoulli.p", "aten.bernoulli.float",
    "aten.normal.default", "aten.normal.float_float", "aten.normal.Tensor_float", "aten.normal.float_Tensor",
    "aten.normal.Tensor_Tensor", "aten.normal_functional.default", "aten.uniform.default", "aten.exponential.default",
    "aten.multinomial.default", "aten.poisson.default",
)  # fmt: skip
def drawn(b: Builder, *arguments: Any, **settings: Any) -> Value:
    """The numbers themselves, whatever they are drawn from."""
    return b.rng("random", b.result.shape, b.result.dtype)
