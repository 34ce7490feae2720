"""`.to(dtype)`, `.half()` and the like on modules of fake tensors."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextlib.contextmanager
def replacing_parameters() -> Iterator[None]:
    """While active, converting a module gives it new parameters instead of changing the old ones in place.

    PyTorch swaps a fake parameter with its converted one, which it refuses where anything else refers to either. A
    parameter that several modules share stays shared.
    """
    original = nn.Module._apply
    converted: dict[int, tuple[nn.Parameter, nn.Parameter]] = {}  # the old ones live on, so that ids stay theirs
    depth = 0

    def convert(parameter: nn.Parameter, function: Callable[[torch.Tensor], torch.Tensor]) -> nn.Parameter:
        known = converted.get(id(parameter))
        if known is None:
            with torch.no_grad():
                value = function(parameter)
            new = nn.Parameter(value, requires_grad=parameter.requires_grad and value.is_floating_point())
            known = converted[id(parameter)] = (parameter, new)
        return known[1]

    def apply(self: nn.Module, fn: Callable[[Any], Any], recurse: bool = True) -> nn.Module:
        nonlocal depth
        depth += 1
        try:
            if recurse:
                for module in self.children():
                    module._apply(fn)
            for name, parameter in self._parameters.items():
                if parameter is not None:
                    self._parameters[name] = convert(parameter, fn)
            for name, buffer in self._buffers.items():
                if buffer is not None:
                    self._buffers[name] = fn(buffer)
        finally:
            depth -= 1
            if depth == 0:
                converted.clear()
        return self

    nn.Module._apply = apply  # type: ignore[method-assign]
    try:
        yield
    finally:
        nn.Module._apply = original  # type: ignore[method-assign]
