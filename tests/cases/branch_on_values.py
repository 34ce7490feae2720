"""Which of two layers runs depends on the input."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.wide = nn.Linear(8, 32)
        self.narrow = nn.Linear(8, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if (x > 2).any():
            return self.wide(x).relu().sum(dim=-1, keepdim=True)
        return self.narrow(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(3, 8)]


def get_init_inputs() -> list[int]:
    return []
