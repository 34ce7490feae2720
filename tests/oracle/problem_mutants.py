"""Does validation notice faults in any problem? Five mutants of each, at small sizes.

    PYTHONPATH=../python python -m oracle.problem_mutants FOLDER... --solar BINARY [--out FILE] [--count 5] [--seed 1]

Run from `tests/`. A line per problem is appended to FILE; problems that are there already are not done again. Each
problem has a process of its own. Left out, with the reason in its line: a problem that is not traced at small sizes or
is too slow there.
"""

import argparse
import contextlib
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from solar import worker
from solar.problems import SourceError

from .mutant_trial import Solar, Source, Trial, UntellingError, run

TIMEOUT_S = 900
BATCH = 2
CAPS = (8, 16, 32, 64)
DIVISORS = (16, 8, 4, 2)
POINTS = 4_000_000  # of the largest loop nest; the evaluator holds it for every seed


def small_sizes(constants: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, int]]:
    """Smaller constants first: halved until they are under a cap, so that most divisions stay whole; then quotients.

    A batch is smaller still, if that is a program; whole patches, heads and groups stay whole.
    """
    for cap in CAPS:
        for batch in (BATCH, cap):
            sizes = {}
            for one in constants:
                value = one["value"]
                small = halved(value, batch) if is_batch(one) else in_steps(value, one.get("step", 1), cap)
                if small < value:
                    sizes[one["name"]] = small
            yield sizes
    for divisor in DIVISORS:
        yield {
            one["name"]: min(one["value"], BATCH) if is_batch(one) else one["value"] // divisor
            for one in constants
            if is_batch(one) or (one["value"] > CAPS[0] and one["value"] % divisor == 0)
        }


def is_batch(constant: Mapping[str, Any]) -> bool:
    return "batch" in constant["name"].lower()


def in_steps(value: int, step: int, cap: int) -> int:
    """Halved until it is under the cap, then up to a multiple of the step; two steps at least."""
    small = halved(value, cap)
    return small if step <= 1 or value % step else step * max(-(-small // step), 2)


def halved(value: int, cap: int) -> int:
    while value > cap:
        value //= 2
    return value


def points(solar: Solar, source: Source, folder: Path) -> int:
    """The points of the largest operator."""
    out = folder / "sized.alir"
    try:
        worker.handle({"do": "trace", "source": str(source.path), "overrides": dict(source.sizes), "out": str(out)})
    except SourceError as error:
        raise ValueError(error.problems[0].message) from error
    done = solar("analyze", str(out), "--arch", "a6000", "--json", "-")
    if done.returncode != 0:
        raise ValueError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "not analysed")
    nodes = json.loads(done.stdout)["nodes"]
    return max((max(node["macs"], node["bytes_out"] // 4) for node in nodes), default=0)


def tried(solar: Solar, path: Path, folder: Path, count: int, seed: int) -> tuple[Source, Trial]:
    """The problem at the smallest sizes at which it is a program that validation accepts."""
    constants = worker.handle({"do": "inspect", "source": str(path)})["constants"]
    reasons = []
    for sizes in small_sizes(constants):
        source = Source(path, sizes)
        try:
            size = points(solar, source, folder)
            if size <= POINTS:
                return source, run(solar, source, folder, count, seed)
            reasons.append(f"{size} points at its small sizes")
        except (ValueError, UntellingError) as error:
            reasons.append(str(error))
    raise ValueError(reasons[-1])


def work(solar: Solar, path: Path, count: int, seed: int, answer: Any) -> None:
    result: dict[str, Any] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        open(os.devnull, "w") as nothing,
        contextlib.redirect_stdout(nothing),
        contextlib.redirect_stderr(nothing),
    ):
        try:
            source, trial = tried(solar, path, Path(folder), count, seed)
            result["sizes"] = source.sizes
            result["mutants"] = [
                {"kind": v.mutant.kind, "note": v.mutant.note, "changed": v.changed, "rejected": v.rejected}
                for v in trial.verdicts
            ]
        except BaseException as error:
            result["left_out"] = f"{type(error).__name__}: {error}"[:500]
    answer.send(result)


def ask(solar: Solar, path: Path, count: int, seed: int) -> dict[str, Any]:
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.Process(target=work, args=(solar, path, count, seed, theirs))
    process.start()
    theirs.close()
    try:
        result = ours.recv() if ours.poll(TIMEOUT_S) else {"left_out": f"not done in {TIMEOUT_S} s"}
    except EOFError:
        result = {"left_out": "its process ended"}
    process.kill()
    process.join()
    return result


def summary(lines: Mapping[str, dict[str, Any]]) -> str:
    mutants = [one for line in lines.values() for one in line.get("mutants", [])]
    changed = [one for one in mutants if one["changed"]]
    caught = sum(one["rejected"] for one in changed)
    left_out = {name: line["left_out"] for name, line in lines.items() if "left_out" in line}
    text = [
        f"{caught} of {len(changed)} mutants that change the function are rejected",
        f"({len(mutants)} mutants of {len(lines) - len(left_out)} problems)",
    ]
    for name, line in lines.items():
        for one in line.get("mutants", []):
            if one["changed"] != one["rejected"]:
                what = "missed" if one["changed"] else "rejected, though equal"
                text.append(f"  {name}: {what}: [{one['kind']}] {one['note']}")
    text += [f"  {name}: left out: {reason}" for name, reason in left_out.items()]
    return "\n".join(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--solar", required=True, help="the binary")
    parser.add_argument("--out", type=Path, default=Path("mutants.jsonl"))
    parser.add_argument("--count", type=int, default=5, help="mutants of each problem")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    def solar(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([options.solar, *arguments], capture_output=True, text=True, check=False)

    lines: dict[str, dict[str, Any]] = {}
    if options.out.exists():
        lines = {line["problem"]: line for line in map(json.loads, options.out.read_text().splitlines())}
    for folder in options.folders:
        for path in sorted(folder.glob("*.py")):
            name = f"{folder.name}/{path.name}"
            if name in lines:
                continue
            lines[name] = {"problem": name} | ask(solar, path.resolve(), options.count, options.seed)
            with options.out.open("a") as out:
                out.write(json.dumps(lines[name]) + "\n")
            shown = lines[name].get("left_out") or f"{len(lines[name]['mutants'])} mutants"
            print(f"{name}: {shown}", file=sys.stderr)
    print(summary(lines))


if __name__ == "__main__":
    multiprocessing.set_start_method("fork")
    main()
