"""A decoder like OPT's: layers of one class, each with weights of its own."""

import torch
import torch.nn as nn
import torch.nn.functional as F

LAYERS = 24
WIDTH = 16
HEADS = 4


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(WIDTH)
        self.q, self.k, self.v, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.norm2 = nn.LayerNorm(WIDTH)
        self.fc1 = nn.Linear(WIDTH, 4 * WIDTH)
        self.fc2 = nn.Linear(4 * WIDTH, WIDTH)

    def heads(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(x.shape[0], x.shape[1], HEADS, WIDTH // HEADS).transpose(1, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.norm1(x)
        mixed = F.scaled_dot_product_attention(
            self.heads(self.q(h)), self.heads(self.k(h)), self.heads(self.v(h)), is_causal=True
        )
        x = x + self.out(mixed.transpose(1, 2).reshape(x.shape))
        return x + self.fc2(torch.relu(self.fc1(self.norm2(x))))


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(50, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.tokens(ids)
        for layer in self.layers:
            x = layer(x)
        return F.linear(self.norm(x), self.tokens.weight)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randint(0, 50, (2, 6))]


def get_init_inputs() -> list[int]:
    return []
