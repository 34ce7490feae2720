"""Asks the interpreter that runs it whether solar can use it. Must run on any Python 3, quickly.

suitable  exit 0 and the interpreter's path, or exit 1 and the reason
files     files that change when the packages do, one a line
base      exit 0 if it can make virtual environments
imports   imports the packages for real
"""

import os
import sys

PACKAGES = ("torch", "numpy", "safetensors")
KEY_FILES = ("torch/__init__.py", "torch/lib/libtorch_cpu.so", "torch/lib/libtorch_python.so", "torch/version.py",
             "numpy/__init__.py", "numpy/version.py", "safetensors/__init__.py", "safetensors/torch.py")  # fmt: skip


def numbers(version: str) -> "tuple[int, ...]":
    """The first two numbers of a version."""
    return tuple(int("0" + "".join(c for c in part if c.isdigit())) for part in version.split("+")[0].split(".")[:2])


def reason_against() -> "str | None":
    """Why this interpreter will not do, or None."""
    if not (3, 11) <= sys.version_info[:2] <= (3, 14):
        return "is Python {}.{}: 3.11 to 3.14 is needed".format(*sys.version_info[:2])
    from importlib import metadata

    found = {}  # type: dict[str, str | None]
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = None
    if not found["torch"]:
        return "has no torch"
    if not (2, 13) <= numbers(found["torch"]) < (2, 15):
        return "has torch {}: 2.13 or 2.14 is needed".format(found["torch"])
    missing = [name for name in PACKAGES if not found[name]]
    if missing:
        return "has torch {} but no {}".format(found["torch"], " and no ".join(missing))
    return None


def key_files() -> "list[str]":
    """The interpreter and some files of each package."""
    from importlib import metadata

    files = [sys.executable]
    for name in PACKAGES:
        distribution = metadata.distribution(name)
        metadata_file = "{}-{}.dist-info/METADATA".format(name, distribution.version)
        for file in (metadata_file, *(file for file in KEY_FILES if file.startswith(name + "/"))):
            path = str(distribution.locate_file(file))
            if os.path.exists(path):
                files.append(path)
    return files


def main() -> int:
    """Answers the question in argv."""
    question = sys.argv[1]
    if question == "suitable":
        reason = reason_against()
        print(reason or sys.executable)
        return 1 if reason else 0
    if question == "files":
        print("\n".join(key_files()))
    elif question == "base":
        import ensurepip  # noqa: F401
        import venv  # noqa: F401

        if not (3, 11) <= sys.version_info[:2] <= (3, 14):
            return 1
    elif question == "imports":
        import numpy  # noqa: F401
        import safetensors.torch  # noqa: F401
        import torch

        torch.zeros(1)
    return 0


sys.exit(main())
