"""Products of every rank rule: dot, matrix by vector, batches broadcast from both sides."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(
        self,
        a: torch.Tensor,
        b: torch.Tensor,
        m: torch.Tensor,
        v: torch.Tensor,
        p: torch.Tensor,
        q: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return torch.matmul(a, b), m @ v, p @ q


def get_inputs() -> list[torch.Tensor]:
    return [
        torch.randn(7),
        torch.randn(7),
        torch.randn(3, 7),
        torch.randn(7),
        torch.randn(3, 1, 2, 7),
        torch.randn(4, 7, 6),
    ]


def get_init_inputs() -> list[int]:
    return []
