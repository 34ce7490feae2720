"""aten.matmul by every rank rule, aten.mm, aten.bmm, aten.mv, aten.dot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.matmul.default", "aten.mm.default", "aten.bmm.default", "aten.mv.default", "aten.dot.default")
def matmul(b: Builder, x: Value, other: Value) -> Value:
    if x.rank == 0 or other.rank == 0:
        raise b.unsupported("matmul of a scalar")
    if other.rank == 1:
        return b.call("matvec", x, other, extents=b.extents(x)[:-1])
    if x.rank == 1:
        known = [*b.extents(other)[:-2], b.extent(other, -1)]
        return b.call("vecmat", x, other, extents=known)
    if other.rank == 2:
        return b.call("matmul_shared", x, other, extents=[*b.extents(x)[:-1], b.extent(other, -1)])
    x, other = broadcast_batch(b, x, other)
    return b.call("matmul", x, other, extents=[*b.extents(x)[:-1], b.extent(other, -1)])


def broadcast_batch(b: Builder, x: Value, other: Value) -> tuple[Value, Value]:
    """Both with the same batch axes: all but the last two."""
    batch = torch.broadcast_shapes(x.shape[:-2], other.shape[:-2])
    known: list[str | None] = []
    for axis in range(len(batch)):
        place = axis - len(batch) - 2
        source = x if x.rank >= -place and x.shape[place] == batch[axis] else other
        differs = any(v.rank < -place or v.shape[place] != batch[axis] for v in (x, other))
        known.append(b.extent(source, place) if differs else None)
    return (
        b.expand(x, (*batch, *x.shape[-2:]), [*known, None, None]),
        b.expand(other, (*batch, *other.shape[-2:]), [*known, None, None]),
    )
