"""Resizing, windows, writes through views, and operators that torch makes of others; on generated settings."""

# ruff: noqa: E731

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch_case_generator import Case, Generator, named


def resizing(g: Generator) -> Iterator[Case]:
    sizes = [(5, 7), (10, 14), (15, 21), (3, 4), (5, 9), (1, 1), (12, 3)]
    for mode in ("nearest", "nearest-exact", "bilinear", "bicubic"):
        for size in sizes:
            call = lambda x, s=size, m=mode: F.interpolate(x, s, mode=m)
            yield named(f"interpolate {mode} {size}", call, g.floats((2, 3, 5, 7)))
        for factor in (2.0, 0.5, 1.3, (3.0, 1.0), 1.7):
            call = lambda x, f=factor, m=mode: F.interpolate(x, scale_factor=f, mode=m)
            yield named(f"interpolate {mode} by {factor}", call, g.floats((1, 2, 6, 5), torch.float64))
            call = lambda x, f=factor, m=mode: F.interpolate(x, scale_factor=f, mode=m, recompute_scale_factor=True)
            yield named(f"interpolate {mode} by {factor} recomputed", call, g.floats((1, 2, 6, 5)))
    for mode in ("bilinear", "bicubic"):
        for size in sizes:
            call = lambda x, s=size, m=mode: F.interpolate(x, s, mode=m, align_corners=True)
            yield named(f"interpolate {mode} {size} aligned", call, g.floats((2, 3, 5, 7), torch.float64))
    for mode, shape in (("linear", (2, 3, 5)), ("trilinear", (1, 2, 3, 4, 5))):
        for aligned in (False, True):
            call = lambda x, m=mode, a=aligned: F.interpolate(x, scale_factor=2.0, mode=m, align_corners=a)
            yield named(f"interpolate {mode} {aligned}", call, g.floats(shape))
    for n in range(1, 4):
        call = lambda x: F.interpolate(x, scale_factor=3.0)
        yield named(f"interpolate nearest of {n} axes", call, g.floats((1, 2, 4, 3, 2)[: n + 2], torch.bfloat16))
    yield named("interpolate odd", lambda x: F.interpolate(x, 41), g.floats((1, 1, 7)))
    yield named("interpolate of many", lambda x: F.interpolate(x, 451), g.floats((1, 1, 11)))
    yield named(
        "bilinear bfloat16", lambda x: F.interpolate(x, (4, 9), mode="bilinear"), g.floats((1, 2, 3, 5), torch.bfloat16)
    )


def windows(g: Generator) -> Iterator[Case]:
    for _ in range(6):
        size, step = g.random.randint(1, 4), g.random.randint(1, 4)
        x = g.floats(g.shape(1, 3, (4, 5, 9)))
        axis = g.axis(x.ndim)
        yield named(f"unfold {size} {step} {axis}", lambda x, a=axis, s=size, t=step: x.unfold(a, s, t) + 0, x)
        pair = lambda low, high: tuple(g.random.randint(low, high) for _ in range(2))
        kernel, settings = pair(1, 3), {"dilation": pair(1, 2), "padding": pair(0, 2), "stride": pair(1, 3)}
        call = lambda x, k=kernel, s=settings: F.unfold(x, k, **s)
        image = g.floats((2, 3, 8, 7))
        yield named(f"im2col {kernel} {settings}", call, image)
        columns = F.unfold(image, kernel, **settings)
        yield named(f"col2im {kernel} {settings}", lambda x, k=kernel, s=settings: F.fold(x, (8, 7), k, **s), columns)
    for factor in (1, 2, 3):
        yield named("pixel_shuffle", lambda x, f=factor: F.pixel_shuffle(x, f), g.floats((2, 2 * factor**2, 3, 4)))
        yield named(
            "pixel_unshuffle", lambda x, f=factor: F.pixel_unshuffle(x, f), g.floats((2, 3, 2 * factor, factor))
        )
    yield named("pixel_shuffle of one", lambda x: F.pixel_shuffle(x, 2), g.floats((4, 3, 5)))
    yield named("channel_shuffle", lambda x: F.channel_shuffle(x, 3), g.floats((2, 6, 3, 4)))


def writes(g: Generator) -> Iterator[Case]:
    """Writes through views, and reads through other views of the same memory afterwards."""

    def case(name: str, body: object) -> Case:
        def call(x: torch.Tensor, y: torch.Tensor) -> object:
            z = x * 2
            return body(z, y)  # type: ignore[operator]

        return named(name, call, g.floats((4, 6)), g.floats((4, 6)))

    def row(z, y):
        v = z[1]
        z[1].add_(1)
        return z, v * 2

    def columns(z, y):
        z[:, 1:5:2] = y[:, :2]
        z[:, -1] = 3.0
        return z

    def reshaped(z, y):
        v, w = z.view(2, 12), z.t()
        v[1].mul_(2)
        w[0] = 0.5
        return z, v.sum(0), w

    def parts(z, y):
        a, b = z.chunk(2, 1)
        a.copy_(b)
        first, *rest = z.unbind(0)
        rest[0].zero_()
        return z, a, b, first

    def nested(z, y):
        block = z[1:3][:, 2:].permute(1, 0)
        block[0, 1] = 9.0
        block += y[:4, :2]
        return z, block

    def diagonal(z, y):
        z.diagonal(1).fill_(7.0)
        torch.diagonal(z[:4, :4]).sub_(y[0, :4])
        return z

    def cache(z, y):
        for i in range(4):
            z[i, : i + 1] = y[i, : i + 1] + z[i - 1, : i + 1]
        return z

    def whole(z, y):
        v = z[:]
        w = z.view(-1)
        v.copy_(y)
        z.relu_()
        return w + 1, v.neg_(), z

    for body in (row, columns, reshaped, parts, nested, diagonal, cache, whole):
        yield case(f"writes to {body.__name__}", body)
    yield named(
        "slice_scatter", lambda x, s: torch.slice_scatter(x, s, 1, 1, None, 2), g.floats((3, 6)), g.floats((3, 3))
    )
    yield named("select_scatter", lambda x, s: torch.select_scatter(x, s, -1, -2), g.floats((3, 6)), g.floats((3,)))
    yield named("diagonal_scatter", lambda x, s: torch.diagonal_scatter(x, s, -1), g.floats((4, 5)), g.floats((3,)))


def composites(g: Generator) -> Iterator[Case]:
    """Operators without a lowering of their own, and small ones of linear algebra."""
    x, y, m = g.floats((3, 4)), g.floats((3, 4)), g.floats((4, 4))
    yield named("linspace", lambda x: torch.linspace(-1, 2, 4) + x, x)
    yield named("eye", lambda x: torch.eye(4) + x[0], x)
    yield named("isin", lambda i: torch.isin(i, torch.tensor([1, 5, 7])), g.integers((3, 4), 0, 9))
    special = g.special((3, 4))
    yield named("nan_to_num", lambda x: torch.nan_to_num(x, 0.5, 9.0, -9.0), special)
    yield named("hstack", lambda x, y: torch.hstack([x, y]), x, y)
    yield named("vstack", lambda x, y: torch.vstack([x, y[0]]), x, y)
    yield named("meshgrid", lambda a, b: [t + 0 for t in torch.meshgrid(a, b, indexing="ij")], x[0], y[1, :3])
    yield named("tensordot", lambda a, b: torch.tensordot(a, b, 2), g.floats((2, 3, 4)), g.floats((3, 4, 5)))
    call = lambda a, b: torch.tensordot(a, b, ([0, -1], [2, 1]))
    yield named("tensordot of axes", call, g.floats((2, 3, 4)), g.floats((5, 4, 2)))
    yield named("inner", torch.inner, g.floats((2, 4)), g.floats((3, 4)))
    yield named("outer", torch.linalg.cross, g.floats((2, 3)), g.floats((2, 3)))
    yield named(
        "cross", lambda a, b: torch.linalg.cross(a, b, dim=1), g.floats((2, 3, 4)), g.floats((2, 1, 1)).expand(2, 3, 1)
    )
    yield named("kron", torch.kron, g.floats((2, 3)), g.floats((3, 2)))
    yield named("trace", torch.trace, m)
    yield named("matrix_power", lambda m: torch.linalg.matrix_power(m, 3), m)
    yield named("multi_dot", lambda a, b: torch.linalg.multi_dot([a, b, a]), x, g.floats((4, 3)))
    for order in (None, "fro", 1, 2.5):
        axis = None if order in (None, "fro") else 1
        yield named(f"norm {order}", lambda x, o=order, a=axis: torch.linalg.norm(x, o, a), x)
    for p in (0.0, 1.0, 2.0, 2.5, float("inf")):
        yield named(f"cdist {p}", lambda x, y, p=p: torch.cdist(x, y, p), g.floats((2, 3, 4)), g.floats((2, 5, 4)))
        yield named(f"dist {p}", lambda x, y, p=p: torch.dist(x, y, p), x, y)
    yield named("bilinear", F.bilinear, g.floats((2, 3)), g.floats((2, 4)), g.floats((5, 3, 4)), g.floats((5,)))
    for equation in ("ii->i", "ii->", "iji->j", "iij,j->i"):
        operands = [g.floats((3, 4, 3)) if "iji" in equation else m[:3, :3]][:1]
        if "," in equation:
            operands = [g.floats((3, 3, 4)), g.floats((4,))]
        yield named(f"einsum {equation}", lambda *v, e=equation: torch.einsum(e, *v), *operands)
    yield named("softmin", lambda x: F.softmin(x, 0), x)
    masked = x.clone()
    masked[1] = float("-inf")
    yield named("safe softmax", lambda x: torch._safe_softmax(x, -1), masked)
    yield named("heaviside", lambda x: torch.heaviside(x, torch.tensor(0.5)), special.nan_to_num())
    yield named("diff", lambda x: torch.diff(x, dim=0), x)
    yield named("count_nonzero", lambda i: torch.count_nonzero(i, 1), g.integers((3, 4), 0, 2))
    yield named("addcmul of rows", lambda x, y: torch.addcmul(x, y[:1], y[:, :1], value=2), x, y)
    yield named("float remainder", lambda x, y: torch.remainder(x, 1.5) + torch.fmod(x, y.abs() + 0.5), x, y)
    for name in ("sinc", "softsign", "tanhshrink", "hardtanh", "deg2rad", "square"):
        yield named(name, getattr(torch, name, None) or getattr(F, name), g.positive((3, 4)))
    for name in ("cummax", "cummin"):
        for shape in ((5,), (3, 4), (2, 1, 3)):
            axis = g.axis(len(shape))
            for x in (g.floats(shape), g.integers(shape, 0, 3), g.floats(shape, torch.bfloat16)):
                yield named(f"{name} {axis}", lambda x, n=name, a=axis: getattr(torch, n)(x, a), x)
        yield named(f"{name} with NaN", lambda x, n=name: getattr(torch, n)(x, 1), g.special((3, 9)))
    for axis in (0, -1):
        yield named(f"logcumsumexp {axis}", lambda x, a=axis: torch.logcumsumexp(x, a), g.floats((4, 5), scale=30.0))
    infinite = g.floats((3, 4))
    infinite[0, :2], infinite[1, 2] = float("-inf"), float("inf")
    yield named("logcumsumexp with infinity", lambda x: torch.logcumsumexp(x, 1), infinite)
