"""Which tensors of the graph share memory, and what a write to one of them means for the others.

Values never change in the IR, memory does in torch. A write to a tensor gives it a new value and puts that value into
what the tensor is a view of; the other views of the memory are made again when they are read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import fx

    from solar.frontends.torch.builder import Value


@dataclass(frozen=True)
class View:
    """How a node is a view: of which node, by which call (None: it is that very tensor), as which of its results."""

    of: fx.Node
    call: fx.Node | None = None
    place: int | None = None


class Memory:
    """The values of all nodes, and the views among them.

    `remake(view, value)` gives what a view is of a new value of its parent, `put_back(view, parent, value)` the
    parent's value after a write to the view. Values of nodes that could not be lowered pass through as they are.
    """

    def __init__(
        self,
        remake: Callable[[View, Any], Any],
        put_back: Callable[[View, Value, Value], Value],
    ) -> None:
        self._remake = remake
        self._put_back = put_back
        self._values: dict[fx.Node, Any] = {}
        self._views: dict[fx.Node, View] = {}
        self._stamps: dict[fx.Node, int] = {}  # the writes to its memory that a node's value has seen
        self._writes: dict[fx.Node, int] = {}  # the writes to a memory, by the node that owns it

    def __setitem__(self, node: fx.Node, value: Any) -> None:
        self._values[node] = value

    def __getitem__(self, node: fx.Node) -> Any:
        """The node's value at this point of the program."""
        view = self._views.get(node)
        if view is not None:
            writes = self._writes.get(self._owner(node), 0)
            if self._stamps[node] < writes:
                self._values[node] = self._remake(view, self[view.of])
                self._stamps[node] = writes
        return self._values[node]

    def first(self, node: fx.Node) -> Any:
        """The node's value as it was stored last, whatever was written since; None where there is none."""
        return self._values.get(node)

    def is_view(self, node: fx.Node) -> bool:
        """Whether the node is a view of another one."""
        return node in self._views

    def add_view(self, node: fx.Node, view: View) -> None:
        """Notes that a node, whose value is known, is a view."""
        self._views[node] = view
        self._stamps[node] = self._writes.get(self._owner(node), 0)

    def write(self, node: fx.Node, value: Value) -> None:
        """The program stores `value` in the tensor that the node is."""
        path = [(node, value)]
        while (view := self._views.get(node)) is not None:
            value = self._put_back(view, self[view.of], value)
            node = view.of
            path.append((node, value))
        self._writes[node] = self._writes.get(node, 0) + 1
        for changed, new in path:
            self._values[changed] = new
            self._stamps[changed] = self._writes[node]

    def _owner(self, node: fx.Node) -> fx.Node:
        while (view := self._views.get(node)) is not None:
            node = view.of
        return node
