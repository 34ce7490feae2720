"""Recurrent layers stay one call while a program is exported.

The exporter would run them step by step on tensors without values: minutes for 512 steps, and as many nodes. Under
`whole_recurrences` the functions behind nn.LSTM, nn.GRU and nn.RNN are operators of our own that have only a shape.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_NAMESPACE = "solar_whole"
_LAYERS = ("lstm", "gru", "rnn_tanh", "rnn_relu")
_LIBRARY = torch.library.Library(_NAMESPACE, "DEF")


def shown_name(operator: str) -> str:
    """The name of the torch operator that one of ours stands for: `aten.lstm.input`; others as they are."""
    namespace, _, rest = operator.partition(".")
    return f"aten.{rest.partition('.')[0]}.input" if namespace == _NAMESPACE else operator


def run_whole(operator: Any) -> Callable[..., Any] | None:
    """What one of our operators stands for, with its arguments; None for any other."""
    if getattr(operator, "namespace", "") != _NAMESPACE:
        return None
    layer = operator.__name__.partition(".")[0]

    def run(x: torch.Tensor, states: Sequence[torch.Tensor], *rest: Any) -> list[torch.Tensor]:
        return list(getattr(torch._VF, layer)(x, tuple(states) if layer == "lstm" else states[0], *rest))

    return run


def _shapes(
    x: torch.Tensor,
    states: Sequence[torch.Tensor],
    params: Sequence[torch.Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> list[torch.Tensor]:
    """Empty results: y[T, B, directions * H], and the last states."""
    steps, batch = (x.shape[1], x.shape[0]) if batch_first else (x.shape[0], x.shape[1])
    y = x.new_empty((steps, batch, states[0].shape[-1] * (2 if bidirectional else 1)))
    return [y.transpose(0, 1) if batch_first else y, *(torch.empty_like(s) for s in states)]


for _layer in _LAYERS:
    _LIBRARY.define(
        f"{_layer}(Tensor x, Tensor[] states, Tensor[] params, bool has_biases, int num_layers, float dropout, "
        "bool train, bool bidirectional, bool batch_first) -> Tensor[]"
    )
    torch.library.impl(_LIBRARY, _layer, "Meta")(_shapes)


def _replacement(layer: str, original: Callable[..., Any]) -> Callable[..., Any]:
    operator = getattr(getattr(torch.ops, _NAMESPACE), layer)

    def call(*arguments: Any) -> Any:
        packed = len(arguments) != 9 or not isinstance(arguments[3], bool)
        if packed:  # a PackedSequence: its data and batch sizes
            return original(*arguments)
        x, states, *rest = arguments
        return tuple(operator(x, list(states) if layer == "lstm" else [states], *rest))

    return call


@contextlib.contextmanager
def whole_recurrences() -> Iterator[None]:
    """Within it, recurrent layers are calls of our operators."""
    holders = (torch._VF, torch)
    before = [(holder, layer, getattr(holder, layer)) for holder in holders for layer in _LAYERS]
    try:
        for holder, layer, original in before:
            setattr(holder, layer, _replacement(layer, original))
        yield
    finally:
        for holder, layer, original in before:
            setattr(holder, layer, original)
