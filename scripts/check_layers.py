"""Checks the includes under src/ and tools/: no stage includes a later one, foreign headers stay where they belong."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')

# A foreign header's beginning, and the folders that may include it.
FENCES = {
    "toml++/": ("src/arch/",),
    "zip.h": ("src/exec/",),
    "mimalloc-new-delete.h": ("tools/",),
    "CLI/": ("tools/",),
}


def read_layers(root: Path) -> list[str]:
    """The stages in order."""
    lines = (root / "src" / "layers.txt").read_text().splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def includes(file: Path) -> Iterator[tuple[int, str, bool]]:
    """Line, path and whether it is quoted, of each include."""
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if match := INCLUDE.match(line):
            yield number, match[1] or match[2], match[1] is not None


def problems(root: Path) -> Iterator[str]:
    """What is wrong, as `file:line: text`."""
    layers = read_layers(root)
    order = {layer: place for place, layer in enumerate(layers)}
    for folder in sorted(p.name for p in (root / "src").iterdir() if p.is_dir()):
        if folder not in order:
            yield f"src/{folder}: the folder is not in src/layers.txt"
    files = [p for folder in ("src", "tools") for p in sorted((root / folder).rglob("*")) if p.suffix in {".h", ".cpp"}]
    for file in files:
        name = file.relative_to(root).as_posix()
        layer = name.split("/")[1] if name.startswith("src/") else None
        for number, path, quoted in includes(file):
            where = f"{name}:{number}"
            for beginning, allowed in FENCES.items():
                if path.startswith(beginning) and not name.startswith(allowed):
                    yield f"{where}: <{path}> may be included only in {' and '.join(allowed)}"
            target = path.split("/")[0]
            if not quoted or layer is None or layer not in order:
                continue
            if path.startswith("."):
                yield f"{where}: `{path}` is relative: include by the path below src/"
            elif target in order and order[target] > order[layer]:
                yield f"{where}: stage `{layer}` includes `{path}` of the later stage `{target}`"


def main() -> int:
    """Prints every problem."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1]
    found = list(problems(root))
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
