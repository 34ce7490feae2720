"""The kernels that are compared: ALIR text, inputs, the same in Numba (at its best loop order) and in torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F

if TYPE_CHECKING:
    from collections.abc import Callable

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Case:
    name: str
    kind: str  # contraction, pointwise, reduction, scan or other: which target applies
    alir: str
    shapes: dict[str, tuple[int, ...]]
    torch_function: Callable[..., torch.Tensor]
    tolerance: float = 1e-4
    integers: tuple[tuple[str, int], ...] = ()  # inputs of indices, with their bound
    scale: float = 1.0

    def inputs(self) -> Arrays:
        random = np.random.default_rng(1)
        bounds = dict(self.integers)
        return {
            name: random.integers(0, bounds[name], shape)
            if name in bounds
            else random.standard_normal(shape, dtype=np.float32) * np.float32(self.scale)
            for name, shape in self.shapes.items()
        }


def program(text: str, inputs: dict[str, tuple[int, ...]], integers: tuple[str, ...] = ()) -> str:
    """A program of that body; its output is y."""
    ports = ", ".join(
        f"input {name}: {'i64' if name in integers else 'f32'}[{', '.join(map(str, shape))}]"
        for name, shape in inputs.items()
    )
    return f"program bench({ports}) -> (y) {{\n{text}\n}}\n"


def case(name, kind, body, shapes, torch_function, integers=(), tolerance=1e-4, scale=1.0) -> Case:
    text = program(body, shapes, tuple(key for key, _ in integers))
    return Case(name, kind, text, shapes, torch_function, tolerance, tuple(integers), scale)


def lstm(x, h0, c0, *weights):
    return torch.lstm(x, (h0[None], c0[None]), list(weights), True, 1, 0.0, False, False, False)[0]


def gqa(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, enable_gqa=True)


CASES = [
    case(
        "matmul 512^3",
        "contraction",
        "kernel y: f32[512, 512] { for m:512, n:512, k:512   y[m,n] += a[m,k] * b[k,n] }",
        {"a": (512, 512), "b": (512, 512)},
        torch.matmul,
    ),
    case(
        "batched matmul 16x256^3",
        "contraction",
        "kernel y: f32[16, 256, 256] { for z:16, m:256, n:256, k:256   y[z,m,n] += a[z,m,k] * b[z,k,n] }",
        {"a": (16, 256, 256), "b": (16, 256, 256)},
        torch.bmm,
    ),
    case(
        "conv2d 4x32x32x32, 64 out, 3x3",
        "contraction",
        """kernel y: f32[4, 64, 32, 32] {
      for n:4, o:64, p:32, q:32, i:32, r:3, s:3
      where 0 <= p + r - 1 < 32, 0 <= q + s - 1 < 32
      y[n,o,p,q] += x[n, i, p + r - 1, q + s - 1] * w[o,i,r,s]
    }""",
        {"x": (4, 32, 32, 32), "w": (64, 32, 3, 3)},
        lambda x, w: F.conv2d(x, w, padding=1),
    ),
    case(
        "conv3d 2x16x8x32x32, 32 out, 3x3x3",
        "contraction",
        """kernel y: f32[2, 32, 8, 32, 32] {
      for n:2, o:32, d:8, p:32, q:32, i:16, t:3, r:3, s:3
      where 0 <= d + t - 1 < 8, 0 <= p + r - 1 < 32, 0 <= q + s - 1 < 32
      y[n,o,d,p,q] += x[n, i, d + t - 1, p + r - 1, q + s - 1] * w[o,i,t,r,s]
    }""",
        {"x": (2, 16, 8, 32, 32), "w": (32, 16, 3, 3, 3)},
        lambda x, w: F.conv3d(x, w, padding=1),
    ),
    case(
        "depthwise conv2d 8x64x56x56, 3x3",
        "contraction",
        """kernel y: f32[8, 64, 56, 56] {
      for n:8, c:64, p:56, q:56, r:3, s:3
      where 0 <= p + r - 1 < 56, 0 <= q + s - 1 < 56
      y[n,c,p,q] += x[n, c, p + r - 1, q + s - 1] * w[c,r,s]
    }""",
        {"x": (8, 64, 56, 56), "w": (64, 3, 3)},
        lambda x, w: F.conv2d(x, w[:, None], padding=1, groups=64),
    ),
    case(
        "GQA attention 1x16x512x64, 4 groups",
        "contraction",
        """kernel s: f32[16, 512, 512] { for h:16, i:512, j:512, d:64   s[h,i,j] += q[0,h,i,d] * k[0, h // 4, j, d] }
    kernel m: f32[16, 512] { for h:16, i:512, j:512   m[h,i] max= s[h,i,j] }
    kernel e: f32[16, 512, 512] { for h:16, i:512, j:512   e[h,i,j] = exp((s[h,i,j] - m[h,i]) * 0.125) }
    kernel z: f32[16, 512] { for h:16, i:512, j:512   z[h,i] += e[h,i,j] }
    kernel u: f32[16, 512, 64] { for h:16, i:512, j:512, d:64   u[h,i,d] += e[h,i,j] * v[0, h // 4, j, d] }
    kernel y: f32[1, 16, 512, 64] { for o:1, h:16, i:512, d:64   y[o,h,i,d] = u[h,i,d] / z[h,i] }""",
        {"q": (1, 16, 512, 64), "k": (1, 4, 512, 64), "v": (1, 4, 512, 64)},
        gqa,
    ),
    case(
        "relu 16M",
        "pointwise",
        "kernel y: f32[16777216] { for i:16777216   y[i] = max(x[i], 0) }",
        {"x": (1 << 24,)},
        torch.relu,
    ),
    case(
        "gelu 4M",
        "pointwise",
        "kernel y: f32[4194304] { for i:4194304   y[i] = 0.5 * x[i] * (1 + erf(x[i] * 0.7071067811865476)) }",
        {"x": (1 << 22,)},
        F.gelu,
    ),
    case(
        "softmax 4096x1024, 4 kernels",
        "reduction",
        """kernel m: f32[4096] { for i:4096, j:1024   m[i] max= x[i,j] }
    kernel e: f32[4096, 1024] { for i:4096, j:1024   e[i,j] = exp(x[i,j] - m[i]) }
    kernel z: f32[4096] { for i:4096, j:1024   z[i] += e[i,j] }
    kernel y: f32[4096, 1024] { for i:4096, j:1024   y[i,j] = e[i,j] / z[i] }""",
        {"x": (4096, 1024)},
        lambda x: torch.softmax(x, -1),
    ),
    case(
        "layernorm 4096x1024, 3 kernels",
        "reduction",
        """kernel s: f32[4096] { for i:4096, j:1024   s[i] += x[i,j] }
    kernel v: f32[4096] { for i:4096, j:1024   let d = x[i,j] - s[i] / 1024   v[i] += d * d }
    kernel y: f32[4096, 1024] {
      for i:4096, j:1024   y[i,j] = (x[i,j] - s[i] / 1024) * rsqrt(v[i] / 1024 + 1e-5) * w[j] + b[j]
    }""",
        {"x": (4096, 1024), "w": (1024,), "b": (1024,)},
        lambda x, w, b: F.layer_norm(x, (1024,), w, b),
    ),
    case(
        "column sums 4096x1024",
        "reduction",
        "kernel y: f32[1024] { for j:1024, i:4096   y[j] += x[i,j] }",
        {"x": (4096, 1024)},
        lambda x: x.sum(0),
        tolerance=1e-3,
    ),
    case(
        "max pooling 8x64x112x112, 3x3, stride 2",
        "reduction",
        """kernel y: f32[8, 64, 56, 56] {
      for n:8, c:64, p:56, q:56, r:3, s:3
      where 0 <= 2*p + r - 1 < 112, 0 <= 2*q + s - 1 < 112
      y[n,c,p,q] max= x[n, c, 2*p + r - 1, 2*q + s - 1]
    }""",
        {"x": (8, 64, 112, 112)},
        lambda x: F.max_pool2d(x, 3, 2, 1),
    ),
    case(
        "cumsum 128x1024",
        "scan",
        "kernel y: f32[128, 1024] { for i:128, seq j:1024   y[i,j] = prev + x[i,j]  init 0 }",
        {"x": (128, 1024)},
        lambda x: torch.cumsum(x, -1),
        tolerance=1e-3,
    ),
    case(
        "LSTM 512 steps, batch 16, 128 to 256",
        "other",
        "let (y, h, c) = lstm(x, h0, c0, wi, wh, bi, bh)",
        {
            "x": (512, 16, 128),
            "h0": (16, 256),
            "c0": (16, 256),
            "wi": (1024, 128),
            "wh": (1024, 256),
            "bi": (1024,),
            "bh": (1024,),
        },
        lstm,
        scale=0.06,
    ),
    case(
        "embedding 32768x128 of 50000",
        "other",
        "indexed y: f32[32768, 128] { for s:32768, d:128   y[s,d] = table[ids[s], d] }",
        {"ids": (32768,), "table": (50000, 128)},
        lambda ids, table: F.embedding(ids, table),
        integers=(("ids", 50000),),
    ),
    case(
        "embedding and scatter-add 32768x128 of 50000",
        "other",
        """indexed e: f32[32768, 128] { for s:32768, d:128   e[s,d] = table[ids[s], d] }
    scatter y: f32[50000, 128] { for s:32768, d:128   y[ids[s], d] += e[s,d] * 0.5 }""",
        {"ids": (32768,), "table": (50000, 128)},
        lambda ids, table: torch.zeros_like(table).index_add_(0, ids, F.embedding(ids, table) * 0.5),
        integers=(("ids", 50000),),
    ),
    case(
        "top-k 1024x4096, 16",
        "other",
        "let (y, ix) = topk(x; axis = 1, k = 16)",
        {"x": (1024, 4096)},
        lambda x: torch.topk(x, 16).values,
    ),
]

__all__ = ["CASES", "Case"]
