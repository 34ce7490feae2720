"""Which axes of two shapes with the same elements correspond: the common refinement of a reshape."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# Axes of the old shape, axes of the new one, and the extents both are made of where neither side is one axis.
Piece = tuple[list[int], list[int], list[int] | None]


def without_minus_one(old: Sequence[int], new: Sequence[int]) -> tuple[int, ...]:
    """The new shape with torch's -1 replaced by the extent it stands for."""
    known = math.prod(n for n in new if n != -1)
    return tuple(math.prod(old) // known if n == -1 else n for n in new)


def refine(old: Sequence[int], new: Sequence[int]) -> list[Piece] | None:
    """Groups axes of both shapes with equal products; None if a group has no common refinement.

    An axis of extent 1 stays with a neighbour where it can: a batch of one then gives the program that a batch of
    two gives.
    """
    pieces: list[Piece] = []
    i = j = 0
    while i < len(old) and j < len(new):
        ins, outs = [i], [j]
        left, right = old[i], new[j]
        i, j = i + 1, j + 1
        while left != right:
            if left < right:
                left *= old[i]
                ins.append(i)
                i += 1
            else:
                right *= new[j]
                outs.append(j)
                j += 1
        atoms: list[int] | None = None
        if len(ins) > 1 and len(outs) > 1:
            atoms = _atoms([old[a] for a in ins], [new[a] for a in outs])
            if atoms is None:
                return None
        pieces.append((ins, outs, atoms))
    if i < len(old):
        pieces.append((list(range(i, len(old))), [], None))
    if j < len(new):
        pieces.append(([], list(range(j, len(new))), None))
    return pieces


def _atoms(old: list[int], new: list[int]) -> list[int] | None:
    """Extents, outermost first, of which both shapes are made, or None."""
    bounds: set[int] = set()
    for shape in (old, new):
        product = 1
        for extent in reversed(shape):
            product *= extent
            bounds.add(product)
    atoms: list[int] = []
    previous = 1
    for bound in sorted(bounds):
        if bound % previous:
            return None
        if bound != previous:
            atoms.append(bound // previous)
        previous = bound
    return atoms[::-1]


def atom_patterns(extents: Sequence[int], atoms: Sequence[int], names: Sequence[str], dims: Sequence[str]) -> list[str]:
    """The axes of a view's pattern, for axes that are products of consecutive atoms.

    With `dims` the atoms of an axis that has several carry their extents.
    """
    texts: list[str] = []
    position = 0
    for extent in extents:
        mine: list[str] = []
        product = 1
        while product != extent:
            mine.append(f"{names[position]}:{dims[position]}" if dims else names[position])
            product *= atoms[position]
            position += 1
        if not mine:
            texts.append("1")
        elif len(mine) == 1:
            texts.append(mine[0].partition(":")[0])
        else:
            texts.append(f"({', '.join(mine)})")
    return texts
