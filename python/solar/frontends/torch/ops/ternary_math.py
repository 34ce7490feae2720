"""aten.addcmul, aten.addcdiv, aten.lerp."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Value
    from solar.frontends.torch.dtypes import Number


@lowering("aten.addcmul.default")
def addcmul(b: Builder, x: Value, tensor1: Value, tensor2: Value, value: Number = 1) -> Value:
    return b.pointwise("addcmul", x, tensor1, tensor2, value, compute=b.result.dtype)


@lowering("aten.addcdiv.default")
def addcdiv(b: Builder, x: Value, tensor1: Value, tensor2: Value, value: Number = 1) -> Value:
    return b.pointwise("addcdiv", x, tensor1, tensor2, value, compute=b.result.dtype)


@lowering("aten.lerp.Tensor")
def lerp(b: Builder, x: Value, end: Value, weight: Value) -> Value:
    return b.pointwise("lerp", x, end, weight, compute=b.result.dtype)


@lowering("aten.lerp.Scalar")
def lerp_scalar(b: Builder, x: Value, end: Value, weight: Number) -> Value:
    return b.pointwise("lerp_scalar", x, end, weight, compute=b.result.dtype)
