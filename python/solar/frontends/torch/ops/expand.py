"""aten.expand, aten.broadcast_to: views that repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.expand.default", "aten.broadcast_to.default")
def expand(b: Builder, x: Value, size: Sequence[int], implicit: bool = False) -> Value:
    return b.expand(x, b.result.shape)


@lowering("aten.expand_as.default")
def expand_as(b: Builder, x: Value, other: Value) -> Value:
    return b.expand(x, other.shape, b.extents(other))


@lowering("aten.broadcast_tensors.default")
def broadcast_tensors(b: Builder, tensors: Sequence[Value]) -> list[Value]:
    return b.broadcast(*tensors)
