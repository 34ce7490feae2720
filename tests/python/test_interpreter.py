"""The interpreter against the NumPy evaluator, which shares nothing with it but the language."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from oracle import mutant_trial
from oracle.alir_text import read
from oracle.numpy_eval import Scope, evaluate
from oracle.numpy_values import dtype_of
from safetensors.torch import load_file, save_file

SEED = 11
TYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i64": torch.int64,
    "u8": torch.uint8,
}
PROGRAMS = {
    "convolution": """
program convolution(input x: f32[N, C, H, W], param w: f32[O, I, R, R], param b: f32[O]) -> (y, m) {
  dims N = 2, G = 2, I = 3, J = 2, C = G*I, O = G*J, H = 9, W = 8, R = 3, P = (H - 1) // 2 + 1, Q = (W - 1) // 2 + 1
  view xg = x { n, (g:G, i), h, w -> n, g, i, h, w }
  view wg = w { (g:G, o), i, r, q -> g, o, i, r, q }
  kernel t: f32[N, G, J, P, Q] {
    for n:N, g:G, o:J, p:P, q:Q, i:I, r:R, s:R
    let h = 2*p + r - 1   let c = 2*q + s - 1
    where 0 <= h < H, 0 <= c < W
    t[n,g,o,p,q] += xg[n,g,i,h,c] * wg[g,o,i,r,s]
  }
  view u = t { n, g, o, p, q -> n, (g, o), p, q }
  kernel y: f32[N, O, P, Q] { for n:N, o:O, p:P, q:Q   y[n,o,p,q] = max(u[n,o,p,q] + b[o], 0) }
  kernel m: f32[N, O] { for n:N, o:O, p:P, q:Q   m[n,o] max= u[n,o,p,q] }
}
""",
    "transposed": """
program transposed(input x: f32[N, C, H], param w: f32[C, O, R]) -> (y) {
  dims N = 2, C = 3, O = 4, H = 5, R = 3, S = 2, A = 1, P = (H - 1)*S - 2*A + R + 1
  kernel y: f32[N, O, P] {
    for n:N, o:O, p:P, c:C, r:R
    let h = p + A - r
    where h % S == 0, 0 <= h < S*H
    y[n,o,p] += x[n, c, h // S] * w[c,o,r]
    init 0.5
  }
}
""",
    "narrow": """
program narrow(input x: f32[B, N], input z: bf16[B, N]) -> (h, y, s) {
  dims B = 3, N = 37
  kernel h: f16[B, N] { for b:B, n:N   h[b,n] = f16(x[b,n] * 100) }
  kernel y: bf16[B, N] { for b:B, n:N   y[b,n] = bf16(exp(f32(z[b,n])) / 3) }
  kernel s: bf16[B] { for b:B, n:N   s[b] += z[b,n] }
}
""",
    "integers": """
program integers(input i: i64[B, N], input x: f32[N, M]) -> (a, b, c, k, y) {
  dims B = 4, N = 6, M = 5
  kernel a: i64[B, N] { for r:B, n:N   a[r,n] = (i[r,n] - 3) // 2 * 7 + (i[r,n] - 3) % 4 }
  kernel b: i64[B] { for r:B, n:N   b[r] += i[r,n] * i[r,n] }
  kernel c: u8[B, N] { for r:B, n:N   c[r,n] = u8(i[r,n] * 100) }
  kernel k: i64[B, N] { for r:B, n:N   k[r,n] = i64(f32(i[r,n]) * -1.7) }
  indexed y: f32[B, N, M] { for r:B, n:N, m:M   y[r,n,m] = x[i[r,n], m] }
}
""",
    "scans": """
program scans(input x: f32[B, T]) -> (y, r, p, best, place, low, where_low, late, back) {
  dims B = 3, T = 9
  kernel y: f32[B, T] { for b:B, seq t:T   y[b,t] = prev + x[b,t]   init 0 }
  kernel r: f32[B, T] {
    for b:B, revseq t:T   r[b,t] = prev + select(t + 1 < T, x[b, min(t + 1, T - 1)], 0)   init 0 }
  kernel p: f32[B, T] { for b:B, seq t:T where t % 3 != 0   p[b,t] = 2*prev - x[b,t]   init 1   else 0.25 }
  kernel best: f32[B], place: i64[B] { for b:B, t:T   best[b], place[b] argmax= x[b,t], t }
  kernel low: f32[B], where_low: i64[B] { for b:B, t:T where t >= 2   low[b], where_low[b] argmin= x[b,t], t }
  slice late = y[:, 2:T:2]
  slice back = x[1, reverse]
}
""",
    "attention": """
program attention(input q: f32[B, H, S, D], input k: f32[B, H, S, D], input v: f32[B, H, S, D]) -> (s, m, p, z, u) {
  dims B = 2, H = 3, S = 9, D = 4
  kernel s: f32[B, H, S, S] { for b:B, h:H, i:S, j:S, d:D where j <= i   s[b,h,i,j] += q[b,h,i,d] * k[b,h,j,d] }
  kernel m: f32[B, H, S] { for b:B, h:H, i:S, j:S where j <= i   m[b,h,i] max= 0.5 * s[b,h,i,j]   init -inf }
  kernel p: f32[B, H, S, S] {
    for b:B, h:H, i:S, j:S where j <= i   p[b,h,i,j] = exp(0.5 * s[b,h,i,j] - m[b,h,i])   else 0 }
  kernel z: f32[B, H, S] { for b:B, h:H, i:S, j:S where j <= i   z[b,h,i] += p[b,h,i,j] }
  kernel u: f32[B, H, S, D] { for b:B, h:H, i:S, d:D, j:S where j <= i   u[b,h,i,d] += p[b,h,i,j] * v[b,h,j,d] }
}
""",
    "scatter": """
program scattered(input x: f32[N], input i: i64[N]) -> (y, z) {
  dims N = 6
  kernel b: f32[N] { for n:N   b[n] = 2 * x[n] }
  scatter y: f32[N] { for n:N   y[i[n]] += b[N - 1 - n]   base b }
  scatter z: f32[N] { for n:N   z[i[n]] max= x[n]   base y }
}
""",
    "functions": """
fn soft<*L, N, type T>(x: T[*L, N]) -> (y) {
  kernel m: T[*L] { for *l:*L, n:N   m[*l] max= x[*l, n] }
  kernel e: wide(T)[*L, N] { for *l:*L, n:N   e[*l, n] = exp(wide(x[*l, n] - m[*l])) }
  kernel z: wide(T)[*L] { for *l:*L, n:N   z[*l] += e[*l, n] }
  kernel y: T[*L, N] { for *l:*L, n:N   y[*l, n] = T(e[*l, n] / z[*l]) }
}
program functions(input x: f32[B, S, N]) -> (y, t, j) {
  dims B = 2, S = 3, N = 8
  let y = soft(x)
  view t = y { b, s, (a:2, n) -> a, (s, b), n, r:2 }
  let j = concat(x, y; axis = 1)
}
""",
}


def random_ports(text: str, samples: int) -> dict[str, Any]:
    """Values for every port: normal floats, integers from 0 to 5."""
    file = read(text)
    assert file.program is not None
    scope = Scope({}, samples, exact=False)
    scope.declare(file.program.body)
    rng = np.random.default_rng(SEED)
    ports = {}
    for port in file.program.ports:
        shape = (samples, *scope.shape(port.type))
        whole = scope.element(port.type).startswith(("i", "u"))
        values = rng.integers(0, 6, shape) if whole else rng.normal(size=shape)
        ports[port.name] = values.astype(dtype_of(scope.element(port.type), False))
    return ports


def compare(solar: Any, folder: Path, path: Path, ports: dict[str, Any], prelude: dict[str, Any]) -> None:
    """Runs the program on the first sample and compares every output with the evaluator's."""
    inputs, outputs = folder / "inputs.safetensors", folder / "outputs.safetensors"
    file = read(path.read_text())
    assert file.program is not None
    elements = {port.name: port.type.element for port in file.program.ports}
    save_file({n: torch.from_numpy(v[0].copy()).to(TYPES[elements[n]]) for n, v in ports.items()}, inputs)
    done = solar("run", path, "--inputs", inputs, "-o", outputs)
    assert done.returncode == 0, done.stdout + done.stderr
    expected = evaluate(file, prelude, ports, exact=False).outputs
    found = load_file(outputs)
    assert set(found) == set(expected)
    for name, values in expected.items():
        tensor = found[name]
        assert tuple(tensor.shape) == values[0].shape, name
        if not tensor.is_floating_point():
            np.testing.assert_array_equal(tensor.numpy(), values[0], err_msg=name)
            continue
        # The order of sums is left open, and so a narrow type may round to the neighbour.
        narrow = torch.finfo(tensor.dtype).eps if tensor.dtype in (torch.float16, torch.bfloat16) else 0.0
        tolerance = 2e-6 * float(np.abs(values[0]).max())
        np.testing.assert_allclose(tensor.double().numpy(), values[0], rtol=narrow, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_programs(solar: Any, tmp_path: Path, name: str) -> None:
    program = tmp_path / f"{name}.alir"
    program.write_text(PROGRAMS[name])
    compare(solar, tmp_path, program, random_ports(PROGRAMS[name], 1), {})


@pytest.mark.parametrize("model", sorted(mutant_trial.EXAMPLES))
def test_models(solar: Any, tmp_path: Path, model: str) -> None:
    source = mutant_trial.EXAMPLES[model]
    program = mutant_trial.trace(solar, source, tmp_path)
    prelude = {name: f for file in mutant_trial.prelude_files() for name, f in file.functions.items()}
    ports, _ = mutant_trial.samples(source, tmp_path, seeds=2)
    compare(solar, tmp_path, program, ports, prelude)
