"""Finds what the ports of a program that was written by hand stand for in the original."""

from __future__ import annotations

import difflib
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
import torch.utils._pytree as pytree

from solar.problems import Problem, SourceError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solar.golden import Port
    from solar.sources import LoadedProgram


def resolve_ports(loaded: LoadedProgram, ports: Sequence[Port]) -> list[Port]:
    """The ports with `index` or `key` set: inputs by name or else in order, the others by their state_dict key.

    A key is written with underscores for its dots (`layers.0.weight` is `layers_0_weight`). Raises SourceError
    (unknown-name, rank-mismatch) where the original has nothing of that name or another number of inputs.
    """
    inputs = _input_leaves(loaded, [port.name for port in ports if port.role == "input"])
    keys = _tensor_keys(loaded)
    resolved = []
    problems = []
    for port in ports:
        if port.role == "input":
            resolved.append(replace(port, index=inputs[port.name]))
        elif port.role in ("const", "rng"):
            resolved.append(port)
        elif port.name in keys:
            resolved.append(replace(port, key=keys[port.name]))
        else:
            near = difflib.get_close_matches(port.name, keys, n=3)
            known = near or sorted(keys)[:8]
            hint = f"it has {', '.join(f'`{name}`' for name in known)}" if known else "it has no parameters or buffers"
            message = f"the original has no tensor for the {port.role} `{port.name}`"
            problems.append(Problem("unknown-name", message, loaded.path, 0, hint))
    if problems:
        raise SourceError(*problems)
    return resolved


def _input_leaves(loaded: LoadedProgram, names: list[str]) -> dict[str, int]:
    if all(name in loaded.input_names for name in names):
        return {name: loaded.input_names.index(name) for name in names}
    leaves = pytree.tree_leaves((loaded.inputs, loaded.kwargs))
    tensors = [place for place, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
    if len(tensors) != len(names):
        own = ", ".join(f"`{name}`" for name in loaded.input_names)
        message = f"the program takes {len(names)} inputs, the original {len(tensors)} tensors"
        hint = f"give the inputs the original's names ({own}), or as many in its order"
        raise SourceError(Problem("rank-mismatch", message, loaded.path, 0, hint))
    return dict(zip(names, tensors, strict=True))


def _tensor_keys(loaded: LoadedProgram) -> dict[str, str]:
    """The model's dotted paths by the names that ports give them; the first of tied tensors comes first."""
    model = loaded.model
    keys: dict[str, str] = {}
    named = (*model.named_parameters(remove_duplicate=False), *model.named_buffers(remove_duplicate=False))
    for key, _ in named:
        keys.setdefault(re.sub(r"\W", "_", key, flags=re.ASCII), key)
    return keys
