"""aten.diag, aten.diagonal, aten.diag_embed, aten.outer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Value


def _offsets(offset: int) -> dict[str, object]:
    return {"UP": max(offset, 0), "DOWN": max(-offset, 0)}


def _diagonal(b: Builder, x: Value, offset: int) -> Value:
    """The diagonals of the last two axes."""
    rows, columns = x.shape[-2:]
    length = min(rows - max(-offset, 0), columns - max(offset, 0))
    if length < 1:
        raise b.unsupported("an empty diagonal")
    size = b.extent(x, -1) if length == columns else b.extent(x, -2) if length == rows else b.dim("length", length)
    known = [*b.extents(x)[:-2], size]
    dims = {"K": size} | _offsets(offset)
    return b.call("diagonal", x, shape=(*x.shape[:-2], length), dtype=x.dtype, extents=known, dims=dims)


def _embedded(b: Builder, x: Value, offset: int) -> Value:
    size = x.shape[-1] + abs(offset)
    known = [*b.extents(x)[:-1], None, None]
    shape = (*x.shape[:-1], size, size)
    return b.call("diag_embed", x, shape=shape, dtype=x.dtype, extents=known, dims=_offsets(offset))


@lowering("aten.diag.default")
def diag(b: Builder, x: Value, diagonal: int = 0) -> Value:
    return _embedded(b, x, diagonal) if x.rank == 1 else _diagonal(b, x, diagonal)


@lowering("aten.diagonal.default")
def diagonal(b: Builder, x: Value, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Value:
    return _diagonal(b, b.to_last(x, [dim1, dim2]), offset)


@lowering("aten.diag_embed.default")
def diag_embed(b: Builder, x: Value, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Value:
    y = _embedded(b, x, offset)
    return b.from_last(y, [dim1, dim2])


@lowering("aten.outer.default", "aten.ger.default")
def outer(b: Builder, x: Value, vec2: Value) -> Value:
    return b.pointwise("mul", b.unsqueeze(x, 1), b.unsqueeze(vec2, 0))
