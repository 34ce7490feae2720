"""Lowers the nodes of an exported graph one by one."""

from __future__ import annotations

import operator
import os
from typing import TYPE_CHECKING, Any

import torch
from torch import fx

from solar.frontends.torch import complex_values, registry
from solar.frontends.torch.aliasing import Memory, View
from solar.frontends.torch.builder import Builder, Meta, Value
from solar.frontends.torch.calls import Call, described, may_copy, may_share, nodes_in_order, operator_name, tensors_of
from solar.frontends.torch.complex_values import Complex
from solar.frontends.torch.decompose import decomposition
from solar.frontends.torch.dtypes import type_name
from solar.frontends.torch.errors import NotLoweredError, UnsupportedCall
from solar.frontends.torch.export import source_frame
from solar.frontends.torch.refusals import refusal
from solar.frontends.torch.writes import put_back
from solar.places import built_at
from solar.problems import describe

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from solar.frontends.torch.folding import Folder
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
_ITEMS = {"aten.item.default", "aten._local_scalar_dense.default"}
_SIZES = {"aten.sym_size.int", "aten.sym_numel.default"}
_NUMBERS = _ITEMS | _SIZES
_INLINED = {"wrap_with_set_grad_enabled", "wrap_with_autocast"}
_NO_LOWERING = "no lowering for this operator"
_UNKNOWN_SIZE = "the size of its result depends on values that are only known when it runs"
_MISSING = object()  # the value of a node that could not be lowered
_EMPTY = object()  # the value of a tensor without elements, which the language does not have
_DROPS_EMPTY = ("aten.cat.", "aten.concat.", "aten.concatenate.")


class Nodes:
    """The values of the graph's nodes, and the lowering of one node after another.

    `unsupported` collects the calls that cannot be lowered; what follows from them is left out. `calls` are those that
    were, with their results.
    """

    def __init__(self, loaded: LoadedProgram, builder: Builder, module: fx.GraphModule, folder: Folder) -> None:
        self.loaded = loaded
        self.builder = builder
        self.module = module
        self.folder = folder
        self.memory = Memory(self._remake, self._put_back)
        self.unsupported: dict[tuple[str, str, str], UnsupportedCall] = {}
        self.calls: list[tuple[Call, Any]] = []
        self._parts: dict[fx.Node, Sequence[Any]] = {}  # the nodes that the results of a nested graph are

    def bind(self, node: fx.Node, value: Any, same_as: fx.Node | None = None) -> None:
        """Gives a placeholder its value; `same_as` is a node that is the same tensor."""
        self.memory[node] = value
        if same_as is not None:
            self.memory.add_view(node, View(same_as))
        if isinstance(value, Value):
            self._note_memory(value, node.meta["val"])

    def bind_empty(self, node: fx.Node) -> None:
        """Notes that a placeholder has no elements."""
        self.memory[node] = _EMPTY

    def value(self, node: fx.Node) -> Any:
        """A node's value at this point of the program."""
        return self.memory[node]

    # One node.

    def lower(self, node: fx.Node) -> None:
        """Lowers a node, as a group of statements; notes what cannot be lowered."""
        if node.op == "get_attr" or operator_name(node) in _IGNORED:
            return
        call = self._call(node)
        if any(self.memory.first(source) is _MISSING for source in node.all_input_nodes):
            # What is wrong with it may follow from what was refused before; that it has no lowering does not.
            if reason := self._without_lowering(node, self._nested_graph(node)):
                self._refuse(call, reason)
            self.memory[node] = _MISSING
            return
        try:
            if self._without_statements(node):
                return
            if call.operator.rpartition(".")[2] in _INLINED:
                self._inline(node)
                self._note(call)
                return
            base = node.name.rstrip("_")
            with self.builder.operator(call.operator.rpartition(".")[0], call.at, call.module, base):
                self._compute(node)
                self._finish_names(node)
            self._note(call)
        except NotLoweredError as error:
            self._refuse(call, str(error))
            self.memory[node] = _MISSING
        except Exception as error:  # one operator's own mistake, said at the user's line
            self._refuse(call, f"its lowering failed: {describe(error)}")
            self.memory[node] = _MISSING

    def _note(self, call: Call) -> None:
        """A call of the program itself; one inside a block is a part of the block."""
        if call.node.graph is self.module.graph:
            self.calls.append((call, self.memory[call.node]))

    def _without_statements(self, node: fx.Node) -> bool:
        """Nodes that only name parts of results, or that are numbers."""
        target = node.target
        if target is operator.getitem:
            self._part(node)
        elif operator_name(node) in _ITEMS:
            number = self.folder.item(node)
            self.folder.note(node.meta.get("val"), number)
            self.memory[node] = number
        elif operator_name(node) in _SIZES:
            val = node.meta["val"]
            self.memory[node] = val if isinstance(val, int) else self.folder.size(val)
        elif callable(target) and not isinstance(target, (torch._ops.OpOverload, torch._ops.HigherOrderOperator)):
            args, kwargs = self._arguments(node)
            self.memory[node] = target(*args, **kwargs)
            self.folder.note(node.meta.get("val"), self.memory[node])
        else:
            return False
        return True

    def _part(self, node: fx.Node) -> None:
        source, place = node.args
        assert isinstance(source, fx.Node)
        assert isinstance(place, int)
        self.memory[node] = value = self.memory[source][place]
        if value is None and self._is_empty(node):
            self.memory[node] = _EMPTY
        elif value is None:
            raise NotLoweredError(f"its result number {place} has no lowering")
        if source in self._parts:
            part = self._parts[source][place]
            if isinstance(part, fx.Node):
                self.memory.add_view(node, View(part))
        elif self.memory.is_view(source):
            self.memory.add_view(node, View(source.args[0], source, place))  # type: ignore[arg-type]

    def _compute(self, node: fx.Node) -> None:
        """Lowers a call into the current group."""
        if self._is_empty(node):
            self.memory[node] = _EMPTY
            return
        function = self._lowering(node)
        if function is not None:
            args, kwargs = self._arguments(node)
            before = self.builder.emitted()
            self._store(node, self._run(node, function, args, kwargs), before)
            return
        nested = self._nested_graph(node)
        if nested is None or (reason := self._without_lowering(node, nested)):
            raise NotLoweredError(reason if nested else self._why_none(node))
        self._nested(node, nested, nodes_in_order((node.args, node.kwargs)), self._nested_node)

    def _nested_node(self, node: fx.Node) -> None:
        if operator_name(node) not in _IGNORED and not self._without_statements(node):
            self._compute(node)

    def _inline(self, node: fx.Node) -> None:
        """The body of a block that only sets a mode, such as `torch.no_grad()`, in place of the block."""
        places = [i for i, a in enumerate(node.args) if isinstance(a, fx.Node) and a.op == "get_attr"]
        module_node = node.args[places[0]]
        assert isinstance(module_node, fx.Node)
        module = getattr(self.module, str(module_node.target))
        self._nested(node, module, node.args[places[0] + 1 :], self.lower)

    def _nested(
        self, node: fx.Node, module: fx.GraphModule, inputs: Sequence[Any], lower: Callable[[fx.Node], None]
    ) -> None:
        """The nodes of a graph in place of a node."""
        formal = [n for n in module.graph.nodes if n.op == "placeholder"]
        for inner, outer in zip(formal, inputs, strict=True):
            if isinstance(outer, fx.Node):
                self.bind(inner, self.memory[outer], outer)
            else:
                self.memory[inner] = outer
        for inner in module.graph.nodes:
            if inner.op == "get_attr" and isinstance(held := getattr(module, str(inner.target)), torch.Tensor):
                self.memory[inner] = self._constant(held)
            elif inner.op == "call_function":
                lower(inner)
            elif inner.op == "output":
                self._nested_results(node, inner.args[0])

    def _nested_results(self, node: fx.Node, results: Any) -> None:
        self.memory[node] = fx.map_arg(results, lambda n: self.memory[n])
        if isinstance(results, fx.Node):
            self.memory.add_view(node, View(results))
        else:
            self._parts[node] = results

    def _constant(self, tensor: torch.Tensor) -> Value:
        if tensor.numel() > 16 or isinstance(tensor, torch._subclasses.FakeTensor):
            raise NotLoweredError("it consists of other operators, which use a constant tensor")
        return self.builder.port("const", "constant", tuple(tensor.shape), tensor.dtype, tensor.flatten().tolist())

    # A call and its results.

    def _lowering(self, node: fx.Node) -> Callable[..., Any] | None:
        if not isinstance(node.target, torch._ops.OpOverload):
            return None
        tensors = [t for n in (node, *node.all_input_nodes) for t in tensors_of(n.meta.get("val"))]
        find = complex_values.find if any(t.is_complex() for t in tensors) else registry.find
        return find(operator_name(node))

    def _nested_graph(self, node: fx.Node) -> fx.GraphModule | None:
        """What a call without a lowering consists of."""
        known = not isinstance(node.target, torch._ops.OpOverload) or self._lowering(node) is not None
        return None if known else decomposition(node)

    def _without_lowering(self, node: fx.Node, nested: fx.GraphModule | None) -> str:
        """Why a call cannot be lowered, whatever its arguments; empty where it can."""
        known = not isinstance(node.target, torch._ops.OpOverload) or self._lowering(node) is not None
        if known or operator_name(node) in _NUMBERS:
            return ""
        if nested is None:
            return self._why_none(node)
        for inner in nested.graph.nodes:
            name = operator_name(inner)
            overload = inner.op == "call_function" and isinstance(inner.target, torch._ops.OpOverload)
            if overload and self._lowering(inner) is None and name not in _NUMBERS | _IGNORED:
                why = refusal(name)
                return f"it consists of other operators, and there is no lowering for {name}" + (why and f": {why}")
        return ""

    def _why_none(self, node: fx.Node) -> str:
        sizes = [n for tensor in tensors_of(node.meta.get("val")) for n in tensor.shape]
        if any(self.folder.size(n) is None for n in sizes):
            return _UNKNOWN_SIZE
        return refusal(operator_name(node)) or _NO_LOWERING

    def _arguments(self, node: fx.Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        args: tuple[Any, ...] = tuple(fx.map_arg(node.args, lambda n: self.memory[n]))
        kwargs = {k: fx.map_arg(v, lambda n: self.memory[n]) for k, v in node.kwargs.items() if k not in _PLACEMENT}
        if kwargs.pop("generator", None) is not None:
            raise NotLoweredError("an explicit random generator is not supported")
        if operator_name(node).startswith(_DROPS_EMPTY):
            args = ([x for x in args[0] if x is not _EMPTY], *args[1:])
        if any(x is _EMPTY for x in (*args, *kwargs.values())):
            raise NotLoweredError("an argument has no elements")
        return args, {k: v for k, v in kwargs.items() if v is not None}

    def _is_empty(self, node: fx.Node) -> bool:
        """Whether the call's result is one tensor without elements."""
        result = node.meta.get("val")
        return isinstance(result, torch.Tensor) and 0 in [self.folder.size(n) for n in result.shape]

    def _run(self, node: fx.Node, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """What a lowering gives, checked against what torch gives."""
        builder = self.builder
        builder.results = metas = self._metas(node)
        result = function(builder, *args, **kwargs)
        if isinstance(result, (Value, Complex)):
            self._check(result, metas[0])
        elif isinstance(result, (tuple, list)):
            for one, meta in zip(result, metas, strict=True):
                if one is not None:
                    self._check(one, meta)
        return result

    def _metas(self, node: fx.Node) -> tuple[Meta, ...]:
        metas = []
        for tensor in tensors_of(node.meta.get("val")):
            shape = [self.folder.size(n) for n in tensor.shape]
            if None in shape:
                raise NotLoweredError(_UNKNOWN_SIZE)
            metas.append(Meta(tuple(shape), tensor.dtype))  # type: ignore[arg-type]
        return tuple(metas)

    def _check(self, value: Value | Complex, meta: Meta) -> None:
        if value.shape != meta.shape or value.dtype != meta.dtype:
            found, given = (f"{type_name(t.dtype) or t.dtype}{list(t.shape)}" for t in (value, meta))
            raise NotLoweredError(f"its lowering gives {found}, torch gives {given}")

    def _store(self, node: fx.Node, result: Any, before: int) -> None:
        """Notes a call's result, what it writes to, and whose memory the result is.

        `before` is the number of statements that the group had before the call.
        """
        builder = self.builder
        views_only = builder.only_views(before)
        writes, builder.writes = builder.writes, []
        for old, new in writes:
            self.memory.write(next(n for n in node.all_input_nodes if self.memory[n] is old), new)
        source = node.args[0] if node.args and isinstance(node.args[0], fx.Node) else None
        if registry.is_in_place(operator_name(node)) and isinstance(result, (Value, Complex)):
            assert source is not None
            if isinstance(result, Value):
                result = builder.cast(result, self.memory[source].dtype)
            self.memory.write(source, result)
            self.memory[node] = result
            self.memory.add_view(node, View(source))
        else:
            self.memory[node] = result
            if source is not None and may_share(node):
                if result is self.memory[source]:
                    self.memory.add_view(node, View(source))
                elif views_only or not may_copy(node):
                    self.memory.add_view(node, View(source, node))
        results = [result] if isinstance(result, (Value, Complex)) else list(result or ())
        for value, tensor in zip(results, tensors_of(node.meta.get("val")), strict=False):
            if isinstance(value, Value):
                self._note_memory(value, tensor)

    def _note_memory(self, value: Value, tensor: torch.Tensor) -> None:
        """Where torch keeps the elements of a value."""
        if all(isinstance(n, int) for n in (*tensor.stride(), tensor.storage_offset())):
            self.builder.strides.setdefault(value, tuple(tensor.stride()))
            self.builder.offsets.setdefault(value, int(tensor.storage_offset()))

    def _finish_names(self, node: fx.Node) -> None:
        base, result = node.name.rstrip("_"), self.memory[node]
        if result is _EMPTY:
            return
        if isinstance(result, Complex):
            result = (result.real, result.imag)
        results = [result] if isinstance(result, Value) else list(result or ())
        for place, value in enumerate(results):
            if isinstance(value, Value):
                self.builder.name_result(value, base if len(results) == 1 else f"{base}_{place}")

    # Memory.

    def _remake(self, view: View, value: Any) -> Any:
        if value is _MISSING or view.call is None:
            return value
        function = self._lowering(view.call)
        assert function is not None
        args, kwargs = self._arguments(view.call)
        outer = self.builder.results
        result = self._run(view.call, function, (value, *args[1:]), kwargs)
        self.builder.results = outer
        return result if view.place is None else result[view.place]

    def _put_back(self, view: View, base: Any, value: Any) -> Any:
        if base is _MISSING or value is _MISSING or view.call is None:
            return value
        if isinstance(base, Complex):
            parts = ((base.real, value.real), (base.imag, value.imag))
            return Complex(*(put_back(self.builder, view.call, view.place, old, new) for old, new in parts))
        return put_back(self.builder, view.call, view.place, base, value)

    # Places and refusals.

    def _call(self, node: fx.Node) -> Call:
        modules = [str(entry[0]) for entry in (node.meta.get("nn_module_stack") or {}).values()]
        module = modules[-1] if modules else ""
        if node.target is operator.getitem and isinstance(node.args[0], fx.Node):
            node = node.args[0]  # a part is spoken of as the call that it is a part of
        frame = source_frame(node.meta.get("stack_trace"), self.loaded.path) or self._built_at(modules)
        at = f"{os.path.basename(frame[0])}:{frame[1]}" if frame else ""
        file, line = frame or (None, None)
        return Call(node, operator_name(node), at, file, line, module)

    def _built_at(self, modules: list[str]) -> tuple[str, int] | None:
        """Where the user's file builds the innermost of these modules, for code that is not the user's."""
        for path in reversed(modules):
            line = built_at(self.loaded.model, path.partition("@")[0])
            if line:
                return self.loaded.path, line
        return None

    def _refuse(self, call: Call, reason: str) -> None:
        """Notes an unsupported call and goes on, to find the others too."""
        operands = ", ".join(described(a) for a in [*call.node.args, *call.node.kwargs.values()])
        key = (call.operator, operands, reason)
        known = self.unsupported.get(key)
        count = known.count + 1 if known else 1
        first = known or UnsupportedCall(call.operator, operands, reason, call.file, call.line, call.module, 1)
        self.unsupported[key] = UnsupportedCall(
            first.operator, first.operands, first.reason, first.file, first.line, first.module, count
        )
