"""How a user names a source: `file.py`, `file.py:name`, `archive.pt2`, `hf:model`, `hf:config.json:ClassName`."""

from __future__ import annotations

import os
from dataclasses import dataclass

from solar.problems import Problem, SourceError, display_path, irregular_kind

HUGGING_FACE = "hf:"


@dataclass(frozen=True, slots=True)
class SourceName:
    """A source as the user names it: a file, and for `file.py:name` a member of it.

    `kind` is `python`, `archive` or `huggingface`; the file of the last is the configuration. `title` is what the
    program is called after.
    """

    path: str
    member: str = ""
    kind: str = "python"
    title: str = ""


def source_path(text: str) -> str:
    """The file of a source's name, whether there is one or not; empty for `hf:`."""
    if text.startswith(HUGGING_FACE):
        return ""
    return text.rpartition(":")[0] if ":" in text and not os.path.exists(text) else text


def parse_source(text: str) -> SourceName:
    """Splits a name into its parts. Raises SourceError where there is no such file."""
    if text.startswith(HUGGING_FACE):
        return _parse_huggingface(text.removeprefix(HUGGING_FACE))
    path = source_path(text)
    member = text[len(path) + 1 :]
    full = os.path.abspath(path)
    if not os.path.exists(full):
        raise SourceError(Problem("source-file", f"no such file: {display_path(full)}", full))
    if not os.path.isfile(full):
        raise SourceError(Problem("source-file", f"not a file but {irregular_kind(full)}: {display_path(full)}", full))
    stem = os.path.splitext(os.path.basename(full))[0]
    if full.endswith(".pt2") and not member:
        return SourceName(full, "", "archive", stem)
    if not full.endswith(".py"):
        hint = "a PyTorch source is FILE.py, FILE.py:NAME, FILE.pt2 or hf:MODEL"
        raise SourceError(Problem("source-file", f"unknown kind of source: {display_path(full)}", full, 0, hint))
    return SourceName(full, member, "python", f"{stem}_{member}" if member else stem)


def _parse_huggingface(text: str) -> SourceName:
    from solar.huggingface.configurations import configuration_file

    model, _, member = text.rpartition(":") if ":" in text else (text, "", "")
    path = configuration_file(model)
    folder = os.path.dirname(path)
    title = os.path.basename(folder).rpartition("--")[2] if os.path.basename(path) == "config.json" else ""
    return SourceName(path, member, "huggingface", title or os.path.splitext(os.path.basename(path))[0])
