"""aten.as_strided: elements by their places in memory."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from solar.frontends.torch.builder import Builder, Meta, Value
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Sequence


@lowering("aten.as_strided.default", "aten.as_strided_copy.default")
def as_strided(
    b: Builder, x: Value, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Value:
    own = b.offsets.get(x, 0)
    start = 0 if storage_offset is None else storage_offset - own
    end = start + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if start < 0 or end >= math.prod(x.shape):
        raise b.unsupported("it reads memory outside of its argument")
    flat = b.reshape(b.in_memory(x), (-1,))
    if _is_dense(size, stride):
        return b.reshape(b.slice(flat, 0, start, end + 1), size)
    loops, place = [], [str(start)]
    extents = [b.dim("size", n) for n in size]
    for axis, (extent, step) in enumerate(zip(extents, stride, strict=True)):
        loops.append(f"i{axis}:{extent}")
        if step:
            place.append(f"{step}*i{axis}")
    target = ", ".join(f"i{axis}" for axis in range(len(size)))
    text = f"for {', '.join(loops)}   @[{target}] = {flat.token}[{' + '.join(place)}]"
    return b.kernel(Meta(tuple(size), x.dtype), text, [flat], extents)


def _is_dense(size: Sequence[int], stride: Sequence[int]) -> bool:
    """Whether neighbours in the result are neighbours in memory."""
    expected = 1
    for n, step in zip(reversed(size), reversed(stride), strict=True):
        if n > 1 and step != expected:
            return False
        expected *= n
    return True
