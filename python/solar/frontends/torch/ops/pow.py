"""aten.pow with a number as exponent, aten.square, aten.reciprocal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.dtypes import Number, is_float
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Value

_BY_EXPONENT = {2.0: "square", 3.0: "cube", 0.5: "sqrt", -0.5: "rsqrt", -1.0: "reciprocal"}


@lowering("aten.pow.Tensor_Scalar")
def pow_scalar(b: Builder, x: Value, exponent: Number) -> Value:
    compute = b.result.dtype
    if exponent == 1:
        return b.copy(b.cast(x, compute))
    if exponent == 0:
        return b.constant(1, x.shape, compute)
    name = _BY_EXPONENT.get(float(exponent))
    if name and (is_float(compute) or exponent > 0):
        return b.pointwise(name, x, compute=compute)
    if not is_float(compute):
        raise b.unsupported("an integer to a power other than 2 and 3")
    return b.pointwise("pow_scalar", x, exponent, compute=compute)


@lowering("aten.square.default")
def square(b: Builder, x: Value) -> Value:
    return b.pointwise("square", x)


@lowering("aten.reciprocal.default")
def reciprocal(b: Builder, x: Value) -> Value:
    return b.pointwise("reciprocal", x, compute=b.result.dtype)
