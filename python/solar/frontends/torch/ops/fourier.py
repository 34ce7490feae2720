"""Fourier transforms: aten._fft_c2c, aten._fft_r2c, aten._fft_c2r, of which torch makes all others.

They are the steps of the fast algorithm, whose sums count as other arithmetic, not as multiply-accumulates: how few of
these suffice is not known, and what is known to limit a transform is memory.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from solar.frontends.torch.builder import Builder, Meta, Value
from solar.frontends.torch.complex_values import Complex, joined
from solar.frontends.torch.registry import complex_lowering

if TYPE_CHECKING:
    from collections.abc import Sequence

    Parts = tuple[Value, Value]

BY_ROOT, BY_SIZE = 1, 2  # torch's `normalization`; 0 is none
_LARGEST = 1024  # of the prime factors of a length


@complex_lowering("aten._fft_c2c.default")
def c2c(b: Builder, x: Complex, dim: Sequence[int], normalization: int, forward: bool) -> Complex:
    sign = -1 if forward else 1
    parts = (x.real, x.imag)
    for axis in dim:
        parts = _along(b, parts, axis, sign)
    return joined(b, *_scaled(b, parts, x.shape, dim, normalization))


@complex_lowering("aten._fft_r2c.default")
def r2c(b: Builder, x: Value, dim: Sequence[int], normalization: int, onesided: bool) -> Complex:
    last = dim[-1]
    parts = _along(b, (x, None), last, -1)
    if onesided:  # the other half are the conjugates
        real, imag = (_first_half(b, part, part.axis(last)) for part in parts)
        parts = (real, imag)
    for axis in dim[:-1]:
        parts = _along(b, parts, axis, -1)
    return joined(b, *_scaled(b, parts, x.shape, dim, normalization))


@complex_lowering("aten._fft_c2r.default")
def c2r(b: Builder, x: Complex, dim: Sequence[int], normalization: int, last_dim_size: int) -> Value:
    parts = (x.real, x.imag)
    for axis in dim[:-1]:
        parts = _along(b, parts, axis, 1)
    last = x.real.axis(dim[-1])
    half = [b.to_last(b.slice(part, last, 0, last_dim_size // 2 + 1), [last]) for part in parts]
    size = b.dim("size", last_dim_size)
    metas = [Meta((*half[0].shape[:-1], last_dim_size), half[0].dtype)] * 2
    known = [*b.extents(half[0])[:-1], size]
    whole = b.call_many("hermitian", *half, metas=metas, extents=[known] * 2, dims={"N": size})
    real, imag = _along(b, _pair(whole), -1, 1)
    return b.from_last(_scaled(b, (real, imag), b.result.shape, dim, normalization)[0], [last])


def _first_half(b: Builder, x: Value, axis: int) -> Value:
    """With the element in the middle."""
    count = x.shape[axis] // 2 + 1
    return x if count == x.shape[axis] else b.slice_text(x, axis, f":({b.extent(x, axis)}) // 2 + 1", count)


def _scaled(b: Builder, parts: Parts, shape: Sequence[int], dim: Sequence[int], normalization: int) -> Parts:
    size = math.prod(shape[axis] for axis in dim)
    if normalization not in (BY_ROOT, BY_SIZE) or size == 1:
        return parts
    scale = 1 / size if normalization == BY_SIZE else 1 / math.sqrt(size)
    return b.pointwise("mul_scalar", parts[0], scale), b.pointwise("mul_scalar", parts[1], scale)


def _along(b: Builder, parts: tuple[Value, Value | None], axis: int, sign: int) -> Parts:
    """The transform of one axis."""
    length = parts[0].shape[axis]
    factors = _factors(length)
    if factors and max(factors) > _LARGEST:
        raise b.unsupported(f"a transform of length {length} has a large prime factor; give `n` another length")
    last = [None if part is None else b.to_last(part, [axis]) for part in parts]
    assert last[0] is not None
    real, imag = _transform(b, last[0], last[1], factors, sign)
    return b.from_last(real, [axis]), b.from_last(imag, [axis])


def _factors(length: int) -> list[int]:
    """Fours, then primes."""
    factors = []
    candidates = itertools.chain([4], itertools.count(2))
    while length > 1:
        factor = next(candidates)
        if factor * factor > length and factor != 4:
            factor = length
        while length % factor == 0:
            factors.append(factor)
            length //= factor
    return factors


def _transform(b: Builder, real: Value, imag: Value | None, factors: Sequence[int], sign: int) -> Parts:
    """Of the last axis, whose length has these factors: of the elements r = 0, 1, .. modulo the first, then a step."""
    if not factors:
        return real, b.constant(0, real.shape, real.dtype) if imag is None else imag
    first, count = factors[0], math.prod(factors[1:])
    known = b.extents(real)
    dims: dict[str, object] = {"SIGN": sign}
    metas = [Meta(real.shape, real.dtype)] * 2
    if count == 1 and imag is None:
        return _pair(b.call_many("fourier_start", real, metas=metas, extents=[known] * 2, dims=dims))
    parts = [None if part is None else _apart(b, part, count, first) for part in (real, imag)]
    assert parts[0] is not None
    u, v = _transform(b, parts[0], parts[1], factors[1:], sign)
    step = b.call_many("fourier_step", u, v, metas=[Meta(u.shape, u.dtype)] * 2, extents=[b.extents(u)] * 2, dims=dims)
    return _pair([b.merge_axes(part, part.rank - 2, part.rank - 1) for part in step])


def _pair(values: Sequence[Value]) -> Parts:
    return values[0], values[1]


def _apart(b: Builder, x: Value, count: int, first: int) -> Value:
    """Element m * first + r of the last axis at [r, m]."""
    split = b.split_axis(x, -1, [count, first], [f"({b.extent(x, -1)}) // {first}", str(first)])
    return b.transpose(split, -2, -1)
