"""aten.pad and its modes, also as operators of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.dtypes import Number, number
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from solar.frontends.torch.builder import Builder, Value

_FUNCTIONS = {
    "constant": "pad_constant",
    "replicate": "pad_replicate",
    "reflect": "pad_reflect",
    "circular": "pad_circular",
}


@lowering("aten.pad.default")
def pad(b: Builder, x: Value, pad: Sequence[int], mode: str = "constant", value: Number | None = None) -> Value:
    for place in range(len(pad) // 2):
        x = _pad_axis(b, x, x.rank - 1 - place, pad[2 * place], pad[2 * place + 1], mode, value or 0)
    return x


@lowering("aten.constant_pad_nd.default")
def constant_pad(b: Builder, x: Value, pad: Sequence[int], value: Number = 0) -> Value:
    for place in range(len(pad) // 2):
        x = _pad_axis(b, x, x.rank - 1 - place, pad[2 * place], pad[2 * place + 1], "constant", value)
    return x


def _by_mode(mode: str) -> Callable[[Builder, Value, Sequence[int]], Value]:
    def lower(b: Builder, x: Value, padding: Sequence[int]) -> Value:
        return pad(b, x, padding, mode)

    return lower


for _axes in (1, 2, 3):
    lowering(f"aten.reflection_pad{_axes}d.default")(_by_mode("reflect"))
    lowering(f"aten.replication_pad{_axes}d.default")(_by_mode("replicate"))


def _pad_axis(b: Builder, x: Value, axis: int, before: int, after: int, mode: str, value: Number) -> Value:
    """Negative amounts cut off."""
    x = b.slice(x, axis, max(-before, 0), x.shape[axis] - max(-after, 0))
    before, after = max(before, 0), max(after, 0)
    if before == after == 0:
        return x
    last = b.to_last(x, [axis])
    shape = (*last.shape[:-1], last.shape[-1] + before + after)
    filling = [number(value, x.dtype)] if mode == "constant" else []
    dims = {"BEFORE": before, "AFTER": after}
    known = [*b.extents(last)[:-1], None]
    y = b.call(_FUNCTIONS[mode], last, *filling, shape=shape, dtype=x.dtype, extents=known, dims=dims)
    return b.from_last(y, [axis])
