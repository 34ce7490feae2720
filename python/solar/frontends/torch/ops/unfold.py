"""aten.unfold: windows along an axis, as views where they do not overlap; aten.im2col and aten.col2im."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.unfold.default")
def unfold(b: Builder, x: Value, dimension: int, size: int, step: int) -> Value:
    if x.rank == 0:
        raise b.unsupported("a scalar")
    axis = x.axis(dimension)
    count = b.result.shape[axis]
    if step >= size and count * step <= x.shape[axis]:
        whole = b.slice(x, axis, 0, count * step)
        windows = b.split_axis(whole, axis, [count, step])
        windows = b.slice(windows, axis + 1, 0, size)
    elif count == 1:
        windows = b.unsqueeze(b.slice(x, axis, 0, size), axis)
    else:
        last = b.to_last(x, [axis])
        dims = {"N": b.dim("windows", count), "K": b.dim("size", size), "STEP": step}
        shape = (*last.shape[:-1], count, size)
        known = [*b.extents(last)[:-1], str(dims["N"]), str(dims["K"])]
        y = b.call("sliding_windows", last, shape=shape, dtype=x.dtype, extents=known, dims=dims)
        return b.permute(y, [*range(axis), x.rank - 1, *range(axis, x.rank - 1), x.rank])
    return b.to_last(windows, [axis + 1])


def _settings(**pairs: Sequence[int]) -> dict[str, object]:
    """Arguments of the prelude's functions: `R=(2, 3)` is RH = 2, RW = 3."""
    return {name + axis: n for name, pair in pairs.items() for axis, n in zip("HW", pair, strict=True)}


@lowering("aten.im2col.default")
def im2col(
    b: Builder,
    x: Value,
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> Value:
    dims = _settings(R=kernel_size, S=stride, A=padding, D=dilation)
    sizes = zip(x.shape[-2:], kernel_size, dilation, padding, stride, strict=True)
    places = [(n + 2 * a - d * (r - 1) - 1) // s + 1 for n, r, d, a, s in sizes]
    shape = (*x.shape[:-2], *kernel_size, *places)
    known = [*b.extents(x)[:-2], *[None] * 4]
    y = b.call("image_to_columns", x, shape=shape, extents=known, dims=dims)
    y = b.merge_axes(y, -2, -1)
    return b.merge_axes(y, -4, -2)


@lowering("aten.col2im.default")
def col2im(
    b: Builder,
    x: Value,
    output_size: Sequence[int],
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> Value:
    sizes = zip(output_size, kernel_size, dilation, padding, stride, strict=True)
    places = [(n + 2 * a - d * (r - 1) - 1) // s + 1 for n, r, d, a, s in sizes]
    channels = x.shape[-2] // (kernel_size[0] * kernel_size[1])
    windows = b.split_axis(b.split_axis(x, -1, places), -3, [channels, *kernel_size])
    height, width = (b.dim(name, n) for name, n in zip(("height", "width"), output_size, strict=True))
    dims = {"H": height, "W": width} | _settings(S=stride, A=padding, D=dilation)
    shape = (*windows.shape[:-4], *output_size)
    known = [*b.extents(windows)[:-4], height, width]
    return b.call("columns_to_image", windows, shape=shape, extents=known, dims=dims)
