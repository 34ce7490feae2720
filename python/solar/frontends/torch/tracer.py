"""Walks an exported graph and lowers every operator; the result is one IR program."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import fx
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind

from solar.frontends.torch import registry
from solar.frontends.torch.builder import Builder, Meta, Value
from solar.frontends.torch.dtypes import type_name
from solar.frontends.torch.errors import NotLoweredError, TraceError, UnsupportedCall, UnsupportedOperatorError
from solar.frontends.torch.export import export, source_frame
from solar.frontends.torch.memory import first_names, overlaps
from solar.frontends.torch.whole import shown_name
from solar.places import built_at
from solar.problems import Problem, SourceError, describe

if TYPE_CHECKING:
    from torch.export import ExportedProgram

    from solar.sources import LoadedProgram

# Arguments of factory functions that say where a tensor lives, not what it holds.
_PLACEMENT = {"device", "layout", "pin_memory", "memory_format", "non_blocking"}
# Calls that check or annotate and return nothing.
_IGNORED = {
    "aten._assert_tensor_metadata.default",
    "aten._assert_async.msg",
    "aten._assert_scalar.default",
    "aten.sym_constrain_range.default",
    "aten.sym_constrain_range_for_size.default",
}
_INLINED = {"wrap_with_set_grad_enabled", "wrap_with_autocast"}
_MAX_CONST = 16
_MISSING = object()  # the value of a node that could not be lowered


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
    """A traced program. `constants` holds the values of ports that are neither in the model nor inputs."""

    text: str
    name: str
    ports: tuple[PortInfo, ...]
    outputs: tuple[str, ...]
    updates: dict[str, str]
    mode: str
    warnings: tuple[str, ...]
    constants: dict[str, torch.Tensor] = field(default_factory=dict)


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


@dataclass
class _Call:
    """One node of the graph, with what a message about it needs."""

    node: fx.Node
    operator: str
    at: str
    file: str | None
    line: int | None
    module: str


class _Tracer:
    def __init__(self, loaded: LoadedProgram, exported: ExportedProgram) -> None:
        self.loaded = loaded
        self.exported = exported
        self.builder = Builder(loaded.name)
        self.env: dict[fx.Node, Any] = {}
        self.alias: dict[fx.Node, object] = {}  # nodes that share memory map to one object
        self.position: dict[fx.Node, int] = {}
        self.sources: dict[Value, tuple[str | None, int | None]] = {}  # ports: model path, input leaf
        self.constants: dict[Value, torch.Tensor] = {}
        self.roles: dict[fx.Node, str] = {}
        self.unsupported: dict[tuple[str, str, str], UnsupportedCall] = {}
        self.warnings: list[str] = []
        self.port_of: dict[fx.Node, Value] = {}

    def run(self) -> TraceResult:
        graph = self.exported.graph
        self._ports()
        live = _live_nodes(graph)
        for place, node in enumerate(graph.nodes):
            self.position[node] = place
        for node in graph.nodes:
            if node.op == "call_function" and node in live:
                self._node(node)
        if self.unsupported:
            raise UnsupportedOperatorError(list(self.unsupported.values()))
        self._outputs()
        self._updates()
        return self._result()

    def _result(self) -> TraceResult:
        program = self.builder.finish()
        if program.dropped:
            self.warnings.append(f"{program.dropped} operators whose results are not used were left out")
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
        )

    # The signature.

    def _ports(self) -> None:
        placeholders = [n for n in self.exported.graph.nodes if n.op == "placeholder"]
        specs = self.exported.graph_signature.input_specs
        first = first_names(self.loaded.model)
        shared: dict[str, Value] = {}
        leaf = 0
        stored: list[tuple[fx.Node, Any]] = []
        for node, spec in zip(placeholders, specs, strict=True):
            if spec.kind != InputKind.USER_INPUT:
                stored.append((node, spec))
                continue
            if isinstance(spec.arg, ConstantArgument):
                self.env[node] = spec.arg.value
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
            if key not in shared:
                shared[key] = self._port(role, key.replace(".", "_"), node)
                self.sources[shared[key]] = (key, None)
            self._bind(node, shared[key])
            self.roles[node] = role
        used = {key for node, spec in stored if node.users and (key := first.get(spec.target, ""))}
        for one, other in overlaps(self.loaded.model, used):
            self.warnings.append(f"`{one}` and `{other}` share memory; the bytes of each are counted")

    def _port(self, role: str, name: str, node: fx.Node) -> Value:
        tensor = node.meta["val"]
        try:
            return self.builder.port(role, name, tuple(tensor.shape), tensor.dtype)
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
        name = f"const_{name.removeprefix('lifted_tensor_')}" if name.startswith("lifted_tensor_") else name
        name = name.replace(".", "_")
        if tensor.numel() <= _MAX_CONST:
            value = self.builder.port("const", name, shape, tensor.dtype, tensor.flatten().tolist())
        else:
            value = self.builder.port("buffer", name, shape, tensor.dtype)
        self.constants[value] = tensor.detach()
        self._bind(node, value)

    def _bind(self, node: fx.Node, value: Value) -> None:
        self.port_of[node] = value
        self.env[node] = value
        self.alias[node] = next(
            (self.alias[m] for m, v in self.env.items() if v is value and m in self.alias), object()
        )
        strides = node.meta["val"].stride()
        self.builder.strides[value] = tuple(strides)

    # One operator.

    def _node(self, node: fx.Node) -> None:
        if node.target is operator.getitem:
            source, place = node.args
            assert isinstance(source, fx.Node)
            values = self.env[source]
            self.env[node] = values if values is _MISSING else values[place]
            self.alias[node] = self.alias.get(source, object())
            return
        call = self._call(node)
        if call.operator in _IGNORED:
            return
        if call.operator.rpartition(".")[2] in _INLINED:
            self._inline(node)
            return
        function = registry.find(call.operator) if isinstance(node.target, torch._ops.OpOverload) else None
        if any(self.env.get(source) is _MISSING for source in node.all_input_nodes):
            # What is wrong with it may follow from what was refused before; that it has no lowering does not.
            if function is None and isinstance(node.target, torch._ops.OpOverload):
                self._refuse(call, "no lowering for this operator")
            else:
                self._leave_out(node)
            return
        if function is None:
            self._refuse(call, "no lowering for this operator")
            return
        base = node.name.rstrip("_")
        try:
            with self.builder.operator(call.operator.rpartition(".")[0], call.at, call.module, base):
                self._lower(call, function)
        except NotLoweredError as error:
            self._refuse(call, str(error))
        except Exception as error:  # one operator's own mistake, said at the user's line
            self._refuse(call, f"its lowering failed: {describe(error)}")

    def _lower(self, call: _Call, function: Callable[..., Any]) -> None:
        node, builder = call.node, self.builder
        args = fx.map_arg(node.args, lambda n: self.env[n])
        kwargs = {k: fx.map_arg(v, lambda n: self.env[n]) for k, v in node.kwargs.items() if k not in _PLACEMENT}
        if kwargs.pop("generator", None) is not None:
            raise NotLoweredError("an explicit random generator is not supported")
        kwargs = {k: v for k, v in kwargs.items() if v is not None}
        metas = _metas(node.meta.get("val"))
        if any(not isinstance(n, int) for meta in metas for n in meta.shape):
            raise NotLoweredError("the size of its result depends on values that are only known when it runs")
        builder.results = metas
        builder.writes = []
        result = function(builder, *args, **kwargs)
        if isinstance(result, Value):
            self._check(result, metas[0])
        elif isinstance(result, (tuple, list)):
            for one, meta in zip(result, metas, strict=True):
                if one is not None:
                    self._check(one, meta)
        for old, new in builder.writes:
            self._write(old, new, node)
        if registry.is_in_place(call.operator) and isinstance(result, Value):
            written = node.args[0]
            assert isinstance(written, fx.Node)
            result = builder.cast(result, self.env[written].dtype)
            self._write(self.env[written], result, node)
            self.alias[node] = self.alias[written]
        else:
            self._alias_result(node, result)
        self.env[node] = result
        self._finish_names(node, result)

    def _finish_names(self, node: fx.Node, result: Any) -> None:
        base = node.name.rstrip("_")
        results = [result] if isinstance(result, Value) else list(result or ())
        tensors = _tensors(node.meta.get("val"))
        for place, (value, tensor) in enumerate(zip(results, tensors, strict=False)):
            if value is None:
                continue
            self.builder.name_result(value, base if len(results) == 1 else f"{base}_{place}")
            self.builder.strides.setdefault(value, tuple(tensor.stride()))

    def _check(self, value: Value, meta: Meta) -> None:
        if value.shape != meta.shape or value.dtype != meta.dtype:
            found = f"{type_name(value.dtype)}{list(value.shape)}"
            raise NotLoweredError(f"its lowering gives {found}, torch gives {type_name(meta.dtype)}{list(meta.shape)}")

    def _inline(self, node: fx.Node) -> None:
        """The body of a block that only sets a mode, such as `torch.no_grad()`, in place of the block."""
        places = [i for i, a in enumerate(node.args) if isinstance(a, fx.Node) and a.op == "get_attr"]
        module_node = node.args[places[0]]
        assert isinstance(module_node, fx.Node)
        module = getattr(self.exported.graph_module, str(module_node.target))
        actual = node.args[places[0] + 1 :]
        formal = [n for n in module.graph.nodes if n.op == "placeholder"]
        for inner, outer in zip(formal, actual, strict=True):
            self.env[inner] = fx.map_arg(outer, lambda n: self.env[n])
            if isinstance(outer, fx.Node):
                self.alias[inner] = self.alias.get(outer, object())
        result: Any = None
        for inner in module.graph.nodes:
            self.position[inner] = self.position[node]
            if inner.op == "call_function":
                self._node(inner)
            elif inner.op == "output":
                result = fx.map_arg(inner.args[0], lambda n: self.env[n])
        self.env[node] = result
        self.alias[node] = object()

    def _call(self, node: fx.Node) -> _Call:
        target = node.target
        name = shown_name(str(target))
        if isinstance(target, torch._ops.HigherOrderOperator):
            name = f"higher_order.{target.name()}"
        modules = [str(entry[0]) for entry in (node.meta.get("nn_module_stack") or {}).values()]
        module = modules[-1] if modules else ""
        frame = source_frame(node.meta.get("stack_trace"), self.loaded.path) or self._built_at(modules)
        at = f"{os.path.basename(frame[0])}:{frame[1]}" if frame else ""
        file, line = frame or (None, None)
        return _Call(node, name, at, file, line, module)

    def _built_at(self, modules: list[str]) -> tuple[str, int] | None:
        """Where the user's file builds the innermost of these modules, for code that is not the user's."""
        for path in reversed(modules):
            line = built_at(self.loaded.model, path.partition("@")[0])
            if line:
                return self.loaded.path, line
        return None

    def _refuse(self, call: _Call, reason: str) -> None:
        """Notes an unsupported call and goes on, to find the others too."""
        operands = ", ".join(_describe(a) for a in [*call.node.args, *call.node.kwargs.values()])
        key = (call.operator, operands, reason)
        known = self.unsupported.get(key)
        count = known.count + 1 if known else 1
        first = known or UnsupportedCall(call.operator, operands, reason, call.file, call.line, call.module, 1)
        self.unsupported[key] = UnsupportedCall(
            first.operator, first.operands, first.reason, first.file, first.line, first.module, count
        )
        self._leave_out(call.node)

    def _leave_out(self, node: fx.Node) -> None:
        """Notes that a node has no value."""
        self.env[node] = _MISSING
        self.alias[node] = object()

    # Aliases: values are immutable in the IR, memory is not in torch.

    def _alias_result(self, node: fx.Node, result: Any) -> None:
        source = node.args[0] if node.args and isinstance(node.args[0], fx.Node) else None
        shares = False
        if source is not None and source in self.alias:
            if result is self.env.get(source):
                shares = True
            elif isinstance(node.target, torch._ops.OpOverload):
                returns = node.target._schema.returns
                shares = any(r.alias_info is not None for r in returns) and self.builder.only_views()
        self.alias[node] = self.alias[source] if shares and source is not None else object()

    def _write(self, old: Value, new: Value, node: fx.Node) -> None:
        """After a write to `old`, every name of that very tensor means `new`; partial overlaps are refused."""
        holders = [m for m, v in self.env.items() if v is old]
        sets = {id(self.alias[m]) for m in holders if m in self.alias}
        for other, group in self.alias.items():
            if id(group) not in sets or other in holders or other is node:
                continue
            if self._used_after(other, node) or other in self.roles:
                raise NotLoweredError(
                    "it writes to memory that a view shares and that is read afterwards; only writes to a whole tensor "
                    "are supported"
                )
        for holder in holders:
            self.env[holder] = new

    def _used_after(self, other: fx.Node, node: fx.Node) -> bool:
        here = self.position.get(node, 0)
        return any(self.position.get(user, here + 1) > here for user in other.users)

    # The end.

    def _outputs(self) -> None:
        node = next(n for n in reversed(self.exported.graph.nodes) if n.op == "output")
        results = node.args[0]
        assert isinstance(results, Sequence)
        for spec, result in zip(self.exported.graph_signature.output_specs, results, strict=True):
            if spec.kind != OutputKind.USER_OUTPUT or not isinstance(result, fx.Node):
                continue
            value = self.env[result]
            if isinstance(value, Value):
                self.builder.output(value)
        if not self.builder.has_outputs():
            raise TraceError("the program returns no tensor", file=self.loaded.path)

    def _updates(self) -> None:
        done: set[Value] = set()
        for node in self.exported.graph.nodes:
            if node.op != "placeholder":
                continue
            port = self.port_of.get(node)
            if port is None or port in done or self.env[node] is port:
                continue
            done.add(port)
            role = self.roles.get(node)
            if role == "buffer":
                self.builder.update(port, self.env[node])
            elif role == "param":
                raise TraceError(
                    f"the program writes to its parameter `{self.sources[port][0]}`", file=self.loaded.path
                )
            else:
                self.warnings.append("the program writes to its input in place; the caller's tensor is not updated")


def _live_nodes(graph: fx.Graph) -> set[fx.Node]:
    """Nodes that outputs need. Every call that writes to memory counts as needed."""
    live: set[fx.Node] = set()
    for node in reversed(graph.nodes):
        writes = isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable
        needed = node.op in ("output", "placeholder") or writes or _has_effects(node)
        if needed or any(user in live for user in node.users):
            live.add(node)
    return live


def _has_effects(node: fx.Node) -> bool:
    """Whether a call does something besides its result: writes statistics, draws random numbers, wraps such calls."""
    effects = ("aten.batch_norm", "aten.instance_norm", "aten.dropout", "aten.rand", "wrap_with")
    return str(node.target).startswith(effects)


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [v for v in value if isinstance(v, torch.Tensor)]
    return []


def _metas(value: Any) -> tuple[Meta, ...]:
    return tuple(Meta(tuple(t.shape), t.dtype) for t in _tensors(value))


def _describe(argument: Any) -> str:
    if isinstance(argument, fx.Node):
        tensors = _tensors(argument.meta.get("val"))
        texts = [f"{type_name(t.dtype) or t.dtype}{list(t.shape)}" for t in tensors]
        return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    if isinstance(argument, (list, tuple)):
        return f"[{', '.join(_describe(a) for a in argument)}]"
    return str(argument)
