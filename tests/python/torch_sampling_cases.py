"""Sampling at places that are data, unpooling, windows of memory, on generated settings."""

# ruff: noqa: E731

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch_case_generator import Case, Generator, named


def sampling(g: Generator) -> Iterator[Case]:
    for mode in ("bilinear", "nearest", "bicubic"):
        for padding in ("zeros", "border", "reflection"):
            settings = {"mode": mode, "padding_mode": padding, "align_corners": g.flag()}
            call = lambda x, p, s=settings: F.grid_sample(x, p, **s)
            for shape in ((2, 3, 5, 4), (1, 1, 1, 3)):
                yield named(f"grid_sample {settings}", call, g.floats(shape), g.floats((shape[0], 3, 4, 2), scale=0.9))
    for mode in ("bilinear", "nearest"):
        for padding in ("zeros", "border", "reflection"):
            settings = {"mode": mode, "padding_mode": padding, "align_corners": g.flag()}
            call = lambda x, p, s=settings: F.grid_sample(x, p, **s)
            places = g.floats((2, 3, 2, 4, 3), scale=0.9)
            yield named(f"grid_sample of volumes {settings}", call, g.floats((2, 2, 3, 4, 5)), places)
    bf16 = g.floats((1, 2, 4, 5), torch.bfloat16), g.floats((1, 3, 3, 2), torch.bfloat16, 0.5)
    yield named("grid_sample bf16", lambda x, p: F.grid_sample(x.float(), p.float(), align_corners=True), *bf16)
    for align in (True, False):
        warp = lambda x, t, a=align: F.grid_sample(x, F.affine_grid(t, [2, 3, 4, 5], a), align_corners=a)
        yield named(f"spatial transformer {align}", warp, g.floats((2, 3, 6, 7)), g.floats((2, 2, 3), scale=0.5))
    yield named("affine grid of volumes", lambda t: F.affine_grid(t, [2, 1, 3, 2, 4], False), g.floats((2, 3, 4)))


def unpooling(g: Generator) -> Iterator[Case]:
    for pool, unpool, shape in (
        (F.max_pool1d, F.max_unpool1d, (2, 3, 8)),
        (F.max_pool2d, F.max_unpool2d, (2, 3, 8, 6)),
        (F.max_pool3d, F.max_unpool3d, (1, 2, 4, 6, 4)),
    ):
        for stride in (2, 1):
            x, places = pool(g.floats(shape), 2, stride, return_indices=True)
            call = lambda x, i, f=unpool, s=stride: f(x, i, 2, s)
            yield named(f"{unpool.__name__} {stride}", call, x, places)
        both = lambda x, p=pool, u=unpool: u(*p(x, 2, return_indices=True), 2)
        yield named(f"{unpool.__name__} of a pooling", both, g.floats(shape))
    for count, pool in ((1, F.adaptive_max_pool1d), (2, F.adaptive_max_pool2d), (3, F.adaptive_max_pool3d)):
        for size in (1, 2, 3):
            call = lambda x, f=pool, s=size: f(x, s, return_indices=True)
            yield named(f"{pool.__name__} {size}", call, g.floats((2, 3, 5, 4, 7)[: count + 2]))
            yield named(
                f"{pool.__name__} {size} alone", lambda x, f=pool, s=size: f(x, s), g.floats((3, 5, 4, 3)[: count + 1])
            )


def memory_windows(g: Generator) -> Iterator[Case]:
    x = g.floats((4, 6))
    yield named("rows that overlap", lambda x: x.as_strided((5, 8), (4, 1)) * 2, x)
    yield named("of a transposed", lambda x: x.t().as_strided((3, 4), (6, 1)) * 2, x)
    yield named("of a part", lambda x: x[1:].as_strided((2, 3), (6, 1)) * 2, x)
    yield named("from an offset", lambda x: x.as_strided((2, 3), (1, 7), 2) * 2, x)
    yield named("repeated", lambda x: x.as_strided((3, 4), (0, 1)) * 2, x)
    yield named("diagonal", lambda x: x.as_strided((4,), (7,)) * 2, x)
    chunks = lambda x: x.as_strided((2, 3, 4, 5), (80, 20, 5, 1)) * 2
    yield named("chunks", chunks, g.floats((2, 16, 5)))
    for offset in (0, 1, -2):
        for function in (torch.tril_indices, torch.triu_indices):
            call = lambda x, f=function, o=offset: x[tuple(f(4, 6, o))]
            yield named(f"{function.__name__} {offset}", call, x)
    yield named("pairs of rows", lambda x: F.pdist(x), g.floats((7, 3)))
