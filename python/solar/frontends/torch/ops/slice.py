"""Views of parts: slice, select, narrow, split, chunk, unbind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.slice.Tensor")
def slice_(
    b: Builder, x: Value, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Value:
    axis = x.axis(dim)
    low, high, _ = slice(start, end, step).indices(x.shape[axis])
    if high <= low:
        raise b.unsupported("a slice without elements")
    return b.slice(x, axis, low, high, step)


@lowering("aten.narrow.default", "aten.narrow_copy.default")
def narrow(b: Builder, x: Value, dim: int, start: int, length: int) -> Value:
    axis = x.axis(dim)
    low = start % x.shape[axis]
    return b.slice(x, axis, low, low + length)


@lowering("aten.select.int")
def select(b: Builder, x: Value, dim: int, index: int) -> Value:
    return b.index(x, dim, index)


@lowering("aten.unbind.int", "aten.unbind_copy.int")
def unbind(b: Builder, x: Value, dim: int = 0) -> list[Value]:
    axis = x.axis(dim)
    return [b.slice_text(x, axis, str(i), None) for i in range(x.shape[axis])]


@lowering("aten.split.Tensor", "aten.chunk.default")
def split(b: Builder, x: Value, split_size: int, dim: int = 0) -> list[Value]:
    """Equal parts, the last of which may be shorter: bounds are multiples of one size."""
    axis = x.axis(dim)
    sizes = [meta.shape[axis] for meta in b.results]
    if len(sizes) == 1:
        return [x]
    unit = b.dim("part", sizes[0])
    parts: list[Value] = []
    for i, size in enumerate(sizes):
        low = "" if i == 0 else unit if i == 1 else f"{i}*{unit}"
        high = "" if i + 1 == len(sizes) else unit if i == 0 else f"{i + 1}*{unit}"
        parts.append(b.slice_text(x, axis, f"{low}:{high}", size))
    return parts


@lowering("aten.split_with_sizes.default", "aten.split.sizes")
def split_with_sizes(b: Builder, x: Value, split_sizes: Sequence[int], dim: int = 0) -> list[Value]:
    axis = x.axis(dim)
    parts: list[Value] = []
    low = 0
    for size in split_sizes:
        parts.append(b.slice(x, axis, low, low + size))
        low += size
    return parts
