"""A state that decays and takes in each step's input, read out at every step."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x: torch.Tensor, decay: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
        state = torch.zeros_like(decay)
        read = []
        for t in range(x.shape[1]):
            state = decay * state + x[:, t, None] * b[t]
            read.append(state @ c[t])
        return torch.stack(read, dim=1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(4, 7), torch.rand(4, 3), torch.randn(7, 3), torch.randn(7, 3)]


def get_init_inputs() -> list[int]:
    return []
