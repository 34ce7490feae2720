"""aten.cat, aten.stack."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.cat.default", "aten.concat.default", "aten.concatenate.default")
def cat(b: Builder, tensors: Sequence[Value], dim: int = 0) -> Value:
    return b.concat([b.cast(x, b.result.dtype) for x in tensors], dim)


@lowering("aten.stack.default")
def stack(b: Builder, tensors: Sequence[Value], dim: int = 0) -> Value:
    return b.stack([b.cast(x, b.result.dtype) for x in tensors], dim)
