"""Times solar's compiled kernels, Numba and torch on the same kernels, interleaved in one run, and prints a table.

    python bench/run.py --server build/release/solar_bench [--threads 2] [--rounds 15] [--only WORD]

Needs torch; Numba is left out where it is not installed. Times are medians over the rounds, in milliseconds.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

TARGETS = {"contraction": (1 / 2.5, 1.3), "pointwise": (1.1, 1.1), "reduction": (1.1, 1.1)}  # Numba, torch


class Server:
    """bench/server.cpp, and the files it is given."""

    def __init__(self, binary: str, threads: int, folder: str, clock: Callable[[], float]) -> None:
        environment = dict(os.environ, XDG_CACHE_HOME=f"{folder}/cache")  # compiles everything anew
        self.process = subprocess.Popen(
            [binary], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self.threads, self.folder, self.clock = threads, folder, clock

    def ask(self, line: str) -> float:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer or answer.startswith("error"):
            raise RuntimeError(f"{line}: {answer or 'the server is gone'}")
        passed, processor = map(float, answer.split())
        return processor if self.clock is time.process_time else passed

    def load(self, key: str, text: str, inputs: dict[str, np.ndarray], executor: str) -> float:
        Path(f"{self.folder}/{key}.alir").write_text(text)
        np.savez(f"{self.folder}/{key}.npz", **inputs)
        return self.ask(f"load {key} {self.folder}/{key}.alir {self.folder}/{key}.npz {self.threads} {executor}")

    def outputs(self, key: str) -> np.ndarray:
        self.ask(f"save {key} {self.folder}/{key}-out.npz")
        return np.load(f"{self.folder}/{key}-out.npz")["y"]


def timed(function: Callable[[], object], clock: Callable[[], float]) -> float:
    begin = clock()
    function()
    return clock() - begin


def ratio(a: float | None, b: float | None) -> str:
    return "" if a is None or b is None else f"{a / b:.2f}"


def milliseconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1e3:.2f}" if seconds < 0.1 else f"{seconds * 1e3:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default="build/release/solar_bench")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="")
    parser.add_argument("--clock", choices=("wall", "processor"), default="wall")
    options = parser.parse_args()
    clock = time.perf_counter if options.clock == "wall" else time.process_time
    os.environ.setdefault("NUMBA_NUM_THREADS", str(options.threads))

    import torch
    from cases import CASES

    try:
        from numba_kernels import BY_FIRST_WORDS
    except ImportError:
        BY_FIRST_WORDS = {}
    torch.set_num_threads(options.threads)
    torch.set_grad_enabled(False)
    print(
        f"{options.threads} threads, medians of {options.rounds} interleaved rounds, milliseconds ({options.clock})\n"
    )
    print(
        "| kernel | solar | torch | Numba | solar / torch | solar / Numba | interpreter "
        "| compile: solar | Numba | ratio |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        server = Server(options.server, options.threads, folder, clock)
        for case in CASES:
            if options.only and options.only not in case.name:
                continue
            inputs = case.inputs()
            tensors = [torch.from_numpy(inputs[name]) for name in case.shapes]
            arrays = [inputs[name] for name in case.shapes]
            first = server.load("jit", case.alir, inputs, "jit")
            server.load("interpreter", case.alir, inputs, "interpreter")
            words = case.name.split()
            numba = BY_FIRST_WORDS.get(" ".join(words[:3])) or BY_FIRST_WORDS.get(words[0])
            numba_first = timed(lambda f=numba, a=arrays: f(*a), clock) if numba else None
            expected = case.torch_function(*tensors).numpy()
            scale = np.abs(expected).max()
            error = np.abs(server.outputs("jit") - expected).max() / scale
            assert error < case.tolerance, f"{case.name}: solar differs by {error}"
            if numba:
                error = np.abs(numba(*arrays) - expected).max() / scale
                assert error < case.tolerance, f"{case.name}: Numba differs by {error}"
            times: dict[str, list[float]] = {"solar": [], "torch": [], "numba": [], "interpreter": []}
            for turn in range(options.rounds):
                times["solar"].append(server.ask("run jit"))
                times["torch"].append(timed(lambda c=case, t=tensors: c.torch_function(*t), clock))
                if numba:
                    times["numba"].append(timed(lambda f=numba, a=arrays: f(*a), clock))
                if turn < 3:
                    times["interpreter"].append(server.ask("run interpreter"))
            middle = {key: statistics.median(values) if values else None for key, values in times.items()}
            solar, peer, other = middle["solar"], middle["torch"], middle["numba"]
            compile_solar = max(first - (solar or 0), 0)
            compile_numba = max(numba_first - other, 0) if numba_first and other else None
            cells = [
                case.name,
                milliseconds(solar),
                milliseconds(peer),
                milliseconds(other),
                ratio(solar, peer),
                ratio(solar, other),
                milliseconds(middle["interpreter"]),
                milliseconds(compile_solar),
                milliseconds(compile_numba),
                ratio(compile_solar, compile_numba),
            ]
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
