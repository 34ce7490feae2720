"""Runs the original program and writes what goes in and what comes out to a tensor file.

Names in the file: `in/PORT` for every port that the traced program has, as it was before the run; `out/0`, `out/1`,
... the tensors that the program returns; `state/PORT` the values of states after the run; `f64/0`, ... the outputs of
a run in float64 on the same values, which tell whether the original itself is accurate.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
import torch.utils._pytree as pytree
from torch import nn

from solar import branches, limits
from solar.distributions import DISTRIBUTIONS, FLOATS, map_once, move_values, perturb_constants, redistribute
from solar.own_state import attributes_of, changed, warning
from solar.plain_tensors import irregular, refuse
from solar.problems import Problem, SourceError, describe, raised, text_of
from solar.randomness import RandomDraws
from solar.signature import forward_line
from solar.tensorfile import TensorFileWriter, read_tensors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from solar.sources import LoadedProgram

TYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i64": torch.int64,
    "i32": torch.int32,
    "i16": torch.int16,
    "i8": torch.int8,
    "u8": torch.uint8,
    "bool": torch.bool,
}


@dataclass(frozen=True, slots=True)
class Port:
    """Where the value of one port of the traced program comes from."""

    name: str
    role: str
    index: int | None = None
    key: str | None = None
    dtype: str | None = None  # the language's name of the type; only random draws are converted


@dataclass(frozen=True, slots=True)
class GoldenRun:
    """What a golden run wrote."""

    outputs: tuple[dict[str, Any], ...]
    has_f64: bool
    warnings: tuple[str, ...]


def run_golden(
    loaded: LoadedProgram,
    ports: Sequence[Port],
    *,
    seed: int,
    distribution: str,
    out: str,
    part: str,
    want_f64: bool,
    nearby: float = 0,
    constants: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> GoldenRun:
    """Runs `loaded`, which must be real, and writes `out` (through the temporary file `part`).

    `nearby`: all values are moved by that share of themselves, and `in/...` is left out.
    """
    leaves, spec = prepare(loaded, seed, distribution, nearby=nearby)
    saved = _saved(loaded, ports, leaves) if want_f64 else None
    warnings: list[str] = []
    has_f64 = False
    lifted = read_tensors(constants) if constants else {}
    with TensorFileWriter(out, part, room=4 * len(ports)) as file, torch.no_grad():
        if not nearby:
            write_inputs(file, loaded, ports, leaves, lifted)
        progress("running the original")
        args, kwargs = pytree.tree_unflatten(leaves, spec)
        state = torch.get_rng_state()
        before = attributes_of(loaded.model)
        with following(lifted), recorded_draws(ports) as draws:
            outputs = call_forward(loaded, loaded.model, args, kwargs)
        names = changed(before, loaded.model, {port.key for port in ports if port.role == "state" and port.key})
        if not draws.draws and not torch.equal(state, torch.get_rng_state()):
            warnings.append("the original draws random numbers that the traced program does not take as inputs")
        write_draws(file, loaded, ports, draws.draws)
        for place, tensor in enumerate(outputs):
            file.add(f"out/{place}", tensor)
        for port in ports:
            if port.role == "state" and port.key:
                file.add(f"state/{port.name}", lookup(loaded, port))
        if names and saved is not None and runs_differ(loaded, saved, spec, draws.draws, lifted, outputs):
            warnings.append(warning(names))
        summary = tuple({"dtype": str(t.dtype).removeprefix("torch."), "shape": list(t.shape)} for t in outputs)
        del outputs, leaves, args, kwargs
        if saved is not None:
            progress("running the original in float64")
            try:
                with following(lifted):
                    doubles = double_run(loaded, saved, spec, draws.draws)
                for place, tensor in enumerate(doubles):
                    file.add(f"f64/{place}", tensor)
                has_f64 = True
            except (SourceError, RuntimeError, TypeError, ValueError, NotImplementedError) as error:
                warnings.append(f"no float64 run: {text_of(error) or describe(error)}")
    return GoldenRun(summary, has_f64, tuple(warnings))


def prepare(loaded: LoadedProgram, seed: int, distribution: str, *, nearby: float = 0) -> tuple[list[Any], Any]:
    """Gives a real program the values of a run. Returns its inputs, as leaves and the tree they make."""
    if distribution not in DISTRIBUTIONS:
        hint = f"distributions: {', '.join(DISTRIBUTIONS)}"
        raise SourceError(Problem("usage", f"no distribution `{distribution}`", loaded.path, 0, hint))
    generator = torch.Generator().manual_seed(0x501A8 + seed)
    expose_tensors(loaded.model)
    perturb_constants(loaded.model, generator)
    leaves, spec = pytree.tree_flatten((loaded.inputs, loaded.kwargs))
    leaves = redistribute(leaves, distribution, generator)
    if nearby:
        move_values(loaded.model, leaves, nearby, generator)
    return leaves, spec


@contextlib.contextmanager
def recorded_draws(ports: Sequence[Port]) -> Iterator[RandomDraws]:
    """Within it random draws are noted, if a port takes them."""
    draws = RandomDraws()
    with draws if any(port.role == "rng" for port in ports) else contextlib.nullcontext():
        yield draws


def following(lifted: Mapping[str, torch.Tensor]) -> contextlib.AbstractContextManager[Any]:
    """The original goes the way that the trace went, where that depends on data."""
    way = lifted.get(branches.PORT)
    return contextlib.nullcontext() if way is None else branches.Following(way.tolist())


def call_forward(loaded: LoadedProgram, model: nn.Module, args: Any, kwargs: Any) -> list[torch.Tensor]:
    """The tensors that one call returns."""
    try:
        result = model(*args, **kwargs)
    except BaseException as error:
        limits.end_copies()
        raise SourceError(raised(error, loaded.path, "`forward`")) from error
    limits.end_copies()
    return output_tensors(result, loaded)


def output_tensors(result: Any, loaded: LoadedProgram) -> list[torch.Tensor]:
    """The tensors of a result in their order; None leaves are left out, anything else is an error."""
    leaves = pytree.tree_leaves(result)
    tensors = [leaf for leaf in leaves if leaf is not None]
    for leaf in tensors:
        if not isinstance(leaf, torch.Tensor):
            message = f"`forward` returned a {type(leaf).__name__}; a tensor or a tuple of tensors is expected"
            raise SourceError(Problem("source-form", message, loaded.path, forward_line(loaded.model)))
        refuse([irregular("a result of `forward`", leaf, loaded.path, forward_line(loaded.model))])
    if not tensors:
        message = "`forward` returned no tensor"
        raise SourceError(Problem("source-form", message, loaded.path, forward_line(loaded.model)))
    return [torch.view_as_real(t.resolve_conj()) if t.is_complex() else t for t in tensors]


def expose_tensors(model: nn.Module) -> None:
    """Registers plain tensor attributes as buffers, as the tracer does, so that `.double()` reaches them."""
    for module in model.modules():
        for name, value in list(vars(module).items()):
            if isinstance(value, torch.Tensor) and not isinstance(value, nn.Parameter):
                delattr(module, name)
                module.register_buffer(name, value, persistent=False)


def lookup(loaded: LoadedProgram, port: Port) -> torch.Tensor:
    """The tensor at a port's dotted path."""
    value: Any = loaded.model
    for part in (port.key or "").split("."):
        value = getattr(value, part, None) if not part.isdigit() or hasattr(value, part) else value[int(part)]
        if value is None:
            break
    if not isinstance(value, torch.Tensor):
        message = f"the model has no tensor `{port.key}` (port `{port.name}`)"
        raise SourceError(Problem("trace-failed", message, loaded.path))
    return value


def write_inputs(
    file: TensorFileWriter,
    loaded: LoadedProgram,
    ports: Sequence[Port],
    leaves: Sequence[Any],
    lifted: Mapping[str, torch.Tensor],
) -> None:
    """Writes `in/PORT` for all ports but random ones. `lifted`: the values of those that the tracer found."""
    for port in ports:
        if port.index is not None:
            if not 0 <= port.index < len(leaves):
                message = f"port `{port.name}` has no example input {port.index}"
                raise SourceError(Problem("trace-failed", message, loaded.path))
            leaf = leaves[port.index]
            file.add(f"in/{port.name}", leaf if isinstance(leaf, torch.Tensor) else torch.tensor(leaf))
        elif port.key:
            file.add(f"in/{port.name}", lookup(loaded, port))
        elif port.name in lifted:
            file.add(f"in/{port.name}", lifted[port.name])
        elif port.role not in ("const", "rng"):
            message = f"port `{port.name}` ({port.role}) has no value to run with"
            raise SourceError(Problem("trace-failed", message, loaded.path))


def write_draws(
    file: TensorFileWriter, loaded: LoadedProgram, ports: Sequence[Port], draws: Sequence[torch.Tensor]
) -> None:
    """Writes the random draws in their order to the random ports in theirs."""
    random = [port for port in ports if port.role == "rng"]
    if random and len(random) != len(draws):
        message = f"the original draws {len(draws)} random tensors, the traced program has {len(random)}"
        raise SourceError(Problem("trace-failed", message, loaded.path))
    for port, tensor in zip(random, draws, strict=False):
        file.add(f"in/{port.name}", tensor.to(TYPES[port.dtype]) if port.dtype else tensor)


@dataclass(frozen=True, slots=True)
class Saved:
    """Copies of what a run may change: the inputs' leaves, and states by their port."""

    leaves: list[Any]
    states: list[tuple[Port, torch.Tensor]]


def _saved(loaded: LoadedProgram, ports: Sequence[Port], leaves: Sequence[Any]) -> Saved:
    copies = map_once(lambda leaf: leaf.detach().clone() if isinstance(leaf, torch.Tensor) else leaf, leaves)
    states = [(p, lookup(loaded, p).detach().clone()) for p in ports if p.role == "state" and p.key]
    return Saved(copies, states)


def _doubled(leaf: Any) -> Any:
    if not isinstance(leaf, torch.Tensor):
        return leaf
    return leaf.to(torch.complex128) if leaf.is_complex() else leaf.double() if leaf.dtype in FLOATS else leaf


def runs_differ(
    loaded: LoadedProgram,
    saved: Saved,
    spec: Any,
    draws: Sequence[torch.Tensor],
    lifted: Mapping[str, torch.Tensor],
    outputs: Sequence[torch.Tensor],
) -> bool:
    """Whether another run on the same values gives other outputs, or none."""
    restore(loaded, saved)
    leaves = map_once(lambda leaf: leaf.clone() if isinstance(leaf, torch.Tensor) else leaf, saved.leaves)
    args, kwargs = pytree.tree_unflatten(leaves, spec)
    try:
        with following(lifted), RandomDraws(replay=draws) if draws else contextlib.nullcontext():
            again = call_forward(loaded, loaded.model, args, kwargs)
    except (SourceError, RuntimeError):
        return True
    return len(again) != len(outputs) or any(
        a.shape != b.shape or a.dtype != b.dtype or not torch.allclose(a.double(), b.double(), equal_nan=True)
        for a, b in zip(again, outputs, strict=False)
    )


def restore(loaded: LoadedProgram, saved: Saved) -> None:
    """Gives the states the values that they had; the copies stay."""
    for port, value in saved.states:
        owner, _, name = (port.key or "").rpartition(".")
        module = loaded.model.get_submodule(owner)
        if name in module._parameters:
            module._parameters[name] = nn.Parameter(value.clone(), requires_grad=False)
        else:
            setattr(module, name, value.clone())


def double_run(loaded: LoadedProgram, saved: Saved, spec: Any, draws: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The outputs of a float64 run on the same values and draws. The model is converted in place."""
    restore(loaded, saved)
    loaded.model.double()
    for tensor in (*loaded.model.parameters(), *loaded.model.buffers()):
        if tensor.is_complex():
            tensor.data = tensor.data.to(torch.complex128)
    leaves = map_once(_doubled, saved.leaves)
    saved.leaves.clear()
    args, kwargs = pytree.tree_unflatten(leaves, spec)
    previous = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with RandomDraws(replay=draws) if draws else contextlib.nullcontext():
            outputs = call_forward(loaded, loaded.model, args, kwargs)
    finally:
        torch.set_default_dtype(previous)
    return [tensor.double() if tensor.dtype in FLOATS else tensor for tensor in outputs]
