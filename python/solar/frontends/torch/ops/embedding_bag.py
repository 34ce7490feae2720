"""aten.embedding_bag: sums, means and maxima of rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Value

_MODES = ("sum", "mean", "max")


@lowering("aten.embedding_bag.padding_idx")
def embedding_bag_with_padding(
    b: Builder,
    weight: Value,
    indices: Value,
    offsets: Value,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Value | None,
    include_last_offset: bool,
    padding_idx: int | None = None,
) -> list[Value | None]:
    """Here a negative number counts from the end of the table."""
    padding = None if padding_idx is None else padding_idx % weight.shape[0]
    rest = (per_sample_weights, include_last_offset, padding)
    return embedding_bag(b, weight, indices, offsets, scale_grad_by_freq, mode, sparse, *rest)


@lowering("aten.embedding_bag.default", "aten._embedding_bag.default")
def embedding_bag(
    b: Builder,
    weight: Value,
    indices: Value,
    offsets: Value,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Value | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = -1,
) -> list[Value | None]:
    """The other three results serve the gradient only."""
    ids, bounds = b.cast(indices, torch.int64), b.cast(offsets, torch.int64)
    if not include_last_offset:
        bounds = b.concat([bounds, b.constant(indices.shape[0], (1,), torch.int64)], 0)
    shape = (bounds.shape[0] - 1, weight.shape[1])
    operands = [weight, ids, bounds]
    name = _MODES[mode]
    if per_sample_weights is not None:
        operands.append(b.cast(per_sample_weights, weight.dtype))
        name = "weighted"
    padding = -1 if padding_idx is None else padding_idx
    known = [None, b.extent(weight, 1)]
    dims = {"PAD": padding}
    y = b.call(f"embedding_bag_{name}", *operands, shape=shape, dtype=weight.dtype, extents=known, dims=dims)
    return [y, None, None, None]
