"""aten.tensordot, aten.inner: sums over several axes, as one product of matrices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.tensordot.default")
def tensordot(b: Builder, x: Value, other: Value, dims_self: Sequence[int], dims_other: Sequence[int]) -> Value:
    summed = [x.axis(a) for a in dims_self], [other.axis(a) for a in dims_other]
    x, other = _stretched(b, x, summed[0], other, summed[1]), _stretched(b, other, summed[1], x, summed[0])
    kept = [[a for a in range(v.rank) if a not in axes] for v, axes in zip((x, other), summed, strict=True)]
    count = math.prod(x.shape[a] for a in summed[0])
    rows = b.reshape(b.permute(x, [*kept[0], *summed[0]]), (-1, count))
    columns = b.reshape(b.permute(other, [*summed[1], *kept[1]]), (count, -1))
    shape = (rows.shape[0], columns.shape[1])
    y = b.call("matmul_shared", rows, columns, shape=shape, extents=[b.extent(rows, 0), b.extent(columns, 1)])
    return b.reshape(y, b.result.shape)


def _stretched(b: Builder, x: Value, axes: Sequence[int], other: Value, others: Sequence[int]) -> Value:
    """x with its axes of extent 1 repeated as often as the other's are long."""
    shape = list(x.shape)
    for axis, pair in zip(axes, others, strict=True):
        shape[axis] = max(shape[axis], other.shape[pair])
    return b.expand(x, shape)


@lowering("aten.inner.default")
def inner(b: Builder, x: Value, other: Value) -> Value:
    if x.rank == 0 or other.rank == 0:
        return b.pointwise("mul", x, other)
    return tensordot(b, x, other, [-1], [-1])
