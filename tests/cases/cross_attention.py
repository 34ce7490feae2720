"""Fused attention whose queries and keys have different lengths."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return F.scaled_dot_product_attention(q, k, v)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(3, 2, 5, 6), torch.randn(3, 2, 11, 6), torch.randn(3, 2, 11, 6)]


def get_init_inputs() -> list[int]:
    return []
