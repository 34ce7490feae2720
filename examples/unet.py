"""The denoising network of a text-conditioned latent diffusion model (Rombach et al. 2022), as in Stable Diffusion 1.

A U-Net over a latent picture: residual blocks that take the time step, transformers that look at the picture and at
the text, halved and doubled resolutions, and a skip connection into every block on the way up. One call is one step.
"""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 2  # with and without the text, for guidance
LATENT = 64
LATENT_CHANNELS = 4
CHANNELS = 320
WIDER = (1, 2, 4, 4)  # channels by level, in units of CHANNELS
BLOCKS = 2
HEADS = 8
GROUPS = 32
TOKENS = 77
TEXT_WIDTH = 768


def wave_features(steps: torch.Tensor, width: int) -> torch.Tensor:
    """Cosines and sines of the time step at geometric frequencies."""
    half = width // 2
    frequencies = torch.exp(-math.log(10000.0) * torch.arange(half, dtype=torch.float32) / half)
    angles = steps[:, None].float() * frequencies[None, :]
    return torch.cat([torch.cos(angles), torch.sin(angles)], dim=-1)


class Residual(nn.Module):
    """Two convolutions; the time step is added between them."""

    def __init__(self, before: int, after: int, time_width: int) -> None:
        super().__init__()
        self.norm1 = nn.GroupNorm(GROUPS, before)
        self.conv1 = nn.Conv2d(before, after, 3, padding=1)
        self.time = nn.Linear(time_width, after)
        self.norm2 = nn.GroupNorm(GROUPS, after)
        self.conv2 = nn.Conv2d(after, after, 3, padding=1)
        self.skip = nn.Conv2d(before, after, 1) if before != after else nn.Identity()

    def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        y = self.conv1(F.silu(self.norm1(x)))
        y = y + self.time(F.silu(time))[:, :, None, None]
        return self.skip(x) + self.conv2(F.silu(self.norm2(y)))


class Attention(nn.Module):
    """Every place of the picture looks at the picture, or at the text."""

    def __init__(self, width: int, context_width: int) -> None:
        super().__init__()
        self.q = nn.Linear(width, width, bias=False)
        self.k = nn.Linear(context_width, width, bias=False)
        self.v = nn.Linear(context_width, width, bias=False)
        self.out = nn.Linear(width, width)

    def forward(self, x: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        def heads(y: torch.Tensor) -> torch.Tensor:
            return y.unflatten(2, (HEADS, -1)).transpose(1, 2)

        y = F.scaled_dot_product_attention(heads(self.q(x)), heads(self.k(context)), heads(self.v(context)))
        return self.out(y.transpose(1, 2).flatten(2))


class Transformer(nn.Module):
    """Self-attention, attention to the text, and a gated feed-forward part."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(GROUPS, channels, eps=1e-6)
        self.enter = nn.Conv2d(channels, channels, 1)
        self.norm1 = nn.LayerNorm(channels)
        self.own = Attention(channels, channels)
        self.norm2 = nn.LayerNorm(channels)
        self.text = Attention(channels, TEXT_WIDTH)
        self.norm3 = nn.LayerNorm(channels)
        self.expand = nn.Linear(channels, 8 * channels)
        self.contract = nn.Linear(4 * channels, channels)
        self.leave = nn.Conv2d(channels, channels, 1)

    def forward(self, x: torch.Tensor, text: torch.Tensor) -> torch.Tensor:
        height, width = x.shape[2:]
        y = self.enter(self.norm(x)).flatten(2).transpose(1, 2)
        z = self.norm1(y)
        y = y + self.own(z, z)
        y = y + self.text(self.norm2(y), text)
        wide, gate = self.expand(self.norm3(y)).chunk(2, dim=-1)
        y = y + self.contract(wide * F.gelu(gate))
        return x + self.leave(y.transpose(1, 2).unflatten(2, (height, width)))


class Stage(nn.Module):
    """A residual block, and a transformer where the level has one."""

    def __init__(self, before: int, after: int, time_width: int, attends: bool) -> None:
        super().__init__()
        self.residual = Residual(before, after, time_width)
        self.transformer = Transformer(after) if attends else None

    def forward(self, x: torch.Tensor, time: torch.Tensor, text: torch.Tensor) -> torch.Tensor:
        x = self.residual(x, time)
        return x if self.transformer is None else self.transformer(x, text)


class Model(nn.Module):
    """Predicts the noise in a latent picture."""

    def __init__(self, channels: int, wider: tuple[int, ...], blocks: int) -> None:
        super().__init__()
        time_width = 4 * channels
        self.time1 = nn.Linear(channels, time_width)
        self.time2 = nn.Linear(time_width, time_width)
        self.enter = nn.Conv2d(LATENT_CHANNELS, channels, 3, padding=1)
        self.down, self.shrink = nn.ModuleList(), nn.ModuleList()
        self.up, self.enlarge = nn.ModuleList(), nn.ModuleList()
        last = len(wider) - 1
        skips = [channels]
        width = channels
        for level, factor in enumerate(wider):
            for _ in range(blocks):
                self.down.append(Stage(width, factor * channels, time_width, level < last))
                width = factor * channels
                skips.append(width)
            if level < last:
                self.shrink.append(nn.Conv2d(width, width, 3, stride=2, padding=1))
                skips.append(width)
        self.middle1 = Stage(width, width, time_width, True)
        self.middle2 = Stage(width, width, time_width, False)
        for level, factor in reversed(list(enumerate(wider))):
            for _ in range(blocks + 1):
                self.up.append(Stage(width + skips.pop(), factor * channels, time_width, level < last))
                width = factor * channels
            if level > 0:
                self.enlarge.append(nn.Conv2d(width, width, 3, padding=1))
        self.norm = nn.GroupNorm(GROUPS, width)
        self.leave = nn.Conv2d(width, LATENT_CHANNELS, 3, padding=1)
        self.channels = channels
        self.blocks = blocks
        self.eval()

    def forward(self, latent: torch.Tensor, steps: torch.Tensor, text: torch.Tensor) -> torch.Tensor:
        waves = wave_features(steps, self.channels).to(latent.dtype)
        time = self.time2(F.silu(self.time1(waves)))
        x = self.enter(latent)
        skips = [x]
        for number, stage in enumerate(self.down):
            x = stage(x, time, text)
            skips.append(x)
            if (number + 1) % self.blocks == 0 and number + 1 < len(self.down):
                x = self.shrink[number // self.blocks](x)
                skips.append(x)
        x = self.middle2(self.middle1(x, time, text), time, text)
        for number, stage in enumerate(self.up):
            x = stage(torch.cat([x, skips.pop()], dim=1), time, text)
            if (number + 1) % (self.blocks + 1) == 0 and number + 1 < len(self.up):
                x = self.enlarge[number // (self.blocks + 1)](F.interpolate(x, scale_factor=2.0, mode="nearest"))
        return self.leave(F.silu(self.norm(x)))


def get_inputs() -> list[torch.Tensor]:
    return [
        torch.randn(BATCH, LATENT_CHANNELS, LATENT, LATENT),
        torch.randint(0, 1000, (BATCH,)),
        torch.randn(BATCH, TOKENS, TEXT_WIDTH),
    ]


def get_init_inputs() -> list[object]:
    return [CHANNELS, WIDER, BLOCKS]
