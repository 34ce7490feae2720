import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        a = x.abs() + 1
        r = torch.ones(())
        while bool((r * r - a).abs() > 1e-4 * a):
            r = 0.5 * (r + a / r)
        return r


def get_inputs():
    return [torch.tensor(7.0)]
