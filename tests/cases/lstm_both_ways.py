"""Two layers of a recurrence that runs forwards and backwards."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.LSTM(3, 6, num_layers=2, bidirectional=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y, _ = self.layers(x)
        return y


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(5, 2, 3)]


def get_init_inputs() -> list[int]:
    return []
