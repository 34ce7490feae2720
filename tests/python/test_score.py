"""`solar score` at the command line: verdicts, and what the algebra says to them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from attempts import DONE, PROBLEM, USAGE, run

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Solar

COLLAPSED = """\
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.l = torch.nn.Linear(1024, 1024)

    def forward(self, x):
        return self.l(x).sum(-1)

def get_inputs():
    return [torch.randn(256, 1024)]
"""


@pytest.fixture
def source(tmp_path: Path) -> str:
    """The row sums of a product, by its name in the test's folder."""
    (tmp_path / "sums.py").write_text(COLLAPSED)
    return "sums.py"


def scored(solar: Solar, source: str, measured: float, *arguments: str) -> dict[str, Any]:
    common = (source, "--arch", "h100-sxm", "--fail-on", "never", "--json", "-")
    ran = run(solar, "score", *common, "--measured", f"{measured}s", *arguments)
    assert ran.code == DONE
    return json.loads(ran.out)  # type: ignore[no-any-return]


def test_rewrites_explain_a_suspicious_time(solar: Solar, source: str) -> None:
    at_leisure = scored(solar, source, 1)
    assert at_leisure["verdict"] == "plausible"
    assert [d["kind"] for d in at_leisure["degenerate"]] == ["collapsed-product"]
    assert "degenerate (collapsed-product" in at_leisure["verdict_text"]
    assert [r["kind"] for r in at_leisure["rewrites"]][: at_leisure["rewrites_used"]] == ["push-sum"]
    fused, algebraic = at_leisure["sol_s"], at_leisure["algebraic_s"]
    assert algebraic < fused / 4

    explained = scored(solar, source, (fused + algebraic) / 2)
    assert explained["verdict"] == "suspicious"
    assert "1 found rewrite (push-sum at sums.py:9) explains it" in explained["verdict_text"]
    assert "as-written-graph does not hold" in explained["verdict_text"]
    ran = solar("score", source, "--arch", "h100-sxm", "--measured", f"{(fused + algebraic) / 2}s")
    assert ran.returncode == PROBLEM
    below = scored(solar, source, algebraic / 2)
    assert "explain" not in below["verdict_text"]
    assert "below the algebraic floor" in below["verdict_text"]

    plain = scored(solar, source, (fused + algebraic) / 2, "--no-algebra")
    assert plain["verdict"] == "suspicious"
    assert not {"algebraic_s", "rewrites", "degenerate"} & set(plain)


def test_the_text_lists_it(solar: Solar, source: str) -> None:
    ran = run(solar, "score", source, "--arch", "h100-sxm", "--measured", "1s")
    assert ran.code == DONE
    for said in ("DEGENERATE PROGRAM: of the product", "\n  algebraic ", "- push-sum at sums.py:9: ", "degenerate ("):
        assert said in ran.out


def test_parameters_may_be_known_beforehand(solar: Solar, tmp_path: Path) -> None:
    (tmp_path / "two.alir").write_text(
        "program two(input x: f32[256, 8], param a: f32[8, 64], param b: f32[64, 8]) -> (y) {\n"
        "  kernel h: f32[256, 64] { for n:256, j:64, i:8   h[n,j] += x[n,i] * a[i,j] }\n"
        "  kernel y: f32[256, 8] { for n:256, k:8, j:64   y[n,k] += h[n,j] * b[j,k] }\n}\n"
    )
    runtime, frozen = scored(solar, "two.alir", 1), scored(solar, "two.alir", 1, "--params", "frozen")
    assert frozen["params"] == "frozen"
    assert "params" not in runtime
    assert frozen["algebraic_s"] < runtime["algebraic_s"]
    assert frozen["sol_s"] == runtime["sol_s"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("none.py", "--measured", "1s"), PROBLEM, "no such file: none.py"),
        (("sums.py", "--measured", "1kg"), USAGE, "`kg` is not a unit"),
        (("sums.py", "--measured", "1"), USAGE, "`1` has no unit"),
        (("sums.py", "--measured", "0s"), USAGE, "is not between"),
        (("sums.py",), USAGE, "--measured is required"),
        (("sums.py", "--measured", "1s", "--fail-on", "always"), USAGE, "always"),
    ],
)
def test_wrong_arguments(solar: Solar, source: str, arguments: tuple[str, ...], code: int, said: str) -> None:
    ran = run(solar, "score", *arguments, "--arch", "h100-sxm")
    assert (ran.code, ran.out) == (code, "")
    assert said in ran.err
