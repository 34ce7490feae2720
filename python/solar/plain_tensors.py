"""Tensors of a source must be plain: dense elements in strided memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.utils._pytree as pytree
from torch import nn

from solar.problems import Problem, SourceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def irregularity(tensor: torch.Tensor) -> str:
    """`sparse (torch.sparse_coo)`, or empty for a plain tensor."""
    if tensor.is_nested:
        return "nested: its rows have lengths of their own"
    if tensor.is_quantized:
        return f"quantized ({tensor.dtype})"
    if tensor.layout is not torch.strided:
        return f"{'opaque' if tensor.is_mkldnn else 'sparse'} ({tensor.layout})"
    return ""


def irregular(what: str, tensor: Any, path: str, line: int = 0) -> Problem | None:
    """The problem of a tensor that is not plain."""
    reason = irregularity(tensor) if isinstance(tensor, torch.Tensor) else ""
    if not reason:
        return None
    hints = {
        "nested": "pass a padded tensor and the lengths",
        "quantized": "pass its integers (`.int_repr()`) and its scale, or `.dequantize()` it",
    }
    hint = hints.get(reason.split(":")[0].split(" ")[0], "pass `.to_dense()`, or the dense tensors that it consists of")
    return Problem("source-form", f"{what} is {reason}; only dense tensors can be analysed", path, line, hint)


def check_tensors(names: Iterable[str], leaves: Sequence[Any], path: str, line: int = 0) -> None:
    """Raises SourceError for the example inputs that are not plain."""
    found = [irregular(f"input `{name}`", leaf, path, line) for name, leaf in zip(names, leaves, strict=False)]
    refuse(found)


def check_model(model: nn.Module, path: str) -> None:
    """Raises SourceError for parameters, buffers and other tensors of modules that are not plain."""
    found = [irregular(f"parameter `{name}`", tensor, path) for name, tensor in model.named_parameters()]
    found += [irregular(f"buffer `{name}`", tensor, path) for name, tensor in model.named_buffers()]
    for place, module in model.named_modules():
        for name, value in vars(module).items():
            found.append(irregular(f"attribute `{place}{'.' if place else ''}{name}`", value, path))
    refuse(found)


def check_made(values: Any, what: str, path: str, line: int = 0) -> None:
    """Raises SourceError for tensors anywhere in `values`, whose names are not known yet."""
    refuse(irregular(f"a tensor of {what}", leaf, path, line) for leaf in pytree.tree_leaves(values))


def refuse(found: Iterable[Problem | None]) -> None:
    """Raises the problems that there are."""
    problems = tuple(problem for problem in found if problem is not None)
    if problems:
        raise SourceError(*problems)
