"""Operators that are other operators under another name."""

from __future__ import annotations

from solar.frontends.torch.ops.add import sub
from solar.frontends.torch.ops.div import div
from solar.frontends.torch.ops.mul import mul
from solar.frontends.torch.registry import lowering

lowering("aten.subtract.Tensor", "aten.subtract.Scalar")(sub)
lowering("aten.multiply.Tensor", "aten.multiply.Scalar")(mul)
lowering("aten.divide.Tensor", "aten.divide.Scalar", "aten.true_divide.Tensor", "aten.true_divide.Scalar")(div)
