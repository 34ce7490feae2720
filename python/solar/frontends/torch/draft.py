"""A program while it is built: values, statements, ports. Names are tokens until the text is rendered."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from solar.frontends.torch.dtypes import Number


@dataclass(frozen=True, eq=False)
class Value:
    """A tensor of the program. Compared by identity."""

    token: str
    shape: tuple[int, ...]
    dtype: torch.dtype

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def axis(self, axis: int) -> int:
        """A torch axis number, negative ones counted from the end, as an index."""
        return axis % self.rank if self.rank else 0


Operand = Value | int | float | bool


@dataclass(frozen=True)
class Meta:
    """Shape and type of a result, as the framework computed them."""

    shape: tuple[int, ...]
    dtype: torch.dtype


@dataclass
class Statement:
    """One statement of the text, with the tokens it defines and uses."""

    defines: tuple[str, ...]
    uses: tuple[str, ...]
    text: str
    is_view: bool


@dataclass
class Group:
    """What one source operator emitted. `base` is the name its results are called after."""

    operator: str = ""
    at: str = ""
    module: str = ""
    nominal: str = ""
    base: str = ""
    statements: list[Statement] = field(default_factory=list)


@dataclass
class Port:
    """A tensor of the signature."""

    role: str
    value: Value
    name: str
    values: tuple[Number, ...] = ()


@dataclass
class Draft:
    """Everything that the text is made of.

    `hints` gives for every token the name it is called after (a name, or another token) and a suffix; `dims` the
    values of the tokens that are free dims; `extents` for every value the dim expressions of its axes, None where
    nobody has asked yet.
    """

    name: str
    hints: dict[str, tuple[str, str]] = field(default_factory=dict)
    dims: dict[str, int] = field(default_factory=dict)
    extents: dict[str, list[str | None]] = field(default_factory=dict)
    ports: list[Port] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    updates: list[tuple[str, str]] = field(default_factory=list)
    tokens: int = 0

    def token(self, base: str, suffix: str) -> str:
        """A new token, named later after `base`."""
        self.tokens += 1
        token = f"<{self.tokens}>"
        self.hints[token] = (base, suffix)
        return token

    def extent(self, value: Value, axis: int) -> str:
        """The dim expression of an axis; a new free dim where there is none yet."""
        known = self.extents[value.token][axis]
        if known is None:
            known = self.token(value.token, str(axis))
            self.dims[known] = value.shape[axis]
            self.extents[value.token][axis] = known
        return known


@dataclass(frozen=True)
class Program:
    """A finished program: its text, and the names that tokens, its ports and its results got."""

    text: str
    names: dict[str, str]
    port_names: dict[Value, str]
    output_names: tuple[str, ...]
    updates: dict[str, str]
    roles: dict[Value, str]
    dropped: int


def literal(value: Number) -> str:
    """A number as the language writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return repr(float(value))
