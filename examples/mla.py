"""DeepSeek's multi-head latent attention, in the small configuration.

Keys and values are stored as one latent vector a token. A program may either expand it to keys and values of every head,
or absorb the up-projections into queries and outputs and attend to the latent itself: both mean the same. Which is
cheaper depends on the numbers of tokens; `ABSORBED` says how this program is written.

    solar analyze examples/mla.py --arch h100-sxm --set TOKENS=1 --set CACHED=4095

V3 has HIDDEN 7168, HEADS 128, QUERY_RANK 1536.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

TOKENS = 2048  # new ones: all of a prompt, or 1 when decoding
CACHED = 0  # before them
HIDDEN = 2048
HEADS = 16
QUERY_RANK = 0  # 0: queries are not compressed
KV_RANK = 512
NOPE = 128  # of a head's query and key without position
ROPE = 64  # with position; the key's part is shared by all heads
VALUE = 128
ABSORBED = 0
CAUSAL = 0


class RMSNorm(nn.Module):
    """x / rms(x), scaled."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.weight


def rotated(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """x with pairs of its last dim turned by its token's angles."""
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(-2)


class Model(nn.Module):
    """Attention of new tokens to themselves and to the cached ones."""

    def __init__(self) -> None:
        super().__init__()
        if QUERY_RANK > 0:
            self.query_down = nn.Linear(HIDDEN, QUERY_RANK, bias=False)
            self.query_norm = RMSNorm(QUERY_RANK)
        self.query = nn.Linear(QUERY_RANK or HIDDEN, HEADS * (NOPE + ROPE), bias=False)
        self.latent = nn.Linear(HIDDEN, KV_RANK + ROPE, bias=False)
        self.latent_norm = RMSNorm(KV_RANK)
        self.key_up = nn.Parameter(torch.randn(HEADS, NOPE, KV_RANK) / KV_RANK**0.5)
        self.value_up = nn.Parameter(torch.randn(HEADS, VALUE, KV_RANK) / KV_RANK**0.5)
        self.out = nn.Linear(HEADS * VALUE, HIDDEN, bias=False)
        self.eval()

    def forward(
        self,
        x: torch.Tensor,  # new tokens, hidden
        cos: torch.Tensor,  # new tokens, half of rope
        sin: torch.Tensor,
        cached_latents: torch.Tensor | None = None,
        cached_positions: torch.Tensor | None = None,
    ) -> torch.Tensor:
        compressed = self.query_norm(self.query_down(x)) if QUERY_RANK > 0 else x
        query = self.query(compressed).view(-1, HEADS, NOPE + ROPE)
        plain, turned = query.split([NOPE, ROPE], -1)
        turned = rotated(turned, cos[:, None], sin[:, None])
        latent, position = self.latent(x).split([KV_RANK, ROPE], -1)
        latent = self.latent_norm(latent)
        position = rotated(position, cos, sin)
        if cached_latents is not None and cached_positions is not None:
            latent = torch.cat([cached_latents, latent])
            position = torch.cat([cached_positions, position])
        if ABSORBED:
            absorbed = torch.einsum("shn,hnr->shr", plain, self.key_up)
            scores = torch.einsum("shr,tr->hst", absorbed, latent)
        else:
            key = torch.einsum("tr,hnr->thn", latent, self.key_up)
            scores = torch.einsum("shn,thn->hst", plain, key)
        scores = (scores + torch.einsum("shp,tp->hst", turned, position)) * (NOPE + ROPE) ** -0.5
        if CAUSAL:
            later = torch.ones(x.shape[0], latent.shape[0], dtype=torch.bool).triu(latent.shape[0] - x.shape[0] + 1)
            scores = scores.masked_fill(later, float("-inf"))
        weights = F.softmax(scores, -1)
        if ABSORBED:
            mixed = torch.einsum("hst,tr->shr", weights, latent)
            values = torch.einsum("shr,hvr->shv", mixed, self.value_up)
        else:
            value = torch.einsum("tr,hvr->thv", latent, self.value_up)
            values = torch.einsum("hst,thv->shv", weights, value)
        return self.out(values.flatten(1))


def get_inputs() -> list[torch.Tensor]:
    angles = torch.arange(CACHED, CACHED + TOKENS)[:, None] / 10000 ** (torch.arange(ROPE // 2) / (ROPE // 2))
    inputs = [torch.randn(TOKENS, HIDDEN), angles.cos(), angles.sin()]
    if CACHED:
        inputs += [torch.randn(CACHED, KV_RANK), torch.randn(CACHED, ROPE)]
    return inputs
