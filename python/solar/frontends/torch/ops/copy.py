"""Operators that copy or do nothing: contiguous, clone, detach, alias, to, copy_."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    import torch

    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.contiguous.default")
def contiguous(b: Builder, x: Value) -> Value:
    return x if b.is_contiguous(x) else b.copy(x)


@lowering("aten.clone.default")
def clone(b: Builder, x: Value) -> Value:
    return b.copy(x)


@lowering(
    "aten.detach.default",
    "aten.detach_.default",
    "aten.alias.default",
    "aten.lift_fresh_copy.default",
    "aten.lift_fresh.default",
    "aten.positive.default",
    "aten.resolve_conj.default",
    "aten.resolve_neg.default",
)
def identity(b: Builder, x: Value) -> Value:
    return x


@lowering("aten.to.dtype", "aten.to.dtype_layout", "aten.to.device", "aten.to.other", "aten._to_copy.default")
def to(b: Builder, x: Value, *rest: Any, dtype: torch.dtype | None = None, copy: bool = False) -> Value:
    if x.dtype == b.result.dtype:
        return b.copy(x) if copy or True in rest[2:3] else x
    return b.cast(x, b.result.dtype)


@lowering("aten.type_as.default")
def type_as(b: Builder, x: Value, other: Value) -> Value:
    return b.cast(x, other.dtype)


@lowering("aten.copy.default", "aten.copy_.default")
def copy_(b: Builder, x: Value, src: Value, non_blocking: bool = False) -> Value:
    return b.copy(b.expand(b.cast(src, x.dtype), x.shape, b.extents(x)))
