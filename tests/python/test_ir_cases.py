"""Programs written as IR whose counts are known: tests/cases/ir, an answer beside each."""

import json
from pathlib import Path
from typing import Any

import pytest

CASES = sorted((Path(__file__).resolve().parents[1] / "cases" / "ir").glob("*.alir"))
COUNTS = ("macs", "macs_useful", "bytes_read_inputs", "bytes_read_params", "bytes_written_outputs")


def test_there_are_cases() -> None:
    assert CASES


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_analysis_equals_the_answer(solar: Any, case: Path) -> None:
    result = solar("analyze", str(case), "--arch", "h100-sxm", "--json", "-")
    assert result.returncode == 0, result.stderr
    totals = json.loads(result.stdout)["totals"]
    expected = json.loads(case.with_suffix(".json").read_text())
    assert {name: totals[name] for name in COUNTS} == {name: expected[name] for name in COUNTS}


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_bounds_are_ordered(solar: Any, case: Path) -> None:
    report = json.loads(solar("analyze", str(case), "--arch", "h100-sxm,thor", "--json", "-").stdout)
    times = {(bound["arch"], bound["mode"]): bound["time_s"] for bound in report["bounds"]}
    for arch in ("h100-sxm", "thor"):
        assert 0 < times[arch, "algebraic"] <= times[arch, "fused"] <= times[arch, "unfused"]
