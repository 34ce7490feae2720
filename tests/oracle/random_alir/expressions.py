"""Random typed scalar expressions."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ..numpy_values import FLOATS, INTEGERS, widened
from . import functions
from .facts import BOOL, LARGEST, Fact, compute_unit, stored
from .indices import Space
from .scope import ADD, AND, COMPARE, MULTIPLY, NOT, NUMBERS, OR, PRIMARY, UNARY, Extent, Scope, Tensor

MOST_INTEGER = 2**45


@dataclass(frozen=True)
class Expression:
    text: str
    level: int
    element: str
    fact: Fact
    index: bool = False  # made of loop variables: products and quotients of two are refused

    def at(self, level: int) -> str:
        return self.text if self.level >= level else f"({self.text})"


class Expressions:
    """Makes expressions for one kernel."""

    def __init__(self, scope: Scope, space: Space, indexed: bool = False) -> None:
        self.scope = scope
        self.random = scope.random
        self.space = space
        self.indexed = indexed
        self.values: list[Expression] = []  # lets and `prev`
        self.pack_loop: dict[str, str] = {}  # `*L` -> its loop here
        self.preferred: list[Tensor] = []

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    # --- leaves --------------------------------------------------------------------------------------

    def readable(self, tensor: Tensor) -> bool:
        return all(not extent.pack or extent.text in self.pack_loop for extent in tensor.shape)

    def read(self, tensor: Tensor) -> Expression:
        if not tensor.shape and self.chance(0.6):
            return Expression(tensor.name, PRIMARY, tensor.element, tensor.fact)
        parts = []
        for extent in tensor.shape:
            if extent.pack:
                parts.append(f"*{self.pack_loop[extent.text]}")
            elif self.indexed and self.chance(0.5):
                parts.append(self.data_index(extent.value, extent.text))
            else:
                parts.append(self.space.within(extent).text)
        comma = ", " if self.chance(0.5) else ","
        return Expression(f"{tensor.name}[{comma.join(parts)}]", PRIMARY, tensor.element, tensor.fact)

    def data_index(self, extent: int, text: str) -> str:
        """A subscript that contains a read of an integer tensor."""
        whole = [t for t in self.scope.tensors if t.element in INTEGERS and self.readable(t) and not t.fact.special]
        if not whole:
            return self.space.within(Extent(text, extent)).text
        tensor = self.random.choice(whole)
        outer, self.indexed = self.indexed, self.chance(0.15)
        read = self.read(tensor)
        self.indexed = outer
        low, high = int(tensor.fact.low), int(tensor.fact.high)
        shift = self.random.choice([0, 0, 0, 1, -1])
        inner = read.text if shift == 0 else f"{read.text} {'+' if shift > 0 else '-'} 1"
        low, high = low + shift, high + shift
        if low >= 0 and high < extent:
            return inner
        if self.scope.has("faults") and self.chance(0.02):
            self.scope.shared.used.add("faults")
            return inner
        if extent > 1 and self.chance(0.3) and abs(low) < 2**50 and abs(high) < 2**50:
            return f"({inner}) % {extent}"
        return f"min(max({inner}, 0), {extent} - 1)"

    def tensor_leaf(self, element: str, accept: Callable[[Fact], bool]) -> Expression | None:
        fitting = [t for t in self.scope.tensors if t.element == element and accept(t.fact) and self.readable(t)]
        near = [t for t in self.preferred if t.element == element and accept(t.fact) and self.readable(t)]
        values = [v for v in self.values if v.element == element and accept(v.fact)]
        if values and self.chance(0.5):
            return self.random.choice(values)
        if near and self.chance(0.6):
            return self.read(self.random.choice(near))
        if not fitting:
            return None
        return self.read(self.random.choice(fitting[-3:] if self.chance(0.5) else fitting))

    def cast_leaf(self, element: str, accept: Callable[[Fact], bool]) -> Expression | None:
        """A tensor of another type, converted."""
        others = [t for t in self.scope.tensors
                  if t.element != element and self.readable(t) and (t.fact.exact or element in FLOATS)
                  and not (t.fact.special and element == "f4e2m1")]  # fmt: skip
        if not others:
            return None
        inner = self.read(self.random.choice(others))
        return self.cast(inner, element, accept)

    def cast(self, inner: Expression, element: str, accept: Callable[[Fact], bool]) -> Expression | None:
        if not inner.fact.exact and element not in FLOATS:
            return None
        fact = inner.fact if element in ("f32", "f64") and inner.element in FLOATS else None
        fact = stored(inner.fact, element) if fact is None else stored(fact, element)
        if (inner.fact.special and element == "f4e2m1") or not accept(fact):
            return None
        wide_here = self.scope.types and inner.element in self.scope.types and widened(inner.element) == element
        if wide_here and "wide(T)" in self.scope.types.get(element, []) and self.chance(0.7):
            return Expression(f"wide({inner.text})", PRIMARY, element, fact)
        names = [name for name in self.scope.types.get(element, [element]) if not name.startswith("wide")] or [element]
        return Expression(f"{self.random.choice(names)}({inner.text})", PRIMARY, element, fact)

    def literal(self, element: str) -> Expression:
        """With its type: a cast of a literal."""
        text, fact = self.literal_text(element)
        if element in INTEGERS and fact.high > INTEGERS[element][1]:
            text, fact = "1", Fact(1, 1, 1.0)
        return Expression(f"{element}({text})", PRIMARY, element, stored(fact, element))

    def literal_text(self, element: str) -> tuple[str, Fact]:
        """Adapts to the other operand."""
        if element == "bool":
            return self.random.choice(["true", "false"]), BOOL
        if element in FLOATS and self.chance(0.5):
            values = [0.5, 1.5, 2.0, 3.0] if element == "f4e2m1" else [0.5, 1.5, 2.0, 0.25, 3.0]
            value: float = self.random.choice([*values, 1e-1] if element in ("f32", "f64") else values)
            grain = 0.0 if value == 0.1 else 0.25
            return f"{value!r}", Fact(value, value, grain)
        dims = [e for e in self.scope.extents if e.text.isidentifier() and e.text[0].isupper()]
        if dims and self.chance(0.3):
            extent = self.random.choice(dims)
            return extent.text, Fact(extent.value, extent.value, 1.0)
        whole = self.random.randint(0, 5)
        return str(whole), Fact(whole, whole, 1.0)

    # --- any type ------------------------------------------------------------------------------------

    def make(self, element: str, depth: int, exact: bool = False, plain: bool = False) -> Expression:
        """`exact`: no error at all; `plain`: neither infinities nor NaN."""

        def accept(fact: Fact) -> bool:
            return (not exact or fact.exact) and (not plain or not fact.special)

        for _ in range(6):
            found = self.attempt(element, depth, accept)
            if found is not None and accept(found.fact):
                return found
        return self.literal(element)

    def attempt(self, element: str, depth: int, accept: Callable[[Fact], bool]) -> Expression | None:
        roll = self.random.random()
        if depth <= 0 or roll < 0.15:
            leaf = self.tensor_leaf(element, accept)
            if leaf is None or self.chance(0.1):
                leaf = self.other_leaf(element, accept) or leaf
            return leaf
        if roll < 0.25:
            return self.select(element, depth, accept)
        if element == "bool":
            return self.boolean(depth)
        if roll < 0.33:
            return self.cast_leaf(element, accept)
        return self.integer(element, depth) if element in INTEGERS else self.float(element, depth, accept)

    def other_leaf(self, element: str, accept: Callable[[Fact], bool]) -> Expression | None:
        roll = self.random.random()
        if element == "bool" and roll < 0.6:
            return self.index_condition()
        if roll < 0.4 and element != "bool":
            return self.index_value(element)
        if roll < 0.85:
            return self.cast_leaf(element, accept)
        return self.literal(element)

    def index_value(self, element: str) -> Expression | None:
        index = self.space.free(1)
        if not self.space.variables and not self.scope.steps:
            return None
        if not any(name in index.text for name in self.space.variables):
            return None
        low, high = self.space.bounds(index)
        fact = Fact(low, high, 1.0)
        if element == "i64":
            return Expression(index.text, index.level, element, fact, True)
        return Expression(f"{element}({index.text})", PRIMARY, element, stored(fact, element))

    def index_condition(self) -> Expression | None:
        condition = self.space.condition(1)
        if condition is None:
            return None
        return Expression(condition[0], COMPARE, "bool", BOOL)

    def select(self, element: str, depth: int, accept: Callable[[Fact], bool]) -> Expression | None:
        outer = self.space.mask
        condition = self.space.condition(1) if self.chance(0.5) else None
        if condition is not None:
            text, holds = condition
            negatable = self.space.negatable
            self.space.mask = outer & holds
            a = self.attempt(element, depth - 1, accept)
            if negatable:
                self.space.mask = outer & ~holds
            else:
                self.space.mask = outer
            b = self.attempt(element, depth - 1, accept)
            self.space.mask = outer
        else:
            text = self.make("bool", depth - 1).text
            a, b = self.attempt(element, depth - 1, accept), self.attempt(element, depth - 1, accept)
        if a is None or b is None:
            return None
        if self.chance(0.3):
            literal, fact = self.literal_text(element)
            return Expression(f"select({text}, {a.text}, {literal})", PRIMARY, element, a.fact.joined(fact), a.index)
        index = a.index or b.index
        return Expression(f"select({text}, {a.text}, {b.text})", PRIMARY, element, a.fact.joined(b.fact), index)

    def boolean(self, depth: int) -> Expression | None:
        roll = self.random.random()
        if roll < 0.45:
            element = self.random.choice(["f32", "i64", "f32", "i64", *NUMBERS])
            a = self.make(element, depth - 1, exact=True)
            b = self.make(element, depth - 1, exact=True)
            operators = ["<", "<=", ">", ">=", "==", "!="]
            if self.chance(0.2):
                return self.chain(a, b, self.make(element, depth - 1, exact=True))
            if self.chance(0.3):
                b = Expression(self.literal_text(element)[0], PRIMARY, element, b.fact)
            return Expression(f"{a.at(ADD)} {self.random.choice(operators)} {b.at(ADD)}", COMPARE, "bool", BOOL)
        if roll < 0.6:
            a = self.make("bool", depth - 1)
            return Expression(f"not {a.at(NOT)}", NOT, "bool", BOOL)
        if roll < 0.85:
            a, b = self.make("bool", depth - 1), self.make("bool", depth - 1)
            if self.chance(0.5):
                return Expression(f"{a.at(AND)} and {b.at(NOT)}", AND, "bool", BOOL)
            return Expression(f"{a.at(OR)} or {b.at(AND)}", OR, "bool", BOOL)
        if roll < 0.92:
            a = self.make(self.random.choice(FLOATS), depth - 1, exact=True)
            return Expression(f"{self.random.choice(['isnan', 'isinf'])}({a.text})", PRIMARY, "bool", BOOL)
        return self.index_condition()

    def chain(self, a: Expression, b: Expression, c: Expression) -> Expression:
        first, second = self.random.choice(["<", "<="]), self.random.choice(["<", "<=", "=="])
        return Expression(f"{a.at(ADD)} {first} {b.at(ADD)} {second} {c.at(ADD)}", COMPARE, "bool", BOOL)

    # --- integers ------------------------------------------------------------------------------------

    def pair(self, element: str, depth: int, **wanted: Any) -> tuple[Expression, Expression]:
        """Two operands, one of which may be a literal."""
        a, b = self.make(element, depth - 1, **wanted), self.make(element, depth - 1, **wanted)
        if self.chance(0.3):
            text, fact = self.literal_text(element)
            literal = Expression(text, PRIMARY, element, fact)
            return (a, literal) if self.chance(0.7) else (literal, b)
        return a, b

    def integer(self, element: str, depth: int) -> Expression | None:
        roll = self.random.random()
        if roll < 0.08:
            a = self.make(element, depth - 1)
            return bounded(f"-{a.at(UNARY)}", UNARY, element, -a.fact.high, -a.fact.low)
        if roll < 0.2:
            a = self.make(element, depth - 1)
            if self.chance(0.5):
                low = 0 if a.fact.low <= 0 <= a.fact.high else min(abs(a.fact.low), abs(a.fact.high))
                return bounded(f"abs({a.text})", PRIMARY, element, low, a.fact.most)
            return bounded(f"sign({a.text})", PRIMARY, element, -1, 1)
        a, b = self.pair(element, depth)
        if roll < 0.45:
            return added(a, b, self.chance(0.6), element)
        if roll < 0.6:
            corners = [x * y for x in (a.fact.low, a.fact.high) for y in (b.fact.low, b.fact.high)]
            if a.index and b.index:
                a = replace(a, text=f"i64({a.text})", level=PRIMARY)
            return bounded(f"{a.at(MULTIPLY)} * {b.at(UNARY)}", MULTIPLY, element, min(corners), max(corners))
        if roll < 0.75:
            most = max(a.fact.most, b.fact.most)
            if b.index:
                b = replace(b, text=f"i64({b.text})", level=PRIMARY)
            if self.chance(0.5):
                return bounded(f"{a.at(MULTIPLY)} // {b.at(UNARY)}", MULTIPLY, element, -most - 1, most + 1)
            return bounded(f"{a.at(MULTIPLY)} % {b.at(UNARY)}", MULTIPLY, element, -most, most)
        if roll < 0.86:
            return extreme(self.random.choice(["min", "max"]), a, b, element)
        if roll < 0.94:
            name = self.random.choice(["bitand", "bitor", "bitxor"])
            bits = 2 ** int(max(a.fact.most, b.fact.most)).bit_length()
            return bounded(f"{name}({a.text}, {b.text})", PRIMARY, element, -bits, bits)
        a = self.make(element, depth - 1)
        if roll < 0.98:
            shift = self.random.randint(0, 5)
            if self.chance(0.5):
                low, high = int(a.fact.low) << shift, int(a.fact.high) << shift
                return bounded(f"shl({a.text}, {shift})", PRIMARY, element, low, high)
            return bounded(f"shr({a.text}, {shift})", PRIMARY, element, int(a.fact.low) >> shift,
                           int(a.fact.high) >> shift)  # fmt: skip
        exponent = self.random.randint(0, 3)
        most = max(1, int(a.fact.most)) ** exponent
        return bounded(f"pow({a.text}, {exponent})", PRIMARY, element, -most, most)

    # --- floats --------------------------------------------------------------------------------------

    def float(self, element: str, depth: int, accept: Callable[[Fact], bool]) -> Expression | None:
        roll = self.random.random()
        exact = not accept(Fact(0, 0, 0.0, 1e-9))
        if roll < 0.08:
            a = self.make(element, depth - 1, exact)
            return Expression(f"-{a.at(UNARY)}", UNARY, element, replace(a.fact, low=-a.fact.high, high=-a.fact.low))
        if roll < 0.14:
            a = self.make(element, depth - 1, exact)
            low = 0.0 if a.fact.low <= 0 <= a.fact.high else min(abs(a.fact.low), abs(a.fact.high))
            return Expression(f"abs({a.text})", PRIMARY, element, replace(a.fact, low=low, high=a.fact.most))
        if roll < 0.24:
            return self.whole(element, depth)
        if roll < 0.42 and not exact:
            return self.smooth(element, depth)
        a, b = self.pair(element, depth, exact=exact)
        if roll < 0.62:
            return added(a, b, self.chance(0.6), element)
        if roll < 0.8:
            return multiplied(a, b, element)
        if roll < 0.9:
            return extreme(self.random.choice(["min", "max", "fmin", "fmax"]), a, b, element)
        return self.quotient(self.make(element, depth - 1, exact), element, depth, exact)

    def whole(self, element: str, depth: int) -> Expression | None:
        """Functions with jumps, on exact values only."""
        a = self.make(element, depth - 1, exact=True, plain=True)
        name = self.random.choice(["floor", "ceil", "round", "trunc", "sign"])
        if name == "sign":
            return Expression(f"sign({a.text})", PRIMARY, element, Fact(-1.0, 1.0, 1.0))
        return Expression(f"{name}({a.text})", PRIMARY, element, Fact(a.fact.low - 1, a.fact.high + 1, 1.0))

    def smooth(self, element: str, depth: int) -> Expression | None:
        if self.chance(0.1):
            return self.power(element, depth)
        a = self.make(element, depth - 1)
        name = self.random.choice(list(functions.FUNCTIONS))
        fact = functions.result(name, a.fact, element)
        return None if fact is None else Expression(f"{name}({a.text})", PRIMARY, element, fact)

    def power(self, element: str, depth: int) -> Expression | None:
        a = self.make(element, depth - 1, plain=True)
        b = self.make(element, depth - 1, plain=True)
        if a.fact.most > 8 or b.fact.most > 3 or a.fact.error > 0.01 or b.fact.error > 0.01:
            return None
        if self.chance(0.5):
            error = a.fact.error + b.fact.error + functions.ULPS * compute_unit(element) * 4
            return Expression(f"atan2({a.text}, abs({b.text}) + 1)", PRIMARY, element, Fact(-1.6, 1.6, 0.0, error))
        error = 750 * (a.fact.error + 2.2 * b.fact.error) + functions.ULPS * compute_unit(element) * 729
        return Expression(f"pow(abs({a.text}) + 1, {b.text})", PRIMARY, element, Fact(0.0, 730.0, 0.0, error))

    def quotient(self, a: Expression, element: str, depth: int, exact: bool) -> Expression | None:
        if self.chance(0.5):
            divisor = self.random.choice(["2", "4", "0.5", "3", "(2*2)"])
            value = float(divisor.strip("()").split("*")[0]) * (2 if "*" in divisor else 1)
            fact = divided(a.fact, Fact(value, value, 1.0), element)
            if fact is not None and value != 3 and a.fact.exact:
                fact = replace(fact, grain=a.fact.grain / value if a.fact.grain else 0.0)
            text = f"{a.at(MULTIPLY)} / {divisor}"
        else:
            b = self.make(element, depth - 1, exact, plain=True)
            divisor_fact = replace(b.fact, low=1.0, high=b.fact.most + 1, grain=0.0)
            fact = divided(a.fact, divisor_fact, element)
            text = f"{a.at(MULTIPLY)} / (abs({b.text}) + 1)"
        return None if fact is None else Expression(text, MULTIPLY, element, fact)


def bounded(text: str, level: int, element: str, low: float, high: float) -> Expression | None:
    if max(abs(low), abs(high)) > MOST_INTEGER:
        return None
    return Expression(text, level, element, Fact(int(low), int(high), 1.0))


def added(a: Expression, b: Expression, plus: bool, element: str) -> Expression | None:
    text = f"{a.at(ADD)} {'+' if plus else '-'} {b.at(MULTIPLY)}"
    low = a.fact.low + (b.fact.low if plus else -b.fact.high)
    high = a.fact.high + (b.fact.high if plus else -b.fact.low)
    if element in INTEGERS:
        made = bounded(text, ADD, element, low, high)
        return made and replace(made, index=a.index or b.index)
    fact = float_fact(low, high, min(a.fact.grain, b.fact.grain), a.fact.error + b.fact.error, a, b, element)
    return None if fact is None else Expression(text, ADD, element, fact)


def multiplied(a: Expression, b: Expression, element: str) -> Expression | None:
    corners = [x * y for x in (a.fact.low, a.fact.high) for y in (b.fact.low, b.fact.high)]
    error = a.fact.error * b.fact.most + b.fact.error * a.fact.most + a.fact.error * b.fact.error
    grain = a.fact.grain * b.fact.grain
    fact = float_fact(min(corners), max(corners), grain if grain > 2.0**-60 else 0.0, error, a, b, element)
    return None if fact is None else Expression(f"{a.at(MULTIPLY)} * {b.at(UNARY)}", MULTIPLY, element, fact)


def float_fact(
    low: float, high: float, grain: float, error: float, a: Expression, b: Expression, element: str
) -> Fact | None:
    most = max(abs(low), abs(high))
    special = a.fact.special or b.fact.special
    if most > (1e30 if error == 0 else LARGEST):
        return None
    if error == 0:
        step = compute_unit(element) * most
        return Fact(low - step, high + step, grain, 0.0, special)
    return Fact(low, high, 0.0, error + 2 * compute_unit(element) * most, special)


def divided(a: Fact, b: Fact, element: str) -> Fact | None:
    """`b` is at least 0.5."""
    if a.most > LARGEST:
        return None
    low, high = min(a.low / b.low, a.low, 0.0), max(a.high / b.low, a.high, 0.0)
    most = max(-low, high)
    if a.exact and b.exact:
        return Fact(low - most * 2.0**-20, high + most * 2.0**-20, 0.0, 0.0, a.special)
    error = (a.error / b.low + most * b.error / b.low) * 1.1 + 4 * compute_unit(element) * most
    return Fact(low, high, 0.0, error, a.special) if b.error < 0.25 else None


def extreme(name: str, a: Expression, b: Expression, element: str) -> Expression:
    choose = min if name in ("min", "fmin") else max
    both = a.fact.joined(b.fact)
    low, high = choose(a.fact.low, b.fact.low), choose(a.fact.high, b.fact.high)
    if both.special:  # an infinity or NaN leaves the other side's values
        low, high = both.low, both.high
    if element in INTEGERS:
        low, high = int(low), int(high)
    fact = replace(both, low=low, high=high)
    return Expression(f"{name}({a.text}, {b.text})", PRIMARY, element, fact, a.index and b.index)
