"""Softmax over a long axis: every right value is far below 1e-2."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, dim=-1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(3, 2048)]


def get_init_inputs() -> list[int]:
    return []
