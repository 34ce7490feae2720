"""Comparisons with a tensor or a number."""

from __future__ import annotations

import torch

from solar.frontends.torch.builder import Builder, Operand, Value
from solar.frontends.torch.registry import lowering


def _register(name: str) -> None:
    @lowering(f"aten.{name}.Tensor", f"aten.{name}.Scalar")
    def compare(b: Builder, x: Value, other: Operand) -> Value:
        function = name if isinstance(other, Value) else f"{name}_scalar"
        compute = b.promoted(x, other)
        if compute == torch.bool:
            compute = torch.uint8
        return b.pointwise(function, x, other, compute=compute, dtype=torch.bool)


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _register(_name)
