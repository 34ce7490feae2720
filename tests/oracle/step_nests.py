"""Loop nests of programs that go step by step: recurrences, one step of a decoder."""

import math

import numpy as np

from oracle.nest import Array, Nest, Read, Recorded, attend, over


def decode_step(nest: Nest) -> None:
    x, keys, values = nest.inputs
    qkv, out = nest.params["qkv.weight"], nest.params["out.weight"]
    batch, _, width = x.shape
    _, heads, before, head_width = keys.shape
    parts = np.zeros((batch, 3, heads, head_width))
    for b, part, h, d in over(*parts.shape):
        row = part * width + h * head_width + d
        parts[b, part, h, d] = sum(nest.multiply(x[b, 0, i], qkv[row, i]) for i in range(width))

    def place(cache: Recorded, part: int) -> Read:
        return lambda b, h, j, d: cache[b, h, j, d] if j < before else float(parts[b, part, h, d])

    sizes = (batch, heads, 1, before + 1, head_width, head_width)
    y = attend(nest, lambda b, h, _, d: float(parts[b, 0, h, d]), place(keys, 1), place(values, 2), sizes)
    joined = y.transpose(0, 2, 1, 3).reshape(batch, width)
    result = np.zeros((batch, 1, width))
    for b, o in over(batch, width):
        result[b, 0, o] = sum(nest.multiply(float(joined[b, i]), out[o, i]) for i in range(width))
    nest.outputs += [result, parts[:, 1, :, None], parts[:, 2, :, None]]


def state_space_loop(nest: Nest) -> None:
    x, decay, b, c = nest.inputs
    width, steps = x.shape
    states = decay.shape[1]
    state = np.zeros((width, states))
    y = np.zeros((width, steps))
    for t, d in over(steps, width):
        for n in range(states):
            state[d, n] = decay[d, n] * state[d, n] + x[d, t] * b[t, n]
        y[d, t] = sum(nest.multiply(float(state[d, n]), c[t, n]) for n in range(states))
    nest.outputs.append(y)


def lstm_both_ways(nest: Nest) -> None:
    (x,) = nest.inputs
    below: Recorded = x
    for layer in range(2):
        ways = [lstm_layer(nest, below, f"l{layer}{way}", backwards=bool(way)) for way in ("", "_reverse")]
        below = Recorded(np.concatenate(ways, axis=2))
    nest.outputs.append(below.values.astype(np.float64))


def lstm_layer(nest: Nest, x: Recorded, name: str, *, backwards: bool) -> Array:
    """One layer one way; x[T, B, I]. The hidden state that it starts with is known to be zero."""
    of_x, of_h, bias_x, bias_h = (
        nest.params[f"layers.{kind}_{name}"] for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    steps, batch, inputs = x.shape
    width = of_h.shape[1]
    y = np.zeros((steps, batch, width))
    cell = np.zeros((batch, width))
    hidden: Array | None = None
    for t in reversed(range(steps)) if backwards else range(steps):
        gates = np.zeros((batch, 4 * width))
        for b, g in over(batch, 4 * width):
            gates[b, g] = bias_x[g] + bias_h[g] + sum(nest.multiply(x[t, b, i], of_x[g, i]) for i in range(inputs))
            for h in range(width):
                if hidden is None:
                    nest.skip()
                else:
                    gates[b, g] += nest.multiply(float(hidden[b, h]), of_h[g, h])
        for b, h in over(batch, width):
            into, forget, candidate, out = (float(gates[b, k * width + h]) for k in range(4))
            cell[b, h] = sigmoid(forget) * cell[b, h] + sigmoid(into) * math.tanh(candidate)
            y[t, b, h] = sigmoid(out) * math.tanh(cell[b, h])
        hidden = y[t]
    return y


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))
