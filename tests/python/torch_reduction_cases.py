"""Reductions, scans and norms, on generated shapes, types, axes and settings."""

# ruff: noqa: E731

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch_case_generator import Case, Generator, named


def reductions(g: Generator) -> Iterator[Case]:
    for name in ("sum", "mean", "amax", "amin"):
        function = getattr(torch, name)
        for _ in range(3):
            shape = g.shape(1, 4)
            axes, keep = g.axes(len(shape)), g.flag()
            x = g.floats(shape, g.float_type())
            yield named(f"{name} {axes} {keep}", g.layout(lambda x, f=function, a=axes, k=keep: f(x, a, k)), x)
    for name in ("max", "min"):
        function, position = getattr(torch, name), getattr(torch, f"arg{name}")
        for _ in range(2):
            shape = g.shape(1, 4)
            axis, keep = g.axis(len(shape)), g.flag()
            x = g.integers(shape, 0, 5).float()
            yield named(f"{name} {axis} {keep}", lambda x, f=function, a=axis, k=keep: tuple(f(x, a, k)), x)
            yield named(f"{name} values", lambda x, f=function: f(x, 1).values, g.special((3, 4, 5)))
            yield named(f"arg{name} {axis}", lambda x, f=position, a=axis, k=keep: f(x, a, k), x)
        yield named(f"arg{name} of all", position, g.floats(g.shape(1, 3)))
        yield named(f"arg{name} with NaN", lambda x, f=position: f(x, 1), g.special((4, 9)))
        yield named(f"{name} of all", function, g.floats(g.shape(1, 4)))
        yield named(f"{name} of integers", lambda x, f=function: f(x, 0).values, g.integers((5, 3), -9, 9, torch.int32))
    yield named("aminmax", lambda x: tuple(torch.aminmax(x, dim=1)), g.floats((3, 4)))
    for name in ("var", "std"):
        function = getattr(torch, name)
        for correction in (0, 1, 2):
            shape = g.shape(2, 4, (3, 5))
            axes, keep = g.axes(len(shape)), g.flag()
            x = g.floats(shape, g.float_type())
            call = lambda x, f=function, a=axes, c=correction, k=keep: f(x, a, correction=c, keepdim=k)
            yield named(f"{name} {axes} {correction}", g.layout(call), x)
        yield named(f"{name} of all", function, g.floats((3, 4, 2)))
    yield named("var_mean", lambda x: torch.var_mean(x, 1), g.floats((3, 4, 2)))
    yield named("prod", lambda x: torch.prod(x, 1), g.floats((3, 4, 2)))
    yield named("prod of all", torch.prod, g.floats((3, 4)))
    yield named("prod of integers", lambda x: torch.prod(x, -1, keepdim=True), g.integers((3, 4), -3, 4, torch.int32))
    for name in ("all", "any"):
        function = getattr(torch, name)
        yield named(name, lambda x, f=function: f(x, 1), g.bools((3, 2, 4)))
        yield named(f"{name} of all", function, g.integers((3, 2), 0, 2))
        yield named(f"{name} over axes", lambda x, f=function: f(x, (0, 2), True), g.bools((3, 2, 4)))
    for _ in range(3):
        shape = g.shape(1, 4)
        axes, keep = g.axes(len(shape)), g.flag()
        x = g.floats(shape, g.float_type(), 4.0)
        yield named(f"logsumexp {axes}", lambda x, a=axes, k=keep: torch.logsumexp(x, a, k), x)
    yield named("logsumexp of -inf", lambda x: torch.logsumexp(x, 1), torch.full((2, 3), float("-inf")))
    for order in (0, 1, 2, 3, 2.5, float("inf"), float("-inf")):
        shape = g.shape(1, 4)
        axes, keep = g.axes(len(shape)), g.flag()
        call = lambda x, o=order, a=axes, k=keep: torch.linalg.vector_norm(x, o, a, k)
        yield named(f"vector_norm {order} {axes}", g.layout(call), g.floats(shape, g.float_type()))
    yield named("norm", torch.norm, g.floats((3, 4, 2)))
    yield named("norm of rows", lambda x: torch.norm(x, p=2, dim=1), g.floats((3, 4)))
    yield named("frobenius", lambda x: torch.norm(x, p="fro"), g.floats((3, 4)))
    yield named("normalize", lambda x: F.normalize(x, dim=1), g.floats((3, 4, 2)))


def scans(g: Generator) -> Iterator[Case]:
    for name in ("cumsum", "cumprod"):
        function = getattr(torch, name)
        for _ in range(3):
            shape = g.shape(1, 4)
            axis = g.axis(len(shape))
            x = g.floats(shape, g.float_type(), 1.0)
            yield named(f"{name} {axis}", g.layout(lambda x, f=function, a=axis: f(x, a)), x)
    yield named("cumsum of integers", lambda x: torch.cumsum(x, 0), g.integers((5, 2), -9, 9, torch.int32))
    yield named("cumsum of bools", lambda x: torch.cumsum(x, 1), g.bools((2, 6)))
    yield named("reverse cumsum", lambda x: torch.cumsum(x.flip(1), 1).flip(1), g.floats((3, 6)))
    exclusive = lambda x: torch.cat((torch.zeros_like(x[:, :1]), x[:, :-1].cumsum(1)), 1)
    yield named("exclusive cumsum", exclusive, g.floats((3, 6)))
    yield named("masked cumsum", lambda x, m: torch.cumsum(x * m, 1), g.floats((3, 6)), g.bools((3, 6)))


def norms(g: Generator) -> Iterator[Case]:
    for shape in ((2, 3, 7), (2, 3, 4, 5), (2, 2, 3, 2, 3)):
        x = g.floats(shape)
        yield named("instance_norm", F.instance_norm, x)
        channels = (shape[1],)
        call = lambda x, w, b: F.instance_norm(x, weight=w, bias=b, eps=1e-3)
        yield named("instance_norm affine", call, x, g.floats(channels), g.floats(channels))
        yield named("rms_norm", lambda x: F.rms_norm(x, x.shape[-1:]), x)
        call = lambda x, w: F.rms_norm(x, w.shape, w, 1e-4)
        yield named("rms_norm weighted", call, x.bfloat16(), g.floats(shape[-1:], torch.bfloat16))
        yield named("layer_norm", lambda x: F.layer_norm(x, x.shape[1:]), x)
        yield named("group_norm", lambda x: F.group_norm(x, x.shape[1]), x)
    yield named("instance_norm bf16", F.instance_norm, g.floats((2, 3, 6), torch.bfloat16))
