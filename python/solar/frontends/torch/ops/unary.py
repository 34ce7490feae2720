"""Elementwise functions of one tensor whose prelude function has the operator's name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Value


def _register(name: str) -> None:
    @lowering(f"aten.{name}.default")
    def lower(b: Builder, x: Value) -> Value:
        return b.pointwise(name, x, compute=b.result.dtype)


for _name in ("exp", "relu", "rsqrt", "sigmoid", "silu", "sqrt", "tanh"):
    _register(_name)
