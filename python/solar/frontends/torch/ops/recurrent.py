"""nn.LSTM, nn.GRU and nn.RNN with layers and directions, kept whole, and their cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from solar.frontends.torch.draft import Meta
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.lstm.input")
def lstm(b: Builder, x: Value, states: Sequence[Value], *settings: object) -> list[Value]:
    return _layers(b, "lstm", {}, 4, x, states, *settings)  # type: ignore[arg-type]


@lowering("aten.gru.input")
def gru(b: Builder, x: Value, states: Sequence[Value], *settings: object) -> list[Value]:
    return _layers(b, "gru", {}, 3, x, states, *settings)  # type: ignore[arg-type]


@lowering("aten.rnn_tanh.input")
def rnn_tanh(b: Builder, x: Value, states: Sequence[Value], *settings: object) -> list[Value]:
    return _layers(b, "rnn", {"RELU": 0}, 1, x, states, *settings)  # type: ignore[arg-type]


@lowering("aten.rnn_relu.input")
def rnn_relu(b: Builder, x: Value, states: Sequence[Value], *settings: object) -> list[Value]:
    return _layers(b, "rnn", {"RELU": 1}, 1, x, states, *settings)  # type: ignore[arg-type]


def _layers(
    b: Builder,
    function: str,
    dims: dict[str, object],
    gates: int,
    x: Value,
    states: Sequence[Value],
    params: Sequence[Value],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> list[Value]:
    """y, then the last value of each state, for all layers and directions."""
    directions = 2 if bidirectional else 1
    each = 4 if has_biases else 2
    if len(params) != each * num_layers * directions:
        raise b.unsupported("proj_size")
    if dropout > 0 and train and num_layers > 1:
        raise b.unsupported("dropout between layers in training mode; call .eval() on the model")
    if batch_first:
        x = b.transpose(x, 0, 1)
    hidden = states[0].shape[-1]
    rest = iter(params)
    last: list[list[Value]] = [[] for _ in states]
    for layer in range(num_layers):
        weights: list[Value] = []
        for _ in range(directions):
            weights += [next(rest) for _ in range(each)]
            if not has_biases:
                weights += [b.constant(0.0, (gates * hidden,), x.dtype) for _ in range(2)]
        if bidirectional:
            first = [b.slice(s, 0, 2 * layer, 2 * layer + 2) for s in states]
        else:
            first = [b.index(s, 0, layer) for s in states]
        leading = [b.extent(x, 0), b.extent(x, 1)]
        metas = [Meta((*x.shape[:2], directions * hidden), x.dtype), *(Meta(s.shape, x.dtype) for s in first)]
        known = [[*leading, None if bidirectional else b.extent(weights[1], 1)], *(b.extents(s) for s in first)]
        name = f"{function}_bidirectional" if bidirectional else function
        hints = ["y", "h", "c"] if layer + 1 < num_layers else ["", "h", "c"]
        results = b.call_many(name, x, *first, *weights, metas=metas, extents=known, dims=dims, hints=hints)
        x = results[0]
        for held, value in zip(last, results[1:], strict=True):
            held.append(value if bidirectional else b.unsqueeze(value, 0))
    ends = [held[0] if num_layers == 1 else b.concat(held, 0) for held in last]
    return [b.transpose(x, 0, 1) if batch_first else x, *ends]


@lowering("aten.lstm_cell.default")
def lstm_cell(
    b: Builder,
    x: Value,
    states: Sequence[Value],
    w_ih: Value,
    w_hh: Value,
    b_ih: Value | None = None,
    b_hh: Value | None = None,
) -> tuple[Value, ...]:
    share, bias = _share(b, 4, x, w_ih, w_hh, b_ih, b_hh)
    metas = [Meta(s.shape, x.dtype) for s in states]
    return b.call_many("lstm_cell", share, *states, w_hh, bias, metas=metas, extents=[b.extents(s) for s in states])


@lowering("aten.gru_cell.default")
def gru_cell(
    b: Builder, x: Value, h: Value, w_ih: Value, w_hh: Value, b_ih: Value | None = None, b_hh: Value | None = None
) -> Value:
    share, bias = _share(b, 3, x, w_ih, w_hh, b_ih, b_hh)
    return b.call("gru_cell", share, h, w_hh, bias, extents=b.extents(h))


@lowering("aten.rnn_tanh_cell.default")
def rnn_tanh_cell(b: Builder, *operands: Value | None) -> Value:
    return _rnn_cell(b, 0, *operands)  # type: ignore[arg-type]


@lowering("aten.rnn_relu_cell.default")
def rnn_relu_cell(b: Builder, *operands: Value | None) -> Value:
    return _rnn_cell(b, 1, *operands)  # type: ignore[arg-type]


def _rnn_cell(
    b: Builder,
    relu: int,
    x: Value,
    h: Value,
    w_ih: Value,
    w_hh: Value,
    b_ih: Value | None = None,
    b_hh: Value | None = None,
) -> Value:
    share, bias = _share(b, 1, x, w_ih, w_hh, b_ih, b_hh)
    return b.call("rnn_cell", share, h, w_hh, bias, extents=b.extents(h), dims={"RELU": relu})


def _share(
    b: Builder, gates: int, x: Value, w_ih: Value, w_hh: Value, b_ih: Value | None, b_hh: Value | None
) -> tuple[Value, Value]:
    """What the input gives to the gates, in the type that sums are kept in, and the other bias."""
    zeros = (gates * w_hh.shape[1],)
    b_ih = b.constant(0.0, zeros, x.dtype) if b_ih is None else b_ih
    b_hh = b.constant(0.0, zeros, x.dtype) if b_hh is None else b_hh
    one = b.unsqueeze(x, 0)
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    shape = (*one.shape[:2], w_ih.shape[0])
    known = [*b.extents(one)[:2], b.extent(w_ih, 0)]
    share = b.call("gate_inputs", one, w_ih, b_ih, shape=shape, dtype=wide, extents=known, hint="gates")
    return b.index(share, 0, 0), b_hh
