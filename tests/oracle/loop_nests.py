"""The case programs of tests/cases once more, as plain loops over scalars.

Every loop nest computes the values of its program, counts the multiply-accumulates (all of a FLOP counter's meaning,
and those that do some good) and records which elements it reads. It knows nothing of the analyser.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


class Recorded:
    """An array of numbers that remembers which of its elements were read."""

    def __init__(self, values: npt.NDArray[np.generic]) -> None:
        self.values = values
        self.read: set[tuple[int, ...]] = set()

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    def __getitem__(self, index: int | tuple[int, ...]) -> float:
        index = index if isinstance(index, tuple) else (index,)
        assert all(0 <= i < extent for i, extent in zip(index, self.shape, strict=True)), (index, self.shape)
        self.read.add(index)
        return float(self.values[index])

    @property
    def bytes_read(self) -> int:
        return len(self.read) * self.values.dtype.itemsize


@dataclass
class Nest:
    """The inputs, parameters and counters of one run."""

    inputs: list[Recorded]
    params: Mapping[str, Recorded]
    macs: int = 0
    macs_useful: int = 0
    outputs: list[Array] = field(default_factory=list)

    def multiply(self, a: float, b: float) -> float:
        self.macs += 1
        self.macs_useful += 1
        return a * b

    def skip(self) -> None:
        """A product that a FLOP counter counts although one factor is known to be zero."""
        self.macs += 1


def over(*extents: int) -> Iterator[tuple[int, ...]]:
    return itertools.product(*(range(extent) for extent in extents))


def softmax(row: list[float]) -> list[float]:
    largest = max(row)
    exponentials = [math.exp(x - largest) for x in row]
    total = sum(exponentials)
    return [x / total for x in exponentials]


Read: TypeAlias = Callable[[int, int, int, int], float]


def attend(nest: Nest, q: Read, k: Read, v: Read, sizes: tuple[int, ...], causal: bool = False) -> Array:
    """Attention; q, k, v are read by (batch, head, place, channel). sizes: B, H, queries, keys, width, value width."""
    batch, heads, queries, keys, width, value_width = sizes
    y = np.zeros((batch, heads, queries, value_width))
    for b, h, i in over(batch, heads, queries):
        seen = [j for j in range(keys) if j <= i or not causal]
        for _ in range((keys - len(seen)) * (width + value_width)):
            nest.skip()
        scores = [
            sum(nest.multiply(q(b, h, i, d), k(b, h, j, d)) for d in range(width)) / math.sqrt(width) for j in seen
        ]
        weights = softmax(scores)
        for d in range(value_width):
            y[b, h, i, d] = sum(nest.multiply(w, v(b, h, j, d)) for w, j in zip(weights, seen, strict=True))
    return y


def attend_heads_first(nest: Nest, causal: bool = False) -> None:
    q, k, v = nest.inputs
    sizes = (*q.shape[:3], k.shape[2], q.shape[3], v.shape[3])
    nest.outputs.append(
        attend(
            nest,
            lambda *index: q[index],
            lambda *index: k[index],
            lambda *index: v[index],
            sizes,
            causal,
        )
    )


def causal_attention(nest: Nest) -> None:
    attend_heads_first(nest, causal=True)


def attention_sequence_first(nest: Nest) -> None:
    q, k, v = nest.inputs
    batch, queries, heads, width = q.shape
    y = attend(
        nest,
        lambda b, h, i, d: q[b, i, h, d],
        lambda b, h, i, d: k[b, i, h, d],
        lambda b, h, i, d: v[b, i, h, d],
        (batch, heads, queries, k.shape[1], width, v.shape[3]),
    )
    nest.outputs.append(y.transpose(0, 2, 1, 3))


def conv1d_unbatched(nest: Nest) -> None:
    (x,) = nest.inputs
    weight, bias = nest.params["conv.weight"], nest.params["conv.bias"]
    stride = padding = 3
    channels_out, channels_in, kernel = weight.shape
    length = (x.shape[1] + 2 * padding - kernel) // stride + 1
    y = np.zeros((channels_out, length))
    for o, p in over(channels_out, length):
        y[o, p] = bias[o]
        for c, r in over(channels_in, kernel):
            place = stride * p + r - padding
            if 0 <= place < x.shape[1]:
                y[o, p] += nest.multiply(x[c, place], weight[o, c, r])
            else:
                nest.skip()
    nest.outputs.append(y)


def matmul_ranks(nest: Nest) -> None:
    a, b, m, v, p, q = nest.inputs
    nest.outputs.append(np.array(sum(nest.multiply(a[k], b[k]) for k in range(a.shape[0]))))
    rows, inner = m.shape
    nest.outputs.append(np.array([sum(nest.multiply(m[i, k], v[k]) for k in range(inner)) for i in range(rows)]))
    y = np.zeros((p.shape[0], q.shape[0], p.shape[2], q.shape[2]))
    for s, t, i, j in over(*y.shape):
        y[s, t, i, j] = sum(nest.multiply(p[s, 0, i, k], q[t, k, j]) for k in range(q.shape[1]))
    nest.outputs.append(y)


def linear(nest: Nest, x: Callable[..., float], rows: tuple[int, ...], weight: Recorded, bias: Recorded) -> Array:
    width_out, width_in = weight.shape
    y = np.zeros((*rows, width_out))
    for index in over(*rows):
        for o in range(width_out):
            products = (nest.multiply(x(*index, i), weight[o, i]) for i in range(width_in))
            y[(*index, o)] = bias[o] + sum(products)
    return y


def attention_module_by_keyword(nest: Nest) -> None:
    (x,) = nest.inputs
    heads = 2
    batch, places, width = x.shape
    params = nest.params
    qkv = linear(
        nest,
        lambda *index: x[index],
        (batch, places),
        params["attention.in_proj_weight"],
        params["attention.in_proj_bias"],
    )
    head_width = width // heads

    def part(number: int) -> Read:
        return lambda b, h, i, d: float(qkv[b, i, number * width + h * head_width + d])

    sizes = (batch, heads, places, places, head_width, head_width)
    y = attend(nest, part(0), part(1), part(2), sizes)
    joined = y.transpose(0, 2, 1, 3).reshape(batch, places, width)
    nest.outputs.append(
        linear(
            nest,
            lambda *index: float(joined[index]),
            (batch, places),
            params["attention.out_proj.weight"],
            params["attention.out_proj.bias"],
        )
    )


def shared_module(nest: Nest) -> None:
    (x,) = nest.inputs
    weight, bias = nest.params["layer.weight"], nest.params["layer.bias"]
    y = linear(nest, lambda *index: x[index], x.shape[:1], weight, bias)
    for activation in (True, True, False):
        previous = np.maximum(y, 0) if activation else y
        y = linear(nest, lambda *index, p=previous: float(p[index]), x.shape[:1], weight, bias)
    nest.outputs.append(y)


def einsum_two_kinds(nest: Nest) -> None:
    a, b, c, d = nest.inputs
    first = np.zeros(a.shape[:3])
    for index in over(*first.shape):
        first[index] = sum(nest.multiply(a[(*index, k)], b[(*index, k)]) for k in range(a.shape[3]))
    second = np.zeros((c.shape[0], c.shape[1], d.shape[1]))
    for n, i, j in over(*second.shape):
        second[n, i, j] = sum(nest.multiply(c[n, i, k], d[n, j, k]) for k in range(c.shape[2]))
    nest.outputs += [first, second]


def convolve(nest: Nest, x: Recorded, weight: Recorded, bias: Recorded) -> Array:
    """A convolution without padding, stride 1."""
    channels_out, channels_in, rows, columns = weight.shape
    y = np.zeros((x.shape[0], channels_out, x.shape[2] - rows + 1, x.shape[3] - columns + 1))
    for n, o, p, q in over(*y.shape):
        y[n, o, p, q] = bias[o] + sum(
            nest.multiply(x[n, c, p + r, q + s], weight[o, c, r, s]) for c, r, s in over(channels_in, rows, columns)
        )
    return y


def inference_mode(nest: Nest) -> None:
    params = nest.params
    y = np.maximum(convolve(nest, nest.inputs[0], params["weight"], params["bias"]), 0)
    flat = y.reshape(y.shape[0], -1)
    nest.outputs.append(
        linear(
            nest,
            lambda *index: float(flat[index]),
            y.shape[:1],
            params["head.weight"],
            params["head.bias"],
        )
    )


def dead_branch(nest: Nest) -> None:
    nest.outputs.append(convolve(nest, nest.inputs[0], nest.params["main.weight"], nest.params["main.bias"]))


def tiny_outputs(nest: Nest) -> None:
    (x,) = nest.inputs
    rows, width = x.shape
    nest.outputs.append(np.array([softmax([x[i, j] for j in range(width)]) for i in range(rows)]))


def tied_embedding(nest: Nest) -> None:
    (ids,) = nest.inputs
    table, mix = nest.params["table"], nest.params["mix"]
    batch, places = ids.shape
    vocabulary, width = table.shape
    hidden = np.zeros((batch, places, width))
    y = np.zeros((batch, places, vocabulary))
    for b, t in over(batch, places):
        row = int(ids[b, t])
        for j in range(width):
            hidden[b, t, j] = sum(nest.multiply(table[row, i], mix[i, j]) for i in range(width))
        for v in range(vocabulary):
            y[b, t, v] = sum(nest.multiply(float(hidden[b, t, i]), table[v, i]) for i in range(width))
    nest.outputs.append(y)


NESTS: Mapping[str, Callable[[Nest], None]] = {
    "attention_module_by_keyword": attention_module_by_keyword,
    "attention_sequence_first": attention_sequence_first,
    "attention_two_widths": attend_heads_first,
    "causal_attention": causal_attention,
    "conv1d_unbatched": conv1d_unbatched,
    "cross_attention": attend_heads_first,
    "dead_branch": dead_branch,
    "einsum_two_kinds": einsum_two_kinds,
    "inference_mode": inference_mode,
    "matmul_ranks": matmul_ranks,
    "shared_module": shared_module,
    "tied_embedding": tied_embedding,
    "tiny_outputs": tiny_outputs,
}


def run(
    name: str,
    inputs: list[npt.NDArray[np.generic]],
    params: Mapping[str, npt.NDArray[np.generic]],
) -> Nest:
    """Runs the loops of a case on these values."""
    nest = Nest([Recorded(x) for x in inputs], {key: Recorded(value) for key, value in params.items()})
    NESTS[name](nest)
    return nest
