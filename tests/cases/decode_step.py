"""One new token: its key and value join those of the places before, and only they are handed back."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def forward(
        self, x: torch.Tensor, keys: torch.Tensor, values: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        batch, _, width = x.shape
        q, k, v = self.qkv(x).view(batch, 1, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, torch.cat([keys, k], dim=2), torch.cat([values, v], dim=2))
        return self.out(y.transpose(1, 2).reshape(batch, 1, width)), k, v


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(2, 1, 6), torch.randn(2, 3, 7, 2), torch.randn(2, 3, 7, 2)]


def get_init_inputs() -> list[int]:
    return [6, 3]
