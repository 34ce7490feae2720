"""aten.gelu."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.gelu.default")
def gelu(b: Builder, x: Value, approximate: str = "none") -> Value:
    return b.pointwise("gelu" if approximate == "none" else "gelu_tanh", x)
