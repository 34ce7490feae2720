"""Scalar functions of floats: on which arguments they are compared, and the bounds of their results."""

import math
from collections.abc import Callable

from .facts import LARGEST, Fact, compute_unit

ULPS = 16  # that two implementations of a function may differ

Bounds = Callable[[float, float, float], tuple[float, float, float] | None]  # low, high, error -> low, high, slope


def rising(function: Callable[[float], float], slope: Callable[[float], float]) -> Bounds:
    """A monotone function whose slope is largest at one end of any interval."""

    def bounds(low: float, high: float, error: float) -> tuple[float, float, float]:
        return function(low), function(high), max(slope(low - error), slope(high + error))

    return bounds


def when(condition: Callable[[float, float], bool], inner: Bounds) -> Bounds:
    def bounds(low: float, high: float, error: float) -> tuple[float, float, float] | None:
        return inner(low, high, error) if condition(low - error, high + error) else None

    return bounds


def one(value: float) -> Callable[[float], float]:
    return lambda _: value


def log_gamma(low: float, high: float, _: float) -> tuple[float, float, float]:
    return -0.2, max(math.lgamma(low), math.lgamma(high)) + 0.1, 3.0


POSITIVE = 2.0**-6
FUNCTIONS: dict[str, Bounds] = {
    "exp": when(lambda low, high: high <= 8, rising(math.exp, math.exp)),
    "expm1": when(lambda low, high: high <= 8, rising(math.expm1, math.exp)),
    "log": when(lambda low, high: low >= POSITIVE, rising(math.log, lambda x: 1 / max(x, POSITIVE))),
    "log1p": when(lambda low, high: low >= -0.75, rising(math.log1p, lambda x: 1 / max(1 + x, 0.2))),
    "sqrt": when(lambda low, high: low >= POSITIVE, rising(math.sqrt, lambda x: 0.5 / math.sqrt(max(x, POSITIVE)))),
    "rsqrt": when(lambda low, high: low >= POSITIVE, lambda low, high, e: (high**-0.5, low**-0.5, POSITIVE**-1.5)),
    "sin": when(lambda low, high: max(-low, high) <= 50, lambda low, high, e: (-1.0, 1.0, 1.0)),
    "cos": when(lambda low, high: max(-low, high) <= 50, lambda low, high, e: (-1.0, 1.0, 1.0)),
    "tan": when(lambda low, high: max(-low, high) <= 1.2, rising(math.tan, lambda x: 1 + math.tan(x) ** 2)),
    "tanh": rising(math.tanh, one(1.0)),
    "sinh": when(lambda low, high: max(-low, high) <= 8, rising(math.sinh, math.cosh)),
    "cosh": when(lambda low, high: max(-low, high) <= 8, lambda low, high, e: (
        1.0, math.cosh(max(-low, high)), math.cosh(max(-low, high) + e))),
    "asin": when(lambda low, high: max(-low, high) <= 0.9, rising(math.asin, one(2.5))),
    "acos": when(lambda low, high: max(-low, high) <= 0.9, lambda low, high, e: (math.acos(high), math.acos(low), 2.5)),
    "atan": rising(math.atan, one(1.0)),
    "erf": rising(math.erf, one(1.2)),
    "sigmoid": rising(lambda x: 1 / (1 + math.exp(-max(x, -700.0))), one(0.25)),
    "lgamma": when(lambda low, high: low >= 0.5 and high <= 50, log_gamma),
}  # fmt: skip


def result(name: str, fact: Fact, element: str) -> Fact | None:
    """The fact of `name(x)`; None where it is not compared."""
    if fact.special and name not in ("tanh", "erf", "sigmoid", "atan"):
        return None
    if fact.most > LARGEST or fact.error > 0.25:
        return None
    found = FUNCTIONS[name](fact.low, fact.high, fact.error)
    if found is None:
        return None
    low, high, slope = found
    error = slope * fact.error + ULPS * compute_unit(element) * max(abs(low), abs(high), 2.0**-10)
    if error > 0.25:
        return None
    return Fact(low - error, high + error, 0.0, error, fact.special)
