"""Views that keep the order of elements: view, reshape, flatten, unflatten, squeeze, unsqueeze."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.view.default", "aten.view_copy.default", "aten._unsafe_view.default")
def view(b: Builder, x: Value, size: Sequence[int]) -> Value:
    return b.reshape(x, b.result.shape)


@lowering("aten.reshape.default", "aten.view_as.default", "aten.reshape_as.default")
def reshape(b: Builder, x: Value, shape: object) -> Value:
    """A view where torch can make one, otherwise a view of a copy."""
    if not b.is_viewable(x, b.result.shape):
        x = b.copy(x)
    return b.reshape(x, b.result.shape)


@lowering("aten.flatten.using_ints")
def flatten(b: Builder, x: Value, start_dim: int = 0, end_dim: int = -1) -> Value:
    if x.rank == 0:
        return b.unsqueeze(x, 0)
    first, last = x.axis(start_dim), x.axis(end_dim)
    shape = (*x.shape[:first], math.prod(x.shape[first : last + 1]), *x.shape[last + 1 :])
    if not b.is_viewable(x, shape):
        x = b.copy(x)
    return b.merge_axes(x, first, last)


@lowering("aten.unflatten.int")
def unflatten(b: Builder, x: Value, dim: int, sizes: Sequence[int]) -> Value:
    axis = x.axis(dim)
    return b.split_axis(x, axis, b.result.shape[axis : axis + len(sizes)])


@lowering("aten.unsqueeze.default")
def unsqueeze(b: Builder, x: Value, dim: int) -> Value:
    return b.unsqueeze(x, dim)


@lowering("aten.squeeze.default")
def squeeze(b: Builder, x: Value) -> Value:
    return b.squeeze(x, range(x.rank))


@lowering("aten.squeeze.dim", "aten.squeeze.dims")
def squeeze_dim(b: Builder, x: Value, dim: int | Sequence[int]) -> Value:
    return b.squeeze(x, [dim] if isinstance(dim, int) else dim)
