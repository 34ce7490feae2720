"""`macs` of contractions against torch's FlopCounterMode, an oracle that the program itself never uses."""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch.utils.flop_counter import FlopCounterMode

if TYPE_CHECKING:
    from conftest import Solar

SOURCE = Path(__file__).parents[1] / "counted" / "random_contractions.py"


def counted_by_torch() -> dict[str, tuple[str, int]]:
    """What each module is, and its multiply-accumulates. On meta tensors: on those of a CPU attention counts 0."""
    spec = importlib.util.spec_from_file_location("random_contractions", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with torch.device("meta"):
        model, inputs = module.Model().eval(), module.get_inputs()
    with FlopCounterMode(display=False) as counter:
        model(*inputs)
    flops = counter.get_flop_counts()
    return {
        f"parts.{i}": (part.text, sum(flops.get(f"Model.parts.{i}", {}).values()) // 2)
        for i, part in enumerate(model.parts)
    }


def test_macs_are_those_of_flop_counter_mode(solar: Solar) -> None:
    """200 random matmuls, convolutions and attentions, one by one."""
    done = solar("analyze", SOURCE, "--arch", "a6000", "--no-validate", "--json", "-")
    assert done.returncode == 0, done.stderr
    ours: Counter[str] = Counter()
    for node in json.loads(done.stdout)["nodes"]:
        ours[node["module"]] += node["macs"]
    # It does not count products of a matrix and a vector, nor einsum over an axis of extent 1.
    theirs = {name: (text, macs) for name, (text, macs) in counted_by_torch().items() if macs}
    assert len(theirs) > 180
    wrong = {text: (ours[name], macs) for name, (text, macs) in theirs.items() if ours[name] != macs}
    assert not wrong, "ours, FlopCounterMode's:\n" + "\n".join(f"{t}: {m}" for t, m in wrong.items())
