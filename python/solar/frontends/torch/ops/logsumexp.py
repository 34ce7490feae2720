"""aten.logsumexp."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.ops.reduction import accumulation, reduce, reduced_axes, with_kept_axes
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.logsumexp.default", "aten.special_logsumexp.default")
def logsumexp(b: Builder, x: Value, dim: int | Sequence[int], keepdim: bool = False) -> Value:
    x = b.cast(x, b.result.dtype)
    axes = reduced_axes(x, dim)
    if not axes:
        return b.copy(x)
    wide = accumulation(x.dtype)
    m = b.pointwise("finite_or_zero", reduce(b, "reduce_max", x, axes))
    over_x = b.broadcast(with_kept_axes(b, m, axes, True), x)[0]
    e = b.call("exp_shifted", x, over_x, shape=x.shape, dtype=wide, extents=b.extents(x))
    z = reduce(b, "sum", e, axes)
    y = b.call("log_shifted", z, m, shape=m.shape, dtype=x.dtype, extents=b.extents(m))
    return with_kept_axes(b, y, axes, keepdim)
