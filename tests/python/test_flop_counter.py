"""`macs` of contractions against torch's FlopCounterMode, an oracle that the program itself never uses."""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

if TYPE_CHECKING:
    from types import ModuleType

    from conftest import Solar

SOURCE = Path(__file__).parents[1] / "counted" / "random_contractions.py"


def source() -> ModuleType:
    spec = importlib.util.spec_from_file_location("random_contractions", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def counted_by_torch(part: Any) -> int:
    """Multiply-accumulates of a `Contraction`. On meta tensors: on those of a CPU attention counts 0."""
    function, shapes = part.as_matrices
    with torch.device("meta"), FlopCounterMode(display=False) as counter:
        function(*(torch.empty(shape) for shape in shapes))
    flops = counter.get_total_flops()
    assert flops % 2 == 0
    return flops // 2


@pytest.mark.filterwarnings("ignore:Using padding='same'")
def test_macs_are_those_of_flop_counter_mode(solar: Solar) -> None:
    """200 random matmuls, convolutions and attentions, one by one. SOLAR_SEED=n tries others."""
    module = source()
    print(f"SOLAR_SEED={module.SEED}")
    done = solar("analyze", SOURCE, "--arch", "a6000", "--no-validate", "--json", "-")
    assert done.returncode == 0, done.stderr
    ours: Counter[str] = Counter()
    for node in json.loads(done.stdout)["nodes"]:
        ours[".".join(node["module"].split(".")[:2])] += node["macs"]
    with torch.device("meta"):
        parts = module.contractions()
    theirs = [counted_by_torch(part) for part in parts]
    assert len(parts) >= 200
    assert all(theirs)
    wrong = [
        f"parts.{i}, {part.text}: {ours[f'parts.{i}']}, {macs}"
        for i, (part, macs) in enumerate(zip(parts, theirs, strict=True))
        if ours[f"parts.{i}"] != macs
    ]
    assert not wrong, "ours, FlopCounterMode's:\n" + "\n".join(wrong)
