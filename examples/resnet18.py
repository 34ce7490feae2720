"""ResNet-18 (He et al. 2015, "Deep Residual Learning for Image Recognition", table 1) for inference.

The stem is a strided 7x7 convolution and a max pool; four stages of two basic blocks follow. Every stage but the
first halves the picture and doubles the channels, and its first block then projects the shortcut by a strided 1x1
convolution. Convolutions have no bias: the batch norm behind each of them has one.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 1
IMAGE = 224
WIDTH = 64
CLASSES = 1000
COLOURS = 3


class BasicBlock(nn.Module):
    """Two 3x3 convolutions with a shortcut around them."""

    def __init__(self, channels_in: int, channels_out: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels_out, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels_out)
        self.conv2 = nn.Conv2d(channels_out, channels_out, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels_out)
        self.shortcut = nn.Sequential()
        if stride != 1:
            self.shortcut = nn.Sequential(
                nn.Conv2d(channels_in, channels_out, 1, stride=stride, bias=False),
                nn.BatchNorm2d(channels_out),
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return F.relu(y + self.shortcut(x))


class Model(nn.Module):
    """Classifies pictures."""

    def __init__(self, width: int, classes: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(COLOURS, width, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.pool = nn.MaxPool2d(3, stride=2, padding=1)
        self.stage1 = self._stage(width, width, stride=1)
        self.stage2 = self._stage(width, 2 * width, stride=2)
        self.stage3 = self._stage(2 * width, 4 * width, stride=2)
        self.stage4 = self._stage(4 * width, 8 * width, stride=2)
        self.average = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(8 * width, classes)
        self.eval()

    @staticmethod
    def _stage(channels_in: int, channels_out: int, stride: int) -> nn.Sequential:
        return nn.Sequential(
            BasicBlock(channels_in, channels_out, stride),
            BasicBlock(channels_out, channels_out, 1),
        )

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        x = self.pool(F.relu(self.bn1(self.conv1(pictures))))
        x = self.stage4(self.stage3(self.stage2(self.stage1(x))))
        return self.head(torch.flatten(self.average(x), 1))


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(BATCH, COLOURS, IMAGE, IMAGE)]


def get_init_inputs() -> list[int]:
    return [WIDTH, CLASSES]
