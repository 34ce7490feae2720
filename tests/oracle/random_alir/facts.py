"""What a generator knows of a value: where it lies, and how far two correct executors may differ in it."""

import math
from dataclasses import dataclass, replace

from ..numpy_values import INTEGERS, NARROW

LARGEST = 1e6  # of values that are not exact: beyond it error bounds lose their meaning


@dataclass(frozen=True)
class Fact:
    """Bounds of the finite elements, and of the difference between two correct results (0: they are equal).

    `grain`: every finite element is a multiple of this power of two, or 0. `special`: may hold infinities and NaN.
    """

    low: float
    high: float
    grain: float = 0.0
    error: float = 0.0
    special: bool = False

    @property
    def exact(self) -> bool:
        return self.error == 0

    @property
    def most(self) -> float:
        return max(abs(self.low), abs(self.high))

    def within(self, other: "Fact") -> bool:
        inside = other.low <= self.low and self.high <= other.high and self.error <= other.error
        multiple = other.grain == 0 or (self.grain != 0 and self.grain >= other.grain)
        return inside and multiple and (other.special or not self.special)

    def joined(self, other: "Fact") -> "Fact":
        return Fact(
            min(self.low, other.low),
            max(self.high, other.high),
            min(self.grain, other.grain),
            max(self.error, other.error),
            self.special or other.special,
        )


BOOL = Fact(0, 1, 1.0)


def unit(element: str) -> float:
    """Relative error of one rounding."""
    if element in NARROW:
        return float(2.0 ** -(NARROW[element].mantissa_bits + 1))
    return float(2.0**-53) if element == "f64" else float(2.0**-24)


def compute_unit(element: str) -> float:
    return float(2.0**-53) if element == "f64" else float(2.0**-24)


def mantissa(element: str) -> int:
    """Integers up to this are exact while computing."""
    return (2**53) if element == "f64" else (2**24)


def sum_of(fact: Fact, count: int, element: str) -> Fact:
    """`count` such values added up in any order."""
    low, high = fact.low * count, fact.high * count
    if element in INTEGERS:
        return Fact(int(low), int(high), 1.0)
    most = fact.most * count
    if fact.exact and fact.grain > 0 and most / fact.grain < mantissa(element):
        return replace(fact, low=low, high=high)
    error = fact.error * count + 2 * count * compute_unit(element) * most
    return Fact(low, high, 0.0, error, fact.special)


def product_of(fact: Fact, count: int, element: str) -> Fact | None:
    """`count` such values multiplied in any order; None where that grows too much."""
    most = max(fact.most, 1.0) ** count
    if most > 2**40 or (fact.special and not fact.exact):
        return None
    if element in INTEGERS:
        return Fact(-int(most), int(most), 1.0)
    grain = fact.grain**count if fact.grain else 0.0
    if fact.exact and grain > 0 and most / grain < mantissa(element) and grain > 2.0**-60:
        return replace(fact, low=-most, high=most, grain=grain)
    if most > LARGEST:
        return None
    error = count * (fact.error + 2 * compute_unit(element)) * most * (1 + fact.error) ** count
    return Fact(-most, most, 0.0, error, fact.special)


def stored(fact: Fact, element: str) -> Fact:
    """After a store or a cast to the type, from the same kind of number or any other."""
    if element == "bool":
        return BOOL
    if element in INTEGERS:
        return stored_integer(fact, element)
    step = unit(element)
    low, high, special = fact.low - abs(fact.low) * step, fact.high + abs(fact.high) * step, fact.special
    if element in NARROW and max(abs(low), abs(high)) > NARROW[element].largest:
        largest = NARROW[element].largest
        low, high, special = max(low, -largest), min(high, largest), special or element != "f4e2m1"
    if fact.exact:
        grain = fact.grain if fact.grain >= smallest(element) else 0.0
        return Fact(float(low), float(high), grain, 0.0, special)
    return Fact(low, high, 0.0, fact.error + 4 * step * fact.most + smallest(element), special)


def smallest(element: str) -> float:
    """The spacing of the numbers around zero."""
    if element in NARROW:
        return float(2.0 ** (1 - NARROW[element].bias - NARROW[element].mantissa_bits))
    return float(2.0**-149)


def stored_integer(fact: Fact, element: str) -> Fact:
    low, high = INTEGERS[element]
    if fact.special or not (math.isfinite(fact.low) and math.isfinite(fact.high)):
        return Fact(low, high, 1.0)
    if fact.low < low or fact.high > high:  # wraps, or saturates
        return Fact(low, high, 1.0)
    return Fact(math.floor(fact.low), math.ceil(fact.high), 1.0)
