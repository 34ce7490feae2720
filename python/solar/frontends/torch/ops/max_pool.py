"""aten.max_pool1d, aten.max_pool3d, pooling with positions, adaptive max pooling, aten.max_unpool2d and 3d."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from solar.frontends.torch.builder import Builder, Meta, Value
from solar.frontends.torch.ops.reduction import reduce, with_kept_axes
from solar.frontends.torch.ops.window import Window, window
from solar.frontends.torch.registry import lowering

Setting = int | Sequence[int]


def _dims(w: Window) -> dict[str, object]:
    return w.dims(R=w.kernel, S=w.stride, A=w.padding, L=w.dilation, U=w.overhang)


def _max_pool(
    b: Builder, x: Value, count: int, kernel: Setting, stride: Setting, padding: Setting, dilation: Setting, ceil: bool
) -> Value:
    w = window(count, kernel, stride, padding, dilation, ceil)
    shape = (*x.shape[:-count], *b.result.shape[-count:])
    known = [*b.extents(x)[:-count], *([None] * count)]
    return b.call(f"max_pool{count}d", x, shape=shape, extents=known, dims=_dims(w))


def _max_pool_with_positions(
    b: Builder, x: Value, count: int, kernel: Setting, stride: Setting, padding: Setting, dilation: Setting, ceil: bool
) -> tuple[Value, Value]:
    w = window(count, kernel, stride, padding, dilation, ceil)
    shape = b.result.shape
    known = [*b.extents(x)[:-count], *([None] * count)]
    metas = [Meta(shape, x.dtype), Meta(shape, torch.int64)]
    values, positions = b.call_many(
        f"max_pool{count}d_with_indices", x, metas=metas, extents=[known, known], dims=_dims(w)
    )
    return values, positions


@lowering("aten.max_pool1d.default")
def max_pool1d(
    b: Builder,
    x: Value,
    kernel_size: Setting,
    stride: Setting = (),
    padding: Setting = 0,
    dilation: Setting = 1,
    ceil_mode: bool = False,
) -> Value:
    return _max_pool(b, x, 1, kernel_size, stride, padding, dilation, ceil_mode)


@lowering("aten.max_pool3d.default")
def max_pool3d(
    b: Builder,
    x: Value,
    kernel_size: Setting,
    stride: Setting = (),
    padding: Setting = 0,
    dilation: Setting = 1,
    ceil_mode: bool = False,
) -> Value:
    return _max_pool(b, x, 3, kernel_size, stride, padding, dilation, ceil_mode)


@lowering("aten.max_pool1d_with_indices.default")
def max_pool1d_with_indices(
    b: Builder,
    x: Value,
    kernel_size: Setting,
    stride: Setting = (),
    padding: Setting = 0,
    dilation: Setting = 1,
    ceil_mode: bool = False,
) -> tuple[Value, Value]:
    return _max_pool_with_positions(b, x, 1, kernel_size, stride, padding, dilation, ceil_mode)


@lowering("aten.max_pool2d_with_indices.default")
def max_pool2d_with_indices(
    b: Builder,
    x: Value,
    kernel_size: Setting,
    stride: Setting = (),
    padding: Setting = 0,
    dilation: Setting = 1,
    ceil_mode: bool = False,
) -> tuple[Value, Value]:
    return _max_pool_with_positions(b, x, 2, kernel_size, stride, padding, dilation, ceil_mode)


@lowering("aten.max_pool3d_with_indices.default")
def max_pool3d_with_indices(
    b: Builder,
    x: Value,
    kernel_size: Setting,
    stride: Setting = (),
    padding: Setting = 0,
    dilation: Setting = 1,
    ceil_mode: bool = False,
) -> tuple[Value, Value]:
    return _max_pool_with_positions(b, x, 3, kernel_size, stride, padding, dilation, ceil_mode)


def _adaptive(b: Builder, x: Value, count: int) -> tuple[Value, Value]:
    """The values come from a function of their own, so that unused positions cost nothing."""
    sizes = b.result.shape[-count:]
    axes = range(x.rank - count, x.rank)
    letters = "DHW"[-count:]
    known = [*b.extents(x)[:-count], *([None] * count)]
    dims: dict[str, object] = {"Q" + letter: n for letter, n in zip(letters, sizes, strict=True)}
    function = f"adaptive_max_pool{count}d"
    metas = [Meta(b.result.shape, x.dtype), Meta(b.result.shape, torch.int64)]
    place = b.call_many(f"{function}_with_indices", x, metas=metas, extents=[known, known], dims=dims)[1]
    if all(n == 1 for n in sizes):
        return with_kept_axes(b, reduce(b, "reduce_max", x, axes), axes, True), place
    return b.call(function, x, extents=known, dims=dims), place


@lowering("aten.adaptive_max_pool1d.default")
def adaptive_max_pool1d(b: Builder, x: Value, output_size: Setting) -> tuple[Value, Value]:
    return _adaptive(b, x, 1)


@lowering("aten.adaptive_max_pool2d.default")
def adaptive_max_pool2d(b: Builder, x: Value, output_size: Setting) -> tuple[Value, Value]:
    return _adaptive(b, x, 2)


@lowering("aten.adaptive_max_pool3d.default")
def adaptive_max_pool3d(b: Builder, x: Value, output_size: Setting) -> tuple[Value, Value]:
    return _adaptive(b, x, 3)


def _unpool(b: Builder, x: Value, places: Value, count: int) -> Value:
    flat = [b.merge_axes(v, v.rank - count, v.rank - 1) if count > 1 else v for v in (x, places)]
    size = math.prod(b.result.shape[-count:])
    known = b.dim("size", size)
    shape = (*flat[0].shape[:-1], size)
    extents = [*b.extents(flat[0])[:-1], known]
    y = b.call("max_unpool", *flat, shape=shape, dtype=x.dtype, extents=extents, dims={"K": known})
    return b.reshape(y, b.result.shape)


@lowering("aten.max_unpool2d.default")
def max_unpool2d(b: Builder, x: Value, indices: Value, output_size: Sequence[int]) -> Value:
    return _unpool(b, x, indices, 2)


@lowering("aten.max_unpool3d.default")
def max_unpool3d(
    b: Builder,
    x: Value,
    indices: Value,
    output_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (),
) -> Value:
    return _unpool(b, x, indices, 3)
