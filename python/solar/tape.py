"""What a constructor computes without parameters or random numbers: masks, above all.

The model is built of tensors without values. A tape notes every operator that the constructor runs; those that a
buffer comes from can then be run for real, alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from solar.golden import lookup
from solar.randomness import DRAWS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from solar.sources import LoadedProgram

_MOST_ELEMENTS = 1 << 26  # of all tensors that are computed for one buffer


class Tape(TorchDispatchMode):
    """Notes the operators that run under it."""

    def __init__(self) -> None:
        super().__init__()
        self._calls: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], Any]] = []
        self._results: dict[int, dict[int, int]] = {}

    def __torch_dispatch__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = function(*args, **(kwargs or {}))
        self._calls.append((function, args, kwargs or {}, result))
        return result

    def values(self, wanted: torch.Tensor) -> torch.Tensor | None:
        """The tensor's elements; None if they are random, come from outside or are too many."""
        needed = {_memory(wanted)}
        calls = []
        elements = 0
        for place in reversed(range(len(self._calls))):
            touched = self._touched(place)
            if needed.isdisjoint(touched):
                continue
            function, args, kwargs, _ = call = self._calls[place]
            operands = _tensors((args, kwargs))
            elements += sum(touched.values())
            name = function.__name__.split(".")[0]
            if name in DRAWS or elements > _MOST_ELEMENTS or any(isinstance(t, torch.nn.Parameter) for t in operands):
                return None
            needed.update(_memory(t) for t in operands)
            calls.append(call)
        real: dict[int, torch.Tensor] = {}
        for function, args, kwargs, result in reversed(calls):
            if not _replay(function, args, kwargs, result, real):
                return None
        return real.get(id(wanted))

    def _touched(self, place: int) -> dict[int, int]:
        """The memories that a call's results lie in, and their elements."""
        if place not in self._results:
            self._results[place] = {_memory(t): t.numel() for t in _tensors(self._calls[place][3])}
        return self._results[place]


def _replay(function: Any, args: Any, kwargs: Any, result: Any, real: dict[int, torch.Tensor]) -> bool:
    """Runs one call on real tensors, by the identities of those without values. False: one is missing."""
    missing = False

    def value(leaf: Any) -> Any:
        nonlocal missing
        if not isinstance(leaf, torch._subclasses.FakeTensor):
            return leaf
        missing = missing or id(leaf) not in real
        return real.get(id(leaf), leaf)

    args, kwargs = pytree.tree_map(value, (args, kwargs))
    if missing:
        return False
    outputs = pytree.tree_leaves(function(*args, **kwargs))
    for shape_only, output in zip(pytree.tree_leaves(result), outputs, strict=True):
        if isinstance(shape_only, torch.Tensor):
            real[id(shape_only)] = output
    return True


def _tensors(tree: Any) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def _memory(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata


def is_mask(values: torch.Tensor) -> bool:
    """Whether a buffer holds exactly two values, as a mask does: 0 or false, and 1, true, -inf or the lowest number."""
    if values.is_complex():
        return False
    kinds = values.unique()
    if kinds.numel() != 2:
        return False
    others = [v for v in kinds.tolist() if v != 0]
    lowest = torch.finfo(values.dtype).min if values.dtype.is_floating_point else None
    return len(others) == 1 and others[0] in (1, float("-inf"), lowest)


def constructed_masks(loaded: LoadedProgram, ports: Iterable[Any]) -> dict[str, torch.Tensor]:
    """The values of those buffers among the traced ports that are masks which the constructor makes from nothing."""
    found: dict[str, torch.Tensor] = {}
    for port in ports:
        if port.role != "buffer" or port.key is None or loaded.tape is None:
            continue
        tensor = lookup(loaded, port)
        if tensor.ndim < 2 or not isinstance(tensor, torch._subclasses.FakeTensor):
            continue
        values = loaded.tape.values(tensor)
        if values is not None and values.shape == tensor.shape and is_mask(values):
            found[port.name] = values
    return found
