"""Functions of one number: aten.abs, aten.log, aten.erf and the like."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from solar.frontends.torch.dtypes import is_float
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Callable

    from solar.frontends.torch.builder import Builder, Value

# Defined for integers and floats alike.
_SAME_TYPE = ("abs", "sign")
# Integers come back unchanged.
_ROUNDING = ("floor", "ceil", "trunc", "round")
# Integers become floats first.
_TO_FLOAT = (
    "log", "log1p", "log2", "log10", "expm1", "exp2", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
    "asinh", "acosh", "atanh", "erf", "erfc", "erfinv", "lgamma", "angle",
)  # fmt: skip


def _same_type(function: str) -> Callable[[Builder, Value], Value]:
    def lower(b: Builder, x: Value) -> Value:
        return b.pointwise(function, x)

    return lower


def _rounding(function: str) -> Callable[[Builder, Value], Value]:
    def lower(b: Builder, x: Value) -> Value:
        return b.pointwise(function, x) if is_float(x.dtype) else b.copy(x)

    return lower


def _to_float(function: str) -> Callable[[Builder, Value], Value]:
    def lower(b: Builder, x: Value) -> Value:
        return b.pointwise(function, x, compute=b.result.dtype)

    return lower


for _name in _SAME_TYPE:
    lowering(f"aten.{_name}.default")(_same_type(_name))
for _name in _ROUNDING:
    lowering(f"aten.{_name}.default")(_rounding(_name))
for _name in _TO_FLOAT:
    lowering(f"aten.{_name}.default")(_to_float(_name))
lowering("aten.sgn.default")(_same_type("sign"))
lowering("aten.frac.default")(_same_type("frac"))
for _name in ("erf", "erfc", "erfinv", "exp2", "expm1", "log1p"):
    lowering(f"aten.special_{_name}.default")(_to_float(_name))
lowering("aten.special_gammaln.default")(_to_float("lgamma"))


@lowering("aten.round.decimals")
def round_decimals(b: Builder, x: Value, decimals: int = 0) -> Value:
    if not is_float(x.dtype):
        return b.copy(x)
    if decimals == 0:
        return b.pointwise("round", x)
    return b.pointwise("round_fine" if decimals > 0 else "round_coarse", x, 10.0 ** abs(decimals))


@lowering("aten.signbit.default")
def signbit(b: Builder, x: Value) -> Value:
    if not is_float(x.dtype):
        return b.pointwise("lt_scalar", x, 0, dtype=torch.bool)
    return b.pointwise("sign_bit", x, dtype=torch.bool)
