"""On how many problems FLOP counters give a plausible result.

    python bench/flop_counters.py FOLDER... [--out FILE] [--run RUN]

Needs torch, and fvcore, ptflops, calflops and thop as far as they are to be compared. A result is plausible if the
tool ends without an error and counts more than 0, and at least half but less than twice the contractions where there
are any (by FlopCounterMode; in the tool's unit, MACs or FLOPs). Full size, eval mode, meta tensors.
Each problem has a process of its own; a line per problem is appended to FILE, and those already there are kept.

With `--run`, the folder of a `solar suite` run over the same folders: its coverage is a row of the table, and its MACs
are compared with half of FlopCounterMode's count wherever that is not 0.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib.util
import io
import json
import multiprocessing
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import source_module
import torch

if TYPE_CHECKING:
    from collections.abc import Callable

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
TIMEOUT_S = 300
Count = int | str  # or the error


def problem(path: Path) -> tuple[torch.nn.Module, list[Any]]:
    """The model and its inputs, on meta tensors."""
    module = source_module.load(path)
    with torch.device("meta"):
        model = module.Model(*getattr(module, "get_init_inputs", list)()).eval()
        inputs = list(module.get_inputs())
    return model.to("meta"), [one.to("meta") if isinstance(one, torch.Tensor) else one for one in inputs]


def flop_counter_mode(model: torch.nn.Module, inputs: list[Any]) -> float:
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        model(*inputs)
    return counter.get_total_flops()


def fvcore(model: torch.nn.Module, inputs: list[Any]) -> float:
    from fvcore.nn import FlopCountAnalysis

    return FlopCountAnalysis(model, tuple(inputs)).total()


def ptflops(model: torch.nn.Module, inputs: list[Any], backend: str) -> float:
    from ptflops import get_model_complexity_info

    names = [f"x{i}" for i in range(len(inputs))]

    class Given(torch.nn.Module):
        """ptflops passes inputs by name."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, **given: Any) -> Any:
            return self.model(*(given[name] for name in names))

    macs, _ = get_model_complexity_info(
        Given(),
        (1,),
        input_constructor=lambda _: dict(zip(names, inputs, strict=True)),
        backend=backend,
        as_strings=False,
        print_per_layer_stat=False,
        verbose=False,
    )
    return macs or 0


def calflops(model: torch.nn.Module, inputs: list[Any]) -> float:
    from calflops import calculate_flops

    return calculate_flops(model, args=inputs, print_results=False, print_detailed=False, output_as_string=False)[0]


def thop(model: torch.nn.Module, inputs: list[Any]) -> float:
    from thop import profile

    return profile(model, inputs=tuple(inputs), verbose=False)[0]


TOOLS: dict[str, tuple[str, Callable[[torch.nn.Module, list[Any]], float]]] = {  # package, count
    "FlopCounterMode": ("torch", flop_counter_mode),
    "fvcore": ("fvcore", fvcore),
    "ptflops (pytorch)": ("ptflops", functools.partial(ptflops, backend="pytorch")),
    "ptflops (aten)": ("ptflops", functools.partial(ptflops, backend="aten")),
    "calflops": ("calflops", calflops),
    "thop": ("thop", thop),
}

COUNT_FLOPS = {"FlopCounterMode", "calflops"}  # the others count MACs


def count(path: Path, tool: str, answer: Any) -> None:
    """In a process of its own: tools patch modules, and some problems end them."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), torch.no_grad():
        try:
            answer.send(int(TOOLS[tool][1](*problem(path))))
        except BaseException as error:
            answer.send(f"{type(error).__name__}: {error}"[:200])


def ask(path: Path, tool: str) -> Count:
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.Process(target=count, args=(path, tool, theirs))
    process.start()
    theirs.close()
    try:
        result: Count = ours.recv() if ours.poll(TIMEOUT_S) else f"no result in {TIMEOUT_S} s"
    except EOFError:
        result = "its process ended"
    process.kill()
    process.join()
    return result


def natural_order(path: Path) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", path.name)]


def is_plausible(tool: str, tools: dict[str, Count]) -> bool:
    count, flops = tools.get(tool), tools.get("FlopCounterMode")
    if not isinstance(count, int) or count <= 0:
        return False
    if not isinstance(flops, int) or flops == 0:
        return True
    contractions = flops if tool in COUNT_FLOPS else flops / 2
    return contractions / 2 <= count < contractions * 2


def level(name: str) -> str:
    return str(Path(name).parent)


def results_of(run: Path) -> dict[str, dict[str, Any]]:
    """The last line of each problem of a `solar suite` run."""
    lines = (run / "results.jsonl").read_text().splitlines()
    return {result["problem"]: result for result in map(json.loads, lines)}


def table(counts: dict[str, dict[str, Count]], run: dict[str, dict[str, Any]] | None) -> str:
    levels = sorted({level(name) for name in counts})
    rows = {}
    for tool in TOOLS:
        if any(tool in tools for tools in counts.values()):
            rows[tool] = {name for name, tools in counts.items() if is_plausible(tool, tools)}
    if run is not None:
        rows["solar, counted"] = {name for name in counts if "macs" in run.get(name, {})}
        rows["solar, validated"] = {name for name in counts if run.get(name, {}).get("status") == "passed"}
    lines = ["| tool | " + " | ".join(levels) + " |", "|---" * (len(levels) + 1) + "|"]
    for tool, plausible in rows.items():
        cells = []
        for one in levels:
            names = [name for name in counts if level(name) == one]
            cells.append(f"{len(plausible.intersection(names))}/{len(names)}")
        lines.append(f"| {tool} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def differences(counts: dict[str, dict[str, Count]], run: dict[str, dict[str, Any]]) -> str:
    compared, different = 0, []
    for name, tools in counts.items():
        flops, macs = tools.get("FlopCounterMode"), run.get(name, {}).get("macs")
        if not isinstance(flops, int) or flops == 0 or macs is None:
            continue
        compared += 1
        if macs * 2 != flops:
            different.append(f"  {name}: {macs}, FlopCounterMode / 2: {flops / 2:.0f} ({2 * macs / flops - 1:+.3%})")
    return "\n".join([f"MACs equal FlopCounterMode / 2 on {compared - len(different)} of {compared}", *different])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, default=Path("counters.jsonl"))
    parser.add_argument("--run", type=Path)
    parser.add_argument("--tools", default=",".join(TOOLS))
    options = parser.parse_args()
    tools = [t for t in options.tools.split(",") if importlib.util.find_spec(TOOLS[t][0])]
    with contextlib.suppress(ImportError):  # level 4 asks a hub for its configurations
        from solar.huggingface import pretrained

        pretrained.serve({})
    counts: dict[str, dict[str, Count]] = {}
    if options.out.exists():
        for line in options.out.read_text().splitlines():
            known = json.loads(line)
            counts.setdefault(known["problem"], {}).update(known["counts"])
    for folder in options.folders:
        for path in sorted(folder.glob("*.py"), key=natural_order):
            name = f"{folder.name}/{path.name}"
            known = counts.setdefault(name, {})
            fresh = {tool: ask(path, tool) for tool in tools if tool not in known}
            if not fresh:
                continue
            known.update(fresh)
            with options.out.open("a") as out:
                out.write(json.dumps({"problem": name, "counts": fresh}) + "\n")
            print(f"{name}: {fresh}", file=sys.stderr)
    run = results_of(options.run) if options.run else None
    print(table(counts, run))
    if run is not None:
        print(differences(counts, run))


if __name__ == "__main__":
    multiprocessing.set_start_method("fork")
    main()
