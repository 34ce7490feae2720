"""How a user names a source: `file.py` or `file.py:name`."""

from __future__ import annotations

import os
from dataclasses import dataclass

from solar.problems import Problem, SourceError, display_path


@dataclass(frozen=True, slots=True)
class SourceName:
    """A source as the user names it: a file and, for `file.py:name`, a member of it."""

    path: str
    member: str = ""


def source_path(text: str) -> str:
    """The file of a source's name, whether there is one or not."""
    return text.rpartition(":")[0] if ":" in text and not os.path.exists(text) else text


def parse_source(text: str) -> SourceName:
    """Splits `file.py:name`. Raises SourceError where there is no such file."""
    path = source_path(text)
    member = text[len(path) + 1 :]
    full = os.path.abspath(path)
    if not os.path.exists(full):
        raise SourceError(Problem("source-file", f"no such file: {display_path(full)}", full))
    if not os.path.isfile(full):
        raise SourceError(Problem("source-file", f"not a file: {display_path(full)}", full))
    if not full.endswith(".py"):
        hint = "a PyTorch source is a .py file, or file.py:name"
        raise SourceError(Problem("source-file", f"unknown kind of source: {display_path(full)}", full, 0, hint))
    return SourceName(full, member)
