"""aten.repeat, aten.tile, aten.repeat_interleave: copies of broadcast views."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.repeat.default")
def repeat(b: Builder, x: Value, repeats: Sequence[int]) -> Value:
    for _ in range(len(repeats) - x.rank):
        x = b.unsqueeze(x, 0)
    for axis, count in enumerate(repeats):
        if count != 1:
            x = _repeated(b, x, axis, count)
    return b.copy(x)


@lowering("aten.tile.default")
def tile(b: Builder, x: Value, dims: Sequence[int]) -> Value:
    return repeat(b, x, [1] * (x.rank - len(dims)) + list(dims))


@lowering("aten.repeat_interleave.self_int")
def repeat_interleave(
    b: Builder, x: Value, repeats: int, dim: int | None = None, output_size: int | None = None
) -> Value:
    if dim is None:
        x, dim = b.reshape(x, (-1,)), 0
    axis = x.axis(dim)
    wide = b.unsqueeze(x, axis + 1)
    wide = b.expand(wide, (*wide.shape[: axis + 1], repeats, *wide.shape[axis + 2 :]))
    return b.copy(b.merge_axes(wide, axis, axis + 1))


def _repeated(b: Builder, x: Value, axis: int, count: int) -> Value:
    wide = b.unsqueeze(x, axis)
    wide = b.expand(wide, (*wide.shape[:axis], count, *wide.shape[axis + 1 :]))
    return b.merge_axes(wide, axis, axis + 1)
