"""Data movement, on generated shapes, types, axes and settings."""

# ruff: noqa: E731

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch_case_generator import Case, Generator, named


def movement(g: Generator) -> Iterator[Case]:
    for _ in range(3):
        shape = g.shape(2, 4)
        axes = g.axes(len(shape))
        x = g.floats(shape)
        yield named(f"flip {axes}", g.layout(lambda x, a=axes: x.flip(a)), x)
        shifts = [g.random.randint(-9, 9) for _ in axes]
        yield named(f"roll {shifts} {axes}", lambda x, s=shifts, a=axes: torch.roll(x, s, a), x)
        counts = [g.random.randint(1, 3) for _ in range(len(shape) + g.random.randint(0, 1))]
        yield named(f"repeat {counts}", g.layout(lambda x, c=counts: x.repeat(c)), x)
        axis, count = g.axis(len(shape)), g.random.randint(2, 3)
        call = lambda x, a=axis, c=count: torch.repeat_interleave(x, c, a)
        yield named(f"repeat_interleave {count} {axis}", call, x)
    yield named("roll of all", lambda x: torch.roll(x, 2), g.floats((3, 4)))
    yield named("tile", lambda x: torch.tile(x, (2,)), g.floats((3, 2)))
    for mode in ("constant", "replicate", "reflect", "circular"):
        yield named(f"pad {mode}", lambda x, m=mode: F.pad(x, (1, 2), mode=m), g.floats((2, 3, 5)))
        yield named(f"pad {mode} of two axes", lambda x, m=mode: F.pad(x, (2, 1, 0, 3), mode=m), g.floats((1, 2, 4, 5)))
    yield named("pad with ones", lambda x: F.pad(x, (0, 1, 2, 0), value=1.0), g.floats((3, 4)))
    yield named("pad cutting", lambda x: F.pad(x, (-1, 2)), g.floats((3, 4)))
    for axis in (0, 1, -1):
        x = g.floats((4, 3, 5))
        index = g.integers((2, 3, 5), 0, 3)
        yield named(f"gather {axis}", lambda x, i, a=axis: torch.gather(x, a, i), x, index)
        yield named(f"index_select {axis}", lambda x, i, a=axis: torch.index_select(x, a, i), x, g.integers((6,), 0, 3))
    for offset in (0, 1, -2):
        yield named(f"diag of a vector {offset}", lambda x, o=offset: torch.diag(x, o), g.floats((3,)))
        yield named(f"diag of a matrix {offset}", lambda x, o=offset: torch.diag(x, o), g.floats((4, 5)))
        yield named(f"diagonal {offset}", lambda x, o=offset: torch.diagonal(x, o, 0, 2), g.floats((4, 2, 5)))
        yield named(f"diag_embed {offset}", lambda x, o=offset: torch.diag_embed(x, o), g.floats((2, 3)))
    yield named("outer", torch.outer, g.floats((3,)), g.floats((4,)))
