"""An einsum that only sums within a batch, and one that is a batched product."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(
        self, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, d: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.einsum("bchk,bchk->bch", a, b), torch.einsum("bic,bjc->bij", c, d)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(3, 2, 5, 6), torch.randn(3, 2, 5, 6), torch.randn(3, 4, 6), torch.randn(3, 8, 6)]


def get_init_inputs() -> list[int]:
    return []
