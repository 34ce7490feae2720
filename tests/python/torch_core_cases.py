"""Calls of the operators that models are made of: products, convolutions, norms, attention, pooling, views, masks."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch_case_generator import Case, Family, Generator, named


def products(g: Generator) -> Iterator[Case]:
    shapes = [
        ((5,), (5,)),
        ((3, 5), (5,)),
        ((2, 3, 5), (5,)),
        ((5,), (5, 4)),
        ((5,), (2, 5, 4)),
        ((3, 5), (5, 4)),
        ((2, 3, 5), (5, 4)),
        ((2, 3, 5), (2, 5, 4)),
        ((3, 5), (2, 5, 4)),
        ((2, 1, 3, 5), (7, 5, 4)),
        ((1, 3, 5), (6, 5, 4)),
        ((1, 1), (1, 1)),
    ]
    for a, b in shapes:
        for dtype in (torch.float32, torch.float64, torch.bfloat16):
            yield named("matmul", torch.matmul, g.floats(a, dtype), g.floats(b, dtype))
    yield named("matmul", torch.matmul, g.integers((3, 4), -5, 5), g.integers((4, 2), -5, 5))
    yield named("transposed", lambda a, b: a.t() @ b.mT, g.floats((5, 3)), g.floats((2, 4, 5)))
    yield named("mv", torch.mv, g.floats((3, 5)), g.floats((5,)))
    c, a, b = g.floats((3, 4)), g.floats((3, 5)), g.floats((5, 4))
    yield named("addmm", torch.addmm, c, a, b)
    yield named("addmm row", torch.addmm, g.floats((4,)), a, b)
    yield named("addmm scaled", lambda *x: torch.addmm(*x, beta=0.5, alpha=-2), c, a, b)
    yield from added_products(g)
    for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16):
        x, w, bias = g.floats((2, 3, 5), dtype), g.floats((4, 5), dtype), g.floats((4,), dtype)
        yield named("linear", F.linear, x, w)
        yield named("linear with bias", F.linear, x, w, bias)
    yield named("linear of a vector", F.linear, g.floats((5,)), g.floats((4, 5)), g.floats((4,)))


def added_products(g: Generator) -> Iterator[Case]:
    """With every factor; the addend holds a NaN, which beta = 0 must not let through."""
    calls = [
        (torch.addmm, (3, 4), (3, 5), (5, 4)),
        (torch.addmm, (1, 4), (3, 5), (5, 4)),
        (torch.baddbmm, (2, 1, 4), (2, 3, 5), (2, 5, 4)),
        (torch.addbmm, (3, 4), (2, 3, 5), (2, 5, 4)),
        (torch.addmv, (3,), (3, 5), (5,)),
        (torch.addmv, (1,), (3, 5), (5,)),
        (torch.addr, (3, 4), (3,), (4,)),
        (torch.addr, (4,), (3,), (4,)),
    ]
    for function, shape, *operands in calls:
        for beta, alpha in ((1, 1), (0, 1), (0, -1.5), (0.5, 1), (2, -1), (1, 0), (0, 0)):
            c = g.floats(shape)
            c.view(-1)[0] = float("nan")
            name = f"{function.__name__} {beta} {alpha}"
            call = lambda *x, f=function, v=beta, w=alpha: f(*x, beta=v, alpha=w)  # noqa: E731
            yield named(name, call, c, *(g.floats(x) for x in operands))


def einsums(g: Generator) -> Iterator[Case]:
    equations = [
        ("bchk,bchk->bch", (2, 3, 4, 5), (2, 3, 4, 5)),
        ("bic,bjc->bij", (2, 6, 5), (2, 7, 5)),
        ("bmhk,bnhk->bhmn", (2, 4, 3, 5), (2, 6, 3, 5)),
        ("ij,kj", (3, 5), (4, 5)),
        ("i,j->ji", (3,), (4,)),
        ("...ij,...jk->...ik", (2, 3, 4, 5), (3, 5, 2)),
        ("ij,ij->", (3, 4), (3, 4)),
        ("ij,jk->k", (3, 4), (4, 2)),
        ("bi,bj->ij", (1, 3), (5, 4)),
        ("ij->ji", (3, 4)),
        ("ij->", (3, 4)),
        ("bij->bj", (2, 3, 4)),
        ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)),
        ("A b, b A -> A", (2, 3), (3, 2)),
    ]
    for equation, *shapes in equations:
        operands = [g.floats(shape) for shape in shapes]
        yield named(f"einsum {equation}", lambda *x, e=equation: torch.einsum(e, *x), *operands)


def convolutions(g: Generator) -> Iterator[Case]:
    functions = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
    for n, function in functions.items():
        for batched in (True, False):
            for _ in range(4):
                groups = g.random.choice((1, 1, 2, 3))
                inner, outer = g.random.choice((1, 2)), g.random.choice((1, 2, 3))
                taps = [g.random.choice((1, 2, 3)) for _ in range(n)]
                settings = {
                    "stride": [g.random.choice((1, 2, 3)) for _ in range(n)],
                    "padding": [g.random.choice((0, 1, 2)) for _ in range(n)],
                    "dilation": [g.random.choice((1, 2)) for _ in range(n)],
                    "groups": groups,
                }
                shape = (groups * inner, *(g.random.choice((5, 6, 9)) for _ in range(n)))
                x = g.floats((2, *shape) if batched else shape)
                w = g.floats((groups * outer, inner, *taps))
                operands = [x, w] + ([g.floats((groups * outer,))] if g.flag() else [])
                yield named(f"conv{n}d {settings}", lambda *a, f=function, s=settings: f(*a, **s), *operands)
    for padding in ("same", "valid"):
        x, w = g.floats((2, 3, 7, 6)), g.floats((4, 3, 4, 3))
        yield named(f"conv2d {padding}", lambda x, w, p=padding: F.conv2d(x, w, padding=p, dilation=(1, 2)), x, w)
    x, w = g.floats((2, 3, 7), torch.bfloat16), g.floats((4, 3, 3), torch.bfloat16)
    yield named("conv1d", F.conv1d, x, w, g.floats((4,), torch.bfloat16))


def normalizations(g: Generator) -> Iterator[Case]:
    for shape in ((4, 3), (4, 3, 5), (2, 3, 5, 4), (2, 3, 2, 4, 3)):
        for dtype in (torch.float32, torch.float64):
            x = g.floats(shape, dtype)
            mean, variance = g.floats((3,), dtype), g.positive((3,), dtype)
            w, b = g.floats((3,), dtype), g.floats((3,), dtype)
            yield named("batch_norm eval", F.batch_norm, x, mean, variance)
            yield named("batch_norm eval", F.batch_norm, x, mean, variance, w, b)
            yield named(
                "batch_norm training",
                lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True, eps=1e-3),
                x,
                w,
                b,
            )
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        x = g.floats((2, 3, 4, 5), dtype)
        yield named("layer_norm", lambda x: F.layer_norm(x, (5,)), x)
        yield named("layer_norm", lambda x, w: F.layer_norm(x, (5,), w), x, g.floats((5,), dtype))
        yield named("layer_norm", lambda x, w, b: F.layer_norm(x, (4, 5), w, b), x, *(g.floats((4, 5), dtype),) * 2)
    for shape in ((2, 6), (2, 6, 5), (2, 6, 3, 4), (2, 4, 3, 2, 3)):
        x, w, b = g.floats(shape), g.floats(shape[1:2]), g.floats(shape[1:2])
        yield named("group_norm", lambda x: F.group_norm(x, 2), x)
        yield named("group_norm", lambda x, w, b: F.group_norm(x, 2, w, b), x, w, b)
        yield named(
            "group_norm by channel",
            lambda x, w, b: F.group_norm(x, x.shape[1], w, b),
            g.floats((2, 6, 5)),
            w[:1].expand(6),
            b[:1].expand(6),
        )
    for axis in (0, 1, -1):
        yield named(f"softmax {axis}", lambda x, a=axis: torch.softmax(x, a), g.floats((3, 4, 5)))
        yield named(f"log_softmax {axis}", lambda x, a=axis: torch.log_softmax(x, a), g.floats((3, 4, 5)))
    yield named("softmax", lambda x: torch.softmax(x, -1), g.floats((3, 40), torch.bfloat16))
    yield named("softmax in f32", lambda x: torch.softmax(x, -1, dtype=torch.float32), g.floats((3, 4), torch.bfloat16))
    yield named("softmax of a number", lambda x: torch.softmax(x, 0), g.floats(()))


def attention(g: Generator) -> Iterator[Case]:
    sdpa = F.scaled_dot_product_attention
    for s, t in ((5, 5), (3, 7), (7, 3)):
        q, k, v = g.floats((2, 3, s, 4)), g.floats((2, 3, t, 4)), g.floats((2, 3, t, 6))
        yield named("sdpa", sdpa, q, k, v)
        yield named("sdpa causal", lambda q, k, v: sdpa(q, k, v, is_causal=True), q, k, v)
        yield named("sdpa scaled", lambda q, k, v: sdpa(q, k, v, scale=0.3), q, k, v)
        yield named("sdpa additive", lambda q, k, v, m: sdpa(q, k, v, attn_mask=m), q, k, v, g.floats((s, t)))
        mask = g.bools((2, 1, s, t))
        mask[..., 0] = True
        yield named("sdpa mask", lambda q, k, v, m: sdpa(q, k, v, attn_mask=m), q, k, v, mask)
    q, k, v = g.floats((2, 6, 5, 4)), g.floats((2, 2, 7, 4)), g.floats((2, 2, 7, 4))
    yield named("sdpa groups", lambda q, k, v: sdpa(q, k, v, enable_gqa=True), q, k, v)
    yield named("sdpa groups causal", lambda q, k, v: sdpa(q, k, v, is_causal=True, enable_gqa=True), q, k, v)
    mask = g.floats((2, 6, 5, 7))
    yield named("sdpa groups additive", lambda q, k, v, m: sdpa(q, k, v, m, enable_gqa=True), q, k, v, mask)
    yield named("sdpa of three axes", sdpa, g.floats((2, 5, 4)), g.floats((2, 7, 4)), g.floats((2, 7, 4)))
    yield named("embedding", F.embedding, g.integers((2, 5), 0, 7), g.floats((7, 3)))
    yield named("embedding", F.embedding, g.integers((), 0, 7), g.floats((7, 3)))
    yield named("embedding", F.embedding, g.integers((2, 3), 0, 7, torch.int32), g.floats((7, 3), torch.bfloat16))


def pooling2d(g: Generator) -> Iterator[Case]:
    for _ in range(8):
        window = [g.random.choice((1, 2, 3)) for _ in range(2)]
        settings = {
            "stride": [g.random.choice((1, 2, 3)) for _ in range(2)],
            "padding": [g.random.randint(0, n // 2) for n in window],
            "ceil_mode": g.flag(),
        }
        x = g.floats((2, 3, g.random.choice((5, 6, 7)), g.random.choice((5, 8))))
        most = {**settings, "dilation": [g.random.choice((1, 2)) for _ in range(2)]}
        yield named(f"max_pool2d {window} {most}", lambda x, w=window, s=most: F.max_pool2d(x, w, **s), x)
        mean = {**settings, "count_include_pad": g.flag()}
        yield named(f"avg_pool2d {window} {mean}", lambda x, w=window, s=mean: F.avg_pool2d(x, w, **s), x)
    yield named("max_pool2d", lambda x: F.max_pool2d(x, 2), g.floats((3, 6, 5)))
    yield named("avg_pool2d divided by 7", lambda x: F.avg_pool2d(x, 2, divisor_override=7), g.floats((3, 6, 5)))
    for size in (1, (1, 1), 2, (3, 2), (4, 3), (7, None), (9, 10)):
        x = g.floats((2, 3, 8, 6))
        yield named(f"adaptive_avg_pool2d {size}", lambda x, s=size: F.adaptive_avg_pool2d(x, s), x)


def views(g: Generator) -> Iterator[Case]:
    x = g.floats((2, 6, 4))
    for shape in ((12, 4), (2, 24), (48,), (2, 3, 2, 4), (2, 2, 12), (3, 2, 2, 4), (4, 3, 4), (16, 3), (1, 2, 6, 4, 1)):
        yield named(f"view {shape}", lambda x, s=shape: x.view(s) * 1.0, x)
        yield named(f"reshape of a transposed {shape}", lambda x, s=shape: x.transpose(0, 1).reshape(s) * 1.0, x)
    yield named("reshape of one", lambda x: x.reshape(1, 1) + x.view(()), g.floats((1,)))
    yield named("permute", lambda x: x.permute(2, 0, 1) + 0, x)
    yield named("movedim", lambda x: x.movedim((0, 1), (2, 0)) + 0, x)
    yield named("flatten", lambda x: x.flatten(1) + 0, x)
    yield named("unflatten", lambda x: x.unflatten(1, (2, -1)) + 0, x)
    yield named("squeeze", lambda x: x.squeeze() + 0, g.floats((1, 3, 1, 2)))
    yield named("squeeze of axes", lambda x: x.squeeze((0, 1)).unsqueeze(-1) + 0, g.floats((1, 3, 1, 2)))
    yield named("expand", lambda x: x.expand(4, -1, 5) + 0, g.floats((3, 1)))
    yield named("slices", lambda x: x[:, 1:-1, ::2] + x[:, -4:, 1::2] * x[1, 2, 3], x)
    yield named("select", lambda x: x[:, -1] + x[:, 0] + x.select(1, 3), x)
    yield named("split", lambda x: sum(p.sum() for p in x.split(4, 1)) + x.split([1, 5], 1)[1].sum(), x)
    yield named("chunk", lambda x: torch.cat(x.chunk(4, 1)[::-1], 1), x)
    yield named("unbind", lambda x: torch.stack(x.unbind(2)[1:], -1), x)
    yield named("narrow", lambda x: x.narrow(1, 2, 3) + 0, x)
    yield named("cat of types", lambda a, b: torch.cat([a, b, a], -1), g.floats((2, 3)), g.integers((2, 2), 0, 9))
    yield named("stack", lambda a, b: torch.stack([a, b], 1), g.floats((2, 3)), g.floats((2, 3)))
    yield named("unfold", lambda x: x.unfold(1, 2, 3) + 0, x)
    yield named("unfold twice", lambda x: x.unfold(1, 3, 3).unfold(2, 2, 2) * 2, x)
    for shape in ((1,), (5,), (2, 3)):
        i = g.integers(shape, -6, 6)
        yield named("index", lambda x, i: x[:, i], x, i)
        yield named("index", lambda x, i: x.transpose(0, 1)[i], x, i)
    yield named("contiguous", lambda x: x.transpose(0, 2).contiguous(), x)
    for dtype in (torch.float16, torch.bfloat16, torch.float64, torch.int64, torch.int32, torch.bool, torch.uint8):
        yield named(f"to {dtype}", lambda x, d=dtype: x.abs().to(d), x)
        yield named(f"from {dtype}", lambda x: x.float(), g.integers((5,), 0, 200).to(dtype))


def arithmetic(g: Generator) -> Iterator[Case]:
    x, y = g.floats((3, 4)), g.floats((4,))
    i, h = g.integers((3, 4), 1, 9), g.floats((3, 4), torch.bfloat16)
    yield named("mixed types", lambda x, i, h: (x + i) * h - i / 2, x, i, h)
    yield named("numbers", lambda x, i: (2 - x) / 3 + 1.5 / x + (i // 2) % 3 - 2 * i, x, i)
    yield named("alpha", lambda x, y: torch.add(x, y, alpha=0.5) - torch.sub(y, x, alpha=2), x, y)
    yield named("rsub", lambda x, y: torch.rsub(x, y, alpha=3) + torch.rsub(x, 2), x, y)
    yield named("scalar tensors", lambda x, s, i: x * s + i * s, x, g.floats(()), i)
    yield named(
        "powers", lambda x: x**2 + x**3 + (x * x) ** 0.5 + (x * x + 1) ** -0.5 + (x * x) ** 1.7 + x**1 + x**0, x
    )
    yield named(
        "rounded division",
        lambda x, y: torch.div(x, y, rounding_mode="floor") + torch.div(x, y, rounding_mode="trunc"),
        x,
        y,
    )
    yield named("integer division", lambda i: torch.floor_divide(-i, 4) + torch.remainder(-i, 4), i)
    yield named("bfloat16", lambda h: (h + 1.3) * 0.7 - h / 3, h)
    yield named("comparisons", lambda x, y: ((x > y) | (x <= 0.5)) & (x != y) ^ (y == 0), x, y)
    yield named("where", lambda x, y: torch.where(x > 0, x, y) + torch.where(y > 0, 1.0, y), x, y)
    yield named("masked_fill", lambda x, y: x.masked_fill(y > 0, -1.0) + x.masked_fill(x > 0, float("inf")), x, y)
    yield named("in place", lambda x, y: (x * 1).add_(y).mul_(2).relu_().sub_(1), x, y)
    yield named(
        "zeros and ones", lambda x: torch.zeros_like(x) + torch.ones(4) + torch.full((3, 1), 2.5) + x.new_ones(4), x
    )
    yield named("ranges", lambda x: torch.arange(4) + torch.arange(1, 9, 2) + torch.arange(0.5, 2.5, 0.5) + x, x)
    for k in (0, 1, -1, 3, -3):
        yield named(f"triangles {k}", lambda x, k=k: torch.tril(x, k) - torch.triu(x, k), x)
        yield named(f"triangular mask {k}", lambda x, k=k: torch.ones(3, 4, dtype=torch.bool).triu(k) | (x > 1), x)
    for axes in (None, 0, -1, (0, 1), (0, 2), (1, 2, 3), (0, 1, 2, 3), (0, 1, 2, 3, 4)):
        z = g.floats((2, 3, 2, 4, 2))
        for keep in (False, True):
            yield named(f"sum {axes}", lambda z, a=axes, k=keep: z.sum(a, keepdim=k) if a is not None else z.sum(), z)
            yield named(
                f"mean {axes}", lambda z, a=axes, k=keep: z.mean(a, keepdim=k) if a is not None else z.mean(), z
            )
    yield named("sum of integers", lambda i: i.sum(1) + (i > 3).sum(), i)
    yield named("mean in f32", lambda h: h.mean(0, dtype=torch.float32), h)


CORE_FAMILIES: dict[str, Family] = {
    "core_products": products,
    "core_einsums": einsums,
    "core_convolutions": convolutions,
    "core_normalizations": normalizations,
    "core_attention": attention,
    "core_pooling2d": pooling2d,
    "core_views": views,
    "core_arithmetic": arithmetic,
}
