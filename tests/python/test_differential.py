"""Random programs: the executors against the NumPy evaluator. SOLAR_SEED replays one."""

import os
from pathlib import Path

import numpy as np
import pytest
from oracle.differential import Comparison, Solar, run
from oracle.random_alir.program import generate
from oracle.tensor_bytes import NAMES, read, write

PROGRAMS = 500
FIRST_SEED = 20_000_000  # the long run's are below
REFUSED = 0.03  # of the programs, at most


def test_executors_equal_numpy(binary: Path, tmp_path: Path) -> None:
    given = os.environ.get("SOLAR_SEED")
    seeds = [int(given)] if given else range(FIRST_SEED, FIRST_SEED + PROGRAMS)
    solar = Solar(binary.parent / "solar_run_batch", tmp_path)
    comparison = Comparison(solar, ("interpreter", "compiled"))
    report = run(comparison, seeds)
    solar.close()
    print(comparison.summary())
    if report:
        pytest.fail(report, pytrace=False)
    assert len(comparison.refused) <= REFUSED * len(seeds) or given, comparison.summary()


def test_a_seed_gives_one_program() -> None:
    for seed in (3, 4):
        first, second = generate(seed), generate(seed)
        assert first.text() == second.text()
        assert all(np.array_equal(a.values, b.values, equal_nan=a.element not in ("bool",))
                   for a, b in zip(first.ports, second.ports, strict=True))  # fmt: skip


@pytest.mark.parametrize("element", sorted(NAMES))
def test_tensor_files_keep_values(element: str, tmp_path: Path) -> None:
    dtype = {"bool": np.bool_, "f64": np.float64}.get(element, np.int64 if element[0] in "iu" else np.float32)
    values = np.array([[0, 1, 2], [4, 1, 0]]).astype(dtype)
    write(tmp_path / "t.safetensors", {"x": (element, values)})
    found, again = read(tmp_path / "t.safetensors")["x"]
    assert found == element
    assert again.dtype == values.dtype
    np.testing.assert_array_equal(again, values)
