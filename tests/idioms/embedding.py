import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(11, 6)

    def forward(self, ids):
        return self.table(ids)


def get_inputs():
    return [torch.randint(0, 11, (2, 5))]
