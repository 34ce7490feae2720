"""Branches on the values of tensors: noted where a real run takes them, and taken the same way again.

A trace has no values. It follows the way that the example inputs go, and so does the original that it is compared with.
"""

from __future__ import annotations

import linecache
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from solar.sources import LoadedProgram

PORT = "solar.branches"  # among the constants of a trace: which way each went; no port has a dot in its name
LARGEST = 1 << 29  # parameters of a model that is run for the sake of its branches
QUESTIONS = {
    torch.Tensor.__bool__,
    torch.Tensor.is_nonzero,
    torch.is_nonzero,
    torch.Tensor.equal,
    torch.equal,
    torch.Tensor.allclose,
    torch.allclose,
}


@dataclass(frozen=True, slots=True)
class Branch:
    """One question to a tensor, where the user's file asks it (0: elsewhere), and the answer."""

    line: int
    taken: bool


class _Noting(TorchFunctionMode):
    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path
        self.branches: list[Branch] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func in QUESTIONS:
            self.branches.append(Branch(_line(self.path), bool(result)))
        return result


class Following(TorchFunctionMode):
    """Within it every question is answered as it was noted, from the first again once all were asked."""

    def __init__(self, answers: Sequence[bool]) -> None:
        super().__init__()
        self.answers = answers
        self.asked = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func not in QUESTIONS:
            return func(*args, **(kwargs or {}))
        self.asked += 1
        return self.answers[(self.asked - 1) % len(self.answers)]


def branches_of(loaded: LoadedProgram) -> list[Branch]:
    """The branches of a run at the example inputs, which must be real. Raises SourceError."""
    from solar.golden import call_forward

    with torch.no_grad(), _Noting(loaded.path) as noting:
        call_forward(loaded, loaded.model, loaded.inputs, loaded.kwargs)
    return noting.branches


def may_run(loaded: LoadedProgram) -> bool:
    """Whether a model, on fake tensors, is small enough to be run beside its trace."""
    return sum(parameter.numel() for parameter in loaded.model.parameters()) <= LARGEST


def answers(branches: Iterable[Branch]) -> torch.Tensor:
    """Which way each went, as a tensor of the trace's constants."""
    return torch.tensor([branch.taken for branch in branches])


def warnings(branches: Sequence[Branch], path: str) -> tuple[str, ...]:
    """What the user should know: every line that asks, and the way it went."""
    by_line: dict[int, list[bool]] = {}
    for branch in branches:
        by_line.setdefault(branch.line, []).append(branch.taken)
    return tuple(_told(line, taken, path) for line, taken in by_line.items())


def _told(line: int, taken: Sequence[bool], path: str) -> str:
    text = linecache.getline(path, line).strip() if line else ""
    place = f"{os.path.basename(path)}:{line}" if line else "a library"
    ways = "true" if all(taken) else "false" if not any(taken) else f"true {sum(taken)} of {len(taken)} times"
    times = f" ({len(taken)} times)" if len(taken) > 1 and len(set(taken)) == 1 else ""
    what = f"`{text}`" if text else "a condition"
    return (
        f"{what} at {place} depends on data: it is {ways}{times} at the example inputs, and only that way is analysed"
    )


def _line(path: str) -> int:
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename == path:
            return frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return 0
