"""aten.conv_transpose1d, aten.conv_transpose2d, aten.conv_transpose3d."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solar.frontends.torch.builder import Builder, Value

_AXES = {1: "W", 2: "HW", 3: "DHW"}


@lowering("aten.conv_transpose1d.default", "aten.conv_transpose2d.input", "aten.conv_transpose3d.input")
def conv_transpose(
    b: Builder,
    x: Value,
    weight: Value,
    bias: Value | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    output_padding: int | Sequence[int] = 0,
    groups: int = 1,
    dilation: int | Sequence[int] = 1,
) -> Value:
    axes = _AXES[weight.rank - 2]
    count = len(axes)
    batched = x.rank == count + 2
    if not batched:
        x = b.unsqueeze(x, 0)
    settings = {
        "S": _each(stride, count),
        "A": _each(padding, count),
        "L": _each(dilation, count),
        "E": _each(output_padding, count),
    }
    dims: dict[str, object] = {
        name + axis: n for name, values in settings.items() for axis, n in zip(axes, values, strict=True)
    }
    xg = _grouped(b, x, 1, groups)
    wg = _grouped(b, weight, 0, groups)
    arguments = [xg, wg]
    function = f"conv_transpose{count}d"
    if bias is not None:
        arguments.append(_grouped(b, bias, 0, groups))
        function += "_bias"
    spatial = b.result.shape[-count:]
    shape = (x.shape[0], groups, weight.shape[1], *spatial)
    known = [b.extent(xg, 0), b.extent(wg, 0), b.extent(wg, 2), *([None] * count)]
    y = b.call(function, *arguments, shape=shape, extents=known, dims=dims)
    y = b.merge_axes(y, 1, 2) if groups > 1 else b.squeeze(y, [1])
    _declare_nominal(b, xg, wg)
    return y if batched else b.squeeze(y, [0])


def _each(setting: int | Sequence[int], count: int) -> list[int]:
    values = [setting] if isinstance(setting, int) else list(setting)
    return values * count if len(values) == 1 else values


def _grouped(b: Builder, value: Value, axis: int, groups: int) -> Value:
    """The channel axis as (group, channel of the group)."""
    if groups == 1:
        return b.unsqueeze(value, axis)
    return b.split_axis(value, axis, [groups, value.shape[axis] // groups])


def _declare_nominal(b: Builder, xg: Value, wg: Value) -> None:
    """Every input element meets every tap: what a FLOP counter counts, cropped outputs included."""
    factors = [b.extent(xg, axis) for axis in range(xg.rank)] + [b.extent(wg, axis) for axis in range(2, wg.rank)]
    b.nominal("*".join(f if _is_name(f) else f"({f})" for f in factors if f != "1"))


def _is_name(factor: str) -> bool:
    return not any(operator in factor for operator in "+-/%( ")
