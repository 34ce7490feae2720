"""Attention whose value heads are narrower than its query and key heads."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        return torch.softmax(scores, dim=-1) @ v


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(3, 2, 6, 10), torch.randn(3, 2, 6, 10), torch.randn(3, 2, 6, 4)]


def get_init_inputs() -> list[int]:
    return []
