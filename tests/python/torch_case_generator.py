"""Draws shapes and values for calls of torch operators."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

FLOATS = (torch.float32, torch.float32, torch.float64, torch.bfloat16, torch.float16)


@dataclass(frozen=True)
class Case:
    """A function of tensors that calls one operator, and what to call it with."""

    name: str
    function: Callable[..., Any]
    inputs: tuple[torch.Tensor, ...]


class Generator:
    """Draws shapes and values; everything follows from the seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.torch = torch.Generator().manual_seed(seed)

    def shape(self, low: int = 1, high: int = 4, extents: tuple[int, ...] = (1, 2, 3, 5, 7)) -> tuple[int, ...]:
        return tuple(self.random.choice(extents) for _ in range(self.random.randint(low, high)))

    def floats(self, shape: tuple[int, ...], dtype: torch.dtype = torch.float32, scale: float = 2.0) -> torch.Tensor:
        return (torch.randn(shape, generator=self.torch) * scale).to(dtype)

    def special(self, shape: tuple[int, ...], dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Normal numbers among zeros, infinities, NaN and large ones."""
        values = self.floats(shape, dtype).flatten()
        for number in (0.0, -0.0, float("inf"), float("-inf"), float("nan"), 100.0, -100.0, 1.0, -1.0):
            values[self.random.randrange(values.numel())] = number
        return values.reshape(shape)

    def integers(self, shape: tuple[int, ...], low: int, high: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
        return torch.randint(low, high, shape, generator=self.torch).to(dtype)

    def bools(self, shape: tuple[int, ...]) -> torch.Tensor:
        return torch.rand(shape, generator=self.torch) < 0.5

    def positive(self, shape: tuple[int, ...], dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return (torch.rand(shape, generator=self.torch) * 0.9 + 0.05).to(dtype)

    def float_type(self) -> torch.dtype:
        return self.random.choice(FLOATS)

    def axis(self, rank: int) -> int:
        return self.random.randrange(-rank, rank)

    def axes(self, rank: int) -> list[int]:
        chosen = self.random.sample(range(rank), self.random.randint(1, rank))
        return [a - rank if self.random.random() < 0.5 else a for a in chosen]

    def flag(self) -> bool:
        return self.random.random() < 0.5

    def broadcast_shapes(self, count: int) -> list[tuple[int, ...]]:
        """Shapes that broadcast together, the first the full one."""
        full = self.shape(1, 4)
        shapes = [full]
        for _ in range(count - 1):
            kept = full[self.random.randint(0, len(full) - 1) :]
            shapes.append(tuple(1 if self.random.random() < 0.3 else n for n in kept))
        return shapes

    def layout(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Sometimes on a transposed view of the first operand."""
        if self.random.random() < 0.7:
            return function
        return lambda x, *rest: function(x.transpose(0, -1) if x.ndim > 1 else x, *rest)


Family = Callable[[Generator], Iterator[Case]]


def named(name: str, function: Callable[..., Any], *inputs: torch.Tensor) -> Case:
    return Case(f"{name} {[list(x.shape) for x in inputs]} {[str(x.dtype)[6:] for x in inputs]}", function, inputs)
