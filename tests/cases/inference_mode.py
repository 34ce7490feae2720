"""A functional convolution and a linear layer inside torch.inference_mode."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(5, 2, 3, 3))
        self.bias = nn.Parameter(torch.randn(5))
        self.head = nn.Linear(80, 7)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.inference_mode():
            y = F.relu(F.conv2d(x, self.weight, self.bias))
            return self.head(y.flatten(1))


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(2, 2, 6, 6)]


def get_init_inputs() -> list[int]:
    return []
