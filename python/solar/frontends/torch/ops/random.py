"""Operators that draw random numbers: the numbers become inputs of the program, of role `rng`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.dropout.default")
def dropout(b: Builder, x: Value, p: float, train: bool) -> Value:
    """In training, x times a 0/1 mask divided by 1 - p; otherwise x itself."""
    if not train or p == 0:
        return x
    mask = b.rng("dropout_mask", x.shape, x.dtype)
    scale = 0.0 if p == 1 else 1.0 / (1.0 - p)
    return b.call("dropout", x, mask, scale, extents=b.extents(x))


@lowering("aten.feature_dropout.default", "aten.alpha_dropout.default", "aten.feature_alpha_dropout.default")
def other_dropout(b: Builder, x: Value, p: float, train: bool) -> Value:
    if not train or p == 0:
        return x
    raise b.unsupported("this kind of dropout in training mode; call .eval() on the model")


@lowering(
    "aten.rand.default", "aten.randn.default", "aten.rand_like.default", "aten.randn_like.default",
)  # fmt: skip
def drawn(b: Builder, *arguments: Any, dtype: Any = None) -> Value:
    """The numbers themselves."""
    return b.rng("random", b.result.shape, b.result.dtype)
