"""Activations other than relu, gelu, tanh, sigmoid and silu."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Value
    from solar.frontends.torch.dtypes import Number

_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


@lowering("aten.leaky_relu.default")
def leaky_relu(b: Builder, x: Value, negative_slope: Number = 0.01) -> Value:
    return b.pointwise("leaky_relu", x, negative_slope)


@lowering("aten.prelu.default")
def prelu(b: Builder, x: Value, weight: Value) -> Value:
    if weight.rank == 1 and weight.shape[0] > 1:
        if x.rank < 2 or weight.shape[0] != x.shape[1]:
            raise b.unsupported("a weight whose length is not the number of channels")
        for _ in range(x.rank - 2):
            weight = b.unsqueeze(weight, -1)
    elif weight.rank == 1 and x.rank == 0:
        weight = b.squeeze(weight, [0])
    return b.pointwise("prelu", x, weight)


@lowering("aten.rrelu.default")
def rrelu(b: Builder, x: Value, lower: Number = 1 / 8, upper: Number = 1 / 3, training: bool = False) -> Value:
    """In evaluation the slope is the mean of its bounds."""
    if training:
        raise b.unsupported("random slopes in training mode; call .eval() on the model")
    return leaky_relu(b, x, (lower + upper) / 2)


@lowering("aten.rrelu_with_noise.default")
def rrelu_with_noise(
    b: Builder, x: Value, noise: Value, lower: Number = 1 / 8, upper: Number = 1 / 3, training: bool = False
) -> Value:
    return rrelu(b, x, lower, upper, training)


@lowering("aten.elu.default")
def elu(b: Builder, x: Value, alpha: Number = 1, scale: Number = 1, input_scale: Number = 1) -> Value:
    return b.pointwise("elu", x, alpha * scale, scale, input_scale)


@lowering("aten.selu.default")
def selu(b: Builder, x: Value) -> Value:
    return elu(b, x, _SELU_ALPHA, _SELU_SCALE)


@lowering("aten.celu.default")
def celu(b: Builder, x: Value, alpha: Number = 1.0) -> Value:
    return elu(b, x, alpha, 1, 1 / alpha)


@lowering("aten.hardsigmoid.default")
def hardsigmoid(b: Builder, x: Value) -> Value:
    return b.pointwise("hardsigmoid", x)


@lowering("aten.hardswish.default")
def hardswish(b: Builder, x: Value) -> Value:
    return b.pointwise("hardswish", x)


@lowering("aten.softshrink.default")
def softshrink(b: Builder, x: Value, lambd: Number = 0.5) -> Value:
    return b.pointwise("softshrink", x, lambd)


@lowering("aten.hardshrink.default")
def hardshrink(b: Builder, x: Value, lambd: Number = 0.5) -> Value:
    return b.pointwise("hardshrink", x, lambd)


@lowering("aten.threshold.default")
def threshold(b: Builder, x: Value, threshold: Number, value: Number) -> Value:
    return b.pointwise("threshold", x, threshold, value)


@lowering("aten.softplus.default")
def softplus(b: Builder, x: Value, beta: Number = 1, threshold: Number = 20) -> Value:
    return b.pointwise("softplus", x, beta, threshold)


@lowering("aten.mish.default")
def mish(b: Builder, x: Value) -> Value:
    return b.pointwise("mish", x)


@lowering("aten.log_sigmoid.default")
def log_sigmoid(b: Builder, x: Value) -> Value:
    return b.pointwise("log_sigmoid", x)


@lowering("aten.glu.default")
def glu(b: Builder, x: Value, dim: int = -1) -> Value:
    half = x.shape[x.axis(dim)] // 2
    parts = b.split_axis(x, dim, [2, half])
    axis = x.axis(dim)
    return b.pointwise("glu", b.index(parts, axis, 0), b.index(parts, axis, 1))


@lowering("aten.logit.default", "aten.special_logit.default")
def logit(b: Builder, x: Value, eps: Number | None = None) -> Value:
    if eps is not None:
        x = b.pointwise("clamp", x, eps, 1 - eps)
    return b.pointwise("logit", x, compute=b.result.dtype)
