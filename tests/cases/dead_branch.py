"""A side head is computed and its result thrown away."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.main = nn.Conv2d(2, 5, 1)
        self.side = nn.Conv2d(2, 5, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        side = self.side(x).tanh()
        y = self.main(x)
        _ = (side * y).mean()
        return y


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(1, 2, 7, 5)]


def get_init_inputs() -> list[int]:
    return []
