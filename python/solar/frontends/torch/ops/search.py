"""aten.searchsorted, aten.bucketize: binary search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from solar.frontends.torch.builder import Builder, Operand, Value
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.dtypes import Number


def _search(b: Builder, edges: Value, x: Value, right: bool) -> Value:
    """`edges` has the leading axes of x, or is a vector for all of x."""
    compute = b.promoted(edges, x)
    edges, x = b.cast(edges, compute), b.cast(x, compute)
    shape = x.shape
    if edges.rank == 1:
        x = b.reshape(x, (-1,))
    steps = edges.shape[-1].bit_length()
    dims = {"STEPS": steps, "RIGHT": int(right)}
    y = b.call("search_sorted", edges, x, shape=x.shape, dtype=torch.int64, extents=b.extents(x), dims=dims)
    return b.cast(b.reshape(y, shape), b.result.dtype)


@lowering("aten.searchsorted.Tensor", "aten.searchsorted.Scalar")
def searchsorted(
    b: Builder,
    sorted_sequence: Value,
    value: Operand,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Value | None = None,
) -> Value:
    if sorter is not None:
        raise b.unsupported("a sorter")
    x = value if isinstance(value, Value) else b.constant(value, (), sorted_sequence.dtype)
    return _search(b, sorted_sequence, x, right or side == "right")


@lowering("aten.bucketize.Tensor")
def bucketize(b: Builder, x: Value, boundaries: Value, out_int32: bool = False, right: bool = False) -> Value:
    return _search(b, boundaries, x, right)


@lowering("aten.bucketize.Scalar")
def bucketize_number(b: Builder, x: Number, boundaries: Value, out_int32: bool = False, right: bool = False) -> Value:
    return _search(b, boundaries, b.constant(x, (), boundaries.dtype), right)
