"""The evaluator's loops, branches, scatters and sorts, against PyTorch and plain Python."""

from typing import Any

import numpy as np
import pytest
import torch
from oracle.alir_text import read
from oracle.differential import prelude
from oracle.numpy_eval import Outcome, evaluate
from oracle.numpy_values import ProgramError

RNN = """
program rnn(input x: f32[T, B, I], param w: f32[H, I], param u: f32[H, H], input h0: f32[B, H]) -> (h, ys, back, n) {
  dims T = 5, B = 2, I = 3, H = 4
  let h stack ys = repeat t:T with (s = h0) {
    slice row = x[t, :, :]
    let a = linear(row, w)
    let b = linear(s, u)
    kernel s2: f32[B, H] { for b:B, h:H   s2[b,h] = tanh(a[b,h] + b[b,h]) }
    next s2 stack s2
  }
  let back = repeat revseq t:T with (v = 0) {
    kernel v2: i64[] { v2[] = v * 2 + t }
    next v2
  }
  let stack n = repeat t:T with () { kernel m: i64[B] { for b:B   m[b] = t * t + b } next stack m }
}
"""
WHILE = """
program root(input y: f64[]) -> (r, n, kind) {
  let (r, n) = while limit 60 with (a = 1.0, k = 0) {
    kernel go: bool[] { go[] = abs(a * a - y) > 1e-9 }
    test go
    kernel a2: f64[] { a2[] = 0.5 * (a + y / a) }
    kernel k2: i64[] { k2[] = k + 1 }
    next (a2, k2)
  }
  kernel large: bool[] { large[] = r > 2 }
  let kind = if large { kernel one: i64[] { one[] = 1 } next one } else { kernel two: i64[] { two[] = 2 } next two }
}
"""
SPARSE = """
program sparse(input ptr: i64[M], input col: i64[NNZ], input val: f32[NNZ], input b: f32[K, N], input ids: i64[NNZ])
    -> (y, counts, largest) {
  dims M = 5, NNZ = 7, K = 6, N = 3
  indexed y: f32[M - 1, N] { for i:M - 1, n:N, p:NNZ in ptr[i] .. ptr[i + 1]   y[i,n] += val[p] * b[col[p], n] }
  scatter counts: f32[K] { for p:NNZ   counts[ids[p]] += val[p] }
  kernel zeros: f32[K] { for k:K   zeros[k] = -9 }
  scatter largest: f32[K] { for p:NNZ   largest[ids[p]] max= val[p]  base zeros }
}
"""
SORTS = """
program sorts(input x: f32[A, B], input s: i64[]) -> (v, i, d, t, j, u, n, z, m, w, p, q) {
  dims A = 3, B = 6
  let (v, i) = sort(x; axis = 1)
  let d = argsort(x; axis = 0, descending = true)
  let (t, j) = topk(x; axis = 1, k = 2)
  let (u, n) = unique(x; limit = 18)
  let (z, m) = nonzero(x; limit = 18)
  slice w = x[:, at s size 2]
  let (p, q) = split(x; axis = 1)
}
"""


def outcome(text: str, **ports: Any) -> Outcome:
    return evaluate(read(text), prelude(), ports, exact=False)


def test_repeat() -> None:
    rng = np.random.default_rng(1)
    cell = torch.nn.RNN(3, 4, bias=False)
    x, h0 = (rng.normal(size=shape).astype(np.float32) for shape in ((5, 2, 3), (2, 4)))
    w, u = (p.detach().numpy() for p in (cell.weight_ih_l0, cell.weight_hh_l0))
    found = outcome(RNN, x=x[None], w=w[None], u=u[None], h0=h0[None]).outputs
    ys, h = cell(torch.from_numpy(x), torch.from_numpy(h0)[None])
    np.testing.assert_allclose(found["ys"][0], ys.detach().numpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found["h"][0], h[0].detach().numpy(), rtol=1e-5, atol=1e-6)
    assert found["back"][0] == (((4 * 2 + 3) * 2 + 2) * 2 + 1) * 2
    np.testing.assert_array_equal(found["n"][0], [[t * t + b for b in range(2)] for t in range(5)])


def test_while_and_if_go_their_way_in_every_sample() -> None:
    y = np.array([2.0, 16.0, 1.0])
    found = outcome(WHILE, y=y).outputs
    np.testing.assert_allclose(found["r"], np.sqrt(y), rtol=1e-6)
    np.testing.assert_array_equal(found["kind"], [2, 1, 2])
    assert found["n"][2] == 0
    assert found["n"][0] < found["n"][1]


def test_a_while_without_end_is_reported() -> None:
    with pytest.raises(ProgramError, match="more than 3 steps") as caught:
        outcome(WHILE.replace("limit 60", "limit 3"), y=np.array([1e6]))
    assert caught.value.kind == "step-limit"


def test_ragged_loops_and_scatters() -> None:
    rng = np.random.default_rng(2)
    ptr, col = np.array([0, 2, 2, 5, 7]), rng.integers(0, 6, 7)
    val, b = rng.normal(size=7).astype(np.float32), rng.normal(size=(6, 3)).astype(np.float32)
    ids = rng.integers(0, 6, 7)
    found = outcome(SPARSE, ptr=ptr[None], col=col[None], val=val[None], b=b[None], ids=ids[None]).outputs
    matrix = np.zeros((4, 6), dtype=np.float32)
    for row in range(4):
        for p in range(ptr[row], ptr[row + 1]):
            matrix[row, col[p]] += val[p]
    np.testing.assert_allclose(found["y"][0], matrix @ b, rtol=1e-5, atol=1e-6)
    index = torch.from_numpy(ids)
    counts = torch.zeros(6).index_add(0, index, torch.from_numpy(val))
    np.testing.assert_allclose(found["counts"][0], counts.numpy(), rtol=1e-6)
    largest = torch.full((6,), -9.0).scatter_reduce(0, index, torch.from_numpy(val), "amax")
    np.testing.assert_array_equal(found["largest"][0], largest.numpy())


def test_sorting_and_selection() -> None:
    x = np.array([[3, 0, np.nan, 3, -1, 0], [1, 1, 1, 0, 0, 2], [np.inf, -1, 0, np.nan, np.nan, 5]], dtype=np.float32)
    found = outcome(SORTS, x=x[None], s=np.array([3])).outputs
    torch_x = torch.from_numpy(x)
    values, order = torch_x.sort(dim=1, stable=True)
    np.testing.assert_array_equal(found["v"][0], values.numpy())
    np.testing.assert_array_equal(found["i"][0], order.numpy())
    down = torch_x.sort(dim=0, descending=True, stable=True)
    np.testing.assert_array_equal(found["d"][0], down.indices.numpy())
    np.testing.assert_array_equal(found["t"][0], torch_x.topk(2, 1).values.numpy())
    np.testing.assert_array_equal(np.take_along_axis(x, found["j"][0], 1), found["t"][0])
    distinct = [-1, 0, 1, 2, 3, 5, np.inf, np.nan]
    np.testing.assert_array_equal(found["u"][0], distinct + [0] * 10)
    assert found["n"][0] == len(distinct)
    places = np.argwhere(x)
    np.testing.assert_array_equal(found["z"][0], np.vstack([places, np.zeros((18 - len(places), 2))]))
    assert found["m"][0] == len(places)
    np.testing.assert_array_equal(found["w"][0], x[:, 3:5])
    np.testing.assert_array_equal(found["p"][0], x[:, :3])
    np.testing.assert_array_equal(found["q"][0], x[:, 3:])
