"""aten.div, with its rounding modes, aten.floor_divide, aten.remainder."""

from __future__ import annotations

import torch

from solar.frontends.torch.builder import Builder, Operand, Value
from solar.frontends.torch.dtypes import is_float
from solar.frontends.torch.registry import lowering


@lowering("aten.div.Tensor", "aten.div.Scalar")
def div(b: Builder, x: Operand, other: Operand) -> Value:
    compute = b.result.dtype
    if not isinstance(other, Value):
        return b.pointwise("div_scalar", x, other, compute=compute)
    if not isinstance(x, Value):
        return b.pointwise("rdiv_scalar", other, x, compute=compute)
    return b.pointwise("div", x, other, compute=compute)


@lowering("aten.div.Tensor_mode", "aten.div.Scalar_mode")
def div_mode(b: Builder, x: Value, other: Operand, rounding_mode: str | None = None) -> Value:
    if rounding_mode is None:
        return div(b, x, other)
    compute = b.promoted(x, other)
    if not isinstance(other, Value):
        other = b.constant(other, x.shape, compute)
    if is_float(compute):
        return b.pointwise(f"{rounding_mode}_div", x, other, compute=compute)
    return b.pointwise(f"integer_{rounding_mode}_div", x, other, compute=compute)


@lowering("aten.floor_divide.default", "aten.floor_divide.Scalar")
def floor_divide(b: Builder, x: Value, other: Operand) -> Value:
    return div_mode(b, x, other, "floor")


@lowering("aten.remainder.Tensor", "aten.remainder.Scalar")
def remainder(b: Builder, x: Value, other: Operand) -> Value:
    compute = b.promoted(x, other)
    if compute == torch.bool:
        raise b.unsupported("the remainder of bool values")
    name = "float_remainder" if is_float(compute) else "remainder"
    return b.pointwise(name if isinstance(other, Value) else f"{name}_scalar", x, other, compute=compute)
