"""Operators without a lowering, as the operators that torch, or their author in Python, makes them of."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch
import torch.utils._pytree as pytree
from torch import fx
from torch.fx.experimental.proxy_tensor import make_fx

from solar.frontends.torch import registry
from solar.sources import make_fake_mode

if TYPE_CHECKING:
    from collections.abc import Callable


def decomposition(node: fx.Node) -> fx.GraphModule | None:
    """The graph that computes what a call does, on its tensors in their order; None where torch has none.

    A graph that calls the operator itself, or draws random numbers, is none.
    """
    target = node.target
    if not isinstance(target, torch._ops.OpOverload) or torch.Tag.nondeterministic_seeded in target.tags:
        return None
    body = _body(target)
    if body is None and not target._can_decompose() and target not in _table():
        return None
    leaves, spec = pytree.tree_flatten((node.args, node.kwargs))
    places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, fx.Node)]
    tensors = [leaves[place].meta["val"] for place in places]
    if not all(isinstance(t, torch.Tensor) for t in tensors):
        return None
    mode = next((t.fake_mode for t in tensors if hasattr(t, "fake_mode")), None) or make_fake_mode()

    def call(*given: torch.Tensor) -> Any:
        whole = list(leaves)
        for place, tensor in zip(places, given, strict=True):
            whole[place] = tensor
        args, kwargs = pytree.tree_unflatten(whole, spec)
        return (body or target)(*args, **kwargs)

    try:
        with mode, torch.no_grad():
            module = make_fx(call, decomposition_table=_table(), tracing_mode="real")(*tensors)
    except Exception:  # whatever torch's decomposition stumbles over: there is none for these arguments
        return None
    targets = {n.target for n in module.graph.nodes if n.op == "call_function"}
    random = any(torch.Tag.nondeterministic_seeded in getattr(t, "tags", ()) for t in targets)
    return None if target in targets or random else module


def _body(target: torch._ops.OpOverload) -> Callable[..., Any] | None:
    """The function that `torch.library.custom_op` made an operator of, if it is what runs on a CPU."""
    definition = torch._library.custom_ops.OPDEFS.get(target._schema.name)
    if definition is None or target._schema.is_mutable or "cpu" in definition._backend_fns:
        return None
    return definition._init_fn


@functools.cache
def _table() -> dict[Any, Callable[..., Any]]:
    """Torch's decompositions of operators that have no lowering."""
    known = torch._decomp.core_aten_decompositions().items()
    return {op: function for op, function in known if registry.find(str(op)) is None}
