"""aten.avg_pool1d, aten.avg_pool3d, adaptive average pooling over one and three axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from solar.frontends.torch.ops.window import window
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Value

Setting = int | Sequence[int]


def _avg_pool(
    b: Builder,
    x: Value,
    count: int,
    kernel: Setting,
    stride: Setting,
    padding: Setting,
    ceil: bool,
    with_padding: bool,
    divisor: int | None,
) -> Value:
    w = window(count, kernel, stride, padding, 1, ceil)
    known = [*b.extents(x)[:-count], *([None] * count)]
    dims = w.dims(R=w.kernel, S=w.stride, A=w.padding, U=w.overhang)
    always_full = not any(w.overhang) and (with_padding or not any(w.padding))
    if divisor is not None or always_full:
        dims["V"] = divisor or math.prod(w.kernel)
        return b.call(f"avg_pool{count}d", x, extents=known, dims=dims)
    margin = w.padding if with_padding else (0,) * count
    return b.call(f"avg_pool{count}d_counted", x, extents=known, dims=dims | w.dims(M=margin))


@lowering("aten.avg_pool1d.default")
def avg_pool1d(
    b: Builder,
    x: Value,
    kernel_size: Setting,
    stride: Setting = (),
    padding: Setting = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Value:
    return _avg_pool(b, x, 1, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


@lowering("aten.avg_pool3d.default")
def avg_pool3d(
    b: Builder,
    x: Value,
    kernel_size: Setting,
    stride: Setting = (),
    padding: Setting = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Value:
    return _avg_pool(b, x, 3, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def _adaptive(b: Builder, x: Value, count: int) -> Value:
    sizes = b.result.shape[-count:]
    dims: dict[str, object] = {"Q" + axis: b.dim("size", n) for axis, n in zip("DHW"[-count:], sizes, strict=True)}
    known = [*b.extents(x)[:-count], *(str(d) for d in dims.values())]
    return b.call(f"adaptive_avg_pool{count}d", x, extents=known, dims=dims)


@lowering("aten.adaptive_avg_pool1d.default")
def adaptive_avg_pool1d(b: Builder, x: Value, output_size: Setting) -> Value:
    return _adaptive(b, x, 1)


@lowering("aten.adaptive_avg_pool3d.default")
def adaptive_avg_pool3d(b: Builder, x: Value, output_size: Setting) -> Value:
    return _adaptive(b, x, 3)
