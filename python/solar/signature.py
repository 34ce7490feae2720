"""What forward takes: its parameters, and names for the leaves of the example inputs."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

import torch.utils._pytree as pytree
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Callable


class FunctionModule(nn.Module):
    """A plain function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = function
        self.__signature__ = inspect.signature(function)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function."""
        return self._function(*args, **kwargs)


def required_parameters(function: Callable[..., Any]) -> list[str]:
    """Names of the parameters without which `function` cannot be called."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ["?"]
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in parameters if p.default is p.empty and p.kind not in variable]


def forward_signature(model: nn.Module) -> inspect.Signature | None:
    """The signature of forward, or of the function that the module wraps."""
    if isinstance(model, FunctionModule):
        return model.__signature__
    try:
        return inspect.signature(model.forward)
    except (TypeError, ValueError):
        return None


def forward_line(model: nn.Module) -> int:
    """The line where forward is defined, or 0."""
    function = model._function if isinstance(model, FunctionModule) else type(model).forward
    code = getattr(function, "__code__", None)
    return code.co_firstlineno if code is not None else 0


def input_names(model: nn.Module, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, ...]:
    """One identifier per leaf of (inputs, kwargs), after forward's parameters."""
    names: list[str] = []
    signature = forward_signature(model)
    parameters = list(signature.parameters.values()) if signature else []
    labels: list[str] = []
    for position in range(len(inputs)):
        if position < len(parameters) and parameters[position].kind is not inspect.Parameter.VAR_POSITIONAL:
            labels.append(parameters[position].name)
        else:
            labels.append(f"x{position}")
    used: set[str] = set()
    leaves, _ = pytree.tree_flatten_with_path((inputs, kwargs))
    for path, _ in leaves:
        keys = [re.sub(r"[^0-9A-Za-z]+", "_", str(key)).strip("_") for key in path[1:]]
        if str(path[0]) == "[0]":
            keys[0] = labels[int(keys[0])]
        base = identifier("_".join(keys))
        name, count = base, 1
        while name in used:
            count += 1
            name = f"{base}_{count}"
        used.add(name)
        names.append(name)
    return tuple(names)


def identifier(text: str) -> str:
    """`text` as an identifier: letters, digits, underscores; leading numbers (`12_softmax`) are dropped."""
    clean = re.sub(r"[^0-9A-Za-z_]+", "_", text).strip("_")
    return clean.lstrip("0123456789_") or f"p{clean}"
