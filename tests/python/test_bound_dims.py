"""Dims of a traced source that are bound: what stays behind, and how to trace it again instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from attempts import DONE, USAGE, run

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Solar

# D is the product of the heads and their width; the scale is computed in Python.
ATTENTION = """\
import torch
HEADS = 4
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.l = torch.nn.Linear(64, 64)
    def forward(self, x):
        y = self.l(x)
        b, t, c = y.shape
        y = y.view(b, t, HEADS, c // HEADS).transpose(1, 2)
        z = ((y @ y.transpose(-1, -2)) * c ** -0.5).softmax(-1) @ y
        return x + z.transpose(1, 2).reshape(b, t, c)
def get_inputs():
    return [torch.randn(2, 16, 64)]
"""
AGAIN = "`--set NAME=VALUE` traces `heads.py` again with another of its constants"


@pytest.fixture
def heads(tmp_path: Path) -> str:
    """The source, by its name in the test's folder."""
    (tmp_path / "heads.py").write_text(ATTENTION)
    return "heads.py"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("analyze heads.py --bind D=128", "dim `D` is derived, only free dims can be bound"),
        ("analyze heads.py --bind HEADS=8", "the program has no dim `HEADS` to bind"),
        ("analyze heads.py:Model --bind HEADS=8", "the program has no dim `HEADS` to bind"),
        ("sweep heads.py --bind D=32,64", "the program has no free dim `D`"),
    ],
)
def test_dims_that_cannot_change_alone(solar: Solar, heads: str, command: str, said: str) -> None:
    ran = run(solar, *command.split(), "--arch", "a6000", "--no-validate")
    assert (ran.code, ran.out) == (USAGE, "")
    assert said in ran.err
    assert AGAIN in ran.err


def test_what_stays_behind_is_said(solar: Solar, heads: str) -> None:
    for command in (("analyze", heads, "--bind", "B=4"), ("sweep", heads, "--bind", "B=4")):
        ran = run(solar, *command, "--arch", "a6000", "--no-validate")
        assert ran.code == DONE
        said = " ".join(ran.out.split())
        assert "what Python computes from them stays as it was" in said or "what it computes from them stays" in said
        assert AGAIN in said


def test_tracing_again_changes_the_constant(solar: Solar, heads: str) -> None:
    ran = run(solar, "trace", heads, "--set", "HEADS=8")
    assert ran.code == DONE
    assert "view_0_2 = 8" in ran.out


def test_a_program_in_the_language_has_no_constants(solar: Solar, tmp_path: Path) -> None:
    (tmp_path / "f.alir").write_text("program f(input x: f32[N]) -> (x) {\n  dims N = 4\n}\n")
    ran = run(solar, "analyze", "f.alir", "--bind", "M=3", "--arch", "a6000")
    assert ran.code == USAGE
    assert "--set" not in ran.err
