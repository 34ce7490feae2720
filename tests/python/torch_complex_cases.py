"""Complex tensors and Fourier transforms, on generated shapes, axes and settings."""

# ruff: noqa: E731

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch_case_generator import Case, Generator, named


def complex_floats(g: Generator, shape: tuple[int, ...]) -> torch.Tensor:
    return torch.complex(g.floats(shape), g.floats(shape))


def complex_numbers(g: Generator) -> Iterator[Case]:
    a, b = g.broadcast_shapes(2)
    x, y, real = complex_floats(g, a), complex_floats(g, b), g.floats(b)
    for name in ("add", "sub", "mul", "div"):
        function = getattr(torch, name)
        yield named(name, function, x, y)
        yield named(f"{name} real", function, x, real + 3)
        yield named(f"{name} of real", lambda x, y, f=function: f(y, x), x, real)
        yield named(f"{name} number", lambda x, f=function: f(x, 2.5), x)
        yield named(f"{name} complex number", lambda x, f=function: f(x, 1.5 - 2j), x)
    yield named("sub of a number", lambda x: 2 - x, x)
    yield named("sub scaled", lambda x, y: torch.sub(x, y, alpha=2), x, y)
    for name in ("abs", "angle", "real", "imag", "conj", "neg", "exp", "log", "reciprocal", "square", "isnan"):
        function = getattr(torch, name)
        yield named(name, lambda x, f=function: f(x).clone(), x)
    yield named("abs of 0", torch.abs, torch.zeros(2, 2, dtype=torch.complex64))
    yield named("complex", torch.complex, g.floats(a), g.floats(b))
    yield named("polar", torch.polar, g.positive(a), g.floats(b))
    yield named("as real", lambda x: torch.view_as_real(x) + 1, x)
    yield named("as complex", lambda x: torch.view_as_complex(x) * 2, g.floats((3, 2)))
    yield named("to complex", lambda x: x.to(torch.cfloat) + 1j, g.floats(a))
    rotated = lambda x, f: torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (-1, 2))) * f).flatten(-2)
    yield named("rotary embedding", rotated, g.floats((2, 3, 4, 8)), complex_floats(g, (3, 1, 4)))
    z = complex_floats(g, (2, 3, 4))
    yield named("views", lambda z: z.transpose(0, -1)[:, 1:].reshape(4, -1).unsqueeze(1).expand(4, 3, 4) + 0, z)
    yield named("parts", lambda z: [p + 0 for p in z.split(2, -1)] + [p + 0 for p in z.unbind(1)], z)
    yield named("selected", lambda z, i: z[:, i].flip(0).roll(1, 1), z, g.integers((5,), -3, 3))
    yield named("cat", lambda z, x: torch.cat([z, x, z], 1), z, g.floats((2, 1, 4)))
    yield named("stack", lambda z: torch.stack([z, z.conj()], -1), z)
    yield named("sums", lambda z: (z.sum(-1), z.mean(0), z.cumsum(1)), z)
    yield named("where", lambda z, m: torch.where(m, z, 0.0), z, g.bools((3, 1)))
    yield named("pad", lambda z: F.pad(z, (1, 2)), z)
    m, n = complex_floats(g, (2, 4, 5)), complex_floats(g, (2, 5, 1))
    yield named("matmul", torch.matmul, m, n)
    yield named("matmul by real", torch.matmul, m, g.floats((2, 5, 3)).to(torch.cfloat))
    yield named("matmul with conjugate", lambda m: m @ m.mH, m)
    yield named("einsum", lambda a, b: torch.einsum("bix,iox->box", a, b), z, complex_floats(g, (3, 5, 4)))
    yield named("linear", lambda z, w, b: F.linear(z, w, b), z, complex_floats(g, (5, 4)), complex_floats(g, (5,)))

    def written(z: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        y = torch.zeros(2, 3, 6, dtype=torch.cfloat)
        y[:, :, :4] = z * 2
        y[:, 0] = 1j
        y[0, :, -1:] += x
        return y

    yield named("writes", written, z, complex_floats(g, (3, 1)))


def transforms(g: Generator) -> Iterator[Case]:
    """Lengths with small and large prime factors, and length 1."""
    for length in (1, 2, 3, 4, 6, 8, 25, 30, 31, 64):
        x, z = g.floats((3, length)), complex_floats(g, (3, length))
        how = g.random.choice(("backward", "ortho", "forward"))
        for name in ("fft", "ifft"):
            function = getattr(torch.fft, name)
            yield named(f"{name} {how}", lambda x, f=function, h=how: f(x, norm=h), z)
        yield named(f"rfft {how}", lambda x, h=how: torch.fft.rfft(x, norm=h), x)
        yield named(f"fft of real {how}", lambda x, h=how: torch.fft.fft(x, norm=h), x)
        half = complex_floats(g, (3, length // 2 + 1))
        yield named(f"irfft {how}", lambda z, n=length, h=how: torch.fft.irfft(z, n, norm=h), half)
    x, z = g.floats((4, 3, 6)), complex_floats(g, (4, 3, 6))
    for axis in (0, 1, -2):
        yield named(f"fft {axis}", lambda z, a=axis: torch.fft.fft(z, dim=a), z)
        yield named(f"rfft {axis} to 5", lambda x, a=axis: torch.fft.rfft(x, 5, dim=a), x)
        yield named(f"irfft {axis} to 7", lambda z, a=axis: torch.fft.irfft(z, 7, dim=a), z)
    yield named("fft2", torch.fft.fft2, x)
    yield named("rfft2", torch.fft.rfft2, x)
    yield named("irfft2", lambda z: torch.fft.irfft2(z, s=(3, 10)), z)
    yield named("rfftn", torch.fft.rfftn, x)
    yield named("ifftn", torch.fft.ifftn, z)
    yield named("irfftn", torch.fft.irfftn, z)
    yield named("hfft", torch.fft.hfft, z)
    yield named("shift", lambda z: torch.fft.ifftshift(torch.fft.fftshift(torch.fft.fft(z), dim=1)), z)
    yield named("fft in f64", torch.fft.rfft, g.floats((2, 12), torch.float64))
    mixed = lambda x: torch.fft.fft(torch.fft.fft(x, dim=-1), dim=-2).real
    yield named("mixing of tokens", mixed, x)
    long = lambda u, k: torch.fft.irfft(torch.fft.rfft(u, 16) * torch.fft.rfft(k, 16), 16)[..., :8]
    yield named("long convolution", long, g.floats((2, 3, 8)), g.floats((3, 8)))


def spectrograms(g: Generator) -> Iterator[Case]:
    window = torch.hann_window(16)
    for hop in (4, 5, 8):
        for center in (True, False):
            settings = {"hop_length": hop, "center": center, "return_complex": True}
            call = lambda x, w, s=settings: torch.stft(x, 16, window=w, **s)
            yield named(f"stft {settings}", call, g.floats((2, 70)), window)
    call = lambda x, w: torch.stft(x, 20, 5, 16, w, normalized=True, onesided=False, return_complex=True)
    yield named("stft of both sides", call, g.floats((70,)), window)
    magnitude = lambda x, w: torch.stft(x, 16, 4, window=w, return_complex=True).abs().pow(2)
    yield named("power", magnitude, g.floats((2, 70)), window)
    for length in (None, 60, 30):
        call = lambda z, w, n=length: torch.istft(z, 16, 4, window=w, length=n)
        yield named(f"istft {length}", call, complex_floats(g, (2, 9, 14)), window + 0.1)
    call = lambda z, w: torch.istft(z, 16, 4, 8, w, normalized=True)
    yield named("istft of a short window", call, complex_floats(g, (9, 14)), torch.hann_window(8) + 0.5)
    call = lambda z: torch.istft(z, 16, 4, window=torch.ones(16), onesided=False)
    yield named("istft of both sides", call, complex_floats(g, (16, 14)))
