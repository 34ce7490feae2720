"""Grouped and plain convolutions, batch norm in training mode, pooling, a head."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, stride=2, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(4)
        self.deep = nn.Conv2d(4, 6, (1, 3), groups=2, dilation=(1, 2))
        self.pool = nn.AdaptiveAvgPool2d((1, 1))
        self.head = nn.Linear(6, 5)

    def forward(self, x):
        x = torch.relu(self.norm(self.conv(x)))
        return self.head(torch.flatten(self.pool(self.deep(x)), 1))


def get_inputs():
    return [torch.randn(2, 3, 12, 15)]
