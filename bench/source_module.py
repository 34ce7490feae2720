"""A source file of a model as a module."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType


def load(path: Path) -> ModuleType:
    """Runs the file. Raises what it raises."""
    spec = importlib.util.spec_from_file_location("source", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
