"""One linear layer reachable under two names and called four times."""

import torch
import torch.nn as nn


class Twice(nn.Module):
    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.layer(torch.relu(self.layer(x))))


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(9, 9)
        self.twice = Twice(self.layer)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(self.layer(self.twice(x)))


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(5, 9)]


def get_init_inputs() -> list[int]:
    return []
