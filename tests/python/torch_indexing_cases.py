"""Reads and writes at places that are data, sorting and searching, on generated shapes, types and axes."""

# ruff: noqa: E731

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch_case_generator import Case, Generator, named


def distinct(g: Generator, shape: tuple[int, ...], dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Different numbers: the order of equal ones is not torch's to promise."""
    count = int(torch.tensor(shape).prod())
    return torch.randperm(count, generator=g.torch).reshape(shape).to(dtype) - count // 2


def sorting(g: Generator) -> Iterator[Case]:
    for _ in range(4):
        shape = g.shape(1, 3)
        axis, down = g.axis(len(shape)), g.flag()
        for dtype in (torch.float32, torch.float64, torch.int64, torch.bfloat16):
            x = distinct(g, shape, dtype)
            k = g.random.randint(1, shape[axis])
            yield named(f"sort {axis} {down}", lambda x, a=axis, d=down: torch.sort(x, a, d), x)
            yield named(f"argsort {axis} {down}", lambda x, a=axis, d=down: torch.argsort(x, a, d), x)
            yield named(f"topk {k} {axis} {down}", lambda x, k=k, a=axis, d=down: torch.topk(x, k, a, d), x)
            yield named(f"kthvalue {k} {axis}", lambda x, k=k, a=axis, d=down: torch.kthvalue(x, k, a, d), x)
    ties = g.integers((3, 9), 0, 4)
    for down in (False, True):
        yield named("sort of equal numbers", lambda x, d=down: torch.sort(x, stable=True, descending=d), ties)
        yield named("argsort of equal numbers", lambda x, d=down: torch.argsort(x, stable=True, descending=d), ties)
        nan = distinct(g, (3, 5))
        nan[1, 2] = float("nan")
        yield named("sort with NaN", lambda x, d=down: torch.sort(x, 1, d), nan)
    yield named("sort of a number", lambda x: torch.sort(x), g.floats(()))
    yield named("msort", torch.msort, distinct(g, (4, 3)))
    for right in (False, True):
        edges = distinct(g, (2, 7)).sort(-1).values
        x = torch.cat([g.integers((2, 4), -9, 9).float(), edges[:, 2:4]], 1)
        x[0, 0] = float("nan")
        call = lambda e, x, r=right: torch.searchsorted(e, x, right=r)
        yield named(f"searchsorted {right}", call, edges, x)
        yield named(f"searchsorted in a vector {right}", call, edges[0], x)
        yield named(f"searchsorted in one {right}", call, edges[0, :1], x)
        call = lambda x, e, r=right: torch.bucketize(x, e, out_int32=True, right=r)
        yield named(f"bucketize {right}", call, x.to(torch.float64), edges[1])


def indexing(g: Generator) -> Iterator[Case]:
    x = g.floats((4, 3, 5, 2))
    i, j, k = g.integers((2, 3), -4, 4), g.integers((3,), -3, 3), g.integers((2, 1), -5, 5)
    yield named("index of neighbours", lambda x, i, j: x[i, j], x, i, j)
    yield named("index of the middle", lambda x, j, k: x[:, j, k], x, j, k)
    yield named("index of distant axes", lambda x, i, k: x[i, :, k], x, i, k)
    yield named("index of distant axes behind", lambda x, j, m: x[:, j, :, m], x, j, g.integers((3,), -2, 2))
    yield named("index of three", lambda x, i, j, k: x[i, j, k], x, i, j, k)
    yield named("index of four", lambda x, i, j, k: x[i, j, k, 1 + 0 * j], x, i, j, k)
    yield named("index by numbers and tensors", lambda x, j: x[1, :, j, 0], x, g.integers((4,), 0, 5))
    yield named(
        "take_along_dim", lambda x, i: torch.take_along_dim(x, i, 1), g.floats((2, 3)), g.integers((2, 4), 0, 3)
    )
    mask = g.bools((4, 3))
    yield named("fill by a mask", lambda x, m: x.clone().index_put_((m,), torch.tensor(2.0)), x, mask)
    yield named("fill by a mask behind", lambda x, m: _stored(x, (slice(None), m), 0.5), x, g.bools((3, 5)))
    yield named("index_put with a number", lambda x, i, j: _stored(x, (i, j), -1.0), x, i, j)
    places, other = torch.tensor([[0, 2], [3, 1]]), torch.tensor([[1], [2]])
    values = g.floats((2, 2, 5, 2))
    yield named("index_put", lambda x, i, j, v: _stored(x, (i, j), v), x, places, other, values)
    yield named("index_put of a row", lambda x, i, v: _stored(x, (i,), v), x, places, g.floats((5, 2)))
    call = lambda x, i, v: _stored(x, (slice(None), slice(None), i), v)
    yield named("index_put behind", call, x, torch.tensor([4, 0, -2]), g.floats((4, 3, 3, 2)))
    call = lambda x, i, k, v: _stored(x, (i, slice(None), k), v)
    yield named("index_put of distant axes", call, x, torch.tensor([0, 1, 3]), torch.tensor([4]), g.floats((3, 3, 2)))
    add = lambda x, i, j, v: x.index_put((i, j), v, accumulate=True)
    yield named("index_put that adds", add, x, i, j, g.floats((2, 3, 5, 2)))
    yield named("index_put that adds a number", add, g.integers((4, 3), 0, 9), i, j, torch.tensor(2))
    for axis in (0, 1, -1):
        y, rows = g.floats((3, 3, 4)), g.integers((5,), 0, 3)
        source = g.floats(tuple(5 if a == axis % 3 else n for a, n in enumerate(y.shape)))
        call = lambda y, i, s, a=axis: torch.index_add(y, a, i, s, alpha=0.5)
        yield named(f"index_add {axis}", call, y, rows, source)
        once, part = torch.tensor([2, 0]), source.narrow(axis, 0, 2)
        yield named(f"index_copy {axis}", lambda y, i, s, a=axis: torch.index_copy(y, a, i, s), y, once, part)
        yield named(f"index_fill {axis}", lambda y, i, a=axis: torch.index_fill(y, a, i, 7.0), y, rows)
    source = g.floats((60,))
    yield named("masked_scatter", lambda x, m, s: x.masked_scatter(m, s), g.floats((3, 4)), g.bools((3, 4)), source)
    yield named(
        "masked_scatter spread", lambda x, m, s: x.masked_scatter(m, s), g.floats((3, 4)), g.bools((4,)), source
    )
    for count in (4, 6):
        yield named("one_hot", lambda i, c=count: F.one_hot(i, c), g.integers((2, 3), 0, 4))


def scalars(g: Generator) -> Iterator[Case]:
    """Reads and writes where there is one element, and elements by their place in all of a tensor."""
    x, i, s = g.floats(()), torch.tensor(0), g.floats(())
    yield named("gather", lambda x, i: torch.gather(x, 0, i), x, i)
    yield named("index_select", lambda x, i: torch.index_select(x, 0, i), x, i)
    yield named("scatter", lambda x, i, s: torch.scatter(x, 0, i, s), x, i, s)
    yield named("scatter_add", lambda x, i, s: torch.scatter_add(x, 0, i, s), x, i, s)
    yield named("index_add", lambda x, i, s: torch.index_add(x, 0, i, s), x, i, s)
    yield named("index_fill", lambda x, i: torch.index_fill(x, 0, i, 3.0), x, i)
    y = g.floats((3, 4))
    yield named("take", torch.take, y, g.integers((2, 5), -12, 12))
    places = torch.randperm(12, generator=g.torch)[:6].reshape(2, 3)
    yield named("put", lambda y, i, s: torch.Tensor.put(y, i, s), y, places, g.floats((2, 3)))
    put = lambda y, i, s: torch.Tensor.put(y, i, s, accumulate=True)
    yield named("put that adds", put, y, g.integers((2, 3), -12, 12), g.floats((2, 3)))
    for axis in (0, 1, -1):
        rows = g.integers((4,), 0, 3)
        source = g.floats(tuple(4 if a == axis % 2 else 3 for a in range(2)))
        for how in ("prod", "mean", "amax", "amin"):
            call = lambda y, i, s, a=axis, h=how: torch.index_reduce(y, a, i, s, h, include_self=h != "amax")
            yield named(f"index_reduce {how} {axis}", call, g.floats((3, 3)), rows, source)
    for shape in ((5,), (4, 3), (2, 6, 1)):
        axis = g.axis(len(shape))
        z = distinct(g, shape)
        for name in ("median", "nanmedian"):
            function = getattr(torch, name)
            yield named(f"{name} {axis}", lambda z, f=function, a=axis: f(z, a), z)
            yield named(f"{name} of all", function, z)
        z = z.clone()
        z.view(-1)[1] = float("nan")
        yield named(f"median with NaN {axis}", lambda z, a=axis: torch.median(z, a), z)
        yield named(f"nanmedian with NaN {axis}", lambda z, a=axis: torch.nanmedian(z, a).values, z)
        yield named(
            f"quantile {axis}", lambda z, a=axis: torch.quantile(z, torch.tensor([0.2, 0.5]), a), distinct(g, shape)
        )


def _stored(x: torch.Tensor, places: tuple[object, ...], value: object) -> torch.Tensor:
    y = x.clone()
    y[places] = value
    return y


def scattering(g: Generator) -> Iterator[Case]:
    for axis in (0, 1, -1):
        x, index = g.floats((4, 3, 5)), torch.stack([torch.randperm(3, generator=g.torch) for _ in range(6)])
        once = index.reshape(2, 3, 3).movedim(-1, axis)
        source = g.floats(tuple(n + 1 for n in once.shape))
        yield named(f"scatter {axis}", lambda x, i, s, a=axis: torch.scatter(x, a, i, s), x, once, source)
        often = g.integers(tuple(once.shape), 0, 3)
        yield named(f"scatter of a number {axis}", lambda x, i, a=axis: torch.scatter(x, a, i, 2.5), x, often)
        yield named(f"scatter_add {axis}", lambda x, i, s, a=axis: torch.scatter_add(x, a, i, s), x, often, source)
        for how in ("add", "multiply"):
            call = lambda x, i, s, a=axis, h=how: torch.scatter(x, a, i, s, reduce=h)
            yield named(f"scatter {how} {axis}", call, x, often, source)
        for how in ("sum", "prod", "mean", "amax", "amin"):
            for own in (True, False):
                call = lambda x, i, s, a=axis, h=how, o=own: torch.scatter_reduce(x, a, i, s, h, include_self=o)
                yield named(f"scatter_reduce {how} {axis} {own}", call, x, often, source)
    ints = g.integers((2, 4), -9, 9), g.integers((2, 3), 0, 4), g.integers((2, 3), -9, 9)
    for how in ("amax", "amin", "sum", "prod"):
        call = lambda x, i, s, h=how: torch.scatter_reduce(x, 1, i, s, h, include_self=False)
        yield named(f"scatter_reduce {how} of integers", call, *ints)


def bags(g: Generator) -> Iterator[Case]:
    for mode in ("sum", "mean", "max"):
        for dtype in (torch.float32, torch.float64):
            table, ids, starts = g.floats((7, 3), dtype), g.integers((9,), 0, 7), torch.tensor([0, 2, 2, 5])
            call = lambda i, t, o, m=mode: F.embedding_bag(i, t, o, mode=m)
            yield named(f"embedding_bag {mode}", call, ids, table, starts)
        call = lambda i, t, m=mode: F.embedding_bag(i, t, mode=m, padding_idx=2)
        yield named(f"embedding_bag of rows {mode}", call, g.integers((4, 3), 0, 7), table)
        call = lambda i, t, o, m=mode: F.embedding_bag(i, t, o, mode=m, include_last_offset=True)
        yield named(f"embedding_bag with an end {mode}", call, ids, table, torch.tensor([0, 4, 9]))
    call = lambda i, t, o, w: F.embedding_bag(i, t, o, mode="sum", per_sample_weights=w)
    last = lambda i, t, o: F.embedding_bag(i, t, o, mode="sum", padding_idx=-1)
    yield named("embedding_bag without the last", last, ids, table, starts)
    yield named("embedding_bag with weights", call, ids, g.floats((7, 3)), starts, g.floats((9,)))
