"""aten.gelu."""

from __future__ import annotations

from solar.frontends.torch.builder import Builder, Value
from solar.frontends.torch.registry import lowering


@lowering("aten.gelu.default")
def gelu(b: Builder, x: Value, approximate: str = "none") -> Value:
    return b.pointwise("gelu" if approximate == "none" else "gelu_tanh", x)
