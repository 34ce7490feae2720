"""What every source operator gives: under which names the traced program has it, and its values in the original.

A program that differs from the original is run beside it operator by operator, to name the first one that differs.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import fx
from torch.export.graph_signature import ConstantArgument, InputKind

from solar.frontends.torch.builder import Value
from solar.frontends.torch.calls import Call, tensors_of
from solar.frontends.torch.export import export
from solar.frontends.torch.whole import run_whole
from solar.golden import Port, following, lookup, prepare, recorded_draws, write_draws, write_inputs
from solar.problems import Problem, SourceError
from solar.tensorfile import DTYPES, TensorFileWriter, read_tensors

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from torch.export import ExportedProgram

    from solar.sources import LoadedProgram


@dataclass(frozen=True, slots=True)
class Step:
    """One call in the exported graph, and the names that its results have in the traced program.

    `tensors` has one entry a tensor that the call returns; None where the program does not have it.
    """

    node: str
    operator: str
    at: str
    module: str
    tensors: tuple[str | None, ...]


def steps_of(calls: Iterable[tuple[Call, Any]], names: Mapping[str, str]) -> Iterator[Step]:
    """The steps of lowered calls with their results; `names` are those that the tokens of values got."""
    for call, result in calls:
        values = [result] if isinstance(result, Value) else result if isinstance(result, (tuple, list)) else []
        tensors = tuple(names.get(v.token) if isinstance(v, Value) else None for v in values)
        if any(tensors):
            yield Step(call.node.name, call.operator.rpartition(".")[0], call.at, call.module, tensors)


def steps_text(steps: Iterable[Step]) -> str:
    """The steps as a JSON list."""
    return json.dumps([asdict(step) for step in steps])


def run_steps(
    loaded: LoadedProgram,
    ports: Sequence[Port],
    nodes: Collection[str],
    *,
    seed: int,
    distribution: str,
    out: str,
    part: str,
    constants: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> None:
    """Runs the exported graph of `loaded`, which must be real, node by node.

    Writes `in/PORT` as a golden run does, and `node/NAME/0`, ... for the results of the nodes named.
    """
    leaves, _ = prepare(loaded, seed, distribution)
    lifted = read_tensors(constants) if constants else {}
    progress("exporting the original")
    with following(lifted):
        exported = export(loaded)
    arguments = list(_arguments(loaded, exported, leaves))
    with TensorFileWriter(out, part, room=4 * (len(ports) + len(nodes))) as file, torch.no_grad():
        write_inputs(file, loaded, ports, leaves, lifted)
        progress("running the original operator by operator")
        with recorded_draws(ports) as draws:
            _Recorder(exported.graph_module, nodes, file).run(*arguments)
        write_draws(file, loaded, ports, draws.draws)


def _arguments(loaded: LoadedProgram, exported: ExportedProgram, leaves: Sequence[Any]) -> Iterator[Any]:
    """The values of the graph's placeholders."""
    rest = iter(leaves)
    for spec in exported.graph_signature.input_specs:
        if spec.kind == InputKind.USER_INPUT:
            leaf = next(rest)
            yield spec.arg.value if isinstance(spec.arg, ConstantArgument) else leaf
        elif spec.kind in (InputKind.PARAMETER, InputKind.BUFFER):
            yield lookup(loaded, Port(spec.arg.name, "param", key=spec.target))
        elif spec.kind == InputKind.CONSTANT_TENSOR and spec.target is not None:
            yield exported.constants[spec.target]
        else:
            raise SourceError(Problem("trace-failed", f"an argument of kind {spec.kind.name} is not supported"))


class _Recorder(fx.Interpreter):
    """Runs a graph and writes what some of its nodes give, as it is then: later calls may overwrite it."""

    def __init__(self, module: fx.GraphModule, nodes: Collection[str], file: TensorFileWriter) -> None:
        super().__init__(module)
        self._nodes = nodes
        self._file = file

    def run_node(self, n: fx.Node) -> Any:
        """One node's result."""
        result = super().run_node(n)
        if n.name in self._nodes:
            for place, tensor in enumerate(tensors_of(result)):
                if tensor.dtype in DTYPES:
                    self._file.add(f"node/{n.name}/{place}", tensor)
        return result

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call; our own operators stand for torch's."""
        whole = run_whole(target)
        return whole(*args) if whole else super().call_function(target, args, kwargs)
