"""aten.linear."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.linear.default")
def linear(b: Builder, x: Value, weight: Value, bias: Value | None = None) -> Value:
    known = [*b.extents(x)[:-1], *([b.extent(weight, 0)] if weight.rank == 2 else [])]
    if weight.rank == 1:
        raise b.unsupported("a weight of rank 1")
    if bias is None:
        return b.call("linear", x, weight, extents=known)
    return b.call("linear_bias", x, weight, bias, extents=known)
