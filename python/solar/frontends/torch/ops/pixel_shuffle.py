"""aten.pixel_shuffle, aten.pixel_unshuffle, aten.channel_shuffle: copies of reordered views."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.pixel_shuffle.default")
def pixel_shuffle(b: Builder, x: Value, upscale_factor: int) -> Value:
    """Channels (c, r, s) become rows (h, r) and columns (w, s)."""
    n = x.rank - 3
    r = upscale_factor
    y = b.split_axis(x, n, [x.shape[n] // (r * r), r, r])
    y = b.permute(y, [*range(n), n, n + 3, n + 1, n + 4, n + 2])
    return b.copy(b.merge_axes(b.merge_axes(y, n + 3, n + 4), n + 1, n + 2))


@lowering("aten.pixel_unshuffle.default")
def pixel_unshuffle(b: Builder, x: Value, downscale_factor: int) -> Value:
    n = x.rank - 3
    r = downscale_factor
    y = b.split_axis(x, n + 2, [x.shape[n + 2] // r, r])
    y = b.split_axis(y, n + 1, [x.shape[n + 1] // r, r])
    y = b.permute(y, [*range(n), n, n + 2, n + 4, n + 1, n + 3])
    return b.copy(b.merge_axes(y, n, n + 2))


@lowering("aten.channel_shuffle.default", "aten.native_channel_shuffle.default")
def channel_shuffle(b: Builder, x: Value, groups: int) -> Value:
    y = b.split_axis(x, 1, [groups, x.shape[1] // groups])
    return b.copy(b.merge_axes(b.transpose(y, 1, 2), 1, 2))
