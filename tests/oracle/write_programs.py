"""write_programs FOLDER COUNT SEED: random programs as files, for the fuzzer to start from."""

import sys
from pathlib import Path

from .random_alir.program import generate


def main() -> None:
    folder, count, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    for i in range(count):
        (folder / f"{i}.alir").write_text(generate(seed * 1_000_000 + i).text())


if __name__ == "__main__":
    main()
