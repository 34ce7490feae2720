"""Arithmetic of complex tensors. A real operand stays real: it needs no products with imaginary parts of 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.builder import Builder, Meta, Operand, Value
from solar.frontends.torch.complex_values import Complex, as_complex, joined, part_type
from solar.frontends.torch.ops.add import add, sub
from solar.frontends.torch.ops.complex_numbers import abs_
from solar.frontends.torch.ops.div import div
from solar.frontends.torch.ops.einsum import einsum
from solar.frontends.torch.ops.matmul import matmul
from solar.frontends.torch.ops.mul import mul
from solar.frontends.torch.registry import complex_lowering

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from solar.frontends.torch.dtypes import Number

Numbers = Complex | Operand | complex


def _both(b: Builder, x: Numbers, other: Numbers) -> list[Complex]:
    """Two operands as complex tensors of one shape."""
    dtype = part_type(b.result.dtype)
    whole = []
    for operand in (x, other):
        if isinstance(operand, (Complex, Value)):
            whole.append(as_complex(b, operand, dtype))
        else:
            number = complex(operand)
            whole.append(Complex(b.constant(number.real, (), dtype), b.constant(number.imag, (), dtype)))
    reals = b.broadcast(*(v.real for v in whole))
    imags = b.broadcast(*(v.imag for v in whole))
    return [Complex(re, im) for re, im in zip(reals, imags, strict=True)]


def _is_real(x: Numbers) -> bool:
    return not isinstance(x, Complex) and (isinstance(x, Value) or not complex(x).imag)


def _real(x: Numbers) -> Operand:
    assert not isinstance(x, Complex)
    return x if isinstance(x, Value) else complex(x).real


def _linear(function: Callable[..., Value]) -> Callable[..., Complex]:
    """Sums and differences, part by part."""

    def lower(b: Builder, x: Numbers, other: Numbers, alpha: Number = 1) -> Complex:
        dtype = part_type(b.result.dtype)
        if isinstance(x, Complex) and not isinstance(other, (Complex, Value)):
            number = complex(other)
            parts = [
                part if not value else function(b, part, value, alpha)
                for part, value in ((x.real, number.real), (x.imag, number.imag))
            ]
            return joined(b, *(b.cast(part, dtype) for part in parts))
        first, second = _both(b, x, other)
        return joined(b, function(b, first.real, second.real, alpha), function(b, first.imag, second.imag, alpha))

    return lower


complex_lowering("aten.add.Tensor", "aten.add.Scalar")(_linear(add))
complex_lowering("aten.sub.Tensor", "aten.sub.Scalar")(_linear(sub))


@complex_lowering("aten.rsub.Scalar", "aten.rsub.Tensor")
def rsub(b: Builder, x: Numbers, other: Numbers, alpha: Number = 1) -> Complex:
    return _linear(sub)(b, other, x, alpha)


@complex_lowering("aten.mul.Tensor", "aten.mul.Scalar")
def complex_mul(b: Builder, x: Numbers, other: Numbers) -> Complex:
    if not isinstance(x, Complex):
        x, other = other, x
    if isinstance(x, Complex) and _is_real(other):
        return joined(b, mul(b, x.real, _real(other)), mul(b, x.imag, _real(other)))
    return _called(b, "complex_mul", x, other)


def _called(b: Builder, function: str, x: Numbers, other: Numbers) -> Complex:
    first, second = _both(b, x, other)
    operands = (first.real, first.imag, second.real, second.imag)
    metas = [Meta(first.real.shape, first.real.dtype)] * 2
    return joined(b, *b.call_many(function, *operands, metas=metas, extents=[b.extents(first.real)] * 2))


@complex_lowering("aten.div.Tensor", "aten.div.Scalar")
def complex_div(b: Builder, x: Numbers, other: Numbers) -> Complex:
    if isinstance(x, Complex) and _is_real(other):
        meta, b.results = b.results, (Meta(b.result.shape, part_type(b.result.dtype)),)
        parts = [div(b, part, _real(other)) for part in (x.real, x.imag)]
        b.results = meta
        return joined(b, *parts)
    return _called(b, "complex_div", x, other)


@complex_lowering("aten.reciprocal.default")
def reciprocal(b: Builder, x: Complex) -> Complex:
    return complex_div(b, 1.0, x)


@complex_lowering("aten.square.default")
def square(b: Builder, x: Complex) -> Complex:
    return _called(b, "complex_mul", x, x)


@complex_lowering("aten.pow.Tensor_Scalar")
def power(b: Builder, x: Complex, exponent: Number) -> Complex:
    if exponent != 2:
        raise b.unsupported(f"complex numbers to the power of {exponent}")
    return square(b, x)


@complex_lowering("aten.exp.default")
def exp(b: Builder, x: Complex) -> Complex:
    radius = b.pointwise("exp", x.real)
    metas = [Meta(radius.shape, radius.dtype)] * 2
    return joined(b, *b.call_many("polar", radius, x.imag, metas=metas, extents=[b.extents(radius)] * 2))


@complex_lowering("aten.log.default")
def log(b: Builder, x: Complex) -> Complex:
    return joined(b, b.pointwise("log", abs_(b, x)), b.pointwise("atan2", x.imag, x.real))


# Products: four real ones, or two where an operand is real.


def _products(b: Builder, multiply: Callable[[Value, Value], Value], x: Complex | Value, y: Complex | Value) -> Complex:
    metas = b.results
    dtype = part_type(b.result.dtype)
    b.results = (Meta(b.result.shape, dtype),)
    if isinstance(x, Complex) and isinstance(y, Complex):
        real = b.pointwise("sub", multiply(x.real, y.real), multiply(x.imag, y.imag))
        imag = b.pointwise("add", multiply(x.real, y.imag), multiply(x.imag, y.real))
    elif isinstance(x, Complex):
        assert isinstance(y, Value)
        real, imag = (multiply(part, b.cast(y, dtype)) for part in (x.real, x.imag))
    else:
        assert isinstance(y, Complex)
        real, imag = (multiply(b.cast(x, dtype), part) for part in (y.real, y.imag))
    b.results = metas
    return joined(b, real, imag)


@complex_lowering("aten.matmul.default", "aten.mm.default", "aten.bmm.default", "aten.mv.default", "aten.dot.default")
def complex_matmul(b: Builder, x: Complex | Value, other: Complex | Value) -> Complex:
    return _products(b, lambda left, right: matmul(b, left, right), x, other)


@complex_lowering("aten.linear.default")
def complex_linear(
    b: Builder, x: Complex | Value, weight: Complex | Value, bias: Complex | Value | None = None
) -> Complex:
    y = _products(b, lambda left, right: matmul(b, left, b.transpose(right, 0, 1)), x, weight)
    return y if bias is None else _linear(add)(b, y, bias)


@complex_lowering("aten.einsum.default")
def complex_einsum(b: Builder, equation: str, tensors: Sequence[Complex | Value], path: object = None) -> Complex:
    if len(tensors) == 1 and isinstance(tensors[0], Complex):
        return joined(b, *(einsum(b, equation, [part]) for part in (tensors[0].real, tensors[0].imag)))
    if len(tensors) != 2:
        raise b.unsupported(f"complex numbers in an equation with {len(tensors)} operands; write it as several")
    return _products(b, lambda left, right: einsum(b, equation, [left, right]), *tensors)
