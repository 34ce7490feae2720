"""Random calls of prelude functions, with the facts of their results."""

from collections.abc import Callable
from dataclasses import replace

from ..numpy_values import FLOATS, INTEGERS, widened
from . import functions
from .expressions import Expression, added, extreme, multiplied
from .facts import BOOL, LARGEST, Fact, compute_unit, stored, sum_of
from .scope import PRIMARY, Extent, RetryError, Scope, Tensor
from .tree import Node

SMOOTH = ("exp", "log", "log1p", "expm1", "sqrt", "sin", "cos", "tan", "tanh", "sinh", "asin", "acos", "atan", "erf",
          "sigmoid")  # fmt: skip


def result(scope: Scope, call: str, element: str, shape: tuple[Extent, ...], fact: Fact) -> Node:
    name = scope.fresh()
    scope.shared.used.add("prelude")
    return scope.define(f"let {name} = {call}", Tensor(name, element, shape, stored(fact, element)))


def shaped(scope: Scope, rank: int = 0, elements: tuple[str, ...] | None = None, exact: bool = False) -> Tensor:
    def fits(t: Tensor) -> bool:
        return not t.packed and len(t.shape) >= rank and (elements is None or t.element in elements) and (
            not exact or t.fact.exact
        )  # fmt: skip

    return scope.pick(fits)


def same(scope: Scope, first: Tensor, exact: bool = False) -> Tensor:
    values = [extent.value for extent in first.shape]
    return scope.pick(lambda t: not t.packed and t.element == first.element and (not exact or t.fact.exact)
                      and [e.value for e in t.shape] == values)  # fmt: skip


def unary(scope: Scope) -> Node:
    x = shaped(scope, 0, FLOATS)
    name = scope.random.choice(SMOOTH)
    fact = functions.result(name, x.fact, x.element)
    if fact is None:
        raise RetryError
    return result(scope, f"{name}({x.name})", x.element, x.shape, fact)


def jumps(scope: Scope) -> Node:
    x = shaped(scope, 0, FLOATS, exact=True)
    name = scope.random.choice(["floor", "ceil", "round", "trunc", "sign"])
    if x.fact.special:
        raise RetryError
    return result(scope, f"{name}({x.name})", x.element, x.shape, Fact(x.fact.low - 1, x.fact.high + 1, 1.0))


def relu(scope: Scope) -> Node:
    x = shaped(scope, 0, (*FLOATS, *INTEGERS))
    return result(scope, f"relu({x.name})", x.element, x.shape,
                  replace(x.fact, low=max(x.fact.low, 0), high=max(x.fact.high, 0)))  # fmt: skip


def binary(scope: Scope) -> Node:
    a = shaped(scope, 0, (*FLOATS, *INTEGERS))
    b = same(scope, a)
    names = ["add", "sub", "mul", "maximum", "minimum", *(["fmax", "fmin"] if a.element in FLOATS else [])]
    name = scope.random.choice(names)
    left = Expression("a", PRIMARY, a.element, a.fact)
    right = Expression("b", PRIMARY, b.element, b.fact)
    if name in ("add", "sub"):
        found = added(left, right, name == "add", a.element)
    elif name == "mul":
        found = multiplied(left, right, a.element)
    else:
        found = extreme("max" if name in ("maximum", "fmax") else "min", left, right, a.element)
    if found is None:
        raise RetryError
    return result(scope, f"{name}({a.name}, {b.name})", a.element, a.shape, found.fact)


def comparison(scope: Scope) -> Node:
    a = shaped(scope, 0, (*FLOATS, *INTEGERS), exact=True)
    b = same(scope, a, exact=True)
    name = scope.random.choice(["eq", "ne", "lt", "le", "gt", "ge"])
    return result(scope, f"{name}({a.name}, {b.name})", "bool", a.shape, BOOL)


def logic(scope: Scope) -> Node:
    a = shaped(scope, 0, ("bool",))
    b = same(scope, a)
    name = scope.random.choice(["logical_and", "logical_or", "logical_xor"])
    return result(scope, f"{name}({a.name}, {b.name})", "bool", a.shape, BOOL)


def scalar(scope: Scope) -> Node:
    """A literal as an argument, computed in the wide type."""
    x = shaped(scope, 0, (*FLOATS, *INTEGERS))
    wide = widened(x.element)
    value = float(scope.random.choice([1, 2, 3, -2]))
    text = str(int(value)) if wide in INTEGERS or scope.chance(0.5) else str(value)
    left = Expression("a", PRIMARY, wide, x.fact)
    right = Expression("b", PRIMARY, wide, Fact(value, value, 1.0))
    found: Expression | None
    name = scope.random.choice(["add_scalar", "mul_scalar", "clamp"])
    if name == "clamp":
        fact = replace(x.fact, low=min(max(x.fact.low, -2), 3), high=min(max(x.fact.high, -2), 3))
        bounds = "-2, 3" if wide in INTEGERS else "-2.0, 3.0"
        return result(scope, f"clamp({x.name}, {bounds})", x.element, x.shape, fact)
    found = added(left, right, True, wide) if name == "add_scalar" else multiplied(left, right, wide)
    if found is None:
        raise RetryError
    return result(scope, f"{name}({x.name}, {text})", x.element, x.shape, found.fact)


def reduction(scope: Scope) -> Node:
    rank = scope.random.choice([1, 1, 2, 3])
    x = shaped(scope, rank, (*FLOATS, *INTEGERS))
    shape = x.shape[: len(x.shape) - rank]
    count = 1
    for extent in x.shape[len(x.shape) - rank :]:
        count *= extent.value
    name = scope.random.choice(["sum", "reduce_max", "reduce_min", "mean"])
    fact = x.fact
    if name in ("sum", "mean"):
        fact = sum_of(fact, count, x.element)
        if fact.most > (2.0**45 if x.element in INTEGERS else LARGEST):
            raise RetryError
    if name == "mean":
        if x.element not in FLOATS:
            raise RetryError
        rounding = 0.0 if fact.exact else 4 * compute_unit(widened(x.element)) * x.fact.most
        fact = Fact(x.fact.low * 1.01 - 0.01, x.fact.high * 1.01 + 0.01, 0.0, fact.error / count + rounding,
                    x.fact.special)  # fmt: skip
        fact = replace(fact, low=min(fact.low, x.fact.low * 1.01), high=max(fact.high, x.fact.high * 1.01))
    return result(scope, f"{name}{rank}({x.name})", x.element, shape, fact)


def truth(scope: Scope) -> Node:
    x = shaped(scope, 1, ("bool",))
    name = scope.random.choice(["reduce_all1", "reduce_any1"])
    return result(scope, f"{name}({x.name})", "bool", x.shape[:-1], BOOL)


def argument(scope: Scope) -> Node:
    x = shaped(scope, 1, (*FLOATS, *INTEGERS), exact=True)
    values, places = scope.fresh("v"), scope.fresh("ix")
    name = scope.random.choice(["argmax", "argmin"])
    return scope.define(
        f"let ({values}, {places}) = {name}({x.name})",
        Tensor(values, x.element, x.shape[:-1], x.fact),
        Tensor(places, "i64", x.shape[:-1], Fact(0, x.shape[-1].value - 1, 1.0)),
    )


def cumsum(scope: Scope) -> Node:
    x = shaped(scope, 1, (*FLOATS, *INTEGERS))
    if x.fact.special:
        raise RetryError
    wide = widened(x.element)
    fact = sum_of(x.fact, x.shape[-1].value, wide)
    if fact.most > (2.0**45 if wide in INTEGERS else 1e4):
        raise RetryError
    fact = replace(fact, low=min(fact.low, x.fact.low), high=max(fact.high, x.fact.high))
    return result(scope, f"cumsum({x.name})", x.element, x.shape, fact)


def softmax(scope: Scope) -> Node:
    x = shaped(scope, 1, ("f32", "f64", "bf16", "f16"))
    if x.fact.special or x.fact.most > 40 or x.fact.error > 0.01:
        raise RetryError
    name = scope.random.choice(["softmax", "log_softmax"])
    error = 8 * x.fact.error + 200 * compute_unit(x.element)
    if name == "softmax":
        fact = Fact(0.0, 1.01, 0.0, error)
    else:
        fact = Fact(-2 * x.fact.most - 3, 0.01, 0.0, error + 80 * compute_unit(x.element))
    return result(scope, f"{name}({x.name})", x.element, x.shape, fact)


def product(scope: Scope) -> Node:
    a = shaped(scope, 1, (*FLOATS, *INTEGERS))
    depth = a.shape[-1].value
    b = scope.pick(lambda t: not t.packed and t.element == a.element and len(t.shape) == 2
                   and depth in (t.shape[0].value, t.shape[1].value))  # fmt: skip
    terms = multiplied(Expression("a", PRIMARY, a.element, a.fact), Expression("b", PRIMARY, b.element, b.fact),
                       a.element)  # fmt: skip
    if terms is None:
        raise RetryError
    fact = sum_of(terms.fact, depth, a.element)
    if fact.most > (2.0**45 if a.element in INTEGERS else LARGEST):
        raise RetryError
    if b.shape[1].value == depth and (b.shape[0].value != depth or scope.chance(0.5)):
        return result(scope, f"linear({a.name}, {b.name})", a.element, (*a.shape[:-1], b.shape[0]), fact)
    return result(scope, f"matmul_shared({a.name}, {b.name})", a.element, (*a.shape[:-1], b.shape[1]), fact)


def convolution(scope: Scope) -> Node:
    x = shaped(scope, 2, (*FLOATS, *INTEGERS))
    channels, width = x.shape[-2].value, x.shape[-1].value
    w = scope.pick(lambda t: not t.packed and t.element == x.element and len(t.shape) == 3
                   and t.shape[1].value == channels)  # fmt: skip
    taps = w.shape[2].value
    stride, padding, dilation = scope.random.randint(1, 3), scope.random.randint(0, 2), scope.random.randint(1, 2)
    length = (width + 2 * padding - dilation * (taps - 1) - 1) // stride + 1
    if length < 1:
        raise RetryError
    terms = multiplied(Expression("a", PRIMARY, x.element, x.fact), Expression("b", PRIMARY, w.element, w.fact),
                       x.element)  # fmt: skip
    if terms is None:
        raise RetryError
    fact = sum_of(terms.fact, channels * taps, x.element)
    if fact.most > (2.0**45 if x.element in INTEGERS else LARGEST):
        raise RetryError
    fact = replace(fact, low=min(fact.low, terms.fact.low, 0), high=max(fact.high, terms.fact.high, 0))
    shape = (*x.shape[:-2], w.shape[0], Extent(str(length), length))
    return result(scope, f"conv1d({x.name}, {w.name}; SW = {stride}, PW = {padding}, DW = {dilation})", x.element,
                  shape, fact)  # fmt: skip


def pooling(scope: Scope) -> Node:
    x = shaped(scope, 1, FLOATS)
    width = x.shape[-1].value
    window = scope.random.randint(1, min(3, width))
    stride, padding = scope.random.randint(1, 2), scope.random.randint(0, window // 2)
    length = min((width + 2 * padding - window) // stride + 1, (width + padding - 1) // stride + 1)
    if length < 1:
        raise RetryError
    shape = (*x.shape[:-1], Extent(str(length), length))
    attributes = f"RW = {window}, SW = {stride}, AW = {padding}, LW = 1, UW = 0"
    return result(scope, f"max_pool1d({x.name}; {attributes})", x.element, shape, x.fact)


def movement(scope: Scope) -> Node:
    x = shaped(scope, 1)
    n = x.shape[-1].value
    if scope.chance(0.5):
        return result(scope, f"roll({x.name}; BY = {scope.random.randint(-2, n)})", x.element, x.shape, x.fact)
    before, after = scope.random.randint(0, 2), scope.random.randint(0, 2)
    shape = (*x.shape[:-1], Extent(str(n + before + after), n + before + after))
    attributes = f"BEFORE = {before}, AFTER = {after}"
    if scope.chance(0.5) or x.element == "bool":
        return result(scope, f"pad_replicate({x.name}; {attributes})", x.element, shape, x.fact)
    fact = x.fact.joined(Fact(2, 2, 1.0))
    return result(scope, f"pad_constant({x.name}, 2; {attributes})", x.element, shape, fact)


def triangle(scope: Scope) -> Node:
    x = shaped(scope, 2, (*FLOATS, *INTEGERS))
    name = scope.random.choice(["tril", "triu"])
    up, down = scope.random.choice([(0, 0), (1, 0), (0, 1)])
    return result(scope, f"{name}({x.name}; UP = {up}, DOWN = {down})", x.element, x.shape,
                  x.fact.joined(Fact(0, 0, 1.0)))  # fmt: skip


def gather(scope: Scope) -> Node:
    x = shaped(scope, 1)
    n = x.shape[-1].value
    i = scope.pick(lambda t: t.element == "i64" and len(t.shape) == 1 and not t.packed and t.fact.low >= 0
                   and t.fact.high < n)  # fmt: skip
    return result(scope, f"index_select({x.name}, {i.name})", x.element, (*x.shape[:-1], i.shape[0]), x.fact)


CALLS: tuple[Callable[[Scope], Node], ...] = (
    unary, jumps, relu, binary, comparison, logic, scalar, reduction, truth, argument, cumsum, softmax, product,
    convolution, pooling, movement, triangle, gather,
)  # fmt: skip


def prelude_call(scope: Scope) -> Node:
    return scope.random.choice(CALLS)(scope)
