"""Random index expressions whose range is known, point by point of the iteration space."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..numpy_values import Array
from .scope import ADD, MULTIPLY, PRIMARY, UNARY, Extent, RetryError, Scope


@dataclass(frozen=True)
class Index:
    """An index expression with its least and largest value at every point of the space."""

    text: str
    level: int
    low: Array
    high: Array

    def at(self, level: int) -> str:
        return self.text if self.level >= level else f"({self.text})"


@dataclass(frozen=True)
class Loop:
    name: str
    extent: Extent
    order: str = ""
    ragged: str = ""

    def render(self) -> str:
        if self.extent.pack:
            return f"*{self.name}:{self.extent.text}"
        return f"{self.order + ' ' if self.order else ''}{self.name}:{self.extent.text}{self.ragged}"


class Space:
    """The points of some loops, together with the steps of the repeats around. Ranks of packs are left out."""

    def __init__(self, scope: Scope, loops: Sequence[Loop]) -> None:
        self.scope = scope
        self.random = scope.random
        self.loops = list(loops)
        plain = [loop for loop in loops if not loop.extent.pack]
        extents = [extent for _, extent in scope.steps] + [loop.extent.value for loop in plain]
        if np.prod([1, *extents]) > 50_000:
            raise RetryError
        grids = np.indices(tuple(extents)).reshape(len(extents), -1) if extents else np.zeros((0, 1), dtype=np.int64)
        names = [name for name, _ in scope.steps] + [loop.name for loop in plain]
        self.variables = {n: Index(n, PRIMARY, g, g) for n, g in zip(names, grids, strict=True)}
        self.sizes = dict(zip(names, extents, strict=True))
        self.lets: dict[str, Index] = {}
        self.mask: Array = np.ones(grids.shape[1], dtype=bool)
        self.plain = {loop.name for loop in plain}
        self.negatable = False  # whether the verifier knows what holds where the last condition does not

    @property
    def empty(self) -> bool:
        return not self.mask.any()

    def constant(self, value: int) -> Index:
        """A literal, or a dim that has the value."""
        array = np.full(len(self.mask), value)
        names = [e.text for e in self.scope.extents if e.value == value and not e.pack]
        if names and self.random.random() < 0.3:
            return Index(self.random.choice(names), PRIMARY, array, array)
        if value < 0:
            return Index(str(value), UNARY, array, array)
        return Index(str(value), PRIMARY, array, array)

    def bounds(self, index: Index) -> tuple[int, int]:
        if self.empty:
            return 0, 0
        return int(index.low[self.mask].min()), int(index.high[self.mask].max())

    def fits(self, index: Index, extent: int) -> bool:
        low, high = self.bounds(index)
        return low >= 0 and high < extent

    # --- making --------------------------------------------------------------------------------------

    def leaf(self) -> Index:
        choices = [*self.variables.values(), *self.lets.values()]
        if choices and self.random.random() < 0.85:
            return self.random.choice(choices)
        return self.constant(self.random.randint(0, 4))

    def free(self, depth: int) -> Index:
        """Any index expression."""
        roll = self.random.random()
        if depth <= 0 or roll < 0.2:
            return self.leaf()
        a = self.free(depth - 1)
        if roll < 0.45:
            return plus(a, self.free(depth - 1))
        if roll < 0.6:
            b = self.free(depth - 1)
            return Index(f"{a.at(ADD)} - {b.at(MULTIPLY)}", ADD, a.low - b.high, a.high - b.low)
        if roll < 0.7:
            factor = self.random.randint(-3, 3)
            c = self.constant(factor)
            low, high = (a.low * factor, a.high * factor) if factor >= 0 else (a.high * factor, a.low * factor)
            text = f"{c.at(UNARY)}*{a.at(UNARY)}" if self.random.random() < 0.7 else f"{a.at(MULTIPLY)}*{c.at(UNARY)}"
            return Index(text, MULTIPLY, low, high)
        if roll < 0.78:
            return self.divided(a, self.random.randint(1, 4))
        if roll < 0.86:
            return self.remainder(a, self.random.randint(1, 5))
        if roll < 0.92:
            b = self.free(depth - 1)
            return Index(f"min({a.text}, {b.text})", PRIMARY, np.minimum(a.low, b.low), np.minimum(a.high, b.high))
        if roll < 0.96:
            b = self.free(depth - 1)
            return Index(f"max({a.text}, {b.text})", PRIMARY, np.maximum(a.low, b.low), np.maximum(a.high, b.high))
        condition = self.condition(depth - 1)
        if condition is None:
            return a
        text, holds = condition
        b = self.free(depth - 1)
        low, high = np.where(holds, a.low, b.low), np.where(holds, a.high, b.high)
        return Index(f"select({text}, {a.text}, {b.text})", PRIMARY, low, high)

    def divided(self, a: Index, divisor: int) -> Index:
        c = self.constant(divisor)
        return Index(f"{a.at(MULTIPLY)} // {c.text}", MULTIPLY, a.low // divisor, a.high // divisor)

    def remainder(self, a: Index, divisor: int, text: str = "") -> Index:
        c = text or self.constant(divisor).text
        same = a.low // divisor == a.high // divisor
        low, high = np.where(same, a.low % divisor, 0), np.where(same, a.high % divisor, divisor - 1)
        return Index(f"{a.at(MULTIPLY)} % {c}", MULTIPLY, low, high)

    def within(self, extent: Extent, depth: int = 2) -> Index:
        """An index expression that stays inside of an axis wherever the mask holds."""
        fitting = [v for name, v in self.variables.items() if self.sizes[name] <= extent.value]
        fitting += [v for v in self.lets.values() if self.fits(v, extent.value)]
        same = [v for name, v in self.variables.items() if name in self.plain and self.sizes[name] == extent.value]
        roll = self.random.random()
        if same and roll < 0.45:
            return self.random.choice(same)
        if fitting and roll < 0.6:
            return self.random.choice(fitting)
        last = self.constant(extent.value - 1)
        last = Index(f"{extent.text} - 1", ADD, last.low, last.high) if self.random.random() < 0.5 else last
        if fitting and roll < 0.66:
            v = self.random.choice(fitting)
            return Index(f"{last.at(ADD)} - {v.at(MULTIPLY)}", ADD, last.low - v.high, last.high - v.low)
        if roll < 0.72:
            return last if self.random.random() < 0.5 else self.constant(self.random.randrange(extent.value))
        for _ in range(3):
            index = self.free(depth)
            if self.fits(index, extent.value):
                return index
        return self.forced(index, extent)

    def forced(self, index: Index, extent: Extent) -> Index:
        """Wrapped round or clamped."""
        if self.random.random() < 0.5:
            return self.remainder(index, extent.value, extent.text if simple(extent.text) else f"({extent.text})")
        last = np.full(len(self.mask), extent.value - 1)
        low, high = np.clip(index.low, 0, last), np.clip(index.high, 0, last)
        if self.random.random() < 0.5:
            return Index(f"min(max({index.text}, 0), {extent.text} - 1)", PRIMARY, low, high)
        return Index(f"max(min({index.text}, {extent.text} - 1), 0)", PRIMARY, low, high)

    def condition(self, depth: int) -> tuple[str, Array] | None:
        """A comparison of index expressions, and where it holds."""
        a = self.free(depth)
        if a.low is not a.high and (a.low != a.high).any():
            return None
        self.negatable = False
        roll = self.random.random()
        low, high = (int(a.low.min()), int(a.low.max()))
        middle = self.random.randint(low, high)
        if roll < 0.25:
            divisor = self.random.randint(2, 3)
            rest = self.random.randrange(divisor)
            if self.random.random() < 0.2:
                return f"{a.at(MULTIPLY)} % {divisor} != {rest}", a.low % divisor != rest
            return f"{a.at(MULTIPLY)} % {divisor} == {rest}", a.low % divisor == rest
        if roll < 0.5:
            c = self.constant(max(middle, 0))
            return f"0 <= {a.at(ADD)} < {c.at(ADD)} + 1", (a.low >= 0) & (a.low < c.low + 1)
        b = self.free(depth - 1) if roll < 0.75 else self.constant(middle)
        if (b.low != b.high).any():
            return None
        operator = self.random.choice(["<", "<=", ">", ">=", "==", "!="])
        holds = {
            "<": a.low < b.low,
            "<=": a.low <= b.low,
            ">": a.low > b.low,
            ">=": a.low >= b.low,
            "==": a.low == b.low,
            "!=": a.low != b.low,
        }[operator]
        self.negatable = operator in ("<", "<=", ">", ">=")
        return f"{a.at(ADD)} {operator} {b.at(ADD)}", holds


def plus(a: Index, b: Index) -> Index:
    return Index(f"{a.at(ADD)} + {b.at(MULTIPLY)}", ADD, a.low + b.low, a.high + b.high)


def simple(text: str) -> bool:
    return text.isidentifier() or text.isdigit()
