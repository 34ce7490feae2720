"""Views that reorder axes: permute, transpose, t, movedim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.permute.default", "aten.permute_copy.default")
def permute(b: Builder, x: Value, dims: Sequence[int]) -> Value:
    return b.permute(x, dims)


@lowering("aten.transpose.int", "aten.transpose.default", "aten.swapaxes.default", "aten.swapdims.default")
def transpose(b: Builder, x: Value, dim0: int, dim1: int) -> Value:
    return b.transpose(x, dim0, dim1)


@lowering("aten.t.default", "aten.numpy_T.default", "aten.mT.default", "aten.adjoint.default")
def t(b: Builder, x: Value) -> Value:
    return x if x.rank < 2 else b.transpose(x, -2, -1)


@lowering("aten.movedim.int", "aten.movedim.intlist")
def movedim(b: Builder, x: Value, source: int | Sequence[int], destination: int | Sequence[int]) -> Value:
    sources = [x.axis(a) for a in ([source] if isinstance(source, int) else source)]
    places = [x.axis(a) for a in ([destination] if isinstance(destination, int) else destination)]
    rest = iter(a for a in range(x.rank) if a not in sources)
    order = [sources[places.index(a)] if a in places else next(rest) for a in range(x.rank)]
    return b.permute(x, order)
