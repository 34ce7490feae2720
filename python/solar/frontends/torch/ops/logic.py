"""Logical, bitwise and predicate operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from solar.frontends.torch.builder import Builder, Operand, Value
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Callable


def truth(b: Builder, x: Value) -> Value:
    """`x != 0`, as a bool tensor."""
    return x if x.dtype == torch.bool else b.pointwise("ne_scalar", x, 0, dtype=torch.bool)


@lowering("aten.logical_and.default")
def logical_and(b: Builder, x: Value, other: Value) -> Value:
    return b.pointwise("logical_and", truth(b, x), truth(b, other))


@lowering("aten.logical_or.default")
def logical_or(b: Builder, x: Value, other: Value) -> Value:
    return b.pointwise("logical_or", truth(b, x), truth(b, other))


@lowering("aten.logical_xor.default")
def logical_xor(b: Builder, x: Value, other: Value) -> Value:
    return b.pointwise("logical_xor", truth(b, x), truth(b, other))


@lowering("aten.logical_not.default")
def logical_not(b: Builder, x: Value) -> Value:
    return b.pointwise("logical_not", truth(b, x))


def _bitwise(b: Builder, name: str, x: Operand, other: Operand) -> Value:
    kind = "logical" if b.result.dtype == torch.bool else "bitwise"
    tensors = [o if isinstance(o, Value) else b.constant(o, (), b.result.dtype) for o in (x, other)]
    return b.pointwise(f"{kind}_{name}", *tensors, compute=b.result.dtype)


@lowering("aten.bitwise_and.Tensor", "aten.bitwise_and.Scalar", "aten.__and__.Tensor", "aten.__and__.Scalar")
def bitwise_and(b: Builder, x: Operand, other: Operand) -> Value:
    return _bitwise(b, "and", x, other)


@lowering("aten.bitwise_or.Tensor", "aten.bitwise_or.Scalar", "aten.__or__.Tensor", "aten.__or__.Scalar")
def bitwise_or(b: Builder, x: Operand, other: Operand) -> Value:
    return _bitwise(b, "or", x, other)


@lowering("aten.bitwise_xor.Tensor", "aten.bitwise_xor.Scalar", "aten.__xor__.Tensor", "aten.__xor__.Scalar")
def bitwise_xor(b: Builder, x: Operand, other: Operand) -> Value:
    return _bitwise(b, "xor", x, other)


def _shift(function: str) -> Callable[[Builder, Value, Operand], Value]:
    def lower(b: Builder, x: Value, other: Operand) -> Value:
        places = other if isinstance(other, Value) else b.constant(other, (), b.result.dtype)
        return b.pointwise(function, x, places, compute=b.result.dtype)

    return lower


for _name, _dunder in (("left", "l"), ("right", "r")):
    lowering(
        f"aten.bitwise_{_name}_shift.Tensor",
        f"aten.bitwise_{_name}_shift.Tensor_Scalar",
        f"aten.__{_dunder}shift__.Tensor",
        f"aten.__{_dunder}shift__.Scalar",
    )(_shift(f"shift_{_name}"))


@lowering("aten.bitwise_not.default")
def bitwise_not(b: Builder, x: Value) -> Value:
    if x.dtype == torch.bool:
        return b.pointwise("logical_not", x)
    return b.pointwise("bitwise_not", x)


def _predicate(b: Builder, name: str, x: Value, of_integers: bool) -> Value:
    if not x.dtype.is_floating_point:
        return b.constant(of_integers, x.shape, torch.bool)
    return b.pointwise(name, x, dtype=torch.bool)


@lowering("aten.isnan.default")
def isnan(b: Builder, x: Value) -> Value:
    return _predicate(b, "is_nan", x, False)


@lowering("aten.isinf.default")
def isinf(b: Builder, x: Value) -> Value:
    return _predicate(b, "is_inf", x, False)


@lowering("aten.isfinite.default")
def isfinite(b: Builder, x: Value) -> Value:
    return _predicate(b, "is_finite", x, True)
