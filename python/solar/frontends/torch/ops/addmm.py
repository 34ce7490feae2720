"""aten.addmm, aten.baddbmm, aten.addbmm, aten.addmv, aten.addr: beta times a tensor plus alpha times a product.

A tensor that beta = 0 multiplies is not read, so that its NaN does not spread. Nothing is left out for alpha = 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.dtypes import Number, number
from solar.frontends.torch.ops.matmul import matmul
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.addmm.default", "aten.baddbmm.default")
def addmm(b: Builder, c: Value, x: Value, other: Value, beta: Number = 1, alpha: Number = 1) -> Value:
    return _add_product(b, c, x, other, beta, alpha, b.result.shape)


@lowering("aten.addmv.default")
def addmv(b: Builder, c: Value, x: Value, vector: Value, beta: Number = 1, alpha: Number = 1) -> Value:
    column = b.unsqueeze(b.expand(c, b.result.shape), 1)
    shape = (*b.result.shape, 1)
    return b.squeeze(_add_product(b, column, x, b.unsqueeze(vector, 1), beta, alpha, shape), [1])


@lowering("aten.addbmm.default")
def addbmm(b: Builder, c: Value, x: Value, other: Value, beta: Number = 1, alpha: Number = 1) -> Value:
    """The sum over the batch is one product: its axis joins the summed one."""
    rows = b.merge_axes(b.permute(x, [1, 0, 2]), 1, 2)
    return _add_product(b, c, rows, b.merge_axes(other, 0, 1), beta, alpha, b.result.shape)


@lowering("aten.addr.default")
def addr(b: Builder, c: Value, x: Value, other: Value, beta: Number = 1, alpha: Number = 1) -> Value:
    dtype = b.result.dtype
    scale = number(beta, dtype)
    if scale == 0:
        c = b.constant(0, b.result.shape, dtype)
    elif scale != 1:
        c = b.pointwise("mul_scalar", c, scale, compute=dtype)
    c = b.expand(c, b.result.shape)
    return b.pointwise("addcmul", c, b.unsqueeze(x, 1), b.unsqueeze(other, 0), number(alpha, dtype), compute=dtype)


def _add_product(
    b: Builder, c: Value, x: Value, other: Value, beta: Number, alpha: Number, shape: tuple[int, ...]
) -> Value:
    scales = number(beta, x.dtype), number(alpha, x.dtype)
    if scales == (0, 1) and shape == b.result.shape:
        return matmul(b, x, other)
    known = [*b.extents(x)[:-1], b.extent(other, -1)]
    c = b.constant(0, shape, x.dtype) if scales[0] == 0 else c
    c = b.expand(c, shape, known)
    if scales == (1, 1):
        return b.call("addmm", c, x, other, shape=shape, extents=known)
    return b.call("addmm_scaled", c, x, other, *scales, shape=shape, extents=known)
