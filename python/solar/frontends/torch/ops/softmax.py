"""aten.softmax, aten.log_softmax, aten.softmin, aten._safe_softmax."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from solar.frontends.torch.ops.reduction import reduce
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.softmax.int", "aten.special_softmax.int")
def softmax(b: Builder, x: Value, dim: int, dtype: torch.dtype | None = None) -> Value:
    return over_last(b, "softmax", b.cast(x, b.result.dtype), dim)


@lowering("aten.log_softmax.int", "aten.special_log_softmax.int")
def log_softmax(b: Builder, x: Value, dim: int, dtype: torch.dtype | None = None) -> Value:
    return over_last(b, "log_softmax", b.cast(x, b.result.dtype), dim)


def over_last(b: Builder, function: str, x: Value, dim: int) -> Value:
    """A function of the last axis with a result of its shape, applied along axis `dim`."""
    if x.rank == 0:
        one = b.unsqueeze(x, 0)
        return b.squeeze(b.call(function, one, shape=one.shape, extents=b.extents(one)), [0])
    last = b.to_last(x, [dim])
    result = b.call(function, last, shape=last.shape, extents=b.extents(last))
    return b.from_last(result, [dim])


@lowering("aten._softmax.default")
def softmax_core(b: Builder, x: Value, dim: int, half_to_float: bool = False) -> Value:
    return softmax(b, x, dim)


@lowering("aten._log_softmax.default")
def log_softmax_core(b: Builder, x: Value, dim: int, half_to_float: bool = False) -> Value:
    return log_softmax(b, x, dim)


@lowering("aten._safe_softmax.default")
def safe_softmax(b: Builder, x: Value, dim: int, dtype: torch.dtype | None = None) -> Value:
    """Rows of nothing but -inf give zeros."""
    y = softmax(b, x, dim)
    if x.rank == 0:
        return y
    axis = x.axis(dim)
    nothing = reduce(b, "reduce_all", b.pointwise("eq_scalar", x, -math.inf, dtype=torch.bool), [axis])
    spread = b.expand(b.unsqueeze(nothing, axis), y.shape, b.extents(y))
    return b.call("masked_fill", y, spread, 0.0, extents=b.extents(y))
