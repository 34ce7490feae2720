import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, ids, y0):
        return y0.index_add(0, ids, x), x.argmax(1)


def get_inputs():
    return [torch.randn(6, 4), torch.randint(0, 3, (6,)), torch.randn(3, 4)]
