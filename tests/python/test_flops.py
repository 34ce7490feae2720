"""`solar flops`: rows add up, totals are those of `analyze`, parameters those of torch."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import textwrap
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Solar

COUNTS = ("parameters", "macs", "macs_useful", "elementwise_ops", "special_ops", "bytes_in", "bytes_out")
NESTED = """\
    import torch
    from torch import nn
    class Half(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(4, 6)
            self.second = nn.Linear(6, 4)
        def forward(self, x):
            return self.second(torch.relu(self.first(x))) + x
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(4))
            self.halves = nn.ModuleList([Half(), Half()])
            self.halves[1].first = self.halves[0].first
        def forward(self, x):
            for half in self.halves:
                x = half(x)
            return x.view(2, 6) * self.scale.mean()
    def get_inputs():
        return [torch.randn(3, 4)]
"""


def parameters_of(path: Path) -> int:
    spec = importlib.util.spec_from_file_location("counted", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    arguments = getattr(module, "get_init_inputs", list)()
    with torch.device("meta"):
        model = module.Model(*arguments)
    return sum(parameter.numel() for parameter in model.parameters())


def check_sums(rows: list[dict[str, Any]]) -> None:
    """Each row is the sum of the rows one level below it, where there are any."""
    for i, row in enumerate(rows):
        end = next((j for j in range(i + 1, len(rows)) if rows[j]["depth"] <= row["depth"]), len(rows))
        parts = [other for other in rows[i + 1 : end] if other["depth"] == row["depth"] + 1]
        if parts:
            assert {c: sum(part[c] for part in parts) for c in COUNTS} == {c: row[c] for c in COUNTS}, row


def test_totals_are_those_of_the_analysis(solar: Solar, root: Path) -> None:
    source = root / "examples/resnet18.py"
    done = solar("flops", source, "--no-validate", "--json", "-")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    rows = found["rows"]
    check_sums(rows)
    analyzed = solar("analyze", source, "--no-validate", "--arch", "a6000", "--json", "-")
    report = json.loads(analyzed.stdout)
    for name in ("macs", "macs_useful", "elementwise_ops", "special_ops"):
        assert rows[0][name] == report["totals"][name]
    assert rows[0]["bytes_in"] == sum(node["bytes_in"] for node in report["nodes"])
    assert rows[0]["parameters"] == parameters_of(source)
    assert found["not_counted"], "resnet18 flattens"
    names = {row["module"] for row in rows if row["row"] == "module"}
    assert {node["module"] for node in report["nodes"] if node.get("module")} <= names


def test_nested_modules(solar: Solar, tmp_path: Path) -> None:
    source = tmp_path / "nested.py"
    source.write_text(textwrap.dedent(NESTED))
    done = solar("flops", source, "--json", "f.json", "--csv", "f.csv", "--sort", "macs")
    assert done.returncode == 0, done.stderr
    assert "validated" in done.stdout
    assert "(without module)" in done.stdout
    found = json.loads((tmp_path / "f.json").read_text())
    rows = found["rows"]
    check_sums(rows)
    assert rows[0]["parameters"] == parameters_of(source) == 4 + (24 + 6) + 2 * (24 + 4)
    assert rows[0]["macs"] == 2 * 2 * 3 * 4 * 6
    assert {o["op"] for o in found["not_counted"]} == {"view"}
    own = {row["module"]: row["operators"] for row in rows if row["row"] == "own"}
    assert own["halves.0"] == ["aten.relu", "aten.add"]
    assert set(own[""]) == {"aten.mean", "aten.mul"}
    table = list(csv.DictReader(io.StringIO((tmp_path / "f.csv").read_text())))
    assert [(row["module"], *(int(row[c]) for c in COUNTS)) for row in table] == [
        (row["module"], *(row[c] for c in COUNTS)) for row in rows
    ]
