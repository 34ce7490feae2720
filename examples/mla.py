"""DeepSeek's multi-head latent attention, in the small configuration.

Keys and values are stored as one latent vector a token. A program may either expand it to keys and values of every
head, or absorb the up-projections into queries and outputs and attend to the latent itself: both mean the same, and
which is cheaper depends on the numbers of tokens. `Model` expands, `mla.py:absorbed` absorbs; `causal`,
`absorbed_causal`, and those of V3, `v3` and `absorbed_v3`, are beside them.

    solar analyze examples/mla.py:absorbed --arch h100-sxm
    solar analyze examples/mla.py --arch h100-sxm --set TOKENS=1 --set CONTEXT=4096
    solar analyze examples/mla.py:v3 --arch h100-sxm --set HIDDEN=7168 --set HEADS=128
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

TOKENS = 2048  # new ones: all of a prompt, or 1 when decoding
CONTEXT = 2048  # the new ones, and those cached before them
HIDDEN = 2048
HEADS = 16
QUERY_RANK = 1536  # of compressed queries
KV_RANK = 512
NOPE = 128  # of a head's query and key without position
ROPE = 64  # with position; the key's part is shared by all heads
VALUE = 128


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

    def __init__(self, *, absorbed: bool = False, causal: bool = False, compressed: bool = False) -> None:
        super().__init__()
        self.absorbed, self.causal = absorbed, causal
        self.compress = nn.Sequential()
        if compressed:
            self.compress = nn.Sequential(nn.Linear(HIDDEN, QUERY_RANK, bias=False), RMSNorm(QUERY_RANK))
        self.query = nn.Linear(QUERY_RANK if compressed else HIDDEN, HEADS * (NOPE + ROPE), bias=False)
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
        query = self.query(self.compress(x)).view(-1, HEADS, NOPE + ROPE)
        plain, turned = query.split([NOPE, ROPE], -1)
        turned = rotated(turned, cos[:, None], sin[:, None])
        latent, position = self.latent(x).split([KV_RANK, ROPE], -1)
        latent = self.latent_norm(latent)
        position = rotated(position, cos, sin)
        if cached_latents is not None and cached_positions is not None:
            latent = torch.cat([cached_latents, latent])
            position = torch.cat([cached_positions, position])
        if self.absorbed:
            absorbed = torch.einsum("shn,hnr->shr", plain, self.key_up)
            scores = torch.einsum("shr,tr->hst", absorbed, latent)
        else:
            key = torch.einsum("tr,hnr->thn", latent, self.key_up)
            scores = torch.einsum("shn,thn->hst", plain, key)
        scores = (scores + torch.einsum("shp,tp->hst", turned, position)) * (NOPE + ROPE) ** -0.5
        if self.causal:
            later = torch.ones(x.shape[0], latent.shape[0], dtype=torch.bool).triu(latent.shape[0] - x.shape[0] + 1)
            scores = scores.masked_fill(later, float("-inf"))
        weights = F.softmax(scores, -1)
        if self.absorbed:
            mixed = torch.einsum("hst,tr->shr", weights, latent)
            values = torch.einsum("shr,hvr->shv", mixed, self.value_up)
        else:
            value = torch.einsum("tr,hvr->thv", latent, self.value_up)
            values = torch.einsum("hst,thv->shv", weights, value)
        return self.out(values.flatten(1))


def absorbed() -> Model:
    return Model(absorbed=True)


def causal() -> Model:
    return Model(causal=True)


def absorbed_causal() -> Model:
    return Model(absorbed=True, causal=True)


def v3() -> Model:
    return Model(compressed=True)


def absorbed_v3() -> Model:
    return Model(absorbed=True, compressed=True)


def get_inputs() -> list[torch.Tensor]:
    cached = CONTEXT - TOKENS
    angles = torch.arange(cached, CONTEXT)[:, None] / 10000 ** (torch.arange(ROPE // 2) / (ROPE // 2))
    inputs = [torch.randn(TOKENS, HIDDEN), angles.cos(), angles.sin()]
    if cached:
        inputs += [torch.randn(cached, KV_RANK), torch.randn(cached, ROPE)]
    return inputs


example_args = get_inputs
