"""aten.max_pool2d, aten.avg_pool2d, aten.adaptive_avg_pool2d."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.ops.convolution import spread
from solar.frontends.torch.ops.reduction import reduce, with_kept_axes
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.max_pool2d.default")
def max_pool2d(
    b: Builder,
    x: Value,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = (),
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Value:
    window = spread(kernel_size, 2)
    step = spread(stride, 2) or window
    hang = [s - 1 if ceil_mode else 0 for s in step]
    dims = _named("RQ", window) | _pairs(S=step, P=spread(padding, 2), D=spread(dilation, 2), C=hang)
    return b.call("max_pool2d", x, dims=dims, extents=[*b.extents(x)[:-2], None, None])


@lowering("aten.avg_pool2d.default")
def avg_pool2d(
    b: Builder,
    x: Value,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = (),
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Value:
    window = spread(kernel_size, 2)
    step = spread(stride, 2) or window
    pad = spread(padding, 2)
    known = [*b.extents(x)[:-2], None, None]
    dims = _named("RQ", window) | _pairs(S=step, P=pad)
    plain = not ceil_mode and (count_include_pad or not any(pad))
    if plain or (divisor_override is not None and not ceil_mode):
        return b.call("avg_pool2d", x, dims=dims | {"V": divisor_override or window[0] * window[1]}, extents=known)
    hang = [s - 1 if ceil_mode else 0 for s in step]
    if divisor_override is not None:
        total = dims | _pairs(C=hang) | {"V": divisor_override}
        return b.call("avg_pool2d_divided", x, dims=total, extents=known)
    margin = pad if count_include_pad else [0, 0]
    return b.call("avg_pool2d_counted", x, dims=dims | _pairs(C=hang, M=margin), extents=known)


@lowering("aten.adaptive_avg_pool2d.default", "aten._adaptive_avg_pool2d.default")
def adaptive_avg_pool2d(b: Builder, x: Value, output_size: Sequence[int]) -> Value:
    rows, columns = b.result.shape[-2:]
    lead = b.extents(x)[:-2]
    if rows == columns == 1:
        axes = [x.rank - 2, x.rank - 1]
        return with_kept_axes(b, reduce(b, "mean", x, axes), axes, True)
    if x.shape[-2] % rows == 0 and x.shape[-1] % columns == 0:
        window = [f"{b.extent(x, -2)} // {rows}", f"{b.extent(x, -1)} // {columns}"]
        dims: dict[str, str | int] = {"R": window[0], "Q": window[1], "SH": window[0], "SW": window[1]}
        dims |= {"PH": 0, "PW": 0, "V": f"({window[0]})*({window[1]})"}
        return b.call("avg_pool2d", x, dims=dims, extents=[*lead, None, None])
    return b.call("adaptive_avg_pool2d", x, dims={"U": rows, "V": columns}, extents=[*lead, None, None])


def _named(letters: str, values: Sequence[int]) -> dict[str, str | int]:
    return dict(zip(letters, values, strict=True))


def _pairs(**values: Sequence[int]) -> dict[str, str | int]:
    return {f"{letter}{axis}": v for letter, pair in values.items() for axis, v in zip("HW", pair, strict=True)}
