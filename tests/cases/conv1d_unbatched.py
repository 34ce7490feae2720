"""A padded, strided convolution of one sample: there is no batch axis."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(5, 4, 4, stride=3, padding=3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(5, 16)]


def get_init_inputs() -> list[int]:
    return []
