"""What a random program may refer to at one place."""

import random
from dataclasses import dataclass, field
from typing import Any

from ..numpy_values import FLOATS, INTEGERS
from .facts import Fact
from .tree import Node, OwnFunction

NUMBERS = (*FLOATS, *INTEGERS)
ELEMENTS = (*NUMBERS, "bool")
# f32 and i64 are the commonest by far in real programs too.
WEIGHTED = ("f32",) * 8 + ("i64",) * 4 + ("bool",) * 3 + ELEMENTS
MOST_ELEMENTS = 1500
MOST_POINTS = 6000

# How tightly an expression's text binds.
OR, AND, NOT, COMPARE, ADD, MULTIPLY, UNARY, PRIMARY = range(8)


@dataclass(frozen=True)
class Extent:
    """An extent as written, and its value. `pack`: the ranks of a pack, of which the text is `*NAME`."""

    text: str
    value: int
    pack: bool = False


@dataclass(frozen=True)
class Tensor:
    name: str
    element: str
    shape: tuple[Extent, ...]
    fact: Fact

    @property
    def count(self) -> int:
        count = 1
        for extent in self.shape:
            count *= extent.value
        return count

    @property
    def packed(self) -> bool:
        return any(extent.pack for extent in self.shape)

    def type_text(self, scope: "Scope") -> str:
        return f"{scope.element_text(self.element)}[{', '.join(extent.text for extent in self.shape)}]"


@dataclass
class Shared:
    """Of the whole program."""

    random: random.Random
    features: frozenset[str]
    names: int = 0
    functions: list[OwnFunction] = field(default_factory=list)
    signatures: list[Any] = field(default_factory=list)
    used: set[str] = field(default_factory=set)  # features that the program has
    errors: dict[str, Tensor] = field(default_factory=dict)  # every tensor by name


class RetryError(Exception):
    """The random choices made so far lead nowhere: forget them and choose again."""


@dataclass
class Scope:
    shared: Shared
    tensors: list[Tensor]
    extents: list[Extent]
    steps: list[tuple[str, int]] = field(default_factory=list)  # variables of the repeats around
    types: dict[str, list[str]] = field(default_factory=dict)  # element -> its names here
    depth: int = 0  # of loops and branches around
    packs: list[Extent] = field(default_factory=list)

    @property
    def random(self) -> random.Random:
        return self.shared.random

    def has(self, feature: str) -> bool:
        return feature in self.shared.features

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def fresh(self, letter: str = "t") -> str:
        self.shared.names += 1
        return f"{letter}{self.shared.names}"

    def inner(self) -> "Scope":
        return Scope(
            self.shared, list(self.tensors), self.extents, list(self.steps), self.types, self.depth + 1, self.packs
        )

    def element_text(self, element: str) -> str:
        return self.random.choice(self.types[element]) if element in self.types else element

    def add(self, tensor: Tensor) -> Tensor:
        self.tensors.append(tensor)
        self.shared.errors[tensor.name] = tensor
        return tensor

    def define(self, node_text: str, *tensors: Tensor) -> Node:
        for tensor in tensors:
            self.add(tensor)
        return Node(node_text, tuple(tensor.name for tensor in tensors))

    def pick(self, condition: "object" = None) -> Tensor:
        """A tensor, late ones more likely."""
        fitting = [t for t in self.tensors if condition is None or condition(t)]  # type: ignore[operator]
        if not fitting:
            raise RetryError
        last = fitting[-3:]
        return self.random.choice(last if self.chance(0.5) else fitting)

    def step_count(self) -> int:
        count = 1
        for _, extent in self.steps:
            count *= extent
        return count

    def extent(self, most: int = 7) -> Extent:
        """An extent of the program's dims or made of them."""
        plain = [e for e in self.extents if e.value <= most]
        roll = self.random.random()
        if plain and roll < 0.75:
            return self.random.choice(plain)
        if plain and roll < 0.9:
            base = self.random.choice(plain)
            forms = [(f"{base.text} + 1", base.value + 1), (f"2*{base.text}", 2 * base.value),
                     (f"{base.text} - 1", base.value - 1), (f"({base.text} + 1) // 2", (base.value + 1) // 2),
                     (f"min({base.text}, 3)", min(base.value, 3)), (f"max({base.text}, 2)", max(base.value, 2)),
                     (f"{base.text} % 3 + 1", base.value % 3 + 1)]  # fmt: skip
            text, value = self.random.choice(forms)
            if 1 <= value <= most:
                return Extent(text, value)
        value = self.random.randint(1, max(1, min(4, most)))
        return Extent(str(value), value)

    def new_shape(self, most_rank: int = 3) -> tuple[Extent, ...]:
        rank = self.random.choice([r for r in (0, 1, 1, 2, 2, 2, 3, 3, 4) if r <= most_rank])
        return tuple(self.extent() for _ in range(rank))
