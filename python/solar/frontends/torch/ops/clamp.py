"""aten.clamp and its one-sided forms, aten.hardtanh, aten.relu6."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Value
    from solar.frontends.torch.dtypes import Number


@lowering("aten.clamp.default", "aten.clip.default")
def clamp(b: Builder, x: Value, min: Number | None = None, max: Number | None = None) -> Value:
    compute = b.result.dtype
    if min is not None and max is not None:
        return b.pointwise("clamp", x, min, max, compute=compute)
    if min is not None:
        return b.pointwise("maximum_scalar", x, min, compute=compute)
    assert max is not None
    return b.pointwise("minimum_scalar", x, max, compute=compute)


@lowering("aten.clamp.Tensor", "aten.clip.Tensor")
def clamp_tensor(b: Builder, x: Value, min: Value | None = None, max: Value | None = None) -> Value:
    compute = b.result.dtype
    result = x
    if min is not None:
        result = b.pointwise("maximum", result, min, compute=compute)
    if max is not None:
        result = b.pointwise("minimum", result, max, compute=compute)
    return result


@lowering("aten.clamp_min.default")
def clamp_min(b: Builder, x: Value, min: Number) -> Value:
    return clamp(b, x, min=min)


@lowering("aten.clamp_max.default")
def clamp_max(b: Builder, x: Value, max: Number) -> Value:
    return clamp(b, x, max=max)


@lowering("aten.clamp_min.Tensor")
def clamp_min_tensor(b: Builder, x: Value, min: Value) -> Value:
    return clamp_tensor(b, x, min=min)


@lowering("aten.clamp_max.Tensor")
def clamp_max_tensor(b: Builder, x: Value, max: Value) -> Value:
    return clamp_tensor(b, x, max=max)


@lowering("aten.hardtanh.default")
def hardtanh(b: Builder, x: Value, min_val: Number = -1, max_val: Number = 1) -> Value:
    return clamp(b, x, min_val, max_val)


@lowering("aten.relu6.default")
def relu6(b: Builder, x: Value) -> Value:
    return clamp(b, x, 0, 6)
