"""What can be said of the nodes of an exported graph."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch import fx

from solar.frontends.torch.dtypes import type_name
from solar.frontends.torch.whole import shown_name

# Operators whose schema does not say that they may return their argument itself.
_MAY_RETURN_ARGUMENT = ("aten.dropout", "aten.feature_dropout", "aten.alpha_dropout", "aten.type_as")
# Operators that draw random numbers: what others draw depends on how many came before.
_DRAWS = (
    "aten.rand", "aten.bernoulli", "aten.normal", "aten.uniform", "aten.exponential", "aten.multinomial",
    "aten.poisson",
)  # fmt: skip
# Operators that return a view or a copy, whichever is possible.
_MAY_COPY = ("aten.reshape", "aten.flatten", "aten.contiguous", "aten.to.", *_MAY_RETURN_ARGUMENT)


@dataclass(frozen=True)
class Call:
    """One call of an operator, with what a message about it needs."""

    node: fx.Node
    operator: str
    at: str
    file: str | None
    line: int | None
    module: str


def live_nodes(graph: fx.Graph) -> set[fx.Node]:
    """Nodes that outputs need. A write is needed where its memory is: it comes from outside, or is read later."""
    live: set[fx.Node] = set()
    read: set[fx.Node] = set()  # the owners of the memory that live nodes read
    for node in reversed(graph.nodes):
        needed = node.op in ("output", "placeholder") or _has_effects(node) or any(user in live for user in node.users)
        if not needed and is_mutable(node):
            owners = [_owner(a) for a in node.all_input_nodes]
            needed = any(owner.op != "call_function" or owner in read for owner in owners)
        if needed:
            live.add(node)
            read.update(_owner(a) for a in node.all_input_nodes)
    return live


def _owner(node: fx.Node) -> fx.Node:
    """The node whose memory a node may have."""
    while node.op == "call_function" and may_share(node) and node.args and isinstance(node.args[0], fx.Node):
        node = node.args[0]
    return node


def is_mutable(node: fx.Node) -> bool:
    """Whether the call writes to an argument."""
    return isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable


def written_nodes(graph: fx.Graph) -> set[fx.Node]:
    """Nodes whose memory calls may write to: the arguments of such calls, and what these may be views of."""
    written: set[fx.Node] = set()
    pending = [a for node in graph.nodes if is_mutable(node) for a in node.all_input_nodes]
    while pending:
        node = pending.pop()
        if node not in written:
            written.add(node)
            pending += node.all_input_nodes if node.op == "call_function" and may_share(node) else []
    return written


def makes_tensors(node: fx.Node) -> bool:
    """Whether the call computes tensors: not a check of them, a part of a result, a size or another number."""
    return node.target is not operator.getitem and bool(tensors_of(node.meta.get("val")))


def may_share(node: fx.Node) -> bool:
    """Whether the call may return memory of its first argument, or is a part of such a result."""
    if node.target is operator.getitem:
        return True
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        return False
    return any(r.alias_info is not None for r in schema.returns) or str(node.target).startswith(_MAY_RETURN_ARGUMENT)


def may_copy(node: fx.Node) -> bool:
    """Whether a call that may share memory need not."""
    return str(node.target).startswith(_MAY_COPY)


def _has_effects(node: fx.Node) -> bool:
    """Whether a call does something besides its result: writes statistics, draws random numbers, wraps such calls."""
    effects = ("aten.batch_norm", "aten.instance_norm", "aten.dropout", "aten.native_dropout", *_DRAWS, "wrap_with")
    return str(node.target).startswith(effects)


def operator_name(node: fx.Node) -> str:
    """`aten.relu.default`, or `higher_order.cond` of an operator that takes functions."""
    if isinstance(node.target, torch._ops.HigherOrderOperator):
        return f"higher_order.{node.target.name()}"
    return shown_name(str(node.target))


def nodes_in_order(arguments: Any) -> list[fx.Node]:
    """The nodes in nested arguments, each as often as it occurs."""
    return [leaf for leaf in pytree.tree_leaves(arguments) if isinstance(leaf, fx.Node)]


def tensors_of(value: Any) -> list[torch.Tensor]:
    """The tensors of a result that is one tensor or a sequence."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [v for v in value if isinstance(v, torch.Tensor)]
    return []


def described(argument: Any) -> str:
    """An argument as a message shows it: `f32[2, 3]`, `[f32[2], i64[3]]`, `0.5`."""
    if isinstance(argument, fx.Node):
        tensors = tensors_of(argument.meta.get("val"))
        texts = [f"{type_name(t.dtype) or t.dtype}{list(t.shape)}" for t in tensors]
        return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    if isinstance(argument, (list, tuple)):
        return f"[{', '.join(described(a) for a in argument)}]"
    return str(argument)
