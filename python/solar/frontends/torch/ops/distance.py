"""Distances and similarities of rows, and the losses made of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from solar.frontends.torch.builder import Builder, Meta, Operand, Value
from solar.frontends.torch.ops.gather import index_select
from solar.frontends.torch.ops.loss_reduction import MEAN, reduced
from solar.frontends.torch.ops.vector_norm import norm_over
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.dtypes import Number


def _distance(b: Builder, first: Value, second: Value, p: Number, eps: Number) -> Value:
    """The p-norm of first - second + eps over the last axis, which is dropped."""
    first, second = b.broadcast(first, second)
    dtype = b.promoted(first, second)
    operands: list[Operand] = [b.cast(first, dtype), b.cast(second, dtype), float(eps)]
    function = "distance2"
    if p in (0, 1):
        function = f"distance{int(p)}"
    elif p == math.inf:
        function = "distance_max"
    elif p != 2:
        function = "distance_p"
        operands.append(float(p))
    return b.call(function, *operands, shape=first.shape[:-1], dtype=dtype, extents=b.extents(first)[:-1])


@lowering("aten.pairwise_distance.default")
def pairwise_distance(
    b: Builder, x1: Value, x2: Value, p: Number = 2, eps: Number = 1e-6, keepdim: bool = False
) -> Value:
    y = _distance(b, x1, x2, p, eps)
    return b.unsqueeze(y, -1) if keepdim else y


@lowering("aten.cdist.default", "aten._cdist_forward.default")
def cdist(b: Builder, x1: Value, x2: Value, p: Number = 2, compute_mode: int | None = None) -> Value:
    """The distance of every row of x1 to every row of x2."""
    return _distance(b, b.unsqueeze(x1, -2), b.unsqueeze(x2, -3), p, 0)


@lowering("aten.pdist.default", "aten._pdist_forward.default")
def pdist(b: Builder, x: Value, p: Number = 2) -> Value:
    """The distance of every two rows: those of (i, j) with i < j."""
    count = b.result.shape[0]
    known = b.dim("pairs", count)
    first, second = b.call_many(
        "pairs", metas=[Meta((count,), torch.int64)] * 2, dims={"N": b.extent(x, 0), "P": known}, extents=[[known]] * 2
    )
    sides = [index_select(b, x, 0, places) for places in (first, second)]
    return _distance(b, sides[0], sides[1], p, 0)


@lowering("aten.dist.default")
def dist(b: Builder, x: Value, other: Value, p: Number = 2) -> Value:
    difference = b.pointwise("sub", x, other)
    return norm_over(b, difference, p, range(difference.rank))


@lowering("aten.triplet_margin_loss.default")
def triplet_margin_loss(
    b: Builder,
    anchor: Value,
    positive: Value,
    negative: Value,
    margin: Number = 1.0,
    p: Number = 2.0,
    eps: Number = 1e-6,
    swap: bool = False,
    reduction: int = MEAN,
) -> Value:
    near = _distance(b, anchor, positive, p, eps)
    far = _distance(b, anchor, negative, p, eps)
    if swap:
        far = b.pointwise("minimum", far, _distance(b, positive, negative, p, eps))
    return reduced(b, b.pointwise("triplet_margin", near, far, margin), reduction)


def _cosine(b: Builder, first: Value, second: Value, axis: int, eps: Number) -> Value:
    first, second = b.broadcast(first, second)
    dtype = b.promoted(first, second)
    rows = [b.to_last(b.cast(x, dtype), [axis]) for x in (first, second)]
    shape = rows[0].shape[:-1]
    return b.call("cosine_similarity", *rows, float(eps), shape=shape, dtype=dtype, extents=b.extents(rows[0])[:-1])


@lowering("aten.cosine_similarity.default")
def cosine_similarity(b: Builder, x1: Value, x2: Value, dim: int = 1, eps: Number = 1e-8) -> Value:
    return _cosine(b, x1, x2, dim, eps)


@lowering("aten.cosine_embedding_loss.default")
def cosine_embedding_loss(
    b: Builder, x1: Value, x2: Value, target: Value, margin: Number = 0.0, reduction: int = MEAN
) -> Value:
    target = b.cast(target, b.promoted(x1, x2))
    similarity = _cosine_sums(b, x1, x2)
    return reduced(b, b.pointwise("cosine_embedding", similarity, target, margin), reduction)


def _cosine_sums(b: Builder, x1: Value, x2: Value) -> Value:
    """The cosine as the embedding loss computes it: 1e-12 is added to the squared norms."""
    first, second = b.broadcast(x1, x2)
    dtype = b.promoted(first, second)
    rows = [b.cast(x, dtype) for x in (first, second)]
    return b.call("cosine_of_sums", *rows, shape=first.shape[:-1], dtype=dtype, extents=b.extents(first)[:-1])
