"""Exported programs in `.pt2` archives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from solar.problems import Problem, SourceError, describe, display_path
from solar.signature import identifier, input_names
from solar.sources import LoadedProgram

if TYPE_CHECKING:
    from collections.abc import Mapping

    from solar.source_name import SourceName


def load_archive(name: SourceName, overrides: Mapping[str, int], *, fake: bool) -> LoadedProgram:
    """The program of an archive, its weights and the example inputs that it was saved with.

    Raises SourceError where it cannot be read or has no example inputs.
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
    return LoadedProgram(
        model=model,
        inputs=tuple(inputs),
        kwargs=dict(kwargs),
        name=identifier(name.title),
        path=name.path,
        input_names=input_names(model, tuple(inputs), dict(kwargs)),
        form="archive",
        real_model=True,
        exported=exported,
    )
