"""Times whole models, traced and compiled, beside torch's own run: python bench/models.py [FILE...] [--server BINARY]

Takes the examples by default. Interleaved in one run, on the same inputs and weights; outputs are compared. The last
columns are what `solar analyze` takes for the whole validation, and how many runs of both programs that are.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import source_module
import torch
from run import Server, timed

ROOT = Path(__file__).parents[1]
PORT = re.compile(r"\b(input|param|buffer) (\w+|`\w+`):")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    examples = [ROOT / "examples" / name for name in ("resnet18.py", "gpt2.py")]
    parser.add_argument("files", nargs="*", type=Path, default=examples)
    parser.add_argument("--server", default=str(ROOT / "build/release/solar_bench"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    solar = str(Path(options.server).with_name("solar"))
    environment = dict(os.environ, SOLAR_ROOT=str(ROOT))

    def answer(*arguments: object) -> str:
        command = [solar, *map(str, arguments)]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout

    torch.set_num_threads(options.threads)
    torch.set_grad_enabled(False)
    print(f"{options.threads} threads, medians of {options.rounds} interleaved rounds, seconds\n")
    print("| model | solar | torch | solar / torch | first run, compiled | validation | runs |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        server = Server(options.server, options.threads, folder, time.perf_counter)
        for path in options.files:
            text = answer("trace", path, "--no-validate")
            torch.manual_seed(0)
            module = source_module.load(path)
            model = module.Model(*getattr(module, "get_init_inputs", list)()).eval()
            given: list[Any] = module.get_inputs()
            state = {name.replace(".", "_"): value for name, value in model.state_dict().items()}
            ports = [(role, name.strip("`")) for role, name in PORT.findall(text)]
            arrays = dict(zip([name for role, name in ports if role == "input"], given, strict=True))
            arrays |= {name: state[name] for role, name in ports if role != "input"}
            inputs = {name: np.ascontiguousarray(value.numpy()) for name, value in arrays.items()}
            first = server.load("model", text, inputs, "jit")
            (output,) = re.search(r"^program .*?\) -> \((\w+)\)", text, re.DOTALL | re.MULTILINE).groups()  # type: ignore[union-attr]
            server.ask(f"save model {folder}/out.npz")
            expected = model(*given).numpy()
            error = np.abs(np.load(f"{folder}/out.npz")[output] - expected).max() / np.abs(expected).max()
            assert error < 1e-3, f"{path.name}: solar differs by {error}"
            ours, theirs = [], []
            for _ in range(options.rounds):
                ours.append(server.ask("run model"))
                theirs.append(timed(lambda m=model, g=given: m(*g), time.perf_counter))
            a, b = statistics.median(ours), statistics.median(theirs)
            report = json.loads(answer("analyze", path, "--arch", "h100-sxm", "--json", "-"))
            validation = report["validation"]
            assert (validation["status"], validation["method"]) == ("passed", "full"), validation
            cells = [path.stem, f"{a:.3f}", f"{b:.3f}", f"{a / b:.2f}", f"{first:.2f}"]
            cells += [f"{report['timings_s']['validate']:.1f}", str(validation["seeds"])]
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
