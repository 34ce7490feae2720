"""Every torch operator that has a lowering, on generated inputs, against torch.

SOLAR_SEED sets the seed; a failure prints the one in use.
"""

import os
from pathlib import Path

import pytest
import torch
from conftest import Solar
from safetensors.torch import load_file, save_file
from torch_case_generator import Generator
from torch_core_cases import CORE_FAMILIES
from torch_operator_cases import FAMILIES
from torch_operator_harness import failures
from torch_vocabulary_cases import LEFT_OUT, all_calls, core_overloads

SEED = int(os.environ.get("SOLAR_SEED", "1"))
BATCH = 40  # operators a program: few processes, and little to search when a program fails


@pytest.fixture
def run(solar: Solar, tmp_path: Path):
    """Runs a traced program with the project's executor."""

    def call(text: str, values: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        program, inputs, outputs = (
            tmp_path / "operators.alir",
            tmp_path / "in.safetensors",
            tmp_path / "out.safetensors",
        )
        program.write_text(text)
        save_file({name: value.contiguous() for name, value in values.items()}, inputs)
        outputs.unlink(missing_ok=True)
        done = solar("run", program, "--inputs", inputs, "--out", outputs)
        if done.returncode:
            raise RuntimeError(done.stderr.strip() or f"exit code {done.returncode}")
        return load_file(outputs)

    return call


ALL_FAMILIES = {**FAMILIES, **CORE_FAMILIES}


@pytest.mark.filterwarnings("ignore::UserWarning")  # what torch advises about these calls does not matter here
@pytest.mark.parametrize("family", ALL_FAMILIES)
def test_family(family: str, run) -> None:
    cases = list(ALL_FAMILIES[family](Generator(SEED)))
    wrong: list[str] = []
    for start in range(0, len(cases), BATCH):
        wrong += failures(cases[start : start + BATCH], run)
    assert not wrong, f"seed {SEED}: {len(wrong)} of {len(cases)}:\n" + "\n".join(wrong)


def test_vocabulary_is_complete() -> None:
    """Every operator that torch calls core is tested, or left out for a reason."""
    known = set(all_calls(Generator(SEED))) | set(LEFT_OUT)
    assert known == core_overloads()
