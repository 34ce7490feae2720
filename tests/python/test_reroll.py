"""Traces follow the source: a stack of layers is one function, a loop over steps one repeat."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Solar


def test_a_stack_of_layers_is_one_function(solar: Solar, root: Path) -> None:
    done = solar("trace", root / "tests/rerolled/decoder_stack.py", "-o", "stack.alir")
    assert done.returncode == 0, done.stderr
    text = (solar.directory / "stack.alir").read_text()
    assert re.findall(r"^fn (\w+)", text, re.MULTILINE) == ["layers"]
    calls = re.findall(r'= layers\([^{]*?\) module "([\w.]+)"', text.replace("\n", " "))
    assert calls == [f"layers.{i}" for i in range(24)]
    assert text.count('op "') < 25

    done = solar("analyze", "stack.alir", "--arch", "h100-sxm", "--json", "-")
    assert done.returncode == 0, done.stderr
    nodes = json.loads(done.stdout)["nodes"]
    modules = {op["module"]: op["macs"] for op in nodes if op.get("module", "").endswith("fc1")}
    assert modules == {f"layers.{i}.fc1": 2 * 6 * 16 * 64 for i in range(24)}


def test_a_loop_over_steps_is_one_repeat_at_every_length(solar: Solar, root: Path) -> None:
    source = root / "tests/rerolled/recurrent_loop.py"
    # Too little memory for the full size: two small ones must be the same program.
    done = solar("analyze", source, "--arch", "h100-sxm", "--memory-limit", "1.2e-5", "--json", "-")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["validation"]["status"] == "passed", report["validation"]
    assert report["validation"]["method"] == "two-trace"
    assert report["totals"]["macs"] == 48 * 3 * (10 * 5 + 5 * 2)
    assert report["totals"]["bytes_read_params"] == 4 * (10 * 5 + 5 + 5 * 2 + 2)

    done = solar("trace", source, "-o", "loop.alir")
    assert done.returncode == 0, done.stderr
    text = (solar.directory / "loop.alir").read_text()
    assert text.count(" = repeat ") == 1
    assert len(text.splitlines()) < 40
