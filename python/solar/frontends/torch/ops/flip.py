"""aten.flip, aten.roll: copies in another order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.flip.default")
def flip(b: Builder, x: Value, dims: Sequence[int]) -> Value:
    return b.copy(b.flip(x, list(dims)))


@lowering("aten.roll.default")
def roll(b: Builder, x: Value, shifts: int | Sequence[int], dims: int | Sequence[int] = ()) -> Value:
    shifts = [shifts] if isinstance(shifts, int) else list(shifts)
    axes = [dims] if isinstance(dims, int) else list(dims)
    if not axes:
        flat = b.reshape(x, (-1,))
        return b.reshape(_roll(b, flat, 0, shifts[0]), x.shape)
    for axis, shift in zip(axes, shifts, strict=True):
        x = _roll(b, x, axis, shift)
    return x


def _roll(b: Builder, x: Value, axis: int, shift: int) -> Value:
    last = b.to_last(x, [axis])
    by = -shift % last.shape[-1]
    y = b.call("roll", last, shape=last.shape, extents=b.extents(last), dims={"BY": b.dim("by", by) if by else 0})
    return b.from_last(y, [axis])
