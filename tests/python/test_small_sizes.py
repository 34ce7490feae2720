"""Validation at small sizes: sizes at which the original does not run are no reason to give up."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Solar

# Made smaller by themselves, the table gets fewer rows than there are places.
MODEL = """\
    import torch
    import torch.nn as nn

    ROWS = 33
    PLACES = 32
    WIDTH = {width}

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(ROWS, WIDTH)
            self.register_buffer("places", torch.arange(PLACES){shift})

        def forward(self, x):
            return torch.relu(x + self.table(self.places))

    def get_inputs():
        return [torch.randn(PLACES, WIDTH)]
"""


def analyzed(solar: Solar, folder: Path, *, width: int = 70, shift: str = "") -> dict[str, object]:
    (folder / "table.py").write_text(textwrap.dedent(MODEL).format(width=width, shift=shift))
    # Too little memory for the full size.
    done = solar("analyze", folder / "table.py", "--arch", "a6000", "--memory-limit", "8e-5", "--json", "-")
    assert done.returncode == 0, done.stderr
    validation: dict[str, object] = json.loads(done.stdout)["validation"]
    return validation


def test_other_sizes_are_tried(solar: Solar, tmp_path: Path) -> None:
    validation = analyzed(solar, tmp_path)
    assert (validation["status"], validation["method"]) == ("passed", "two-trace"), validation


def test_where_none_runs_that_is_the_reason(solar: Solar, tmp_path: Path) -> None:
    # At every smaller size the last place is outside of the table.
    validation = analyzed(solar, tmp_path, shift=" * 0 + (32 if PLACES == 32 and ROWS == 33 else 999)")
    assert validation["status"] == "skipped"
    assert "the original fails at the small sizes tried" in str(validation["reason"])
    assert "index out of range" in str(validation["reason"])
