"""aten.add, aten.sub, aten.rsub."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.builder import Builder, Operand, Value
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.dtypes import Number


@lowering("aten.add.Tensor", "aten.add.Scalar")
def add(b: Builder, x: Operand, other: Operand, alpha: Number = 1) -> Value:
    if not isinstance(x, Value):
        if alpha != 1:
            assert isinstance(other, Value)
            other = b.pointwise("mul_scalar", other, alpha)
        x, other = other, x
    elif not isinstance(other, Value):
        return b.pointwise("add_scalar", x, other * alpha, compute=b.promoted(x, other))
    if not isinstance(other, Value):
        return b.pointwise("add_scalar", x, other)
    if alpha == 1:
        return b.pointwise("add", x, other)
    return b.pointwise("add_scaled", x, other, alpha)


@lowering("aten.sub.Tensor", "aten.sub.Scalar")
def sub(b: Builder, x: Operand, other: Operand, alpha: Number = 1) -> Value:
    if not isinstance(other, Value):
        return add(b, x, -other, alpha)
    if not isinstance(x, Value):
        return rsub(b, other, x, alpha)
    if alpha == 1:
        return b.pointwise("sub", x, other)
    return b.pointwise("add_scaled", x, other, -alpha)


@lowering("aten.rsub.Tensor", "aten.rsub.Scalar")
def rsub(b: Builder, x: Value, other: Operand, alpha: Number = 1) -> Value:
    """other - alpha x."""
    if isinstance(other, Value):
        return sub(b, other, x, alpha)
    if alpha != 1:
        x = b.pointwise("mul_scalar", x, alpha, compute=b.promoted(x, other))
    return b.pointwise("rsub_scalar", x, other)
