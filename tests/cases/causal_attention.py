"""Causal self-attention: a query sees the keys up to its own place."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(2, 3, 9, 4) for _ in range(3)]


def get_init_inputs() -> list[int]:
    return []
