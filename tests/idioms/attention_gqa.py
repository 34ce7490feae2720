import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)


def get_inputs():
    return [torch.randn(2, 6, 7, 4), torch.randn(2, 2, 7, 4), torch.randn(2, 2, 7, 4)]
