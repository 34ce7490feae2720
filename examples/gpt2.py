"""GPT-2 small (Radford et al. 2019, "Language Models are Unsupervised Multitask Learners") for inference.

A decoder of twelve pre-norm blocks with learned positions. The output projection is the token table itself. The
124,439,808 parameters are those of the published model.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 1
SEQUENCE = 1023
POSITIONS = 1024
VOCABULARY = 50257
LAYERS = 12
HEADS = 12
HEAD_WIDTH = 64


class Attention(nn.Module):
    """Causal self-attention with one projection for queries, keys and values."""

    def __init__(self, heads: int, head_width: int) -> None:
        super().__init__()
        width = heads * head_width
        self.heads = heads
        self.head_width = head_width
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (self._split_heads(part) for part in self.qkv(x).chunk(3, dim=-1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).flatten(2))

    def _split_heads(self, x: torch.Tensor) -> torch.Tensor:
        batch, sequence, _ = x.shape
        return x.view(batch, sequence, self.heads, self.head_width).transpose(1, 2)


class Block(nn.Module):
    """Attention and a feed-forward part, each on a normalised input and added to it."""

    def __init__(self, heads: int, head_width: int) -> None:
        super().__init__()
        width = heads * head_width
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(heads, head_width)
        self.norm2 = nn.LayerNorm(width)
        self.expand = nn.Linear(width, 4 * width)
        self.contract = nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.contract(F.gelu(self.expand(self.norm2(x)), approximate="tanh"))


class Model(nn.Module):
    """Gives the logits of the next token at every position."""

    def __init__(self, layers: int, heads: int, head_width: int) -> None:
        super().__init__()
        width = heads * head_width
        self.tokens = nn.Embedding(VOCABULARY, width)
        self.positions = nn.Parameter(0.01 * torch.randn(POSITIONS, width))
        self.blocks = nn.ModuleList(Block(heads, head_width) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, VOCABULARY, bias=False)
        self.head.weight = self.tokens.weight
        self.eval()

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.tokens(ids) + self.positions[: ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def get_inputs() -> list[torch.Tensor]:
    return [torch.randint(0, VOCABULARY, (BATCH, SEQUENCE))]


def get_init_inputs() -> list[int]:
    return [LAYERS, HEADS, HEAD_WIDTH]
