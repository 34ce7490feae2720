"""Branches on data: the way of the example inputs is traced, said, and taken again by the original."""

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import Solar
from solar import branches
from solar.problems import SourceError
from solar.sources import load
from solar.tensorfile import read_tensors
from solar.worker import trace_source

FILE = """\
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
{body}

def get_inputs():
    return [{inputs}]
"""
LOOP = """\
while x.abs().max() > 1:
    x = x / 2
if torch.equal(x, x + 1):
    return x
return x * 3
"""


def source(folder: Path, body: str, inputs: str = "torch.ones(2, 3)") -> str:
    path = folder / "program.py"
    path.write_text(FILE.format(body=textwrap.indent(body, " " * 8), inputs=inputs))
    return str(path)


def traced(path: str) -> dict[str, Any]:
    out = path.replace(".py", ".alir")
    result = trace_source({"source": path, "out": out}, lambda _: None)
    result["text"] = Path(out).read_text()
    return result


@pytest.mark.parametrize(
    ("inputs", "way", "operator"), [("torch.ones(2)", "true", "exp"), ("-torch.ones(2)", "false", "tanh")]
)
def test_the_way_of_the_example_is_traced_and_said(tmp_path: Path, inputs: str, way: str, operator: str) -> None:
    result = traced(source(tmp_path, "if x.sum() > 0:\n    return x.exp()\nreturn x.tanh()\n", inputs))
    assert result["recorded_path"] is True
    assert (
        f"`if x.sum() > 0:` at program.py:7 depends on data: it is {way} at the example inputs"
        in result["warnings"][-1]
    )
    assert [name for name in ("exp", "tanh") if f"aten.{name}" in result["text"]] == [operator]


def test_a_loop_and_several_questions(tmp_path: Path) -> None:
    result = traced(source(tmp_path, LOOP, "torch.full((2,), 7.0)"))
    told = " ".join(result["warnings"])
    assert "`while x.abs().max() > 1:` at program.py:7 depends on data: it is true 3 of 4 times" in told
    assert "`if torch.equal(x, x + 1):` at program.py:9 depends on data: it is false" in told
    way = read_tensors(result["constants"])[branches.PORT]
    assert way.tolist() == [True, True, True, False, False]


def test_a_program_without_branches_has_no_way(tmp_path: Path) -> None:
    assert traced(source(tmp_path, "return x.relu()\n"))["recorded_path"] is False


def test_a_size_that_depends_on_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        traced(source(tmp_path, "return torch.zeros(int(x.sum()))[:1]\n"))
    assert [problem.kind for problem in caught.value.problems] == ["trace-failed"]


def test_a_model_that_is_too_large_to_run_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(branches, "LARGEST", -1)
    with pytest.raises(SourceError, match="a branch or a size depends on the values"):
        traced(source(tmp_path, "return x if x.sum() > 0 else -x\n"))


def test_followed_answers_start_again(tmp_path: Path) -> None:
    path = source(tmp_path, LOOP, "torch.full((2,), 7.0)")
    loaded = load(path, fake=False)
    way = [branch.taken for branch in branches.branches_of(loaded)]
    with branches.Following(way):
        for _ in range(2):
            assert torch.equal(loaded.model(torch.zeros(2) + 80), torch.full((2,), 30.0))


def test_a_bound_says_that_it_is_of_one_way(solar: Solar, tmp_path: Path) -> None:
    path = source(tmp_path, "return x.exp() if x.sum() > 0 else x.tanh()\n")
    done = solar("analyze", path, "--arch", "a6000", "--json", "-")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["validation"]["status"] == "passed"
    assert all("recorded-path" in bound["assumptions"] for bound in report["bounds"])
