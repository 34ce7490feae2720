"""A transposed convolution whose outermost products fall outside of the result."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels_in: int, channels_out: int) -> None:
        super().__init__()
        self.grow = nn.ConvTranspose2d(channels_in, channels_out, (4, 3), stride=(2, 3), padding=(1, 0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.grow(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(2, 3, 5, 4)]


def get_init_inputs() -> list[int]:
    return [3, 4]
