"""Fused floors beside the naive max(FLOPs / peak, bytes of inputs, parameters and outputs / bandwidth).

    python bench/naive_floor.py RUN SOURCE... --arch h100-sxm [--measured FILE --device NAME]

RUN is the folder of a `solar suite` run over the SOURCEs (folders of problems). The FLOPs are FlopCounterMode's on meta
tensors, convolutions at the tf32 rate and the rest at fp32's, as the run's floors; the bytes are of whole tensors.
Prints where the floor is below the naive one and by what: multiply-accumulates that no output needs, bytes that it need
not move. With measured times also the median of floor / measured of both (the fastest of a problem's times).
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tomllib
from pathlib import Path
from typing import Any

import source_module
import torch
from torch.utils.flop_counter import FlopCounterMode

ROOT = Path(__file__).parents[1]
UNITS = {"": 1.0, "G": 1e9, "T": 1e12}


def rate(text: str) -> float:
    """Of `494.5 Tflop/s`, `3.35 TB/s`: the plain number a second."""
    number, unit = text.split()
    return float(number) * UNITS[unit[0] if unit[0] in UNITS else ""]


def tensors_in(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [tensor for one in value for tensor in tensors_in(one)] if isinstance(value, list | tuple) else []


def naive_work(path: Path) -> tuple[int, int, int]:
    """MACs in convolutions, other MACs, bytes."""
    module = source_module.load(path)
    with torch.device("meta"):
        inputs = list(module.get_inputs())
        arguments = getattr(module, "get_init_inputs", list)()
        try:
            model = module.Model(*arguments)
        except RuntimeError:  # its constructor reads values
            with torch.device("cpu"):
                model = module.Model(*arguments)
    model = model.eval().to("meta")
    inputs = [one.to("meta") if isinstance(one, torch.Tensor) else one for one in inputs]
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        outputs = model(*inputs)
    flops = counter.get_flop_counts().get("Global", {})
    convolutions = sum(count for name, count in flops.items() if "conv" in str(name))
    moved = {id(one): one for one in [*tensors_in(inputs), *model.parameters(), *tensors_in(outputs)]}
    size = sum(one.numel() * one.element_size() for one in moved.values())
    return convolutions // 2, (sum(flops.values()) - convolutions) // 2, size


def results_of(run: Path, arch: str) -> dict[str, dict[str, Any]]:
    results = {}
    for line in (run / "results.jsonl").read_text().splitlines():
        result = json.loads(line)
        for bound in result["bounds"]:
            if bound["arch"] == arch and bound["mode"] == "fused":
                results[result["problem"]] = {**result, "fused": bound}
    return results


def measured_times(path: Path, device: str) -> dict[str, float]:
    """Seconds, the fastest of eager and compiled."""
    times = json.loads(path.read_text())[device]
    return {name: min(one[key] for key in one if key.endswith("_min")) * 1e-3 for name, one in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("sources", nargs="+", type=Path)
    parser.add_argument("--arch", required=True)
    parser.add_argument("--measured", type=Path)
    parser.add_argument("--device")
    arguments = parser.parse_args()
    machine = tomllib.loads((ROOT / "arch" / f"{arguments.arch}.toml").read_text())
    tf32 = rate(machine["peak"]["tensor"]["tf32"]) / 2
    fp32 = rate(machine["peak"]["vector"]["fp32"]) / 2
    bandwidth = rate(machine["dram"]["bandwidth"])
    results = results_of(arguments.run, arguments.arch)
    measured = measured_times(arguments.measured, arguments.device) if arguments.measured else {}
    shares: list[tuple[float, float]] = []
    print("| problem | floor / naive | MACs: useful / nominal | bytes: moved / whole | limiter |")
    print("|---|---|---|---|---|")
    for path in sorted(file for folder in arguments.sources for file in folder.glob("*.py")):
        name = f"{path.parent.name}/{path.name}"
        if name not in results:
            continue
        try:
            convolution, other, size = naive_work(path)
        except Exception as error:  # a model that meta tensors cannot run has no naive floor
            print(f"{name}: no naive floor: {type(error).__name__}", file=sys.stderr)
            continue
        naive = max(convolution / tf32, other / fp32, size / bandwidth)
        fused = results[name]["fused"]
        if name in measured:
            shares.append((fused["time_s"] / measured[name], naive / measured[name]))
        if fused["time_s"] < naive * (1 - 1e-6):
            macs = convolution + other
            useful = f"{results[name]['macs_useful'] / macs:.3f}" if macs else "-"
            moved = fused["traffic_bytes"] / size
            share = fused["time_s"] / naive
            print(f"| {name} | {share:.3f} | {useful} | {moved:.3f} | {fused['limiter']} |")
    if shares:
        ours, naives = (statistics.median(column) for column in zip(*shares, strict=True))
        print(f"\nmedian of floor / measured, {len(shares)} problems: {ours:.4f}; naive: {naives:.4f}")


if __name__ == "__main__":
    main()
