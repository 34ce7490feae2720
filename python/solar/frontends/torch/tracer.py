"""Walks an exported graph and lowers every operator; the result is one IR program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import fx
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind

from solar.frontends.torch.builder import Builder, Value
from solar.frontends.torch.calls import live_nodes, makes_tensors, may_share, written_nodes
from solar.frontends.torch.complex_values import Complex, as_pair, of_pair, part_type
from solar.frontends.torch.dtypes import type_name
from solar.frontends.torch.errors import NotLoweredError, TraceError, UnsupportedOperatorError
from solar.frontends.torch.export import export
from solar.frontends.torch.folding import Folder
from solar.frontends.torch.memory import first_names, overlaps
from solar.frontends.torch.nodes import Nodes
from solar.frontends.torch.steps import Step, steps_of
from solar.problems import Problem, SourceError

if TYPE_CHECKING:
    from torch.export import ExportedProgram

    from solar.sources import LoadedProgram

_MAX_CONST = 16


@dataclass(frozen=True, slots=True)
class PortInfo:
    """Where the value of a port of the traced program comes from."""

    name: str
    role: str
    key: str | None = None  # dotted path of a parameter or buffer in the model
    index: int | None = None  # leaf of (inputs, kwargs)
    dtype: str | None = None


@dataclass(frozen=True)
class TraceResult:
    """A traced program. `constants` holds the values of ports that are neither in the model nor inputs.

    `steps` are its source operators with the names of their results.
    """

    text: str
    name: str
    ports: tuple[PortInfo, ...]
    outputs: tuple[str, ...]
    updates: dict[str, str]
    mode: str
    warnings: tuple[str, ...]
    constants: dict[str, torch.Tensor] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()


def trace(loaded: LoadedProgram) -> TraceResult:
    """The IR of a loaded PyTorch program. Raises SourceError, with one problem per unsupported operator."""
    try:
        return _Tracer(loaded, export(loaded)).run()
    except UnsupportedOperatorError as error:
        problems = [
            Problem("unsupported-operator", call.text(), call.file or loaded.path, call.line or 0, error.hint or "")
            for call in error.calls
        ]
        raise SourceError(*problems) from error
    except TraceError as error:
        problem = Problem("trace-failed", error.message, error.file or loaded.path, error.line or 0, error.hint or "")
        raise SourceError(problem) from error


class _Tracer:
    def __init__(self, loaded: LoadedProgram, exported: ExportedProgram) -> None:
        self.loaded = loaded
        self.exported = exported
        self.builder = Builder(loaded.name)
        self.known: dict[fx.Node, torch.Tensor] = {}  # placeholders whose values the program holds
        folder = Folder(self.known, written_nodes(exported.graph))
        self.nodes = Nodes(loaded, self.builder, exported.graph_module, folder)
        self.sources: dict[Value, tuple[str | None, int | None]] = {}  # ports: model path, input leaf
        self.constants: dict[Value, torch.Tensor] = {}
        self.stored: dict[str, Value] = {}  # parameters and buffers, by their first name in the model
        self.unused = 0  # operators that nothing needs
        self.roles: dict[fx.Node, str] = {}
        self.warnings = list(loaded.warnings)
        self.port_of: dict[fx.Node, Value] = {}
        self.first_node: dict[Value, fx.Node] = {}  # of the placeholders that are one port
        self.wholes: dict[Value, Complex] = {}  # of the ports that hold both parts

    def run(self) -> TraceResult:
        graph = self.exported.graph
        self._ports()
        live = live_nodes(graph)
        for node in graph.nodes:
            if node.op != "call_function":
                continue
            if node in live:
                self.nodes.lower(node)
            else:
                self.unused += makes_tensors(node) and not may_share(node)
        if self.nodes.unsupported:
            raise UnsupportedOperatorError(list(self.nodes.unsupported.values()))
        self._outputs()
        self._updates()
        return self._result()

    def _result(self) -> TraceResult:
        program = self.builder.finish()
        if unused := program.dropped + self.unused:
            self.warnings.append(f"{unused} operators whose results are not used were left out")
        ports = []
        for value, name in program.port_names.items():
            key, index = self.sources.get(value, (None, None))
            ports.append(PortInfo(name, program.roles[value], key, index, type_name(value.dtype)))
        constants = {program.port_names[v]: t for v, t in self.constants.items() if v in program.port_names}
        return TraceResult(
            text=program.text,
            name=self.loaded.name,
            ports=tuple(ports),
            outputs=program.output_names,
            updates=program.updates,
            mode=self.loaded.mode,
            warnings=tuple(self.warnings),
            constants=constants,
            steps=tuple(steps_of(self.nodes.calls, program.names)),
        )

    # The signature.

    def _ports(self) -> None:
        placeholders = [n for n in self.exported.graph.nodes if n.op == "placeholder"]
        specs = self.exported.graph_signature.input_specs
        first = first_names(self.loaded.model)
        leaf = 0
        stored: list[tuple[fx.Node, Any]] = []
        for node, spec in zip(placeholders, specs, strict=True):
            if spec.kind != InputKind.USER_INPUT:
                stored.append((node, spec))
                continue
            if isinstance(spec.arg, ConstantArgument):
                self.nodes.memory[node] = spec.arg.value
            else:
                value = self._port("input", self.loaded.input_names[leaf], node)
                self.sources[value] = (None, leaf)
                self._bind(node, value)
            leaf += 1
        for node, spec in stored:
            if spec.kind == InputKind.CONSTANT_TENSOR:
                self._constant(node, self.exported.constants[spec.target], spec.target)
                continue
            if spec.kind not in (InputKind.PARAMETER, InputKind.BUFFER):
                raise TraceError(f"an argument of kind {spec.kind.name} is not supported", file=self.loaded.path)
            key = first.get(spec.target, spec.target)
            role = "param" if spec.kind == InputKind.PARAMETER else "buffer"
            if key not in self.stored:
                self.stored[key] = self._port(role, key.replace(".", "_"), node)
                self.sources[self.stored[key]] = (key, None)
            self._bind(node, self.stored[key])
            self.roles[node] = role
        used = {key for node, spec in stored if node.users and (key := first.get(spec.target, ""))}
        for one, other in overlaps(self.loaded.model, used):
            self.warnings.append(f"`{one}` and `{other}` share memory; the bytes of each are counted")

    def _port(self, role: str, name: str, node: fx.Node) -> Value:
        """A port; that of a complex tensor holds both parts along a last axis."""
        tensor = node.meta["val"]
        shape = (*tensor.shape, 2) if tensor.is_complex() else tuple(tensor.shape)
        try:
            return self.builder.port(role, name, shape, part_type(tensor.dtype))
        except NotLoweredError as error:
            raise TraceError(f"{role} `{name}`: {error}", file=self.loaded.path) from error

    def _constant(self, node: fx.Node, tensor: Any, name: str) -> None:
        held = getattr(tensor, "constant", None)
        if isinstance(tensor, torch._subclasses.FakeTensor):
            if held is None:
                raise TraceError(f"the values of the constant tensor `{name}` are not known", file=self.loaded.path)
            tensor = held
        shape = tuple(tensor.shape)
        if not isinstance(tensor, torch.Tensor):
            raise TraceError(f"a constant of type {type(tensor).__name__} is not supported", file=self.loaded.path)
        if tensor.numel() == 0:
            self.nodes.bind_empty(node)
            return
        whole = tensor
        if tensor.is_complex():
            tensor = torch.view_as_real(tensor.resolve_conj())
            shape = tuple(tensor.shape)
        name = f"const_{name.removeprefix('lifted_tensor_')}" if name.startswith("lifted_tensor_") else name
        name = name.replace(".", "_")
        if tensor.numel() <= _MAX_CONST:
            value = self.builder.port("const", name, shape, tensor.dtype, tensor.flatten().tolist())
        else:
            value = self.builder.port("buffer", name, shape, tensor.dtype)
        self.constants[value], self.known[node] = tensor.detach(), whole.detach()
        self._bind(node, value)

    def _bind(self, node: fx.Node, value: Value) -> None:
        self.port_of[node] = value
        first = self.first_node.setdefault(value, node)
        if node.meta["val"].is_complex():
            if value not in self.wholes:
                self.wholes[value] = of_pair(self.builder, value)
            self.nodes.bind(node, self.wholes[value], None if first is node else first)
        else:
            self.nodes.bind(node, value, None if first is node else first)

    # The end.

    def _outputs(self) -> None:
        node = next(n for n in reversed(self.exported.graph.nodes) if n.op == "output")
        results = node.args[0]
        assert isinstance(results, Sequence)
        first = first_names(self.loaded.model)
        for spec, result in zip(self.exported.graph_signature.output_specs, results, strict=True):
            if spec.kind == OutputKind.BUFFER_MUTATION:  # of a graph in which nothing is written in place
                self.builder.update(self.stored[first.get(spec.target, spec.target)], self._stored(result))
            if spec.kind != OutputKind.USER_OUTPUT or not isinstance(result, fx.Node):
                continue
            value = self._stored(result)
            if isinstance(value, Value):
                self.builder.output(value)
        if not self.builder.has_outputs():
            raise TraceError("the program returns no tensor", file=self.loaded.path)

    def _stored(self, node: fx.Node) -> Any:
        """A node's value as ports and outputs hold it."""
        value = self.nodes.value(node)
        return as_pair(self.builder, value) if isinstance(value, Complex) else value

    def _updates(self) -> None:
        done: set[Value] = set()
        for node in self.exported.graph.nodes:
            if node.op != "placeholder":
                continue
            port = self.port_of.get(node)
            if port is None or port in done or self._stored(node) is port:
                continue
            done.add(port)
            role = self.roles.get(node)
            if role == "buffer":
                self.builder.update(port, self._stored(node))
            elif role == "param":
                raise TraceError(
                    f"the program writes to its parameter `{self.sources[port][0]}`", file=self.loaded.path
                )
            else:
                self.warnings.append("the program writes to its input in place; the caller's tensor is not updated")
