"""The evaluator that judges mutants, against PyTorch."""

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from oracle.alir_text import read
from oracle.numpy_eval import evaluate
from oracle.numpy_values import ProgramError

SAMPLES = 3

LINEAR = """
program linear(input x: f32[B, S, K], param w: f32[N, K], param b: f32[N]) -> (y) {
  dims B = 2, S = 5, K = 7, N = 4
  op "linear" {
    kernel p: f32[B, S, N] { for b:B, s:S, n:N, k:K   p[b,s,n] += x[b,s,k] * w[n,k] }
    kernel y: f32[B, S, N] { for b:B, s:S, n:N   y[b,s,n] = p[b,s,n] + b[n] }
  }
}
"""
CONVOLUTION = """
fn conv<N, G, I, O, H, W, R, Q, S, A, D, type T>(x: T[N, G, I, H, W], w: T[G, O, I, R, Q]) -> (y) {
  dims P = (H + 2*A - D*(R-1) - 1) // S + 1, V = (W + 2*A - D*(Q-1) - 1) // S + 1
  kernel y: T[N, G, O, P, V] {
    for n:N, g:G, o:O, p:P, v:V, i:I, r:R, q:Q
    let h = S*p + D*r - A   let u = S*v + D*q - A
    where 0 <= h < H, 0 <= u < W
    y[n,g,o,p,v] += x[n,g,i,h,u] * w[g,o,i,r,q]
  }
}
program grouped(input x: f32[N, C, H, W], param w: f32[O, I, 3, 3]) -> (y) {
  dims N = 2, G = 2, I = 2, J = 3, C = G*I, O = G*J, H = 11, W = 10
  view xg = x { n, (g:G, i), h, w -> n, g, i, h, w }
  view wg = w { (g:G, o), i, r, q -> g, o, i, r, q }
  let yg = conv(xg, wg; S = 2, A = 1, D = 2)
  view y = yg { n, g, o, p, v -> n, (g, o), p, v }
}
"""
TRANSPOSED = """
program transposed(input x: f32[N, C, H], param w: f32[C, O, R]) -> (y) {
  dims N = 2, C = 3, O = 4, H = 5, R = 3, S = 2, A = 1, P = (H-1)*S - 2*A + R + 1
  kernel y: f32[N, O, P] {
    for n:N, o:O, p:P, c:C, r:R
    let h = p + A - r
    where h % S == 0, 0 <= h < S*H
    y[n,o,p] += x[n, c, h // S] * w[c,o,r]
  }
}
"""
NORMS = """
fn soft<*L, N, type T>(x: T[*L, N]) -> (y) {
  kernel m: T[*L] { for *l:*L, n:N   m[*l] max= x[*l, n] }
  kernel e: wide(T)[*L, N] { for *l:*L, n:N   e[*l, n] = exp(wide(x[*l, n] - m[*l])) }
  kernel z: wide(T)[*L] { for *l:*L, n:N   z[*l] += e[*l, n] }
  kernel y: T[*L, N] { for *l:*L, n:N   y[*l, n] = T(e[*l, n] / z[*l]) }
}
fn norm<*L, N, type T>(x: T[*L, N], eps: wide(T)[]) -> (y) {
  kernel s: wide(T)[*L] { for *l:*L, n:N   s[*l] += wide(x[*l, n]) }
  kernel c: wide(T)[*L, N] { for *l:*L, n:N   c[*l, n] = wide(x[*l, n]) - s[*l] / N }
  kernel q: wide(T)[*L] { for *l:*L, n:N   q[*l] += c[*l, n] * c[*l, n] }
  kernel y: T[*L, N] { for *l:*L, n:N   y[*l, n] = T(c[*l, n] * rsqrt(q[*l] / N + eps)) }
}
program norms(input x: f32[B, S, N]) -> (y) {
  dims B = 2, S = 3, N = 8
  let h = norm(x, 1e-5)
  let s = soft(h)
  kernel y: bf16[B, S, N] { for b:B, s:S, n:N   y[b,s,n] = bf16(s[b,s,n]) }
}
"""
SCANS = """
program scans(input x: f32[B, T]) -> (y, best, place, late) {
  dims B = 2, T = 7
  kernel y: f32[B, T] { for b:B, seq t:T   y[b,t] = prev + x[b,t]   init 0 }
  kernel best: f32[B], place: i64[B] { for b:B, t:T   best[b], place[b] argmax= x[b,t], t }
  slice late = y[:, 2:T:2]
}
"""
CROSS_ENTROPY = """
program cross_entropy(input x: f32[B, C], input t: i64[B]) -> (loss) {
  dims B = 4, C = 7
  kernel m: f32[B] { for b:B, c:C   m[b] max= x[b,c] }
  kernel z: f32[B] { for b:B, c:C   z[b] += exp(x[b,c] - m[b]) }
  indexed n: f32[B] { for b:B   n[b] = log(z[b]) + m[b] - x[b, t[b]] }
  kernel s: f32[] { for b:B   s[] += n[b] }
  kernel loss: f32[] { loss[] = s / B }
}
"""
OUTSIDE = """
program outside(input x: f32[N]) -> (y) {
  dims N = 4
  kernel y: f32[N] { for n:N   y[n] = x[n + 1] }
}
"""


def ported(**shapes: tuple[int, ...]) -> dict[str, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(7)
    return {name: rng.normal(size=(SAMPLES, *shape)).astype(np.float32) for name, shape in shapes.items()}


def compare(text: str, ports: dict[str, Any], reference: Any, output: str = "y", tolerance: float = 1e-5) -> None:
    """Both arithmetics against a function of one sample's tensors."""
    expected = [
        reference(*(torch.from_numpy(values[i]) for values in ports.values())).float().numpy() for i in range(SAMPLES)
    ]
    for exact in (True, False):
        outcome = evaluate(read(text), {}, ports, exact=exact)
        found = outcome.outputs[output]
        np.testing.assert_allclose(found, np.stack(expected), rtol=tolerance, atol=tolerance)


def test_linear() -> None:
    compare(LINEAR, ported(x=(2, 5, 7), w=(4, 7), b=(4,)), F.linear)


def test_grouped_dilated_convolution() -> None:
    ports = ported(x=(2, 4, 11, 10), w=(6, 2, 3, 3))
    compare(CONVOLUTION, ports, lambda x, w: F.conv2d(x, w, stride=2, padding=1, dilation=2, groups=2))


def test_transposed_convolution() -> None:
    ports = ported(x=(2, 3, 5), w=(3, 4, 3))
    compare(TRANSPOSED, ports, lambda x, w: F.conv_transpose1d(x, w, stride=2, padding=1, output_padding=1))


def test_norms_and_rounding() -> None:
    ports = ported(x=(2, 3, 8))
    outcome = evaluate(read(NORMS), {}, ports, exact=False)
    x = torch.from_numpy(ports["x"])
    expected = F.layer_norm(x, (8,)).softmax(-1).bfloat16().float().numpy()
    # A value beside the middle of two bf16 numbers may round to either.
    np.testing.assert_allclose(outcome.outputs["y"], expected, rtol=2**-8)
    assert (outcome.outputs["y"].view(np.uint32) & 0xFFFF == 0).all()


@pytest.mark.parametrize(
    ("output", "reference"),
    [
        ("y", lambda x: x.cumsum(1)),
        ("best", lambda x: x.max(1).values),
        ("place", lambda x: x.argmax(1)),
        ("late", lambda x: x.cumsum(1)[:, 2::2]),
    ],
)
def test_ordered_loops_and_arg_reductions(output: str, reference: Any) -> None:
    compare(SCANS, ported(x=(2, 7)), reference, output)


def test_data_dependent_reads() -> None:
    ports: dict[str, Any] = ported(x=(4, 7))
    ports["t"] = np.random.default_rng(8).integers(0, 7, (SAMPLES, 4))
    compare(CROSS_ENTROPY, ports, F.cross_entropy, "loss")


def test_a_read_outside_is_refused() -> None:
    with pytest.raises(ProgramError, match="leaves its axis"):
        evaluate(read(OUTSIDE), {}, ported(x=(4,)), exact=True)
