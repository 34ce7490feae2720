"""The pinned development tools of pyproject.toml: `all` of them, or those `missing` from this interpreter."""

import sys
import tomllib
from importlib import metadata
from pathlib import Path


def satisfied(requirement: str) -> bool:
    """Is exactly the pinned version installed?"""
    name, _, version = requirement.partition("==")
    try:
        return metadata.version(name) == version
    except metadata.PackageNotFoundError:
        return False


def main() -> None:
    """Prints one requirement a line."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    tools: list[str] = project["dependency-groups"]["dev"]
    print(*(t for t in tools if sys.argv[1] == "all" or not satisfied(t)), sep="\n", end="")


if __name__ == "__main__":
    main()
