"""What the loop nests of tests/cases are made of: arrays that remember their reads, counters, common parts."""

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


def linear(nest: Nest, x: Callable[..., float], rows: tuple[int, ...], weight: Recorded, bias: Recorded) -> Array:
    width_out, width_in = weight.shape
    y = np.zeros((*rows, width_out))
    for index in over(*rows):
        for o in range(width_out):
            products = (nest.multiply(x(*index, i), weight[o, i]) for i in range(width_in))
            y[(*index, o)] = bias[o] + sum(products)
    return y
