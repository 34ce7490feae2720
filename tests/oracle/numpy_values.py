"""Element types, dims and scalar functions of Affine Loop IR for NumPy. See numpy_eval.py."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .alir_nodes import Binary, Call, Chain, Expression, Name, Number, Pack, Unary

Array = npt.NDArray[Any]
FLOATS = ("f64", "f32", "f16", "bf16")
INTEGERS: Mapping[str, Any] = {"i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8, "u8": np.uint8}


class ProgramError(Exception):
    """The program breaks a rule of the language that shows when it runs."""


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
    return "f32" if element in ("f16", "bf16") else element


def dtype_of(element: str, exact: bool) -> Any:
    """What values of the type are held in."""
    if element == "bool":
        return np.bool_
    if element in INTEGERS:
        return np.int64
    return np.float64 if exact or element == "f64" else np.float32


def round_to(values: Array, element: str, exact: bool) -> Array:
    """Rounds to the type, as a store or a cast does; the result is held in dtype_of."""
    dtype = dtype_of(element, exact)
    if element in INTEGERS:
        if values.dtype.kind == "f":
            info = np.iinfo(INTEGERS[element])
            whole = np.nan_to_num(np.trunc(values.astype(np.float64)), nan=0.0, posinf=np.inf, neginf=-np.inf)
            high, low = whole >= float(info.max), whole <= float(info.min)
            inside = np.where(high | low, 0, whole).astype(np.int64)
            return np.where(high, info.max, np.where(low, info.min, inside))
        return values.astype(INTEGERS[element]).astype(np.int64)
    if element == "bool":
        return values.astype(np.bool_)
    values = values.astype(dtype)
    if exact or element in ("f64", "f32"):
        return values
    if element == "f16":
        return values.astype(np.float16).astype(np.float32)
    bits = values.view(np.uint32)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)
    return np.where(np.isnan(values), np.float32(np.nan), rounded)


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


def by_element(function: Callable[[float], float]) -> Callable[[Array], Array]:
    def apply(x: Array) -> Array:
        x = np.asarray(x)
        flat = np.array([function(float(v)) for v in x.ravel()])
        return flat.reshape(x.shape).astype(x.dtype)

    return apply


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "exp": np.exp, "log": np.log, "log1p": np.log1p, "expm1": np.expm1, "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "sin": np.sin, "cos": np.cos, "tan": np.tan, "tanh": np.tanh,
    "sinh": np.sinh, "cosh": np.cosh, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "erf": by_element(math.erf), "lgamma": by_element(math.lgamma), "sigmoid": sigmoid, "floor": np.floor,
    "ceil": np.ceil, "round": np.rint, "trunc": np.trunc, "abs": np.abs, "sign": np.sign, "min": np.minimum,
    "max": np.maximum, "fmin": np.fmin, "fmax": np.fmax, "pow": np.power, "atan2": np.arctan2, "isnan": np.isnan,
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
