"""Exported programs in `.pt2` archives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.export.graph_signature import InputKind

from solar.problems import Problem, SourceError, describe, display_path
from solar.signature import identifier, input_names
from solar.sources import LoadedProgram

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from torch import fx
    from torch.export import ExportedProgram

    from solar.source_name import SourceName


def load_archive(name: SourceName, overrides: Mapping[str, int], *, fake: bool) -> LoadedProgram:
    """The program of an archive, its weights and the example inputs that it was saved with.

    One with dynamic sizes is left to be exported anew, at the sizes of those inputs. Raises SourceError where it cannot
    be read or has no example inputs.
    """
    shown = display_path(name.path)
    if overrides:
        hint = "export the program at these sizes"
        raise SourceError(Problem("usage", f"{shown} has no constants to override", name.path, 0, hint))
    try:
        exported = torch.export.load(name.path)
    except Exception as error:
        raise SourceError(Problem("source-file", f"{shown} cannot be read: {describe(error)}", name.path)) from error
    if exported.example_inputs is None:
        hint = "save it with the example inputs, as torch.export.save does"
        raise SourceError(Problem("source-form", f"{shown} has no example inputs", name.path, 0, hint))
    inputs, kwargs = exported.example_inputs
    model = exported.module()
    names = input_names(model, tuple(inputs), dict(kwargs))
    dynamic = list(dynamic_sizes(exported, names))
    warnings = [f"sizes that the archive leaves open are those of its example inputs: {', '.join(dynamic)}"]
    return LoadedProgram(
        model=model,
        inputs=tuple(inputs),
        kwargs=dict(kwargs),
        name=identifier(name.title),
        path=name.path,
        input_names=names,
        form="archive",
        real_model=True,
        exported=None if dynamic else exported,
        exported_mode=mode_of(exported),
        warnings=tuple(warnings) if dynamic else (),
    )


def dynamic_sizes(exported: ExportedProgram, names: tuple[str, ...]) -> Iterator[str]:
    """The axes of inputs whose size the program leaves open, and their sizes in the example: `x[0] = 4`."""
    nodes = {node.name: node for node in exported.graph.nodes if node.op == "placeholder"}
    inputs = [spec for spec in exported.graph_signature.input_specs if spec.kind == InputKind.USER_INPUT]
    leaves = torch.utils._pytree.tree_leaves(exported.example_inputs)
    for spec, name, leaf in zip(inputs, names, leaves, strict=False):
        value = nodes[spec.arg.name].meta.get("val") if spec.arg.name in nodes else None
        if isinstance(value, torch.SymInt):
            yield f"{name} = {leaf}"
        elif isinstance(value, torch.Tensor):
            for axis, size in enumerate(value.shape):
                if isinstance(size, torch.SymInt):
                    yield f"{name}[{axis}] = {leaf.shape[axis]}"


def mode_of(exported: ExportedProgram) -> str:
    """The mode that the operators were exported in: `train`, `eval`, `mixed`; `as exported` where none has one."""
    flags = {
        flag
        for module in exported.graph_module.modules()
        if isinstance(module, torch.fx.GraphModule)
        for node in module.graph.nodes
        for flag in training_flags(node)
    }
    return "as exported" if not flags else "mixed" if len(flags) == 2 else "train" if flags == {True} else "eval"


def training_flags(node: fx.Node) -> Iterator[bool]:
    """What an operator's `train` or `training` argument is."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return
    for place, argument in enumerate(node.target._schema.arguments):
        if argument.name not in ("train", "training"):
            continue
        given = node.args[place] if place < len(node.args) else node.kwargs.get(argument.name, argument.default_value)
        if isinstance(given, bool):
            yield given
