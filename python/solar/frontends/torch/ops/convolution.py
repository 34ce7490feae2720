"""aten.conv1d, aten.conv2d, aten.conv3d, with padding by numbers or by name; aten.convolution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.ops.conv_transpose import conv_transpose
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solar.frontends.torch.builder import Builder, Value

_AXES = {1: "W", 2: "HW", 3: "ZHW"}


def spread(value: int | Sequence[int], n: int) -> list[int]:
    """One number an axis."""
    values = [value] if isinstance(value, int) else list(value)
    return values * n if len(values) == 1 else values


@lowering("aten.conv1d.default", "aten.conv2d.default", "aten.conv3d.default")
def convolution(
    b: Builder,
    x: Value,
    weight: Value,
    bias: Value | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Value:
    n = weight.rank - 2
    if x.rank not in (n + 1, n + 2):
        raise b.unsupported(f"an input of rank {x.rank}")
    attributes: dict[str, str | int] = {}
    for letter, given in (("S", stride), ("P", padding), ("D", dilation)):
        for axis, value in zip(_AXES[n], spread(given, n), strict=True):
            attributes[letter + axis] = value
    shape = b.result.shape
    if groups == 1:
        known = [*b.extents(x)[: -n - 1], b.extent(weight, 0), *[None] * n]
        result = b.call(f"conv{n}d", x, weight, dims=attributes, extents=known)
    else:
        group = b.dim("groups", groups)
        inner, outer = b.dim("in", weight.shape[1]), b.dim("out", weight.shape[0] // groups)
        grouped = b.split_axis(x, -n - 1, [groups, weight.shape[1]], [group, inner])
        taps = b.split_axis(weight, 0, [groups, weight.shape[0] // groups], [group, outer])
        lead = x.rank - n - 1
        split = (*shape[:lead], groups, weight.shape[0] // groups, *shape[lead + 1 :])
        known = [*b.extents(x)[:lead], group, outer, *[None] * n]
        result = b.call(f"grouped_conv{n}d", grouped, taps, dims=attributes, shape=split, extents=known)
        result = b.merge_axes(result, lead, lead + 1)
    if bias is None:
        return result
    return b.call(f"channel_bias{n}d", result, bias, extents=b.extents(result))


@lowering("aten.conv1d.padding", "aten.conv2d.padding", "aten.conv3d.padding")
def convolution_named_padding(
    b: Builder,
    x: Value,
    weight: Value,
    bias: Value | None = None,
    stride: int | Sequence[int] = 1,
    padding: str = "valid",
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Value:
    n = weight.rank - 2
    if padding == "valid":
        return convolution(b, x, weight, bias, stride, 0, dilation, groups)
    both: list[int] = []
    for axis, d in enumerate(spread(dilation, n)):
        total = d * (weight.shape[2 + axis] - 1)
        both.append(total // 2)
        if total % 2:  # torch puts the odd element behind
            x = pad_after(b, x, axis - n)
    return convolution(b, x, weight, bias, stride, both, dilation, groups)


@lowering("aten.convolution.default")
def any_convolution(
    b: Builder,
    x: Value,
    weight: Value,
    bias: Value | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Value:
    if transposed:
        return conv_transpose(b, x, weight, bias, stride, padding, output_padding, groups, dilation)
    return convolution(b, x, weight, bias, stride, padding, dilation, groups)


def pad_after(b: Builder, x: Value, axis: int) -> Value:
    """One zero behind an axis."""
    last = b.to_last(x, [axis])
    shape = (*last.shape[:-1], last.shape[-1] + 1)
    known = [*b.extents(last)[:-1], None]
    padded = b.call("zero_pad1d", last, shape=shape, dtype=x.dtype, dims={"PW": 0, "QW": 1}, extents=known)
    return b.from_last(padded, [axis])
