"""nn.MultiheadAttention called with keyword arguments only."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.attention(query=x, key=x, value=x, need_weights=False)[0]


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(3, 4, 10)]


def get_init_inputs() -> list[int]:
    return [10, 2]
