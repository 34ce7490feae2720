"""Element types, dims and scalar functions of Affine Loop IR for NumPy. See numpy_eval.py."""

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .alir_nodes import Binary, Call, Chain, Expression, Name, Number, Pack, Unary

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Narrow:
    """A float format of at most 16 bits; `overflow` and `nan` are what too large values and NaN become."""

    mantissa_bits: int
    bias: int
    largest: float
    overflow: float
    nan: float


NARROW: Mapping[str, Narrow] = {
    "f16": Narrow(10, 15, 65504.0, math.inf, math.nan),
    "bf16": Narrow(7, 127, float(np.ldexp(2 - 2.0**-7, 127)), math.inf, math.nan),
    "f8e4m3": Narrow(3, 7, 448.0, 448.0, math.nan),
    "f8e5m2": Narrow(2, 15, 57344.0, math.inf, math.nan),
    "f4e2m1": Narrow(1, 1, 6.0, 6.0, 6.0),
}
FLOATS = ("f64", "f32", *NARROW)
INTEGERS: Mapping[str, tuple[int, int]] = {
    "i64": (-(2**63), 2**63 - 1),
    "i32": (-(2**31), 2**31 - 1),
    "i16": (-(2**15), 2**15 - 1),
    "i8": (-128, 127),
    "i4": (-8, 7),
    "u8": (0, 255),
}


class ProgramError(Exception):
    """The program breaks a rule of the language that shows when it runs; `kind` is the diagnostic that tells so."""

    def __init__(self, message: str, kind: str = "") -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True)
class Tensor:
    """Values of an element type; the first axis is the sample."""

    element: str
    values: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape[1:]


def widened(element: str) -> str:
    if element in INTEGERS:
        return "i64"
    return "f32" if element in NARROW else element


def dtype_of(element: str, exact: bool) -> Any:
    """What values of the type are held in."""
    if element == "bool":
        return np.bool_
    if element in INTEGERS:
        return np.int64
    return np.float64 if exact or element == "f64" else np.float32


def round_to(values: Array, element: str, exact: bool) -> Array:
    """Rounds to the type, as a store or a cast does; the result is held in dtype_of."""
    if element in INTEGERS:
        low, high = INTEGERS[element]
        if values.dtype.kind == "f":
            whole = np.trunc(np.where(np.isnan(values), 0, values).astype(np.float64))
            above, below = whole >= float(high), whole <= float(low)
            inside = np.where(above | below, 0, whole).astype(np.int64)
            return np.where(above, high, np.where(below, low, inside))
        whole = values.astype(np.int64)
        return whole if element == "i64" else (whole - low) % (high - low + 1) + low
    if element == "bool":
        return values.astype(np.bool_)
    dtype = dtype_of(element, exact)
    if exact or element not in NARROW:
        return values.astype(dtype)
    return round_narrow(values.astype(np.float64), NARROW[element]).astype(dtype)


def round_narrow(values: Array, narrow: Narrow) -> Array:
    """To nearest even, once."""
    magnitude = np.abs(values)
    finite = np.where(np.isfinite(magnitude), magnitude, 0.0)
    exponent = np.maximum(np.frexp(finite)[1] - 1, 1 - narrow.bias)
    unit = np.ldexp(1.0, exponent - narrow.mantissa_bits)
    rounded = np.rint(finite / unit) * unit
    rounded = np.where((rounded > narrow.largest) | np.isinf(magnitude), narrow.overflow, rounded)
    return np.copysign(np.where(np.isnan(magnitude), narrow.nan, rounded), values)


def floor_divide(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return a // b if b else 0
    a, b = np.asarray(a), np.asarray(b)
    return np.where(b == 0, 0, a // np.where(b == 0, 1, b))


def modulo(a: Any, b: Any) -> Any:
    return a - floor_divide(a, b) * b


def dim_value(expression: Expression | Pack, dims: Mapping[str, int]) -> int:
    """A dim expression's integer (a condition's truth)."""
    match expression:
        case Number(value=value):
            return int(value)
        case Name(name=name):
            if name not in dims:
                raise ProgramError(f"unknown dim `{name}`")
            return dims[name]
        case Unary(operator="-", operand=operand):
            return -dim_value(operand, dims)
        case Call(function=function, arguments=arguments) if function in ("min", "max"):
            return (min if function == "min" else max)(dim_value(a, dims) for a in arguments)
        case Binary(operator=operator, left=left, right=right):
            a, b = dim_value(left, dims), dim_value(right, dims)
            operations: dict[str, Callable[[], int]] = {
                "+": lambda: a + b,
                "-": lambda: a - b,
                "*": lambda: a * b,
                "//": lambda: a // b,
                "/": lambda: a // b,
                "%": lambda: a % b,
                "and": lambda: int(bool(a) and bool(b)),
                "or": lambda: int(bool(a) or bool(b)),
            }
            return operations[operator]()
        case Chain(operands=operands, operators=operators):
            values = [dim_value(operand, dims) for operand in operands]
            pairs = zip(operators, values, values[1:], strict=False)
            return int(all(bool(COMPARE[operator](a, b)) for operator, a, b in pairs))
    raise ProgramError("not a dim expression")


COMPARE: Mapping[str, Callable[[Any, Any], Any]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def sigmoid(x: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.where(x >= 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


def log_gamma(x: float) -> float:
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):  # a pole
        return math.inf


def by_element(function: Callable[[float], float]) -> Callable[[Array], Array]:
    def apply(x: Array) -> Array:
        x = np.asarray(x)
        flat = np.array([function(float(v)) for v in x.ravel()])
        return flat.reshape(x.shape).astype(x.dtype)

    return apply


def power(a: Any, b: Any) -> Any:
    if np.asarray(a).dtype.kind == "i" and np.asarray(b).dtype.kind == "i":
        return np.power(a, np.maximum(b, 0))  # negative exponents are left out of what is compared
    return np.power(a, b)


def folded(operation: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Two or more arguments."""
    return lambda *values: functools.reduce(operation, values)


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "exp": np.exp, "log": np.log, "log1p": np.log1p, "expm1": np.expm1, "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "sin": np.sin, "cos": np.cos, "tan": np.tan, "tanh": np.tanh,
    "sinh": np.sinh, "cosh": np.cosh, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "erf": by_element(math.erf), "lgamma": by_element(log_gamma), "sigmoid": sigmoid, "floor": np.floor,
    "ceil": np.ceil, "round": np.rint, "trunc": np.trunc, "abs": np.abs, "sign": np.sign, "min": folded(np.minimum),
    "max": folded(np.maximum), "fmin": np.fmin, "fmax": np.fmax, "pow": power, "atan2": np.arctan2, "isnan": np.isnan,
    "isinf": np.isinf, "bitand": np.bitwise_and, "bitor": np.bitwise_or, "bitxor": np.bitwise_xor,
    "shl": np.left_shift, "shr": np.right_shift,
}  # fmt: skip

REDUCTIONS: Mapping[str, tuple[Any, float]] = {
    "+=": (np.add, 0),
    "*=": (np.multiply, 1),
    "max=": (np.maximum, -math.inf),
    "min=": (np.minimum, math.inf),
    "and=": (np.logical_and, 1),
    "or=": (np.logical_or, 0),
}
