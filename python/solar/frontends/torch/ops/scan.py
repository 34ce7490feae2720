"""aten.cumsum, aten.cumprod."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    import torch

    from solar.frontends.torch.builder import Builder, Value


def _scan(b: Builder, function: str, x: Value, dim: int) -> Value:
    x = b.cast(x, b.result.dtype)
    if x.rank == 0:
        return b.copy(x)
    last = b.to_last(x, [dim])
    y = b.call(function, last, shape=last.shape, extents=b.extents(last))
    return b.from_last(y, [dim])


@lowering("aten.cumsum.default")
def cumsum(b: Builder, x: Value, dim: int, dtype: torch.dtype | None = None) -> Value:
    return _scan(b, "cumsum", x, dim)


@lowering("aten.cumprod.default")
def cumprod(b: Builder, x: Value, dim: int, dtype: torch.dtype | None = None) -> Value:
    return _scan(b, "cumprod", x, dim)
