"""Random programs, many: the executors against the NumPy evaluator. Prints the smallest program that differs."""

import argparse
import multiprocessing
import sys
import tempfile
from collections import Counter
from pathlib import Path

from .differential import ROOT, Comparison, Solar, run

CHUNK = 250
Chunk = tuple[Path, tuple[str, ...], int, int]
Found = tuple[str, Counter[str], list[tuple[int, str]]]


def check(chunk: Chunk) -> Found:
    binary, executors, first, last = chunk
    with tempfile.TemporaryDirectory() as folder:
        solar = Solar(binary, Path(folder))
        comparison = Comparison(solar, executors)
        report = run(comparison, range(first, last))
        solar.close()
    return report, comparison.counts, comparison.refused


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0, help="of the first program; the others count on")
    parser.add_argument("--binary", type=Path, default=ROOT / "build" / "ci" / "solar_run_batch")
    parser.add_argument("--executors", default="interpreter,compiled", help="with commas between them")
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    options = parser.parse_args()
    end = options.seed + options.programs
    executors = tuple(options.executors.split(","))
    chunks = [(options.binary, executors, first, min(first + CHUNK, end)) for first in range(options.seed, end, CHUNK)]
    counts: Counter[str] = Counter()
    refused: list[tuple[int, str]] = []
    print(f"programs {options.seed} to {end - 1}, {options.executors} against NumPy", flush=True)
    with multiprocessing.Pool(options.jobs) as pool:
        for done, (report, some, more) in enumerate(pool.imap(check, chunks), start=1):
            counts.update(some)
            refused += more
            if report:
                print(report)
                return 1
            if done % 8 == 0:
                print(f"{min(done * CHUNK, options.programs)} programs", flush=True)
    print(", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    print(f"{len(refused)} refused by the verifier")
    for seed, text in refused[:20]:
        print(f"  seed {seed}: {text.splitlines()[0]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
