"""Small programs with known answers: counts and bytes are exact, and a wrong candidate is refused.

The project's own programs in tests/cases always run: their answers are first confirmed by a loop nest in plain Python,
then demanded of the analyser. A further set beside the repository (or at $SOLAR_SHARED) is read when it is there.
"""

import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from oracle import loop_nests

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "tests" / "cases"
SHARED = Path(os.environ.get("SOLAR_SHARED", ROOT.parent / "shared")) / "cases"
SHARED_KINDS = (
    *("01", "03", "04", "05", "07", "10", "11", "12", "13", "15", "16", "17", "18", "20", "21", "22", "24", "27"),
    *("28", "29", "30"),
)
COUNTS = ("macs", "macs_useful", "bytes_read_inputs", "bytes_read_params", "bytes_written_outputs")


def shared_cases() -> list[Path]:
    return [path for kind in SHARED_KINDS for path in SHARED.glob(f"{kind}_*.py")]


def own_cases() -> list[Path]:
    return sorted(CASES.glob("*.py"))


def sidecar(case: Path) -> dict[str, Any]:
    return json.loads(case.with_suffix(".json").read_text())


@pytest.fixture(params=[*own_cases(), *shared_cases()], ids=lambda path: f"{path.parent.parent.name}-{path.stem}")
def case(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_every_kind_has_a_case_of_our_own() -> None:
    names = {path.stem for path in own_cases()}
    assert names == set(loop_nests.NESTS)
    assert len(names) == len(SHARED_KINDS)


def test_the_shared_cases(record_property: Any) -> None:
    """Says in the log whether the shared set was there; when it is, all of it must be."""
    present = shared_cases()
    record_property("shared_cases", len(present))
    if not SHARED.is_dir():
        print(f"shared cases: none at {SHARED}, only the project's own ran")
        return
    print(f"shared cases: {len(present)} read from {SHARED}")
    assert len(present) == len(SHARED_KINDS)


@pytest.mark.parametrize("case", own_cases(), ids=lambda path: path.stem)
def test_sidecar_equals_a_loop_nest(case: Path) -> None:
    spec = importlib.util.spec_from_file_location(f"case_{case.stem}", case)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    torch.manual_seed(1)
    model = module.Model(*module.get_init_inputs())
    inputs = module.get_inputs()
    with torch.no_grad():
        results = model(*inputs)
    results = results if isinstance(results, tuple) else (results,)

    params = {name: value.detach().numpy() for name, value in model.named_parameters()}
    nest = loop_nests.run(case.stem, [x.numpy() for x in inputs], params)

    assert len(results) == len(nest.outputs)
    for result, output in zip(results, nest.outputs, strict=True):
        np.testing.assert_allclose(result.numpy(), output, rtol=1e-4, atol=1e-6)
    counted = {
        "macs": nest.macs,
        "macs_useful": nest.macs_useful,
        "bytes_read_inputs": sum(x.bytes_read for x in nest.inputs),
        "bytes_read_params": sum(x.bytes_read for x in nest.params.values()),
        "bytes_written_outputs": sum(x.numel() * x.element_size() for x in results),
    }
    expected = sidecar(case)
    assert counted == {name: expected[name] for name in COUNTS}


def test_analysis_equals_the_sidecar(solar: Any, case: Path) -> None:
    result = solar("analyze", str(case), "--arch", "h100-sxm", "--json", "-")
    assert result.returncode in (0, 1), result.stderr
    report = json.loads(result.stdout)
    assert report["validation"]["status"] == "passed", report["validation"]
    assert result.returncode == 0, result.stderr
    expected = sidecar(case)
    totals = report["totals"]
    assert {name: totals[name] for name in COUNTS} == {name: expected[name] for name in COUNTS}
    assert totals["flops"] == 2 * expected["macs"]


def refused(solar: Any, candidate: Path, case: Path) -> None:
    result = solar("check", str(candidate), "--against", str(case))
    assert result.returncode == 1, result.stdout + result.stderr
    assert "validation-failed" in result.stdout + result.stderr


def test_zeros_for_tiny_outputs_are_refused(solar: Any) -> None:
    refused(solar, CASES / "tiny_outputs_wrong.alir", CASES / "tiny_outputs.py")


def test_zeros_for_the_shared_tiny_outputs_are_refused(solar: Any, tmp_path: Path) -> None:
    case = SHARED / "20_tiny_outputs.py"
    if not case.exists():
        print(f"shared cases: no {case}, the project's own counterpart ran")
        return
    text = (CASES / "tiny_outputs_wrong.alir").read_text()
    assert "B = 3, N = 2048" in text
    candidate = tmp_path / "wrong.alir"
    candidate.write_text(text.replace("B = 3, N = 2048", "B = 2, N = 4096"))
    refused(solar, candidate, case)
