"""aten.grid_sampler, of two and three axes: reads between the elements, at places that are data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from solar.frontends.torch.builder import Builder, Meta, Value
from solar.frontends.torch.ops.reduction import accumulation
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Sequence

_LINEAR, _NEAREST, _CUBIC = range(3)
_TAPS = {_LINEAR: ("taps_linear", 2), _NEAREST: ("taps_nearest", 1), _CUBIC: ("taps_cubic", 4)}


@lowering("aten.grid_sampler.default", "aten.grid_sampler_2d.default", "aten.grid_sampler_3d.default")
def grid_sampler(
    b: Builder, x: Value, grid: Value, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Value:
    count = x.rank - 2
    operands = [x]
    for axis in range(count):  # the last coordinate is that of the first axis
        place = b.index(grid, -1, count - 1 - axis)
        operands += _taps(b, place, b.extent(x, 2 + axis), interpolation_mode, padding_mode, int(align_corners))
    known = [*b.extents(x)[:2], *b.extents(grid)[1:-1]]
    return b.call(f"grid_sample{count}d", *operands, extents=known)


def _taps(b: Builder, place: Value, size: str, mode: int, padding: int, align: int) -> Sequence[Value]:
    """The elements of one axis that a place takes part of, and how much of each."""
    wide, known = accumulation(place.dtype), b.extents(place)
    dims: dict[str, object] = {"N": size, "ALIGN": align}
    x = b.call("grid_place", place, shape=place.shape, dtype=wide, extents=known, dims=dims)
    dims["PAD"] = padding
    if padding and mode != _CUBIC:
        x = b.call("grid_inside", x, shape=x.shape, dtype=wide, extents=known, dims=dims)
    function, taps = _TAPS[mode]
    metas = [Meta((*x.shape, taps), dtype) for dtype in (torch.int64, wide)]
    return b.call_many(
        function, x, metas=metas, dims=dims if mode == _CUBIC else None, extents=[[*known, str(taps)]] * 2
    )
