"""The three published models against a script that knows only their layer tables."""

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tests" / "oracle" / "published_tables.py"
ARCHITECTURES = "h100-sxm,h100-pcie,b200,a6000,thor"
# The others are too slow to validate in every run; the mutant tests validate them at small size.
VALIDATED = {"resnet18": True, "gpt2": False, "vit_b16": False}


@pytest.fixture(scope="module")
def tables() -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-I", str(SCRIPT)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def test_tables_hold_the_published_sizes(tables: dict[str, Any]) -> None:
    resnet, gpt2, vit = (tables[name]["totals"] for name in ("resnet18", "gpt2", "vit_b16"))
    assert resnet["macs"] == 1_814_073_344
    norm_channels = 64 + 4 * 64 + 5 * 128 + 5 * 256 + 5 * 512
    assert resnet["bytes_read_params"] == 4 * (11_689_512 + 2 * norm_channels)
    assert 0.92 < resnet["macs_useful"] / resnet["macs"] < 0.94
    assert gpt2["bytes_read_params"] == 4 * (124_439_808 - 768)  # the last position is not read
    assert vit["bytes_read_params"] == 4 * 86_567_656


def four_figures(time: float) -> str:
    return f"{time:.3e}"


@pytest.mark.parametrize("name", sorted(VALIDATED))
def test_analysis_equals_the_table(solar: Any, tables: dict[str, Any], name: str) -> None:
    options = [] if VALIDATED[name] else ["--no-validate"]
    result = solar("analyze", str(ROOT / "examples" / f"{name}.py"), "--arch", ARCHITECTURES, "--json", "-", *options)
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert report["validation"]["status"] == ("passed" if VALIDATED[name] else "skipped")

    expected = tables[name]
    assert {key: report["totals"][key] for key in expected["totals"]} == expected["totals"]

    found = {(bound["arch"], bound["mode"]): bound for bound in report["bounds"]}
    for bound in expected["bounds"]:
        key = (bound["arch"], bound["mode"])
        assert math.isclose(found[key]["time_s"], bound["time_s"], rel_tol=5e-5), key
        assert four_figures(found[key]["time_s"]) == four_figures(bound["time_s"]), key
