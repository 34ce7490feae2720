"""Configurations of models: the bundled ones, folders and files of the user, and the sizes in them.

Needs neither torch nor transformers.
"""

from __future__ import annotations

import ast
import json
import os
import re
from typing import TYPE_CHECKING, Any

from solar.constants import Constant
from solar.multiples import steps
from solar.problems import Problem, SourceError, display_path, irregular_kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

BUNDLED = os.path.join(os.path.dirname(__file__), "configurations")
PREFIX = "config."  # of overrides of configurations that a file loads
# Integers that say what a model is made of, rather than how large it is.
STRUCTURE = re.compile(
    r"token_id|layer|head|num_|kernel|stride|patch|depth|expert|hash|type_vocab|beam|group|version|(max|target|n)_position"
)
LIMIT = re.compile(r"(max|n)_position")


def bundled_names() -> list[str]:
    """The names of the models whose configuration comes with solar."""
    return sorted(folder.replace("--", "/") for folder in os.listdir(BUNDLED))


def bundled_folder(name: str) -> str | None:
    """The folder with the `config.json` of a model's name; with or without its owner (`opt-1.3b`)."""
    for known in bundled_names():
        if name in (known, known.rpartition("/")[2]):
            return os.path.join(BUNDLED, known.replace("/", "--"))
    return None


def configuration_file(name: str) -> str:
    """The path of the configuration that `hf:NAME` means. Raises SourceError (source-file)."""
    local = os.path.expanduser(name)
    if os.path.isdir(local):
        local = os.path.join(local, "config.json")
    if os.path.isfile(local):
        return os.path.abspath(local)
    if os.path.exists(local):
        message = f"{display_path(local)} is {irregular_kind(local)}, not the file of a configuration"
        raise SourceError(Problem("source-file", message, local))
    folder = bundled_folder(name)
    if folder is not None:
        return os.path.join(folder, "config.json")
    message, hint = unknown_model(name)
    raise SourceError(Problem("source-file", message, "", 0, hint))


def unknown_model(name: str) -> tuple[str, str]:
    """What to say of a model that is neither bundled nor on this machine: message and hint."""
    message = (
        f"no configuration of the model `{name}`: it is not on this machine, and the Hugging Face hub is not asked"
    )
    hint = f"bundled are {', '.join(bundled_names())}; for others give the path of a config.json or of its folder"
    return message, hint


def read_configuration(path: str) -> dict[str, Any]:
    """The fields of a configuration file. Raises SourceError (source-file)."""
    try:
        with open(path, encoding="utf-8") as file:
            fields = json.load(file)
    except OSError as error:
        raise SourceError(
            Problem("source-file", f"cannot read {display_path(path)}: {error.strerror}", path)
        ) from error
    except ValueError as error:
        raise SourceError(Problem("source-file", f"{display_path(path)} is not JSON: {error}", path)) from error
    if not isinstance(fields, dict) or "model_type" not in fields:
        message = f"{display_path(path)} is not a configuration of a model: it has no `model_type`"
        raise SourceError(Problem("source-file", message, path))
    return fields


def sizes(fields: Mapping[str, Any], prefix: str = "", sequence: int = 0) -> list[Constant]:
    """The sizes in a configuration that may be made smaller, by dotted name.

    Limits of positions are none, unless the inputs have as many: all rows of a table are another program than some.
    """
    integers = dict(_integers(fields, ""))
    step = steps(integers)
    return [
        Constant(prefix + name, value, 0, "field", step=step[name])
        for name, value in integers.items()
        if value > 0
        and (not STRUCTURE.search(name) or (value == sequence and LIMIT.search(name)))
        and not _has_late_tokens(name, integers)
    ]


def _has_late_tokens(name: str, integers: Mapping[str, int]) -> bool:
    """Whether a name is a vocabulary's with special tokens near its end, which a smaller one would not have."""
    folder, _, last = name.rpartition(".")
    return last == "vocab_size" and any(
        other.rpartition(".")[0] == folder and other.endswith("token_id") and 2 * number > integers[name]
        for other, number in integers.items()
    )


def with_overrides(fields: Mapping[str, Any], overrides: Mapping[str, int]) -> tuple[dict[str, Any], set[str]]:
    """A copy of the fields with the named integers replaced, and the names that were found."""
    copy = json.loads(json.dumps(fields))
    known = dict(_integers(copy, ""))
    found = {name for name in overrides if name in known}
    for name in found:
        keys: list[Any] = [int(k[1:-1]) if k.startswith("[") else k for k in re.findall(r"\[\d+\]|[^.\[\]]+", name)]
        place = copy
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = int(overrides[name])
    _clamp_tokens(copy)
    return copy, found


def integer_names(fields: Mapping[str, Any]) -> list[str]:
    """All integers of a configuration that `with_overrides` can replace."""
    return [name for name, _ in _integers(fields, "")]


def sizes_in_file(tree: ast.Module) -> list[Constant]:
    """The sizes of the bundled models that a file of Python names, if it uses transformers; as `config.NAME`."""
    found: dict[str, Constant] = {}
    if not uses_transformers(tree):
        return []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 200:
            folder = bundled_folder(node.value)
            if folder is not None:
                own = sizes(read_configuration(os.path.join(folder, "config.json")), PREFIX)
                found |= {constant.name: constant for constant in own}
    return list(found.values())


def uses_transformers(tree: ast.Module) -> bool:
    """Whether a file imports the library."""
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        if any(name.partition(".")[0] == "transformers" for name in names):
            return True
    return False


def _integers(value: Any, name: str) -> Iterator[tuple[str, int]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _integers(item, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _integers(item, f"{name}[{place}]")
    elif type(value) is int:
        yield name, value


def _clamp_tokens(fields: dict[str, Any]) -> None:
    """Special tokens stay inside of a vocabulary that was made smaller."""
    vocabulary = fields.get("vocab_size")
    for key, value in fields.items():
        if isinstance(value, dict):
            _clamp_tokens(value)
        elif key.endswith("token_id") and type(value) is int and type(vocabulary) is int and value >= vocabulary:
            fields[key] = vocabulary - 1
