"""aten.mul, aten.neg."""

from __future__ import annotations

import torch

from solar.frontends.torch.builder import Builder, Operand, Value
from solar.frontends.torch.registry import lowering


@lowering("aten.mul.Tensor", "aten.mul.Scalar")
def mul(b: Builder, x: Operand, other: Operand) -> Value:
    if not isinstance(x, Value):
        x, other = other, x
    if not isinstance(other, Value):
        return b.pointwise("mul_scalar", x, other)
    if b.promoted(x, other) == torch.bool:
        return b.pointwise("logical_and", x, other)
    return b.pointwise("mul", x, other)


@lowering("aten.neg.default")
def neg(b: Builder, x: Value) -> Value:
    return b.pointwise("neg", x)
