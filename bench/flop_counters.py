"""On how many problems FLOP counters give a plausible result.

    python bench/flop_counters.py SOURCE... [--out FILE] [--run RUN]

SOURCEs are folders or files. Needs torch, and fvcore, ptflops, calflops and thop as far as they are to be compared.
Full size, eval mode, meta tensors. Each tool has a process of its own for each problem, 8 GiB and 60 s of processor
time. A line per problem is appended to FILE, and those already there are kept; then counter_tables.py prints what they
say.

With `--run`, the folder of a `solar suite` run over the same folders: its coverage is a row of the tables, and its MACs
are compared with half of FlopCounterMode's count wherever that is not 0.

With `--batch-one`, the tools are given real tensors, and the file's `batch_size` is 1: some fail on meta tensors only.
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
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import counter_tables
import source_module
import torch

if TYPE_CHECKING:
    from counter_tables import Count

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
Tool = Callable[[torch.nn.Module, list[Any]], float | None]
PROCESSOR_S = 60
MEMORY_BYTES = 8 << 30


def problem(path: Path) -> tuple[torch.nn.Module, list[Any]]:
    """The model and its inputs, on meta tensors."""
    module = source_module.load(path)
    with torch.device("meta"):
        inputs = list(module.get_inputs())
        arguments = getattr(module, "get_init_inputs", list)()
        try:
            model = module.Model(*arguments).eval()
        except RuntimeError:  # its constructor reads values
            with torch.device("cpu"):
                model = module.Model(*arguments).eval()
    return model.to("meta"), [one.to("meta") if isinstance(one, torch.Tensor) else one for one in inputs]


def on_meta_tensors(path: Path, tool: Tool) -> float | None:
    return tool(*problem(path))


def on_fake_tensors(path: Path, tool: Tool, overrides: dict[str, int] | None = None) -> float | None:
    """For a model that asks for values, which meta tensors never have and fake ones do of constants."""
    from solar.sources import load
    from torch.nn.attention import SDPBackend, sdpa_kernel

    loaded = load(str(path), overrides, fake=True)
    assert loaded.fake_mode is not None
    with loaded.fake_mode, sdpa_kernel(SDPBackend.MATH):  # FlopCounterMode does not know a CPU's others
        return tool(loaded.model.eval(), list(loaded.inputs))


def on_real_tensors(path: Path, tool: Tool) -> float | None:
    """At batch size 1. FlopCounterMode, which says what is plausible, needs no values."""
    from solar.constants import find_constants, parse_file
    from solar.sources import load

    known = {constant.name for constant in find_constants(parse_file(str(path)))}
    overrides = {"batch_size": 1} if "batch_size" in known else {}
    if tool is flop_counter_mode:
        return on_fake_tensors(path, tool, overrides)
    loaded = load(str(path), overrides, fake=False)
    return tool(loaded.model.eval(), list(loaded.inputs))


def flop_counter_mode(model: torch.nn.Module, inputs: list[Any]) -> float:
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        model(*inputs)
    return counter.get_total_flops()


def fvcore(model: torch.nn.Module, inputs: list[Any]) -> float:
    from fvcore.nn import FlopCountAnalysis

    return FlopCountAnalysis(model, tuple(inputs)).total()


def ptflops(model: torch.nn.Module, inputs: list[Any], backend: str) -> float | None:
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
    return macs


def calflops(model: torch.nn.Module, inputs: list[Any]) -> float:
    from calflops import calculate_flops

    return calculate_flops(model, args=inputs, print_results=False, print_detailed=False, output_as_string=False)[0]


def thop(model: torch.nn.Module, inputs: list[Any]) -> float:
    from thop import profile

    return profile(model, inputs=tuple(inputs), verbose=False)[0]


TOOLS: dict[str, tuple[str, Tool]] = {  # package, count
    "FlopCounterMode": ("torch", flop_counter_mode),
    "fvcore": ("fvcore", fvcore),
    "ptflops (pytorch)": ("ptflops", functools.partial(ptflops, backend="pytorch")),
    "ptflops (aten)": ("ptflops", functools.partial(ptflops, backend="aten")),
    "calflops": ("calflops", calflops),
    "thop": ("thop", thop),
}


def limit_resources() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_S, PROCESSOR_S + 5))
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)  # ends it


def attempt(function: Callable[[], float | None]) -> Count:
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), torch.no_grad():
            result = function()
    except BaseException as error:
        return f"{type(error).__name__}: {error}"[:200]
    return said.getvalue().strip()[-200:] if result is None else int(result)  # ptflops prints its errors


def count(path: Path, name: str, batch_one: bool, answer: Any) -> None:
    """In a process of its own: tools patch modules, and some problems end them."""
    limit_resources()
    tool = TOOLS[name][1]
    result = attempt(lambda: (on_real_tensors if batch_one else on_meta_tensors)(path, tool))
    if isinstance(result, str) and "called on meta tensors" in result:
        result = attempt(lambda: on_fake_tensors(path, tool))
    answer.send(result)


def ask(path: Path, tool: str, batch_one: bool) -> Count:
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.Process(target=count, args=(path, tool, batch_one, theirs))
    process.start()
    theirs.close()
    try:
        result: Count = ours.recv() if ours.poll(20 * PROCESSOR_S) else "limit: it hung"
    except EOFError:
        process.join()
        result = f"limit: {PROCESSOR_S} s of processor time" if process.exitcode == -signal.SIGXCPU else "it crashed"
    process.kill()
    process.join()
    return result


def natural_order(path: Path) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", path.name)]


def installed(tool: str) -> bool:
    """Imports it too, once for all processes."""
    package = TOOLS[tool][0]
    if importlib.util.find_spec(package) is None:
        return False
    importlib.import_module("fvcore.nn" if package == "fvcore" else package)
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, default=Path("counters.jsonl"))
    parser.add_argument("--run", type=Path)
    parser.add_argument("--batch-one", action="store_true")
    parser.add_argument("--tools", default=",".join(TOOLS))
    options = parser.parse_args()
    tools = [tool for tool in options.tools.split(",") if installed(tool)]
    with contextlib.suppress(ImportError):  # level 4 asks a hub for its configurations
        from solar.huggingface import pretrained

        pretrained.serve({})
    counts = counter_tables.read(options.out)
    for path in options.sources:
        for source in sorted(path.glob("*.py"), key=natural_order) if path.is_dir() else [path]:
            name = f"{source.parent.name}/{source.name}"
            known = counts.setdefault(name, {})
            fresh = {tool: ask(source, tool, options.batch_one) for tool in tools if tool not in known}
            if not fresh:
                continue
            known.update(fresh)
            with options.out.open("a") as out:
                out.write(json.dumps({"problem": name, "counts": fresh}) + "\n")
            print(f"{name}: {fresh}", file=sys.stderr)
    print(counter_tables.everything(counts, options.run))


if __name__ == "__main__":
    multiprocessing.set_start_method("fork")
    main()
