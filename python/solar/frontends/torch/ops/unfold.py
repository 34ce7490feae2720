"""aten.unfold: windows along an axis, as views where they do not overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.unfold.default")
def unfold(b: Builder, x: Value, dimension: int, size: int, step: int) -> Value:
    if step < size:
        raise b.unsupported("windows that overlap")
    axis = x.axis(dimension)
    count = b.result.shape[axis]
    if count * step <= x.shape[axis]:
        whole = b.slice(x, axis, 0, count * step)
        windows = b.split_axis(whole, axis, [count, step])
        windows = b.slice(windows, axis + 1, 0, size)
    elif count == 1:
        windows = b.unsqueeze(b.slice(x, axis, 0, size), axis)
    else:
        raise b.unsupported("a last window without the gap behind it")
    return b.to_last(windows, [axis + 1])
