"""Numbers that a program takes out of tensors, where they follow from the program alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import fx

from solar.frontends.torch.errors import NotLoweredError

if TYPE_CHECKING:
    from collections.abc import Mapping

LARGEST = 1 << 22  # elements of a tensor that is computed for the sake of one number


class Folder:
    """Computes nodes for real. `constants` holds the tensors of placeholders whose values are known."""

    def __init__(self, constants: Mapping[fx.Node, torch.Tensor], written: set[fx.Node]) -> None:
        self._constants = constants
        self._written = written
        self._known: dict[fx.Node, Any] = {}
        self._symbols: dict[Any, int] = {}

    def item(self, node: fx.Node) -> int | float | bool:
        """The number in the tensor that a node gives. Raises NotLoweredError where it depends on the inputs."""
        value = self._value(node)
        number = value.item() if isinstance(value, torch.Tensor) else value
        return number

    def note(self, symbolic: Any, value: Any) -> None:
        """The exporter's symbol for a number, whose value is now known."""
        expression = getattr(getattr(symbolic, "node", None), "expr", None)
        if expression is not None and expression.is_Symbol and isinstance(value, int):
            self._symbols[expression] = value

    def size(self, extent: Any) -> int | None:
        """An extent as an integer; None where it depends on the inputs."""
        if isinstance(extent, int):
            return extent
        expression = extent.node.expr.subs(self._symbols)
        return int(expression) if expression.is_number else None

    def _value(self, node: fx.Node) -> Any:
        if node in self._known:
            return self._known[node]
        if node in self._constants:
            return self._constants[node]
        pending = [node]
        while pending:
            top = pending[-1]
            self._check(top)
            missing = [n for n in top.all_input_nodes if n not in self._known and n not in self._constants]
            if missing:
                pending += missing
                continue
            pending.pop()
            if top not in self._known:
                args, kwargs = fx.map_arg((top.args, dict(top.kwargs)), self._given)
                with torch.no_grad():
                    self._known[top] = top.target(*args, **kwargs)  # type: ignore[operator]
        return self._known[node]

    def _given(self, node: fx.Node) -> Any:
        return self._known[node] if node in self._known else self._constants[node]

    def _check(self, node: fx.Node) -> None:
        """Raises where a node cannot be computed."""
        if node.op != "call_function":
            raise NotLoweredError(f"the number depends on the values of `{node.name}`")
        tags = getattr(node.target, "tags", ())
        if node in self._written or torch.Tag.nondeterministic_seeded in tags:
            raise NotLoweredError("the number depends on memory that is written to, or on random numbers")
        for tensor in torch.utils._pytree.tree_leaves(node.meta.get("val")):
            if isinstance(tensor, torch.Tensor) and not 0 < tensor.numel() <= LARGEST:
                raise NotLoweredError(f"the number depends on the tensor `{node.name}`, which is too large to compute")
