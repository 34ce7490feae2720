"""aten.where, aten.masked_fill."""

from __future__ import annotations

import torch

from solar.frontends.torch.builder import Builder, Operand, Value
from solar.frontends.torch.dtypes import number
from solar.frontends.torch.registry import lowering


@lowering("aten.where.self", "aten.where.ScalarSelf", "aten.where.ScalarOther", "aten.where.Scalar")
def where(b: Builder, condition: Value, x: Operand, other: Operand) -> Value:
    dtype = b.result.dtype
    if condition.dtype != torch.bool:
        condition = b.pointwise("ne_scalar", condition, 0, dtype=torch.bool)
    sides = [b.cast(o, dtype) if isinstance(o, Value) else b.constant(o, b.result.shape, dtype) for o in (x, other)]
    mask, first, second = b.broadcast(condition, *sides)
    return b.call("where_select", mask, first, second, extents=b.extents(first))


@lowering("aten.masked_fill.Scalar", "aten.masked_fill.Tensor")
def masked_fill(b: Builder, x: Value, mask: Value, value: Operand) -> Value:
    expanded, spread = b.broadcast(x, mask)
    fill = b.cast(value, x.dtype) if isinstance(value, Value) else number(value, x.dtype)
    return b.call("masked_fill", expanded, spread, fill, extents=b.extents(expanded))
