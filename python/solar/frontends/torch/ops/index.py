"""aten.index with one tensor of indices: x[:, indices]."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from solar.frontends.torch.ops.gather import index_select
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.index.Tensor")
def index(b: Builder, x: Value, indices: Sequence[Value | None]) -> Value:
    given = [(axis, i) for axis, i in enumerate(indices) if i is not None]
    if len(given) != 1:
        raise b.unsupported("several tensors of indices")
    axis, places = given[0]
    if places.dtype == torch.bool:
        raise b.unsupported("a mask as index: the number of elements depends on data")
    axis_extent = b.extent(x, axis)
    # Negative indices count from the end.
    wrapped = b.call(
        "wrapped_index",
        b.cast(places, torch.int64),
        shape=places.shape,
        dtype=torch.int64,
        extents=b.extents(places),
        dims={"N": axis_extent},
    )
    flat = b.reshape(wrapped, (-1,))
    rows = index_select(b, x, axis, flat)
    if places.rank == 1:
        return rows
    if places.rank == 0:
        return b.squeeze(rows, [axis])
    return b.split_axis(rows, axis, places.shape, [b.extent(places, a) for a in range(places.rank)])
