"""Elementwise operators, on generated shapes, types, axes and settings."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch_case_generator import Case, Generator, named


def unary(g: Generator) -> Iterator[Case]:
    names = "abs sign floor ceil trunc round frac log log1p log2 log10 expm1 sin cos tan asin acos atan sinh cosh"
    names += " asinh acosh atanh erfc erfinv angle signbit"
    names += " erf lgamma relu sigmoid tanh exp sqrt rsqrt neg square reciprocal exp2"
    for name in names.split():
        function = getattr(torch, name)
        yield named(name, g.layout(function), g.special(g.shape(), torch.float32))
        dtype = g.float_type()
        yield named(name, g.layout(function), g.floats(g.shape(), dtype))
    for decimals in (0, 2, -1):
        yield named(
            f"round {decimals}", lambda x, d=decimals: torch.round(x, decimals=d), g.floats(g.shape(), scale=30.0)
        )
    yield named("large asinh", torch.asinh, g.floats((5,), scale=1e30))
    for name in ("abs", "sign", "floor", "log", "sin", "neg", "square"):
        yield named(name, getattr(torch, name), g.integers(g.shape(), 1, 9))


def activations(g: Generator) -> Iterator[Case]:
    functions: dict[str, Callable[..., Any]] = {
        "relu": F.relu,
        "rrelu": F.rrelu,
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
        if name == "gelu":  # torch's own of an infinity depends on its place in memory
            yield named(name, function, g.floats(g.shape()))
        elif "soft" not in name or name in ("softplus", "softplus(2, 5)", "softsign", "softshrink"):
            yield named(name, function, g.special(g.shape()))
        yield named(name, g.layout(function), g.floats(g.shape(), g.float_type()))
    yield named("prelu", F.prelu, g.floats((2, 3, 4)), g.floats((3,)))
    yield named("prelu", F.prelu, g.floats((2, 5)), g.floats((1,)))
    yield named("glu", lambda x: F.glu(x, 1), g.floats((2, 6, 3)))
    yield named("glu", F.glu, g.floats((4, 8), torch.bfloat16))


def binary(g: Generator) -> Iterator[Case]:
    for name in ("maximum", "minimum", "fmax", "fmin", "atan2", "hypot", "add", "sub", "mul", "div", "logaddexp"):
        function = getattr(torch, name)
        a, b = g.broadcast_shapes(2)
        yield named(name, function, g.special(a), g.floats(b))
        yield named(name, function, g.floats(b, torch.bfloat16), g.special(a))
    infinite = torch.tensor([0.0, 1.0, float("inf"), float("-inf")])
    for name in ("logaddexp", "logaddexp2", "ldexp"):
        function = getattr(torch, name)
        yield named(name, function, infinite[:, None].expand(4, 4), infinite.expand(4, 4))
        yield named(name, function, g.floats(a), g.integers(b, -9, 9).float())
    for name in ("bitwise_left_shift", "bitwise_right_shift"):
        function = getattr(torch, name)
        yield named(name, function, g.integers(a, 0, 99), g.integers(b, 0, 5))
        yield named(f"{name} number", lambda x, f=function: f(x, 2), g.integers(a, 0, 99, torch.int32))
    for name in ("add", "sub", "mul", "maximum", "minimum"):
        a, b = g.broadcast_shapes(2)
        yield named(name, getattr(torch, name), g.integers(a, -9, 9), g.integers(b, -9, 9, torch.int32))
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        a, b = g.broadcast_shapes(2)
        function = getattr(torch, name)
        yield named(name, function, g.integers(a, 0, 3).float(), g.integers(b, 0, 3))
        yield named(f"{name} scalar", lambda x, f=function: f(x, 1), g.integers(a, 0, 3))
    a, b = g.broadcast_shapes(2)
    yield named("pow", torch.pow, g.positive(a), g.floats(b))
    yield named("pow scalar", lambda x: torch.pow(1.5, x), g.floats(a))
    yield named("fmod", torch.fmod, g.floats(a), g.positive(b))
    yield named("fmod scalar", lambda x: torch.fmod(x, 0.7), g.floats(a))
    yield named("xlogy", torch.xlogy, g.integers(a, 0, 2).float(), g.positive(b))
    yield named("copysign", torch.copysign, g.floats(a), g.floats(b))
    a, b, c = g.broadcast_shapes(3)
    yield named("addcmul", lambda x, y, z: torch.addcmul(x, y, z, value=0.3), g.floats(a), g.floats(b), g.floats(c))
    yield named("addcdiv", lambda x, y, z: torch.addcdiv(x, y, z, value=2), g.floats(a), g.floats(b), g.positive(c))
    yield named("lerp", torch.lerp, g.floats(a), g.floats(a), g.positive(a))
    yield named("lerp scalar", lambda x, y: torch.lerp(x, y, 0.3), g.floats(a), g.floats(a))
    yield named("clamp", lambda x: x.clamp(-0.5, 0.75), g.special(a))
    yield named("clamp min", lambda x: x.clamp(min=-0.5), g.special(a))
    yield named("clamp max", lambda x: x.clamp(max=0), g.floats(a, torch.float16))
    yield named("clamp_min", lambda x: x.clamp_min(1), g.integers(a, -3, 5))
    yield named("clamp by float", lambda x: x.clamp(0.5), g.integers(a, -3, 5))
    yield named("clamp by tensors", torch.clamp, g.floats(a), g.floats(b), g.floats(c))
    for name in ("logical_and", "logical_or", "logical_xor"):
        yield named(name, getattr(torch, name), g.bools(a), g.integers(b, 0, 2))
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        yield named(name, getattr(torch, name), g.bools(a), g.bools(b))
        yield named(name, getattr(torch, name), g.integers(a, -9, 9), g.integers(b, -9, 9))
    yield named("logical_not", torch.logical_not, g.integers(a, 0, 2).float())
    yield named("bitwise_not", torch.bitwise_not, g.integers(a, -9, 9))
    yield named("bitwise_not", torch.bitwise_not, g.bools(a))
    for name in ("isnan", "isinf", "isfinite"):
        yield named(name, getattr(torch, name), g.special(a))
    yield named("where", torch.where, g.bools(a), g.floats(b), g.floats(c))
