"""Names of the IR text: reserved words, loop letters, and names that are all different."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

RESERVED = frozenset(
    re.findall(
        r"\w+",
        """
        program input param buffer state const rng fn type dims require op at module nominal kernel indexed scatter
        view slice let stack repeat with while limit if else next test update hole opaque macs reads writes for where
        in init base unique seq revseq reverse size as and or not wide min max select true false inf nan prev
        f64 f32 f16 bf16 f8e4m3 f8e5m2 f4e2m1 i64 i32 i16 i8 i4 u8 bool
        """,
    )
)


def identifier(text: str) -> str:
    """`text` as a name that the language accepts."""
    name = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_") or "value"
    if name[0].isdigit():
        name = f"_{name}"
    return f"{name}_0" if name in RESERVED else name


def letters(taken: Collection[str]) -> Iterator[str]:
    """Short names for the axes of a view: a, b, ..., z, a1, ... without the taken ones."""
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    for round_ in itertools.count():
        for letter in alphabet:
            name = f"{letter}{round_ or ''}"
            if name not in taken and name not in RESERVED:
                yield name


class Namespace:
    """Hands out names, each once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def claim(self, wanted: str) -> str:
        base = identifier(wanted)
        name = base
        for number in itertools.count(2):
            if name not in self._taken:
                break
            name = f"{base}_{number}"
        self._taken.add(name)
        return name
