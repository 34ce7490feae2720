"""CPU time from a traced program to bounds on four architectures, beside NVlabs/SOLAR's stages 2 to 4.

    PYTHONPATH=NVLABS_CHECKOUT python bench/nvlabs_solar.py SOURCE... --binary SOLAR --server SOLAR_BENCH_BOUNDS
        [--rounds 3] [--every 5]

SOURCEs are folders of problems; `--every N` takes each Nth. Needs torch, torchview with NVlabs/SOLAR's patches,
networkx, PyYAML and a checkout of NVlabs/SOLAR. Untimed: its graph extraction (inputs on meta tensors) and `solar
trace`. Timed, one after the other in each round, processes started before: its einsum conversion, analysis and
performance prediction for four architectures; what `solar analyze F.alir` does for four architectures
(bench/bounds_server.cpp). What either cannot do is left out and named.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
from solar.analysis import EinsumGraphAnalyzer
from solar.common.types import ProcessingConfig
from solar.einsum import PyTorchToEinsum
from solar.graph import PyTorchProcessor
from solar.perf import EinsumGraphPerfModel

THEIR_ARCHITECTURES = ("H100_PCIe", "A6000", "B200", "Jetson_Thor_T5000")
OUR_ARCHITECTURES = "h100-pcie,a6000,b200,thor"


def extract(source: Path, folder: Path) -> Path:
    """Their stage 1."""
    config = ProcessingConfig(save_graph=False, force_rerun=True, timeout=300, output_dir=str(folder))
    with torch.device("meta"):
        done = PyTorchProcessor(config).process_model_file(str(source), str(folder))
    graph = folder / "pytorch_graph.yaml"
    if not done or not graph.exists():
        raise RuntimeError("no graph")
    return graph


def their_seconds(graph: Path, folder: Path) -> float:
    begin = time.process_time()
    if PyTorchToEinsum().convert(graph, folder, copy_graph=False) is None:
        raise RuntimeError("no einsum graph")
    if EinsumGraphAnalyzer().analyze_graph(folder / "einsum_graph.yaml", folder, copy_graph=False) is None:
        raise RuntimeError("no analysis")
    for architecture in THEIR_ARCHITECTURES:
        model = EinsumGraphPerfModel()
        if model.predict(folder / "analysis.yaml", folder, arch_config=architecture, copy_analysis=False) is None:
            raise RuntimeError("no prediction")
    return time.process_time() - begin


class Server:
    """bench/bounds_server.cpp."""

    def __init__(self, binary: Path) -> None:
        self.process = subprocess.Popen([binary], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def seconds(self, program: Path) -> float:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"{program} {OUR_ARCHITECTURES}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer or answer.startswith("error"):
            raise RuntimeError(answer or "the server is gone")
        return float(answer)


def measured(source: Path, binary: Path, server: Server, rounds: int, folder: Path) -> tuple[float, float]:
    """Theirs and ours, the medians of the rounds."""
    program = folder / "traced.alir"
    trace = [binary, "trace", source, "--no-validate", "-o", program]
    done = subprocess.run(trace, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"solar trace: {done.stderr.strip().splitlines()[0]}")
    times = []
    with contextlib.redirect_stdout(io.StringIO()):
        graph = extract(source, folder)
        for _ in range(rounds):
            times.append((their_seconds(graph, folder), server.seconds(program)))
    theirs, ours = zip(*times, strict=True)
    return statistics.median(theirs), statistics.median(ours)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+", type=Path)
    parser.add_argument("--binary", required=True, type=Path)
    parser.add_argument("--server", required=True, type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    os.environ.setdefault("SOLAR_ROOT", str(Path(__file__).parents[1]))
    server = Server(options.server.resolve())
    print("| folder | problems | NVlabs/SOLAR: median | solar: median | median of the ratios |\n|---|---|---|---|---|")
    for folder in options.sources:
        found: list[tuple[float, float]] = []
        for source in sorted(folder.glob("*.py"))[:: options.every]:
            with tempfile.TemporaryDirectory() as temporary:
                try:
                    found.append(measured(source, options.binary.resolve(), server, options.rounds, Path(temporary)))
                except Exception as error:  # whatever their stages raise
                    print(f"{source.name}: left out: {type(error).__name__}: {str(error)[:100]}", file=sys.stderr)
        if not found:
            continue
        theirs, ours = (statistics.median(column) * 1e3 for column in zip(*found, strict=True))
        ratio = statistics.median(a / b for a, b in found)
        print(f"| {folder.name} | {len(found)} | {theirs:.1f} ms | {ours:.2f} ms | {ratio:.0f} |", flush=True)


if __name__ == "__main__":
    main()
