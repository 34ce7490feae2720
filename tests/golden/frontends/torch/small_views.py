"""Views, an einsum, generated tensors, masks, reductions and joins."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b, lengths):
        scores = torch.einsum("bik,bjk->bij", a, b[:, 1:])
        places = torch.arange(scores.shape[-1])
        scores = scores.masked_fill(places[None, None, :] >= lengths[:, None, None], float("-inf"))
        weights = torch.softmax(scores / 2, dim=1).tril(-1)
        merged = weights.permute(1, 0, 2).reshape(weights.shape[1], -1)
        both = torch.cat([merged, merged * torch.tensor([2.0])], dim=0)
        return both.view(-1, 2, 5).mean(dim=(0, 2)), weights[:, -1].to(torch.float64)


def get_inputs():
    return [torch.randn(2, 6, 4), torch.randn(2, 6, 4), torch.tensor([3, 5])]
