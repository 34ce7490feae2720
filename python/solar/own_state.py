"""What a model changes in itself when it runs, beside the states that the traced program has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Mapping, Set

    from torch import nn

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_SHOWN = 4


def attributes_of(model: nn.Module) -> dict[str, Any]:
    """By dotted name what tells whether an attribute, parameter or buffer is still the same."""
    found: dict[str, Any] = {}
    for place, module in model.named_modules():
        prefix = f"{place}." if place else ""
        own = {name: value for name, value in vars(module).items() if name not in ("_modules", "training")}
        parts = [own.pop(group, {}) for group in ("_parameters", "_buffers")]
        for name, value in [*own.items(), *(item for part in parts for item in part.items())]:
            found[prefix + name] = _mark(value)
    return found


def _mark(value: Any) -> Any:
    """Equal as long as nothing is assigned or written; of containers, one level deep."""
    if isinstance(value, torch.Tensor):
        return id(value), 0 if value.is_inference() else value._version
    if isinstance(value, _PLAIN):
        return repr(value)
    if isinstance(value, (list, tuple, set, frozenset)):
        return id(value), [_mark(v) if isinstance(v, _PLAIN) else id(v) for v in value]
    if isinstance(value, dict):
        return id(value), [(id(k), _mark(v) if isinstance(v, _PLAIN) else id(v)) for k, v in value.items()]
    return id(value)


def changed(before: Mapping[str, Any], model: nn.Module, states: Set[str]) -> list[str]:
    """The names whose marks are others than `before`; `states` are known to change."""
    after = attributes_of(model)
    names = [name for name in after if name not in states and after[name] != before.get(name)]
    return names + [name for name in before if name not in after]


def warning(names: list[str]) -> str:
    """What to say of names whose change makes another run on the same inputs give other results."""
    shown = ", ".join(f"`{name}`" for name in names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    return f"the original changes {shown} when it runs: what is validated is its first run, a later one differs"
