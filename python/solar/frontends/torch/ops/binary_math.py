"""Functions of two numbers: aten.maximum, aten.pow of tensors, aten.fmod and the like."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.builder import Builder, Operand, Value
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Callable


def _pointwise(function: str) -> Callable[[Builder, Value, Value], Value]:
    def lower(b: Builder, x: Value, other: Value) -> Value:
        return b.pointwise(function, x, other, compute=b.result.dtype)

    return lower


for _name in ("maximum", "minimum", "fmax", "fmin", "atan2", "hypot", "logaddexp", "logaddexp2"):
    lowering(f"aten.{_name}.default")(_pointwise(_name))
lowering("aten.max.other")(_pointwise("maximum"))
lowering("aten.min.other")(_pointwise("minimum"))
lowering("aten.copysign.Tensor")(_pointwise("copysign"))
lowering("aten.arctan2.default")(_pointwise("atan2"))
lowering("aten.xlogy.Tensor", "aten.special_xlogy.default")(_pointwise("xlogy"))
lowering("aten.ldexp.Tensor")(_pointwise("ldexp"))
lowering("aten.pow.Tensor_Tensor")(_pointwise("power"))


@lowering("aten.pow.Scalar")
def power_of_scalar(b: Builder, x: Operand, exponent: Value) -> Value:
    return b.pointwise("scalar_power", exponent, x, compute=b.result.dtype)


@lowering("aten.fmod.Tensor", "aten.fmod.Scalar")
def fmod(b: Builder, x: Value, other: Operand) -> Value:
    if not b.result.dtype.is_floating_point:
        divisor = other if isinstance(other, Value) else b.constant(other, (), b.result.dtype)
        return b.pointwise("integer_fmod", x, divisor, compute=b.result.dtype)
    name = "fmod" if isinstance(other, Value) else "fmod_scalar"
    return b.pointwise(name, x, other, compute=b.result.dtype)
