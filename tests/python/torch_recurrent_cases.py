"""Recurrent layers with layers, directions and without biases, and their cells."""

from collections.abc import Iterator

import torch
from torch import nn
from torch_case_generator import Case, Family, Generator, named


def _weights(g: Generator, module: nn.Module) -> list[torch.Tensor]:
    return [g.floats(tuple(parameter.shape), parameter.dtype, 0.7) for parameter in module.parameters()]


def layers(g: Generator) -> Iterator[Case]:
    """Called as nn.LSTM and its like call them: with flat weights."""
    for kind, trials in (("LSTM", 6), ("GRU", 6), ("RNN", 8)):
        for trial in range(trials):
            size, hidden, depth = g.random.randint(1, 4), g.random.randint(1, 4), g.random.randint(1, 3)
            both, first, bias = g.flag(), g.flag(), g.flag()
            extra = {"nonlinearity": g.random.choice(("tanh", "relu"))} if kind == "RNN" else {}
            dtype = torch.float64 if trial % 3 == 2 else torch.float32
            module = getattr(nn, kind)(
                size, hidden, depth, bias=bias, batch_first=first, bidirectional=both, dtype=dtype, **extra
            ).eval()
            steps, batch = g.random.randint(1, 5), g.random.randint(1, 3)
            x = g.floats((batch, steps, size) if first else (steps, batch, size), dtype)
            shape = (depth * (2 if both else 1), batch, hidden)
            states = [g.floats(shape, dtype) for _ in range(2 if kind == "LSTM" else 1)]
            settings = (bias, depth, 0.0, False, both, first)
            name = kind.lower() if kind != "RNN" else f"rnn_{extra['nonlinearity']}"

            count = len(states)

            def call(x, *rest, name=name, n=count, settings=settings):
                states = rest[:n] if n == 2 else rest[0]
                return getattr(torch, name)(x, states, rest[n:], *settings)

            yield named(f"{name} {settings}", call, x, *states, *_weights(g, module))


def cells(g: Generator) -> Iterator[Case]:
    for kind in ("LSTM", "GRU", "RNN"):
        for bias in (True, False):
            for extra in ({"nonlinearity": "relu"}, {}) if kind == "RNN" else ({},):
                module = getattr(nn, f"{kind}Cell")(3, 2, bias=bias, **extra)
                name = kind.lower() if kind != "RNN" else f"rnn_{extra.get('nonlinearity', 'tanh')}"
                states = [g.floats((4, 2)) for _ in range(2 if kind == "LSTM" else 1)]

                count = len(states)

                def call(x, *rest, name=name, n=count):
                    return getattr(torch, f"{name}_cell")(x, rest[:n] if n == 2 else rest[0], *rest[n:])

                yield named(f"{name}_cell {bias}", call, g.floats((4, 3)), *states, *_weights(g, module))


RECURRENT_FAMILIES: dict[str, Family] = {"recurrent_layers": layers, "recurrent_cells": cells}
