"""A product inside of an operator that the file itself registers."""

import torch
import torch.nn as nn


@torch.library.custom_op("solar_cases::scaled_product", mutates_args=())
def scaled_product(a: torch.Tensor, b: torch.Tensor, scale: float) -> torch.Tensor:
    return torch.tanh(a @ b.T) * scale


@scaled_product.register_fake
def _(a: torch.Tensor, b: torch.Tensor, scale: float) -> torch.Tensor:
    return a.new_empty(a.shape[0], b.shape[0])


class Model(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return scaled_product(a, b, 0.5)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(5, 9), torch.randn(7, 9)]


def get_init_inputs() -> list[int]:
    return []
