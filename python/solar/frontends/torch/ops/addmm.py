"""aten.addmm, aten.baddbmm: a tensor plus a matrix product."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.dtypes import Number, number
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.addmm.default", "aten.baddbmm.default")
def addmm(b: Builder, c: Value, x: Value, other: Value, beta: Number = 1, alpha: Number = 1) -> Value:
    known = [*b.extents(x)[:-1], b.extent(other, -1)]
    c = b.expand(c, b.result.shape, known)
    if beta == 1 and alpha == 1:
        return b.call("addmm", c, x, other, extents=known)
    scales = number(beta, x.dtype), number(alpha, x.dtype)
    return b.call("addmm_scaled", c, x, other, *scales, extents=known)
