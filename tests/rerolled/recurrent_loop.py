"""A recurrent network written as a loop over the steps of its input."""

import torch
import torch.nn as nn

STEPS = 48
BATCH = 3
WIDTH = 5


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(2 * WIDTH, WIDTH)
        self.out = nn.Linear(WIDTH, 2)

    def forward(self, x: torch.Tensor, h: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        outputs = []
        for t in range(x.shape[0]):
            h = torch.tanh(self.mix(torch.cat((x[t], h), dim=1)))
            outputs.append(self.out(h))
        return torch.stack(outputs), h


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(STEPS, BATCH, WIDTH), torch.randn(BATCH, WIDTH)]


def get_init_inputs() -> list[int]:
    return []
