"""aten.linalg_cross, aten.cross."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.linalg_cross.default", "aten.cross.default")
def cross(b: Builder, x: Value, other: Value, dim: int | None = -1) -> Value:
    first, second = b.broadcast(*(b.cast(v, b.result.dtype) for v in (x, other)))
    axis = first.shape.index(3) if dim is None else first.axis(dim)
    vectors = [b.to_last(v, [axis]) for v in (first, second)]
    y = b.call("cross", *vectors, shape=vectors[0].shape, extents=b.extents(vectors[0]))
    return b.from_last(y, [axis])
