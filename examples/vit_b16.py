"""ViT-B/16 (Dosovitskiy et al. 2020, "An Image is Worth 16x16 Words") for inference.

The picture is cut into patches by a convolution whose stride is its size, a class token is put in front, and twelve
pre-norm encoder blocks follow; the class token's last state is classified.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 1
IMAGE = 224
PATCH = 16
CLASSES = 1000
COLOURS = 3
LAYERS = 12
HEADS = 12
HEAD_WIDTH = 64


class Attention(nn.Module):
    """Self-attention with one projection for queries, keys and values."""

    def __init__(self, heads: int, head_width: int) -> None:
        super().__init__()
        width = heads * head_width
        self.heads = heads
        self.head_width = head_width
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, sequence, _ = x.shape
        qkv = self.qkv(x).view(batch, sequence, 3, self.heads, self.head_width)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=False)
        return self.out(y.transpose(1, 2).flatten(2))


class Block(nn.Module):
    """Attention and a feed-forward part, each on a normalised input and added to it."""

    def __init__(self, heads: int, head_width: int) -> None:
        super().__init__()
        width = heads * head_width
        self.norm1 = nn.LayerNorm(width, eps=1e-6)
        self.attention = Attention(heads, head_width)
        self.norm2 = nn.LayerNorm(width, eps=1e-6)
        self.expand = nn.Linear(width, 4 * width)
        self.contract = nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.contract(F.gelu(self.expand(self.norm2(x))))


class Model(nn.Module):
    """Classifies pictures."""

    def __init__(self, layers: int, heads: int, head_width: int) -> None:
        super().__init__()
        width = heads * head_width
        patches = (IMAGE // PATCH) ** 2
        self.patch = nn.Conv2d(COLOURS, width, PATCH, stride=PATCH)
        self.class_token = nn.Parameter(0.02 * torch.randn(1, 1, width))
        self.positions = nn.Parameter(0.02 * torch.randn(1, 1 + patches, width))
        self.blocks = nn.Sequential(*(Block(heads, head_width) for _ in range(layers)))
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.head = nn.Linear(width, CLASSES)
        self.eval()

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        patches = self.patch(pictures).flatten(2).transpose(1, 2)
        token = self.class_token.expand(patches.shape[0], -1, -1)
        x = torch.cat([token, patches], dim=1) + self.positions
        x = self.norm(self.blocks(x))
        return self.head(x[:, 0])


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(BATCH, COLOURS, IMAGE, IMAGE)]


def get_init_inputs() -> list[int]:
    return [LAYERS, HEADS, HEAD_WIDTH]
