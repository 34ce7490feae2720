"""Two layers that share their bias-free second one, a residual sum, an unused parameter and dead code."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 8)
        self.second = nn.Linear(8, 8, bias=False)
        self.alias = self.second
        self.unused = nn.Linear(8, 8)
        self.scale = torch.full((8,), 0.5)
        self.eval()

    def forward(self, x):
        hidden = torch.relu(self.first(x))
        hidden = hidden + self.alias(self.second(hidden)) * self.scale
        _ = self.second(hidden).sum()
        return hidden.add_(1)


def get_inputs():
    return [torch.randn(2, 3, 6)]
