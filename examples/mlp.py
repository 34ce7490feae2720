"""A multilayer perceptron: three linear layers with ReLU between them."""

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 64
INPUTS = 784
HIDDEN = 512
CLASSES = 10


class Model(nn.Module):
    """Classifies flattened 28x28 pictures."""

    def __init__(self, inputs: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.first = nn.Linear(inputs, hidden)
        self.second = nn.Linear(hidden, hidden)
        self.head = nn.Linear(hidden, classes)
        self.eval()

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        hidden = F.relu(self.first(pictures))
        hidden = F.relu(self.second(hidden))
        return self.head(hidden)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(BATCH, INPUTS)]


def get_init_inputs() -> list[int]:
    return [INPUTS, HIDDEN, CLASSES]
