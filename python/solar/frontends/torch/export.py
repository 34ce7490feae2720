"""Runs torch.export on a loaded program: nothing is allocated, composite operators stay whole."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import re
import traceback
from typing import TYPE_CHECKING

import torch

from solar.frontends.torch.errors import TraceError
from solar.golden import expose_tensors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch.export import ExportedProgram

    from solar.sources import LoadedProgram

_FRAME = re.compile(r'File "([^"]+)", line (\d+)')


def export(loaded: LoadedProgram) -> ExportedProgram:
    """The raw graph of the program, before any decomposition.

    Raises TraceError where the exporter gives up; what the user's program raises passes through.
    """
    expose_tensors(loaded.model)
    try:
        with torch.no_grad(), _quiet(), _without_fast_paths(), loaded.fake_mode or contextlib.nullcontext():
            return torch.export.export(loaded.model, loaded.inputs, loaded.kwargs, strict=False)
    except Exception as error:
        if not type(error).__module__.startswith("torch"):
            raise  # the user's own program raised
        raise _explained(error, loaded) from error


def _explained(error: Exception, loaded: LoadedProgram) -> TraceError:
    """The error at the user's own line."""
    line = None
    for frame in traceback.extract_tb(error.__traceback__):
        if os.path.abspath(frame.filename) == loaded.path:
            line = frame.lineno
    text = str(error).strip().splitlines()
    first = text[0] if text else "no message"
    hint = None
    if (
        "data-dependent" in str(error)
        or "DataDependent" in type(error).__name__
        or "GuardOnDataDependent" in str(error)
    ):
        hint = "the program branches or sizes a tensor on values that are only known when it runs"
    message = f"torch.export failed: {type(error).__name__}: {first}"
    return TraceError(message, file=loaded.path, line=line, hint=hint)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without the exporter's own log lines and dumps; what matters is in the exception."""
    loggers = [logging.getLogger(name) for name in ("torch.export", "torch.fx", "torch._export", "torch._subclasses")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


@contextlib.contextmanager
def _without_fast_paths() -> Iterator[None]:
    """Encoder layers in eval mode as their operators, not as one fused call."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


def source_frame(stack_trace: str | None, path: str) -> tuple[str, int] | None:
    """The innermost frame of the user's file in a node's stack trace, else the innermost frame of all."""
    frames = [(file, int(line)) for file, line in _FRAME.findall(stack_trace or "")]
    own = [frame for frame in frames if os.path.abspath(frame[0]) == path]
    if own:
        return own[-1]
    return frames[-1] if frames else None
