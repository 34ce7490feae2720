"""aten.upsample_*: nearest, linear and cubic interpolation, one axis at a time.

A scale is a fraction of small integers where torch's own places, computed in f32, are those of the fraction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import torch

from solar.frontends.torch.ops.reduction import accumulation
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Value

Places = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]  # of numbers 0, 1, .. and a scale, both f32
_LARGEST_DENOMINATOR = 4096


def _scale(source: int, size: int, factor: float | None) -> tuple[float, Fraction]:
    """Input elements per output element, as torch takes it and as a fraction."""
    if factor is None or factor <= 0:
        return source / size, Fraction(source, size)
    return 1.0 / factor, Fraction(1.0 / factor).limit_denominator(_LARGEST_DENOMINATOR)


def _matches(source: int, size: int, scale: float, shift: float, line: tuple[int, int, int]) -> bool:
    """Whether floor(scale (q + shift) - shift') is (A q + B) // C for every place, the line being (A, B, C).

    `shift` is 0 for nearest, otherwise half a step, which nearest-exact does not take off again.
    """
    q = torch.arange(size, dtype=torch.float32)
    there = torch.floor(torch.tensor(scale, dtype=torch.float32) * (q + shift)).to(torch.int64)
    a, b, c = line
    ours = (a * torch.arange(size) + b) // c
    return bool((there.clamp(max=source - 1) == ours.clamp(max=source - 1)).all())


def _nearest(b: Builder, x: Value, axis: int, size: int, factor: float | None, exact: bool) -> Value:
    source = x.shape[axis]
    scale, fraction = _scale(source, size, factor)
    up, down = fraction.numerator, fraction.denominator
    line = (2 * up, up, 2 * down) if exact else (up, 0, down)
    shift = 0.5 if exact else 0.0
    last = b.to_last(x, [axis])
    count = b.dim("size", size)
    known = [*b.extents(last)[:-1], count]
    shape = (*last.shape[:-1], size)
    if size in (source, 2 * source) and not exact:  # torch does not look at the factor then
        line = (source, 0, size)
    elif not _matches(source, size, scale, shift, line):
        places = b.call(
            "source_index", _f32(scale), shift, source - 1,
            shape=(size,), dtype=torch.int64, extents=[count], dims={"Q": count},
        )  # fmt: skip
        y = b.call("index_select", last, places, shape=shape, dtype=x.dtype, extents=known)
        return b.from_last(y, [axis])
    dims = {"Q": count} | _line(b, last, fraction, line, source, size, count)
    y = b.call("resize_nearest", last, shape=shape, dtype=x.dtype, extents=known, dims=dims)
    return b.from_last(y, [axis])


def _f32(number: float) -> float:
    return float(torch.tensor(number, dtype=torch.float32))


def _line(
    b: Builder, x: Value, fraction: Fraction, line: tuple[int, int, int], source: int, size: int, count: str
) -> dict[str, object]:
    """The line as dim expressions where the scale is input size over output size, otherwise as numbers."""
    if fraction != Fraction(source, size):
        return dict(zip("ABC", line, strict=True))
    width = f"({b.extent(x, -1)})"
    if line[1] == 0:
        return {"A": width, "B": 0, "C": count}
    half = width if line[1] > 0 and 2 * line[1] == line[0] else f"{width} - {count}"
    return {"A": f"2*{width}", "B": half, "C": f"2*{count}"}


def _smooth(b: Builder, function: str, x: Value, axis: int, size: int, factor: float | None, align: bool) -> Value:
    """`resize_linear` or `resize_cubic` of values in the accumulation type."""
    source = x.shape[axis]
    last = b.to_last(x, [axis])
    count = b.dim("size", size)
    if align:
        width = f"({b.extent(last, -1)})"
        line: dict[str, object] = {"A": 0, "B": 0, "C": 1}
        if size > 1:
            line = {"A": f"{width} - 1", "B": 0, "C": f"{count} - 1"}
    else:
        _, fraction = _scale(source, size, factor)
        up, down = fraction.numerator, fraction.denominator
        if abs(float(fraction) - (1.0 / factor if factor else source / size)) > 1e-9:
            raise b.unsupported(f"the scale factor {factor}: it is no simple fraction")
        line = _line(b, last, fraction, (2 * up, up - down, 2 * down), source, size, count)
    shape = (*last.shape[:-1], size)
    known = [*b.extents(last)[:-1], count]
    y = b.call(function, last, shape=shape, dtype=x.dtype, extents=known, dims={"Q": count} | line)
    return b.from_last(y, [axis])


def _factors(count: int, scales: Sequence[float | None] | float | None) -> list[float | None]:
    if scales is None or isinstance(scales, float):
        return [scales] * count
    given = list(scales)
    return given if len(given) == count else given * count


def _resize_nearest(b: Builder, x: Value, scales: Sequence[float | None] | None, exact: bool) -> Value:
    count = x.rank - 2
    for axis, factor in zip(range(2, x.rank), _factors(count, scales), strict=True):
        if x.shape[axis] != b.result.shape[axis] or (exact and factor not in (None, 1.0)):
            x = _nearest(b, x, axis, b.result.shape[axis], factor, exact)
    return x if x.dtype == b.result.dtype else b.cast(x, b.result.dtype)


def _resize_smooth(b: Builder, function: str, x: Value, align: bool, scales: Sequence[float | None] | None) -> Value:
    if not x.dtype.is_floating_point:
        raise b.unsupported("values that are not floats")
    wide = b.cast(x, accumulation(x.dtype))
    for axis, factor in zip(range(2, x.rank), _factors(x.rank - 2, scales), strict=True):
        size = b.result.shape[axis]
        if x.shape[axis] != size or (factor not in (None, 1.0) and not align):
            wide = _smooth(b, function, wide, axis, size, factor, align)
    return b.cast(wide, x.dtype)


def _register(dims: int, linear: str) -> None:
    """The operators for inputs with `dims` axes after batch and channels."""

    def nearest(exact: bool) -> None:
        name = "_upsample_nearest_exact" if exact else "upsample_nearest"

        @lowering(f"aten.{name}{dims}d.vec")
        def by_vector(
            b: Builder, x: Value, output_size: Sequence[int] | None, scale_factors: Sequence[float] | None = None
        ) -> Value:
            return _resize_nearest(b, x, scale_factors, exact)

        @lowering(f"aten.{name}{dims}d.default")
        def by_numbers(
            b: Builder, x: Value, output_size: Sequence[int], *scales: float | None, **named: float
        ) -> Value:
            return _resize_nearest(b, x, _named(dims, scales, named), exact)

    def smooth(name: str, function: str) -> None:
        @lowering(f"aten.upsample_{name}{dims}d.vec")
        def by_vector(
            b: Builder,
            x: Value,
            output_size: Sequence[int] | None,
            align_corners: bool,
            scale_factors: Sequence[float] | None = None,
        ) -> Value:
            return _resize_smooth(b, function, x, align_corners, scale_factors)

        @lowering(f"aten.upsample_{name}{dims}d.default")
        def by_numbers(
            b: Builder, x: Value, output_size: Sequence[int], align_corners: bool, *scales: float | None, **named: float
        ) -> Value:
            return _resize_smooth(b, function, x, align_corners, _named(dims, scales, named))

    nearest(False)
    nearest(True)
    smooth(linear, "resize_linear")
    if dims == 2:
        smooth("bicubic", "resize_cubic")


def _named(dims: int, scales: Sequence[float | None], named: dict[str, float]) -> list[float | None]:
    """The scales of `default` overloads: `scales`, or one for each axis, by place or by name."""
    keys = ["scales"] if dims == 1 else [f"scales_{axis}" for axis in "dhw"[3 - dims :]]
    given: list[float | None] = list(scales)
    return given + [named.get(key) for key in keys[len(given) :]]


for _dims, _linear in ((1, "linear"), (2, "bilinear"), (3, "trilinear")):
    _register(_dims, _linear)
