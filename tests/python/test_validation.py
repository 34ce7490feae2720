"""What validation says where the original and the program differ, or where the original itself is not accurate."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Solar

SOURCE = """\
    import os
    import torch
    import torch.nn as nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(64, 64)
            self.memory = nn.GRU(64, 32, num_layers=2)
            self.drop = nn.Dropout(0.5)

        def forward(self, x):
            {forward}

    def get_inputs():
        return [{inputs}]
"""


def validation_of(solar: Solar, folder: Path, forward: str, inputs: str = "torch.rand(8, 64)") -> dict[str, Any]:
    source = folder / "model.py"
    source.write_text(textwrap.dedent(SOURCE).format(forward=forward, inputs=inputs))
    done = solar("analyze", source, "--arch", "a6000", "--json", "-")
    assert done.stdout, done.stderr
    validation: dict[str, Any] = json.loads(done.stdout)["validation"]
    return validation


@pytest.mark.parametrize(
    ("before", "agreeing"),
    [("self.fc(x)", 1), ("torch.relu_(self.drop(self.fc(x)))", 3), ("self.memory(torch.relu(x))[0]", 5)],
    ids=["linear", "random numbers and in place", "recurrent"],
)
def test_the_first_operator_that_differs(solar: Solar, tmp_path: Path, before: str, agreeing: int) -> None:
    # A number that is another in every process.
    validation = validation_of(solar, tmp_path, f"return ({before} * os.getpid()).sum(-1)")
    assert validation["status"] == "failed"
    wrong = validation["first_wrong"]
    assert wrong["op"] == "aten.mul"
    assert wrong["at"] == "model.py:13"
    assert wrong["agreeing"] == agreeing
    assert "expected" in wrong["place"]
    assert (
        f"the first operator that differs is aten.mul at model.py:13, after {agreeing} that agree"
        in (validation["reason"])
    )


def test_where_there_is_no_float64_run_nearby_values_tell_what_is_accurate(solar: Solar, tmp_path: Path) -> None:
    # A float32 constant of the code keeps it from running in float64; inputs of one and more make it chaotic.
    forward = "return torch.sin(x @ torch.full((64, 64), 0.3) * torch.tensor(1e5, dtype=torch.float32))"
    forward = forward.replace("0.3)", "0.3, dtype=torch.float32)")
    validation = validation_of(solar, tmp_path, forward, "1e-7 * torch.rand(8, 64)")
    assert validation["status"] == "passed", validation
    assert "example" in validation["distributions"]
    assert "large" not in validation["distributions"]
    notes = "; ".join(validation["notes"])
    assert "no float64 run" in notes
    assert "large inputs: the original itself is off from itself on values moved by roundings" in notes


# Each step is accurate, sixty of them are chaos.
LOGISTIC = """\
x = torch.sigmoid(self.fc(x))
        for _ in range(60):
            x = {rate} * x * (1 - x)
        return x"""


def test_operators_are_compared_by_themselves_where_the_whole_is_chaotic(solar: Solar, tmp_path: Path) -> None:
    validation = validation_of(solar, tmp_path, LOGISTIC.format(rate=3.95))
    assert (validation["status"], validation["method"]) == ("passed", "per-op"), validation
    assert any("every operator by itself (182 results)" in note for note in validation["notes"])


def test_an_operator_by_itself_may_be_wrong(solar: Solar, tmp_path: Path) -> None:
    validation = validation_of(solar, tmp_path, LOGISTIC.format(rate="(3.9 + os.getpid() % 97 / 1000)"))
    assert (validation["status"], validation["method"]) == ("failed", "per-op"), validation
    assert validation["first_wrong"]["op"] == "aten.mul"
    assert validation["first_wrong"]["agreeing"] == 2


CHECKED = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        y = torch.relu(x) * 3
        return torch.softmax(y + 1, -1)
def get_inputs():
    return [torch.randn(4, 8)]
"""


def test_a_failed_check_names_the_first_wrong_operator(solar: Solar, tmp_path: Path) -> None:
    source, program = tmp_path / "model.py", tmp_path / "model.alir"
    source.write_text(CHECKED)
    assert solar("trace", source, "-o", program).returncode == 0
    text = program.read_text()
    assert solar("check", program, "--against", source).returncode == 0
    program.write_text(text.replace("3.0", "3.5"))
    done = solar("check", program, "--against", source)
    assert done.returncode == 1
    assert "the first operator that differs is aten.mul at model.py:5, after 1 that agrees: mul[" in done.stderr
    # Without the names of a trace there is nothing to compare inside.
    program.write_text(text.replace("3.0", "3.5").replace("let relu =", "let a =").replace("(relu,", "(a,")
                       .replace("let mul =", "let b =").replace("(mul,", "(b,")
                       .replace("let add =", "let c =").replace("(add)", "(c)"))  # fmt: skip
    done = solar("check", program, "--against", source)
    assert done.returncode == 1
    assert "output `softmax` differs" in done.stderr
    assert "aten.mul" not in done.stderr


STATEFUL = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls, self.table, self.seen = 0, None, [0]
        self.norm = torch.nn.BatchNorm1d(8)
    def forward(self, x):
        self.calls += 1
        self.seen[0] += 1
        if self.table is None:
            self.table = torch.arange(8.0)
        return self.norm(x) * {factor} + self.table
def get_inputs():
    return [torch.randn(4, 8)]
"""


@pytest.mark.parametrize(("factor", "said"), [("self.calls", True), ("self.seen[0]", True), ("2", False)])
def test_a_second_run_that_differs_is_said(solar: Solar, tmp_path: Path, factor: str, said: bool) -> None:
    source = tmp_path / "model.py"
    source.write_text(STATEFUL.format(factor=factor))
    done = solar("analyze", source, "--arch", "a6000", "--json", "-")
    validation = json.loads(done.stdout)["validation"]
    assert validation["status"] == "passed", validation
    notes = [note for note in validation["notes"] if "when it runs" in note]
    assert len(notes) == said
    assert not said or ("`calls`" in notes[0] and "a later one differs" in notes[0])
