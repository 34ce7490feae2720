"""What a forked worker does for one request. Returns plain values; the zygote does the sending."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from solar.limits import MEMORY_HINT, address_space
from solar.problems import (
    BY_VALUES_HINT,
    Problem,
    SourceError,
    by_values,
    describe,
    raised,
    text_of,
    traceback_tail,
    writing,
)
from solar.source_name import parse_source

Progress = Callable[[str], None]
MEMORY_SIGNS = ("can't allocate memory", "not enough memory", "cannot allocate memory", "std::bad_alloc", "memoryerror")


def handle(request: dict[str, Any], progress: Progress = lambda _: None) -> dict[str, Any]:
    """The result of a request. Raises SourceError for everything that is wrong."""
    actions = {"inspect": inspect_source, "trace": trace_source, "golden": golden_run, "steps": steps_run}
    action = actions.get(request.get("do", ""))
    if action is None:
        raise SourceError(Problem("worker-failed", f"unknown request `{request.get('do')}`"))
    try:
        return action(request, progress)
    except SourceError:
        raise
    except MemoryError as error:
        raise SourceError(out_of_memory(error)) from error


def problems_of(error: BaseException) -> tuple[Problem, ...]:
    """The problems of an exception that came out of `handle`."""
    if isinstance(error, SourceError):
        return tuple(memory_problem(problem) for problem in error.problems)
    if any(sign in text_of(error).lower() for sign in MEMORY_SIGNS):
        return (out_of_memory(error),)
    return (Problem("worker-failed", f"the worker raised {describe(error)}", traceback_tail=traceback_tail(error, "")),)


def memory_problem(problem: Problem) -> Problem:
    """A failed allocation in the user's program is a limit, not a mistake of the program."""
    if problem.kind == "source-raised" and any(sign in problem.message.lower() for sign in MEMORY_SIGNS):
        message = f"{problem.message.split(' raised ')[0]} {too_much(problem.message)}"
        return Problem("worker-limit", message, problem.file, problem.line, MEMORY_HINT, problem.traceback_tail)
    return problem


def too_much(error: str) -> str:
    """How much memory was wanted, where torch says it, and how much there may be."""
    tried = re.search(r"tried to allocate (\d+) bytes", error)
    wanted = f": {int(tried[1]) / 2**30:.4g} GiB at once" if tried else ""
    most = address_space()
    return f"needs more memory than it may use{wanted}" + (f", where all may be {most / 2**30:.4g} GiB" if most else "")


def out_of_memory(error: BaseException) -> Problem:
    """The problem for an allocation that failed."""
    text = text_of(error)
    message = f"the program {too_much(text)}"
    return Problem("worker-limit", message, hint=MEMORY_HINT, traceback_tail=text[:400])


def part_name(out: str) -> str:
    """The temporary name beside `out` that this process writes to."""
    return f"{out}.{os.getpid()}.part"


def write_text(out: str, text: str) -> None:
    """Writes a file under a temporary name and renames it."""
    part = part_name(out)
    try:
        with writing(out):
            with open(part, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(part, out)
    finally:
        if os.path.exists(part):
            os.unlink(part)


def inspect_source(request: dict[str, Any], _: Progress) -> dict[str, Any]:
    """Reads the file without running it."""
    from solar.constants import defined_names, find_constants, parse_file
    from solar.huggingface.configurations import sizes_in_file
    from solar.huggingface.sizes import constants_of

    name = parse_source(request["source"])
    facts: dict[str, Any] = {"path": name.path, "member": name.member, "defines": [], "constants": []}
    if name.kind == "huggingface":
        facts["constants"] = [constant.to_json() for constant in constants_of(name.path)]
    elif name.kind == "python":
        tree = parse_file(name.path)
        facts["defines"] = defined_names(tree)
        facts["constants"] = [constant.to_json() for constant in find_constants(tree)]
        facts["constants"] += [constant.to_json() for constant in sizes_in_file(tree)]
    return facts


def trace_source(request: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Traces on fake tensors and writes the program's text."""
    from solar import branches
    from solar.frontends.torch.steps import steps_text
    from solar.sources import load
    from solar.tape import constructed_masks
    from solar.tensorfile import TensorFileWriter

    progress("loading the source")
    loaded = load(request["source"], request.get("overrides"), fake=True)
    progress("tracing")
    way: list[branches.Branch] = []
    try:
        traced = traced_or_told(loaded)
    except SourceError as error:
        if any(problem.hint != BY_VALUES_HINT for problem in error.problems) or not branches.may_run(loaded):
            raise
        progress("running the original, which may branch on data")
        way = branches.branches_of(load(request["source"], request.get("overrides"), fake=False))
        if not way:
            raise
        loaded = load(request["source"], request.get("overrides"), fake=True)
        progress("tracing the way that the example inputs go")
        with branches.Following([branch.taken for branch in way]):
            traced = traced_or_told(loaded)
    result: dict[str, Any] = {
        "alir": request["out"],
        "name": loaded.name,
        "form": loaded.form,
        "mode": loaded.mode,
        "warnings": [*traced.warnings, *branches.warnings(way, loaded.path)],
        "recorded_path": bool(way),
        "ports": [
            {"name": p.name, "role": p.role} | {k: getattr(p, k, None) for k in ("index", "key", "dtype")}
            for p in traced.ports
        ],
    }
    constants = traced.constants | constructed_masks(loaded, traced.ports)
    if way:
        constants[branches.PORT] = branches.answers(way)
    if constants:
        path = f"{request['out']}.constants.safetensors"
        with TensorFileWriter(path, part_name(path), room=len(constants)) as file:
            for name, tensor in constants.items():
                file.add(name, tensor)
        result["constants"] = path
    write_text(request["out"], traced.text)
    result["steps"] = f"{request['out']}.steps.json"
    write_text(result["steps"], steps_text(traced.steps))
    return result


def traced_or_told(loaded: Any) -> Any:
    """The trace; where it fails and `forward` does by itself too, that is the problem."""
    from solar.frontends.torch import trace

    try:
        return trace(loaded)
    except SourceError as error:
        if any(problem.kind != "trace-failed" for problem in error.problems):
            raise
        raise SourceError(*(own_mistake(loaded) or error.problems)) from error
    except MemoryError:
        raise
    except BaseException as error:  # `sys.exit()` too
        problem = raised(error, loaded.path, "tracing `forward`", "trace-failed")
        raise SourceError(*(own_mistake(loaded) or (problem,))) from error


def own_mistake(loaded: Any) -> tuple[Problem, ...]:
    """The program's own mistake behind a failed trace, if forward fails on its fake inputs too."""
    import torch

    from solar.golden import output_tensors
    from solar.sources import needs_values

    if loaded.fake_mode is None:
        return ()
    try:
        with torch.no_grad(), loaded.fake_mode:
            outputs = loaded.model(*loaded.inputs, **loaded.kwargs)
        output_tensors(outputs, loaded)
    except SourceError as error:
        return error.problems
    except BaseException as error:
        if not needs_values(error):
            return (raised(error, loaded.path, "`forward`"),)
        place = raised(error, loaded.path, "`forward`")
        reason = by_values(error)
        message = f"`forward` cannot be traced: {reason or describe(error)}"
        hint = BY_VALUES_HINT if reason else ""
        return (Problem("trace-failed", message, place.file, place.line, hint, place.traceback_tail),)
    return ()


def golden_run(request: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Runs the original for real and writes its tensors."""
    from solar.golden import expose_tensors, run_golden
    from solar.ports import resolve_ports
    from solar.sources import load

    progress("building the original")
    seed = int(request.get("seed", 0))
    loaded = load(request["source"], request.get("overrides"), fake=False, seed=seed)
    mode = loaded.mode
    ports = ports_of(request)
    if request.get("resolve"):
        expose_tensors(loaded.model)
        ports = resolve_ports(loaded, ports)
    run = run_golden(
        loaded,
        ports,
        seed=seed,
        distribution=request.get("distribution", "example"),
        out=request["out"],
        part=part_name(request["out"]),
        want_f64=bool(request.get("want_f64", False)),
        nearby=float(request.get("nearby", 0)),
        constants=request.get("constants"),
        progress=progress,
    )
    return {
        "path": request["out"],
        "outputs": list(run.outputs),
        "has_f64": run.has_f64,
        "mode": mode,
        "warnings": list(run.warnings),
    }


def steps_run(request: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Runs the original operator by operator and writes some of the tensors inside."""
    from solar.frontends.torch.steps import run_steps
    from solar.sources import load

    progress("building the original")
    seed = int(request.get("seed", 0))
    loaded = load(request["source"], request.get("overrides"), fake=False, seed=seed)
    run_steps(
        loaded,
        ports_of(request),
        set(request["nodes"]),
        seed=seed,
        distribution=request.get("distribution", "example"),
        out=request["out"],
        part=part_name(request["out"]),
        constants=request.get("constants"),
        progress=progress,
    )
    return {"path": request["out"]}


def ports_of(request: dict[str, Any]) -> list[Any]:
    """The ports that a request names."""
    from solar.golden import Port

    return [Port(p["name"], p["role"], p.get("index"), p.get("key"), p.get("dtype")) for p in request["ports"]]
