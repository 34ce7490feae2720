import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(3, 4)

    def forward(self, x):
        y, (h, c) = self.rnn(x)
        return y, h, c


def get_inputs():
    return [torch.randn(6, 2, 3)]
