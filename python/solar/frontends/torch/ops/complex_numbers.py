"""Complex tensors made of real ones, and taken apart: aten.complex, aten.polar, aten.view_as_real, aten.real, ..."""

from __future__ import annotations

from typing import Any

import torch

from solar.frontends.torch.builder import Builder, Meta, Value
from solar.frontends.torch.complex_values import Complex, as_complex, as_pair, joined, of_pair, part_type
from solar.frontends.torch.registry import complex_lowering


@complex_lowering("aten.complex.default")
def complex_(b: Builder, real: Value, imag: Value) -> Complex:
    parts = b.broadcast(real, imag)
    return joined(b, parts[0], parts[1])


@complex_lowering("aten.polar.default")
def polar(b: Builder, abs: Value, angle: Value) -> Complex:
    radius, direction = b.broadcast(abs, angle)
    metas = [Meta(radius.shape, radius.dtype)] * 2
    return joined(b, *b.call_many("polar", radius, direction, metas=metas, extents=[b.extents(radius)] * 2))


@complex_lowering("aten.view_as_complex.default")
def view_as_complex(b: Builder, x: Value) -> Complex:
    return of_pair(b, x)


@complex_lowering("aten.view_as_real.default")
def view_as_real(b: Builder, x: Complex) -> Value:
    return as_pair(b, x)


@complex_lowering("aten.real.default")
def real(b: Builder, x: Complex) -> Value:
    return x.real


@complex_lowering("aten.imag.default")
def imag(b: Builder, x: Complex) -> Value:
    return x.imag


@complex_lowering(
    "aten._conj.default", "aten.conj.default", "aten.conj_physical.default", "aten._conj_physical.default"
)
def conj(b: Builder, x: Complex) -> Complex:
    """Torch only notes it; the readers negate."""
    return Complex(x.real, b.pointwise("neg", x.imag))


@complex_lowering("aten.resolve_conj.default", "aten.resolve_neg.default", "aten.positive.default")
def identity(b: Builder, x: Complex) -> Complex:
    return x


@complex_lowering("aten.adjoint.default", "aten.mH.default", "aten.matrix_H.default")
def adjoint(b: Builder, x: Complex) -> Complex:
    y = conj(b, x)
    return Complex(b.transpose(y.real, -2, -1), b.transpose(y.imag, -2, -1))


@complex_lowering(
    "aten.to.dtype", "aten.to.dtype_layout", "aten.to.device", "aten.to.other", "aten._to_copy.default",
    "aten.type_as.default",
)  # fmt: skip
def to(b: Builder, x: Value | Complex, *rest: Any, **settings: Any) -> Value | Complex:
    """A real type drops the imaginary part."""
    dtype = b.result.dtype
    if not dtype.is_complex:
        assert isinstance(x, Complex)
        return b.cast(x.real, dtype)
    return x if x.dtype == dtype else as_complex(b, x, part_type(dtype))


@complex_lowering(
    "aten.zeros.default", "aten.zeros_like.default", "aten.new_zeros.default", "aten.empty.memory_format",
    "aten.empty_like.default", "aten.new_empty.default",
)  # fmt: skip
def zeros(b: Builder, *arguments: Any, **settings: Any) -> Complex | Value:
    return constant(b, 0)


@complex_lowering("aten.ones.default", "aten.ones_like.default", "aten.new_ones.default")
def ones(b: Builder, *arguments: Any, **settings: Any) -> Complex | Value:
    return constant(b, 1)


@complex_lowering("aten.full.default", "aten.full_like.default")
def full(b: Builder, size: Any, fill_value: complex, **settings: Any) -> Complex | Value:
    return constant(b, fill_value)


@complex_lowering("aten.scalar_tensor.default")
def scalar_tensor(b: Builder, s: complex, **settings: Any) -> Complex | Value:
    return constant(b, s)


def constant(b: Builder, value: complex) -> Complex | Value:
    """One number everywhere, in the shape and type of the current operator's result."""
    number, meta = complex(value), b.result
    if not meta.dtype.is_complex:
        return b.constant(number.real, meta.shape, meta.dtype)
    dtype = part_type(meta.dtype)
    return Complex(b.constant(number.real, meta.shape, dtype), b.constant(number.imag, meta.shape, dtype))


@complex_lowering("aten.isnan.default")
def isnan(b: Builder, x: Complex) -> Value:
    parts = [b.pointwise("is_nan", part, dtype=torch.bool) for part in (x.real, x.imag)]
    return b.pointwise("logical_or", *parts)


@complex_lowering("aten.fill.Scalar")
def fill(b: Builder, x: Complex, value: complex) -> Complex | Value:
    return constant(b, value)


@complex_lowering("aten.abs.default")
def abs_(b: Builder, x: Complex) -> Value:
    return b.pointwise("complex_abs", x.real, x.imag)


@complex_lowering("aten.angle.default")
def angle(b: Builder, x: Complex) -> Value:
    return b.pointwise("atan2", x.imag, x.real)
