"""Shared by pooling operators: the settings of a sliding window, one number per axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Setting = int | Sequence[int]
_AXES = {1: "W", 2: "HW", 3: "DHW"}


@dataclass(frozen=True)
class Window:
    """`overhang` is how far the last window may hang over the padded input: stride - 1 in ceil mode, otherwise 0."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    overhang: tuple[int, ...]

    def dims(self, **settings: Sequence[int]) -> dict[str, object]:
        """Arguments of a prelude function: `R=kernel` becomes RW, or RH and RW, or RD, RH and RW."""
        axes = _AXES[len(self.kernel)]
        return {name + axis: n for name, values in settings.items() for axis, n in zip(axes, values, strict=True)}


def window(
    count: int, kernel: Setting, stride: Setting, padding: Setting, dilation: Setting = 1, ceil: bool = False
) -> Window:
    """The settings as torch gives them: one number for all axes, or one per axis; no stride means the kernel size."""
    sizes = _each(kernel, count)
    strides = _each(stride, count) or sizes
    overhang = tuple(s - 1 if ceil else 0 for s in strides)
    return Window(sizes, strides, _each(padding, count), _each(dilation, count), overhang)


def _each(setting: Setting, count: int) -> tuple[int, ...]:
    values = (setting,) if isinstance(setting, int) else tuple(setting)
    return values * count if len(values) == 1 else values
