"""Runs torch.export on a loaded program: nothing is allocated, composite operators stay whole."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import re
import sys
import traceback
from typing import TYPE_CHECKING

import torch
from torch.fx import proxy
from torch.fx.proxy import TracerBase

import solar
from solar.frontends.torch.errors import TraceError
from solar.frontends.torch.whole import whole_recurrences
from solar.golden import expose_tensors
from solar.problems import BY_VALUES_HINT, by_values, describe, user_line

if TYPE_CHECKING:
    import types
    from collections.abc import Iterator

    from torch.export import ExportedProgram

    from solar.sources import LoadedProgram

_LIBRARIES = tuple(os.path.dirname(module.__file__ or "") + os.sep for module in (torch, solar))
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')


def export(loaded: LoadedProgram) -> ExportedProgram:
    """The raw graph of the program, before any decomposition.

    Raises TraceError where the exporter gives up; what the user's program raises passes through.
    """
    if loaded.exported is not None:
        return loaded.exported
    expose_tensors(loaded.model)
    try:
        mode = loaded.fake_mode or contextlib.nullcontext()
        with torch.no_grad(), _quiet(), _without_fast_paths(), whole_recurrences(), _own_frames(loaded.path), mode:
            return torch.export.export(loaded.model, loaded.inputs, loaded.kwargs, strict=False)
    except Exception as error:
        if not type(error).__module__.startswith("torch"):
            raise  # the user's own program raised
        raise _explained(error, loaded) from error


def _explained(error: Exception, loaded: LoadedProgram) -> TraceError:
    """The error at the user's own line."""
    line = user_line(error.__traceback__, loaded.path) or None
    if reason := by_values(error):
        return TraceError(f"`forward` cannot be traced: {reason}", file=loaded.path, line=line, hint=BY_VALUES_HINT)
    return TraceError(f"torch.export failed: {describe(error)}", file=loaded.path, line=line)


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


class _Frames:
    """The frames of a node, in place of torch's way to capture them: no line of any file is read."""

    def __init__(self, path: str) -> None:
        self.path = path

    def extract(self) -> _Frames:
        return self

    def summary(self) -> traceback.StackSummary:
        """Those of the user's file, whatever its functions are called, or else all; outermost first."""
        frames: list[traceback.FrameSummary] = []
        frame: types.FrameType | None = sys._getframe(1)
        while frame is not None:
            code = frame.f_code
            frames.append(traceback.FrameSummary(code.co_filename, frame.f_lineno, code.co_name, line=""))
            frame = frame.f_back
        own = [each for each in frames if each.filename == self.path]
        return traceback.StackSummary.from_list(reversed(own or frames))


@contextlib.contextmanager
def _own_frames(path: str) -> Iterator[None]:
    """Nodes keep the frames of the user's file."""
    filtered, captured = TracerBase._filter_traceback_frames, vars(proxy)["CapturedTraceback"]

    def kept(tracer: TracerBase, frames: traceback.StackSummary) -> traceback.StackSummary:
        return frames if frames and frames[0].filename == path else filtered(tracer, frames)

    TracerBase._filter_traceback_frames = kept  # type: ignore[assignment, method-assign]
    vars(proxy)["CapturedTraceback"] = _Frames(path)
    try:
        yield
    finally:
        TracerBase._filter_traceback_frames = filtered  # type: ignore[method-assign]
        vars(proxy)["CapturedTraceback"] = captured


def source_frame(stack_trace: str | None, path: str) -> tuple[str, int] | None:
    """The innermost frame of the user's file in a node's stack trace, else of code that is neither torch nor solar."""
    frames = [(file, int(line)) for file, line in _FRAME.findall(stack_trace or "")]
    own = [frame for frame in frames if os.path.abspath(frame[0]) == path]
    others = [frame for frame in frames if not frame[0].startswith(_LIBRARIES)]
    return next(reversed(own or others), None)
