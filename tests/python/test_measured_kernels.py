"""Floors of kernels against times that others have measured: no time is below its floor.

`tests/measured/kernels.csv` has the times, each with its source. A GEMM's shape is MxNxK, an attention's
batch x heads x sequence x head width.
"""

import csv
import json
from pathlib import Path

import pytest
from conftest import ROOT, Solar

TYPES = {"bf16": "bf16", "fp16": "f16", "fp8": "f8e4m3"}

GEMM = """
program gemm(input a: {type}[{m}, {k}], input b: {type}[{n}, {k}]) -> (c) {{
  let product = linear(a, b)
  kernel c: {out}[{m}, {n}] {{ for i:{m}, j:{n}   c[i,j] = {out}(product[i,j]) }}
}}
"""
ATTENTION = """
program attention(input q: {type}[{b}, {h}, {s}, {d}], input k: {type}[{b}, {h}, {s}, {d}],
                  input v: {type}[{b}, {h}, {s}, {d}], input scale: f32[]) -> (o) {{
  op "attention" {{ let o = {function}(q, k, v, scale) }}
}}
"""


def rows() -> list[dict[str, str]]:
    with (ROOT / "tests/measured/kernels.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def program_of(row: dict[str, str]) -> str:
    sizes = [int(size) for size in row["shape"].split("x")]
    element = TYPES[row["type"]]
    if row["kernel"] == "gemm":
        m, n, k = sizes
        return GEMM.format(type=element, out="bf16" if row["type"] == "fp8" else element, m=m, n=n, k=k)
    b, h, s, d = sizes
    function = "sdpa_causal" if row["kernel"] == "causal-attention" else "sdpa"
    return ATTENTION.format(type=element, function=function, b=b, h=h, s=s, d=d)


def fused_seconds(solar: Solar, path: Path, arch: str, *options: str) -> float:
    done = solar("analyze", path, "--arch", arch, "--json", "-", *options)
    assert done.returncode == 0, done.stderr
    return next(bound["time_s"] for bound in json.loads(done.stdout)["bounds"] if bound["mode"] == "fused")


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row['arch']}-{row['kernel']}-{row['shape']}-{row['type']}")
def test_no_measured_time_is_below_its_floor(solar: Solar, tmp_path: Path, row: dict[str, str]) -> None:
    path = tmp_path / "kernel.alir"
    path.write_text(program_of(row))
    measured = float(row["measured_ms"]) * 1e-3
    floor = fused_seconds(solar, path, row["arch"])
    strict = fused_seconds(solar, path, row["arch"], "--strict")
    assert strict <= floor
    assert floor <= measured, f"the floor is {floor / measured:.3f} of the measured time"
    assert floor >= 0.3 * measured, "these kernels are good ones: a floor this low has forgotten something"
