"""Calls of torch operators on generated shapes, types, axes and settings, by family."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F

FLOATS = (torch.float32, torch.float32, torch.float64, torch.bfloat16, torch.float16)


@dataclass(frozen=True)
class Case:
    """A function of tensors that calls one operator, and what to call it with."""

    name: str
    function: Callable[..., Any]
    inputs: tuple[torch.Tensor, ...]


class Generator:
    """Draws shapes and values; everything follows from the seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.torch = torch.Generator().manual_seed(seed)

    def shape(self, low: int = 1, high: int = 4, extents: tuple[int, ...] = (1, 2, 3, 5, 7)) -> tuple[int, ...]:
        return tuple(self.random.choice(extents) for _ in range(self.random.randint(low, high)))

    def floats(self, shape: tuple[int, ...], dtype: torch.dtype = torch.float32, scale: float = 2.0) -> torch.Tensor:
        return (torch.randn(shape, generator=self.torch) * scale).to(dtype)

    def special(self, shape: tuple[int, ...], dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Normal numbers among zeros, infinities, NaN and large ones."""
        values = self.floats(shape, dtype).flatten()
        for number in (0.0, -0.0, float("inf"), float("-inf"), float("nan"), 100.0, -100.0, 1.0, -1.0):
            values[self.random.randrange(values.numel())] = number
        return values.reshape(shape)

    def integers(self, shape: tuple[int, ...], low: int, high: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
        return torch.randint(low, high, shape, generator=self.torch).to(dtype)

    def bools(self, shape: tuple[int, ...]) -> torch.Tensor:
        return torch.rand(shape, generator=self.torch) < 0.5

    def positive(self, shape: tuple[int, ...], dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return (torch.rand(shape, generator=self.torch) * 0.9 + 0.05).to(dtype)

    def float_type(self) -> torch.dtype:
        return self.random.choice(FLOATS)

    def axis(self, rank: int) -> int:
        return self.random.randrange(-rank, rank)

    def axes(self, rank: int) -> list[int]:
        chosen = self.random.sample(range(rank), self.random.randint(1, rank))
        return [a - rank if self.random.random() < 0.5 else a for a in chosen]

    def flag(self) -> bool:
        return self.random.random() < 0.5

    def broadcast_shapes(self, count: int) -> list[tuple[int, ...]]:
        """Shapes that broadcast together, the first the full one."""
        full = self.shape(1, 4)
        shapes = [full]
        for _ in range(count - 1):
            kept = full[self.random.randint(0, len(full) - 1) :]
            shapes.append(tuple(1 if self.random.random() < 0.3 else n for n in kept))
        return shapes

    def layout(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Sometimes on a transposed view of the first operand."""
        if self.random.random() < 0.7:
            return function
        return lambda x, *rest: function(x.transpose(0, -1) if x.ndim > 1 else x, *rest)


Family = Callable[[Generator], Iterator[Case]]


def _named(name: str, function: Callable[..., Any], *inputs: torch.Tensor) -> Case:
    return Case(f"{name} {[list(x.shape) for x in inputs]} {[str(x.dtype)[6:] for x in inputs]}", function, inputs)


def unary(g: Generator) -> Iterator[Case]:
    names = "abs sign floor ceil trunc round frac log log1p log2 log10 expm1 sin cos tan asin acos atan sinh cosh"
    names += " erf lgamma relu sigmoid tanh exp sqrt rsqrt neg square reciprocal exp2"
    for name in names.split():
        function = getattr(torch, name)
        yield _named(name, g.layout(function), g.special(g.shape(), torch.float32))
        dtype = g.float_type()
        yield _named(name, g.layout(function), g.floats(g.shape(), dtype))
    for name in ("abs", "sign", "floor", "log", "sin", "neg", "square"):
        yield _named(name, getattr(torch, name), g.integers(g.shape(), 1, 9))


def activations(g: Generator) -> Iterator[Case]:
    functions: dict[str, Callable[..., Any]] = {
        "relu": F.relu,
        "leaky_relu": F.leaky_relu,
        "leaky_relu(0.2)": lambda x: F.leaky_relu(x, 0.2),
        "elu": F.elu,
        "elu(0.7)": lambda x: F.elu(x, 0.7),
        "selu": F.selu,
        "celu(1.3)": lambda x: F.celu(x, 1.3),
        "silu": F.silu,
        "gelu": F.gelu,
        "gelu(tanh)": lambda x: F.gelu(x, approximate="tanh"),
        "mish": F.mish,
        "softplus": F.softplus,
        "softplus(2, 5)": lambda x: F.softplus(x, 2.0, 5.0),
        "softsign": F.softsign,
        "logsigmoid": F.logsigmoid,
        "hardsigmoid": F.hardsigmoid,
        "hardswish": F.hardswish,
        "hardtanh": F.hardtanh,
        "hardtanh(-2, 0.5)": lambda x: F.hardtanh(x, -2.0, 0.5),
        "relu6": F.relu6,
        "tanhshrink": F.tanhshrink,
        "softshrink": F.softshrink,
        "hardshrink": F.hardshrink,
        "threshold": lambda x: F.threshold(x, 0.3, -2.0),
        "softmax": lambda x: F.softmax(x, -1),
        "softmin": lambda x: F.softmin(x, 0),
        "log_softmax": lambda x: F.log_softmax(x, 0),
    }
    for name, function in functions.items():
        if "soft" not in name or name in ("softplus", "softplus(2, 5)", "softsign", "softshrink"):
            yield _named(name, function, g.special(g.shape()))
        yield _named(name, g.layout(function), g.floats(g.shape(), g.float_type()))
    yield _named("prelu", F.prelu, g.floats((2, 3, 4)), g.floats((3,)))
    yield _named("prelu", F.prelu, g.floats((2, 5)), g.floats((1,)))
    yield _named("glu", lambda x: F.glu(x, 1), g.floats((2, 6, 3)))
    yield _named("glu", F.glu, g.floats((4, 8), torch.bfloat16))


def binary(g: Generator) -> Iterator[Case]:
    for name in ("maximum", "minimum", "fmax", "fmin", "atan2", "hypot", "add", "sub", "mul", "div", "logaddexp"):
        function = getattr(torch, name)
        a, b = g.broadcast_shapes(2)
        yield _named(name, function, g.special(a), g.floats(b))
        yield _named(name, function, g.floats(b, torch.bfloat16), g.special(a))
    for name in ("add", "sub", "mul", "maximum", "minimum"):
        a, b = g.broadcast_shapes(2)
        yield _named(name, getattr(torch, name), g.integers(a, -9, 9), g.integers(b, -9, 9, torch.int32))
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        a, b = g.broadcast_shapes(2)
        function = getattr(torch, name)
        yield _named(name, function, g.integers(a, 0, 3).float(), g.integers(b, 0, 3))
        yield _named(f"{name} scalar", lambda x, f=function: f(x, 1), g.integers(a, 0, 3))
    a, b = g.broadcast_shapes(2)
    yield _named("pow", torch.pow, g.positive(a), g.floats(b))
    yield _named("pow scalar", lambda x: torch.pow(1.5, x), g.floats(a))
    yield _named("fmod", torch.fmod, g.floats(a), g.positive(b))
    yield _named("fmod scalar", lambda x: torch.fmod(x, 0.7), g.floats(a))
    yield _named("xlogy", torch.xlogy, g.integers(a, 0, 2).float(), g.positive(b))
    yield _named("copysign", torch.copysign, g.floats(a), g.floats(b))
    a, b, c = g.broadcast_shapes(3)
    yield _named("addcmul", lambda x, y, z: torch.addcmul(x, y, z, value=0.3), g.floats(a), g.floats(b), g.floats(c))
    yield _named("addcdiv", lambda x, y, z: torch.addcdiv(x, y, z, value=2), g.floats(a), g.floats(b), g.positive(c))
    yield _named("lerp", torch.lerp, g.floats(a), g.floats(a), g.positive(a))
    yield _named("lerp scalar", lambda x, y: torch.lerp(x, y, 0.3), g.floats(a), g.floats(a))
    yield _named("clamp", lambda x: x.clamp(-0.5, 0.75), g.special(a))
    yield _named("clamp min", lambda x: x.clamp(min=-0.5), g.special(a))
    yield _named("clamp max", lambda x: x.clamp(max=0), g.floats(a, torch.float16))
    yield _named("clamp_min", lambda x: x.clamp_min(1), g.integers(a, -3, 5))
    yield _named("clamp by float", lambda x: x.clamp(0.5), g.integers(a, -3, 5))
    yield _named("clamp by tensors", torch.clamp, g.floats(a), g.floats(b), g.floats(c))
    for name in ("logical_and", "logical_or", "logical_xor"):
        yield _named(name, getattr(torch, name), g.bools(a), g.integers(b, 0, 2))
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        yield _named(name, getattr(torch, name), g.bools(a), g.bools(b))
        yield _named(name, getattr(torch, name), g.integers(a, -9, 9), g.integers(b, -9, 9))
    yield _named("logical_not", torch.logical_not, g.integers(a, 0, 2).float())
    yield _named("bitwise_not", torch.bitwise_not, g.integers(a, -9, 9))
    yield _named("bitwise_not", torch.bitwise_not, g.bools(a))
    for name in ("isnan", "isinf", "isfinite"):
        yield _named(name, getattr(torch, name), g.special(a))
    yield _named("where", torch.where, g.bools(a), g.floats(b), g.floats(c))


def reductions(g: Generator) -> Iterator[Case]:
    for name in ("sum", "mean", "amax", "amin"):
        function = getattr(torch, name)
        for _ in range(3):
            shape = g.shape(1, 4)
            axes, keep = g.axes(len(shape)), g.flag()
            x = g.floats(shape, g.float_type())
            yield _named(f"{name} {axes} {keep}", g.layout(lambda x, f=function, a=axes, k=keep: f(x, a, k)), x)
    for name in ("max", "min"):
        function, position = getattr(torch, name), getattr(torch, f"arg{name}")
        for _ in range(2):
            shape = g.shape(1, 4)
            axis, keep = g.axis(len(shape)), g.flag()
            x = g.integers(shape, 0, 5).float()
            yield _named(f"{name} {axis} {keep}", lambda x, f=function, a=axis, k=keep: tuple(f(x, a, k)), x)
            yield _named(
                f"{name} values", lambda x, f=function, a=axis: f(x, a).values, g.special((3, 4, 5)[: len(shape)])
            )
            yield _named(f"arg{name} {axis}", lambda x, f=position, a=axis, k=keep: f(x, a, k), x)
        yield _named(f"arg{name} of all", position, g.floats(g.shape(1, 3)))
        yield _named(f"arg{name} with NaN", lambda x, f=position: f(x, 1), g.special((4, 9)))
        yield _named(f"{name} of all", function, g.floats(g.shape(1, 4)))
        yield _named(
            f"{name} of integers", lambda x, f=function: f(x, 0).values, g.integers((5, 3), -9, 9, torch.int32)
        )
    yield _named("aminmax", lambda x: tuple(torch.aminmax(x, dim=1)), g.floats((3, 4)))
    for name in ("var", "std"):
        function = getattr(torch, name)
        for correction in (0, 1, 2):
            shape = g.shape(2, 4, (3, 5))
            axes, keep = g.axes(len(shape)), g.flag()
            x = g.floats(shape, g.float_type())
            call = lambda x, f=function, a=axes, c=correction, k=keep: f(x, a, correction=c, keepdim=k)  # noqa: E731
            yield _named(f"{name} {axes} {correction}", g.layout(call), x)
        yield _named(f"{name} of all", function, g.floats((3, 4, 2)))
    yield _named("var_mean", lambda x: torch.var_mean(x, 1), g.floats((3, 4, 2)))
    yield _named("prod", lambda x: torch.prod(x, 1), g.floats((3, 4, 2)))
    yield _named("prod of all", torch.prod, g.floats((3, 4)))
    yield _named("prod of integers", lambda x: torch.prod(x, -1, keepdim=True), g.integers((3, 4), -3, 4, torch.int32))
    for name in ("all", "any"):
        function = getattr(torch, name)
        yield _named(name, lambda x, f=function: f(x, 1), g.bools((3, 2, 4)))
        yield _named(f"{name} of all", function, g.integers((3, 2), 0, 2))
        yield _named(f"{name} over axes", lambda x, f=function: f(x, (0, 2), True), g.bools((3, 2, 4)))
    for _ in range(3):
        shape = g.shape(1, 4)
        axes, keep = g.axes(len(shape)), g.flag()
        x = g.floats(shape, g.float_type(), 4.0)
        yield _named(f"logsumexp {axes}", lambda x, a=axes, k=keep: torch.logsumexp(x, a, k), x)
    yield _named("logsumexp of -inf", lambda x: torch.logsumexp(x, 1), torch.full((2, 3), float("-inf")))
    for order in (0, 1, 2, 3, 2.5, float("inf"), float("-inf")):
        shape = g.shape(1, 4)
        axes, keep = g.axes(len(shape)), g.flag()
        call = lambda x, o=order, a=axes, k=keep: torch.linalg.vector_norm(x, o, a, k)  # noqa: E731
        yield _named(f"vector_norm {order} {axes}", g.layout(call), g.floats(shape, g.float_type()))
    yield _named("norm", torch.norm, g.floats((3, 4, 2)))
    yield _named("norm of rows", lambda x: torch.norm(x, p=2, dim=1), g.floats((3, 4)))
    yield _named("frobenius", lambda x: torch.norm(x, p="fro"), g.floats((3, 4)))
    yield _named("normalize", lambda x: F.normalize(x, dim=1), g.floats((3, 4, 2)))


def scans(g: Generator) -> Iterator[Case]:
    for name in ("cumsum", "cumprod"):
        function = getattr(torch, name)
        for _ in range(3):
            shape = g.shape(1, 4)
            axis = g.axis(len(shape))
            x = g.floats(shape, g.float_type(), 1.0)
            yield _named(f"{name} {axis}", g.layout(lambda x, f=function, a=axis: f(x, a)), x)
    yield _named("cumsum of integers", lambda x: torch.cumsum(x, 0), g.integers((5, 2), -9, 9, torch.int32))
    yield _named("cumsum of bools", lambda x: torch.cumsum(x, 1), g.bools((2, 6)))
    yield _named("reverse cumsum", lambda x: torch.cumsum(x.flip(1), 1).flip(1), g.floats((3, 6)))
    exclusive = lambda x: torch.cat((torch.zeros_like(x[:, :1]), x[:, :-1].cumsum(1)), 1)  # noqa: E731
    yield _named("exclusive cumsum", exclusive, g.floats((3, 6)))
    yield _named("masked cumsum", lambda x, m: torch.cumsum(x * m, 1), g.floats((3, 6)), g.bools((3, 6)))


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
            call = lambda x, f=maximum, s=(kernel, stride, padding, dilation, ceil): f(x, *s)  # noqa: E731
            yield _named(f"max_pool{count}d {settings}", call, x)
            if trial < 2:
                pair = lambda x, f=maximum, s=(kernel, stride, padding, dilation, ceil): f(x, *s, return_indices=True)  # noqa: E731
                yield _named(f"max_pool{count}d positions {settings}", pair, g.floats(shape))
            include = g.flag()
            x = x.float() if x.dtype == torch.float16 else x  # torch's CPU has no 3-D average pooling of f16
            call = lambda x, f=average, s=(kernel, stride, padding, ceil, include): f(x, *s)  # noqa: E731
            yield _named(f"avg_pool{count}d {settings} {include}", call, x)
        sizes = [g.random.choice((1, 2, 3)) for _ in range(count)]
        shape = (2, 3, *(g.random.choice(extents[count]) for _ in range(count)))
        for kind in ("avg", "max")[: 1 if count == 3 else 2]:
            function = getattr(F, f"adaptive_{kind}_pool{count}d")
            call = lambda x, f=function, s=sizes: f(x, s)  # noqa: E731
            yield _named(f"adaptive_{kind}_pool{count}d {sizes}", call, g.floats(shape))
    yield _named("avg_pool3d divisor", lambda x: F.avg_pool3d(x, 2, divisor_override=5), g.floats((1, 2, 4, 5, 6)))
    yield _named("max_pool1d unbatched", lambda x: F.max_pool1d(x, 3), g.floats((2, 9)))
    yield _named("max_pool3d one size", lambda x: F.max_pool3d(x, 2, 1), g.floats((2, 1, 3, 4, 5)))


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
            call = lambda x, w, bias=None, f=function, s=settings: f(x, w, bias, *s)  # noqa: E731
            yield _named(f"conv_transpose{count}d {settings}", call, *inputs)
    yield _named("conv_transpose2d unbatched", F.conv_transpose2d, g.floats((2, 4, 5)), g.floats((2, 3, 2, 3)))


def losses(g: Generator) -> Iterator[Case]:
    for reduction in ("mean", "sum", "none"):
        shape = g.shape(1, 4)
        x, y = g.floats(shape), g.floats(shape)
        signs = g.integers(shape, 0, 2).float() * 2 - 1
        for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"):
            function = getattr(F, name)
            call = lambda x, y, f=function, r=reduction: f(x, y, reduction=r)  # noqa: E731
            yield _named(f"{name} {reduction}", call, x, y)
        yield _named(
            "smooth_l1_loss 0.3", lambda x, y, r=reduction: F.smooth_l1_loss(x, y, reduction=r, beta=0.3), x, y
        )
        yield _named("huber_loss 0.3", lambda x, y, r=reduction: F.huber_loss(x, y, reduction=r, delta=0.3), x, y)
        p, q = g.positive(shape), g.positive(shape)
        yield _named(f"kl_div {reduction}", lambda x, y, r=reduction: F.kl_div(x.log(), y, reduction=r), p, q)
        call = lambda x, y, r=reduction: F.kl_div(x, y, reduction=r, log_target=True)  # noqa: E731
        yield _named(f"kl_div of logs {reduction}", call, x, y)
        yield _named(f"bce {reduction}", lambda x, y, r=reduction: F.binary_cross_entropy(x, y, reduction=r), p, q)
        call = lambda x, y, r=reduction: F.binary_cross_entropy_with_logits(x, y, reduction=r)  # noqa: E731
        yield _named(f"bce of logits {reduction}", call, x, q)
        call = lambda x, y, w, r=reduction: F.binary_cross_entropy_with_logits(x, y, pos_weight=w, reduction=r)  # noqa: E731
        yield _named(f"bce of logits, weighted {reduction}", call, x, q, g.positive(shape[-1:]))
        call = lambda x, y, r=reduction: F.hinge_embedding_loss(x, y, 0.7, reduction=r)  # noqa: E731
        yield _named(f"hinge_embedding {reduction}", call, x, signs)
        call = lambda x, y, t, r=reduction: F.margin_ranking_loss(x, y, t, 0.3, reduction=r)  # noqa: E731
        yield _named(f"margin_ranking {reduction}", call, x, y, signs)
        yield _named(
            f"soft_margin {reduction}", lambda x, y, r=reduction: F.soft_margin_loss(x, y, reduction=r), x, signs
        )
        rows = [g.floats((4, 6)) for _ in range(3)]
        for p_ in (1.0, 2.0, 3.0):
            swap = g.flag()
            call = lambda a, b, c, r=reduction, p=p_, s=swap: F.triplet_margin_loss(a, b, c, p=p, swap=s, reduction=r)  # noqa: E731
            yield _named(f"triplet_margin {p_} {swap} {reduction}", call, *rows)
        call = lambda a, b, t, r=reduction: F.cosine_embedding_loss(a, b, t, 0.1, reduction=r)  # noqa: E731
        yield _named(f"cosine_embedding {reduction}", call, rows[0], rows[1], g.integers((4,), 0, 2) * 2 - 1)
    yield _named(
        "kl_div batchmean",
        lambda x, y: F.kl_div(x.log(), y, reduction="batchmean"),
        g.positive((3, 4)),
        g.positive((3, 4)),
    )
    yield _named("kl_div with zeros", F.kl_div, g.floats((3, 4)), g.integers((3, 4), 0, 2).float())
    yield _named(
        "mse_loss broadcast", lambda x, y: F.mse_loss(*torch.broadcast_tensors(x, y)), g.floats((3, 4)), g.floats((4,))
    )
    for dim in (0, 1, -1):
        x, y = g.floats((3, 4, 5)), g.floats((3, 4, 5))
        yield _named(f"cosine_similarity {dim}", lambda x, y, d=dim: F.cosine_similarity(x, y, d), x, y)
    yield _named(
        "pairwise_distance", lambda x, y: F.pairwise_distance(x, y, keepdim=True), g.floats((3, 4)), g.floats((3, 4))
    )
    yield _named("hinge", lambda x, y: torch.mean(torch.clamp(1 - x * y, min=0)), g.floats((5, 4)), g.floats((4,)))


def class_losses(g: Generator) -> Iterator[Case]:
    for reduction in ("mean", "sum", "none"):
        for shape in ((6, 5), (2, 5, 3), (2, 4, 3, 2)):
            x = g.floats(shape)
            t = g.integers((shape[0], *shape[2:]), 0, shape[1])
            weight = g.positive((shape[1],))
            yield _named(
                f"cross_entropy {reduction}", lambda x, t, r=reduction: F.cross_entropy(x, t, reduction=r), x, t
            )
            call = lambda x, t, w, r=reduction: F.cross_entropy(x, t, w, reduction=r, ignore_index=1)  # noqa: E731
            yield _named(f"cross_entropy weighted, ignoring {reduction}", call, x, t, weight)
            call = lambda x, t, r=reduction: F.cross_entropy(x, t, reduction=r, ignore_index=0, label_smoothing=0.1)  # noqa: E731
            yield _named(f"cross_entropy smoothed {reduction}", call, x, t)
            call = lambda x, t, w, r=reduction: F.cross_entropy(x, t, w, reduction=r, label_smoothing=0.2)  # noqa: E731
            yield _named(f"cross_entropy weighted, smoothed {reduction}", call, x, t, weight)
            yield _named(f"nll_loss {reduction}", lambda x, t, r=reduction: F.nll_loss(x, t, reduction=r), x, t)
            p = g.positive(shape)
            call = lambda x, p, r=reduction: F.cross_entropy(x, p, reduction=r, label_smoothing=0.1)  # noqa: E731
            yield _named(f"cross_entropy of probabilities {reduction}", call, x, p)
    yield _named("cross_entropy of one", F.cross_entropy, g.floats((5,)), g.integers((), 0, 5))
    t = g.integers((6,), 0, 5)
    t[2] = -100
    yield _named("cross_entropy with ignored", F.cross_entropy, g.floats((6, 5)), t)
    yield _named("cross_entropy bf16", F.cross_entropy, g.floats((6, 5), torch.bfloat16), t)


def norms(g: Generator) -> Iterator[Case]:
    for shape in ((2, 3, 7), (2, 3, 4, 5), (2, 2, 3, 2, 3)):
        x = g.floats(shape)
        yield _named("instance_norm", F.instance_norm, x)
        channels = (shape[1],)
        call = lambda x, w, b: F.instance_norm(x, weight=w, bias=b, eps=1e-3)  # noqa: E731
        yield _named("instance_norm affine", call, x, g.floats(channels), g.floats(channels))
        yield _named("rms_norm", lambda x: F.rms_norm(x, x.shape[-1:]), x)
        call = lambda x, w: F.rms_norm(x, w.shape, w, 1e-4)  # noqa: E731
        yield _named("rms_norm weighted", call, x.bfloat16(), g.floats(shape[-1:], torch.bfloat16))
        yield _named("layer_norm", lambda x: F.layer_norm(x, x.shape[1:]), x)
        yield _named("group_norm", lambda x: F.group_norm(x, x.shape[1]), x)
    yield _named("instance_norm bf16", F.instance_norm, g.floats((2, 3, 6), torch.bfloat16))


def movement(g: Generator) -> Iterator[Case]:
    for _ in range(3):
        shape = g.shape(2, 4)
        axes = g.axes(len(shape))
        x = g.floats(shape)
        yield _named(f"flip {axes}", g.layout(lambda x, a=axes: x.flip(a)), x)
        shifts = [g.random.randint(-9, 9) for _ in axes]
        yield _named(f"roll {shifts} {axes}", lambda x, s=shifts, a=axes: torch.roll(x, s, a), x)
        counts = [g.random.randint(1, 3) for _ in range(len(shape) + g.random.randint(0, 1))]
        yield _named(f"repeat {counts}", g.layout(lambda x, c=counts: x.repeat(c)), x)
        axis, count = g.axis(len(shape)), g.random.randint(2, 3)
        call = lambda x, a=axis, c=count: torch.repeat_interleave(x, c, a)  # noqa: E731
        yield _named(f"repeat_interleave {count} {axis}", call, x)
    yield _named("roll of all", lambda x: torch.roll(x, 2), g.floats((3, 4)))
    yield _named("tile", lambda x: torch.tile(x, (2,)), g.floats((3, 2)))
    for mode in ("constant", "replicate", "reflect", "circular"):
        yield _named(f"pad {mode}", lambda x, m=mode: F.pad(x, (1, 2), mode=m), g.floats((2, 3, 5)))
        yield _named(
            f"pad {mode} of two axes", lambda x, m=mode: F.pad(x, (2, 1, 0, 3), mode=m), g.floats((1, 2, 4, 5))
        )
    yield _named("pad with ones", lambda x: F.pad(x, (0, 1, 2, 0), value=1.0), g.floats((3, 4)))
    yield _named("pad cutting", lambda x: F.pad(x, (-1, 2)), g.floats((3, 4)))
    for axis in (0, 1, -1):
        x = g.floats((4, 3, 5))
        index = g.integers((2, 3, 5), 0, 3)
        yield _named(f"gather {axis}", lambda x, i, a=axis: torch.gather(x, a, i), x, index)
        yield _named(
            f"index_select {axis}", lambda x, i, a=axis: torch.index_select(x, a, i), x, g.integers((6,), 0, 3)
        )
    for offset in (0, 1, -2):
        yield _named(f"diag of a vector {offset}", lambda x, o=offset: torch.diag(x, o), g.floats((3,)))
        yield _named(f"diag of a matrix {offset}", lambda x, o=offset: torch.diag(x, o), g.floats((4, 5)))
        yield _named(f"diagonal {offset}", lambda x, o=offset: torch.diagonal(x, o, 0, 2), g.floats((4, 2, 5)))
        yield _named(f"diag_embed {offset}", lambda x, o=offset: torch.diag_embed(x, o), g.floats((2, 3)))
    yield _named("outer", torch.outer, g.floats((3,)), g.floats((4,)))


FAMILIES: dict[str, Family] = {
    "unary": unary,
    "activations": activations,
    "binary": binary,
    "reductions": reductions,
    "scans": scans,
    "pooling": pooling,
    "transposed_convolutions": transposed_convolutions,
    "losses": losses,
    "class_losses": class_losses,
    "norms": norms,
    "movement": movement,
}
