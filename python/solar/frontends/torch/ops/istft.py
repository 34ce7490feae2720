"""aten.istft: the signal of a spectrogram, from overlapping frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.builder import Builder, Meta, Value
from solar.frontends.torch.ops.fourier import BY_ROOT, BY_SIZE, c2r
from solar.frontends.torch.ops.pad import pad
from solar.frontends.torch.registry import complex_lowering

if TYPE_CHECKING:
    from solar.frontends.torch.complex_values import Complex


@complex_lowering("aten.istft.default")
def istft(
    b: Builder,
    x: Complex,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Value | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Value:
    if return_complex or (window is not None and not isinstance(window, Value)):
        raise b.unsupported("a complex signal")
    hop, frames = hop_length or n_fft // 4, x.shape[-1]
    metas, b.results = b.results, (Meta((*x.shape[:-2], n_fft, frames), x.real.dtype),)
    signal = c2r(b, x, [x.rank - 2], BY_ROOT if normalized else BY_SIZE, n_fft)  # torch reads one side alone too
    b.results = metas
    parts = b.transpose(signal, -2, -1)
    weights = _weights(b, window, win_length or n_fft, n_fft, parts)
    y = _overlap(b, b.pointwise("mul", parts, weights), hop)
    squares = b.expand(b.pointwise("square", weights), (frames, n_fft), [b.extent(parts, -2), b.extent(parts, -1)])
    envelope = _overlap(b, squares, hop)
    start = n_fft // 2 if center else 0
    whole = y.shape[-1]
    end = start + length if length is not None else whole - start
    y, envelope = (b.slice(v, -1, start, min(end, whole)) for v in (y, envelope))
    y = b.pointwise("div", y, envelope)
    return pad(b, y, (0, max(end - whole, 0)))


def _weights(b: Builder, window: Value | None, size: int, n_fft: int, like: Value) -> Value:
    """The window in the middle of a frame."""
    window = b.constant(1, (size,), like.dtype) if window is None else window
    left = (n_fft - size) // 2
    return b.cast(pad(b, window, (left, n_fft - size - left)), like.dtype)


def _overlap(b: Builder, x: Value, hop: int) -> Value:
    frames, size = x.shape[-2:]
    shape = (*x.shape[:-2], (frames - 1) * hop + size)
    dims = {"HOP": hop, "SPAN": -(-size // hop)}
    return b.call("overlap_add", x, shape=shape, dtype=x.dtype, extents=[*b.extents(x)[:-2], None], dims=dims)
