"""aten.embedding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.embedding.default")
def embedding(
    b: Builder,
    weight: Value,
    indices: Value,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Value:
    return b.call("embedding", weight, indices, extents=[*b.extents(indices), b.extent(weight, 1)])
