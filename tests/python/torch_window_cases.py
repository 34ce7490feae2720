"""Pooling and transposed convolutions, on generated shapes, types, axes and settings."""

# ruff: noqa: E731

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch_case_generator import Case, Generator, named


def adaptive_pooling(g: Generator, count: int, sizes: list[int]) -> Iterator[Case]:
    shape = (2, 3, *(g.random.choice((5, 6, 9)) for _ in range(count)))
    for kind in ("avg", "max")[: 1 if count == 3 else 2]:
        function = getattr(F, f"adaptive_{kind}_pool{count}d")
        yield named(f"adaptive_{kind}_pool{count}d {sizes}", lambda x, f=function, s=sizes: f(x, s), g.floats(shape))


def pooling(g: Generator) -> Iterator[Case]:
    extents = {1: (9, 12), 2: (7, 8, 9), 3: (5, 6, 7)}
    for count in (1, 2, 3):
        maximum, average = getattr(F, f"max_pool{count}d"), getattr(F, f"avg_pool{count}d")
        for trial in range(5):
            shape = (2, 3, *(g.random.choice(extents[count]) for _ in range(count)))
            kernel = [g.random.randint(2, 3) for _ in range(count)]
            stride = [g.random.randint(1, 3) for _ in range(count)]
            padding = [g.random.randint(0, k // 2) for k in kernel]
            dilation = [g.random.randint(1, 2) for _ in range(count)]
            ceil = trial % 2 == 1
            settings = f"{kernel} {stride} {padding} {dilation} {ceil}"
            x = g.floats(shape, g.float_type())
            call = lambda x, f=maximum, s=(kernel, stride, padding, dilation, ceil): f(x, *s)
            yield named(f"max_pool{count}d {settings}", call, x)
            if trial < 2:
                pair = lambda x, f=maximum, s=(kernel, stride, padding, dilation, ceil): f(x, *s, return_indices=True)
                yield named(f"max_pool{count}d positions {settings}", pair, g.floats(shape))
            include = g.flag()
            x = x.float() if count == 3 else x  # torch's CPU has 3-D average pooling of f32 and f64 only
            call = lambda x, f=average, s=(kernel, stride, padding, ceil, include): f(x, *s)
            yield named(f"avg_pool{count}d {settings} {include}", call, x)
        for sizes in ([g.random.choice((2, 3)) for _ in range(count)], [1] * count, [3] * count):
            yield from adaptive_pooling(g, count, sizes)
    yield named("avg_pool3d divisor", lambda x: F.avg_pool3d(x, 2, divisor_override=5), g.floats((1, 2, 4, 5, 6)))
    yield named("max_pool1d unbatched", lambda x: F.max_pool1d(x, 3), g.floats((2, 9)))
    yield named("max_pool3d one size", lambda x: F.max_pool3d(x, 2, 1), g.floats((2, 1, 3, 4, 5)))


def transposed_convolutions(g: Generator) -> Iterator[Case]:
    for count in (1, 2, 3):
        function = getattr(F, f"conv_transpose{count}d")
        for trial in range(6):
            groups = g.random.choice((1, 1, 2, 3))
            channels, outputs = groups * g.random.randint(1, 2), g.random.randint(1, 3)
            kernel = [g.random.randint(1, 3) for _ in range(count)]
            stride = [g.random.randint(1, 3) for _ in range(count)]
            padding = [g.random.randint(0, k - 1) for k in kernel]
            dilation = [g.random.randint(1, 2) for _ in range(count)]
            output_padding = [g.random.randint(0, max(s, d) - 1) for s, d in zip(stride, dilation, strict=True)]
            spatial = tuple(g.random.randint(3, 5) for _ in range(count))
            dtype = g.float_type() if trial % 2 else torch.float32
            inputs = [g.floats((2, channels, *spatial), dtype), g.floats((channels, outputs, *kernel), dtype)]
            if g.flag():
                inputs.append(g.floats((groups * outputs,), dtype))
            settings = (stride, padding, output_padding, groups, dilation)
            call = lambda x, w, bias=None, f=function, s=settings: f(x, w, bias, *s)
            yield named(f"conv_transpose{count}d {settings}", call, *inputs)
    yield named("conv_transpose2d unbatched", F.conv_transpose2d, g.floats((2, 4, 5)), g.floats((2, 3, 2, 3)))
