"""aten.avg_pool1d, aten.avg_pool3d, adaptive average pooling over one and three axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from solar.frontends.torch.ops.reduction import reduce, with_kept_axes
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
    lead = b.extents(x)[:-count]
    axes = range(x.rank - count, x.rank)
    if all(n == 1 for n in sizes):
        return with_kept_axes(b, reduce(b, "mean", x, axes), axes, True)
    letters = "DHW"[-count:]
    dims: dict[str, object]
    if all(x.shape[a] % n == 0 for a, n in zip(axes, sizes, strict=True)):
        windows = [f"{b.extent(x, a)} // {n}" for a, n in zip(axes, sizes, strict=True)]
        dims = {"V": "*".join(f"({w})" for w in windows)}
        for letter, window_size in zip(letters, windows, strict=True):
            dims |= {"R" + letter: window_size, "S" + letter: window_size, "A" + letter: 0, "U" + letter: 0}
        return b.call(f"avg_pool{count}d", x, extents=[*lead, *([None] * count)], dims=dims)
    dims = {"Q" + letter: n for letter, n in zip(letters, sizes, strict=True)}
    return b.call(f"adaptive_avg_pool{count}d", x, extents=[*lead, *([None] * count)], dims=dims)


@lowering("aten.adaptive_avg_pool1d.default")
def adaptive_avg_pool1d(b: Builder, x: Value, output_size: Setting) -> Value:
    return _adaptive(b, x, 1)


@lowering("aten.adaptive_avg_pool3d.default", "aten._adaptive_avg_pool3d.default")
def adaptive_avg_pool3d(b: Builder, x: Value, output_size: Setting) -> Value:
    return _adaptive(b, x, 3)
