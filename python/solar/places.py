"""Lines of the user's file for what library code does."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

from torch import nn

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE = "_solar_line"


@contextlib.contextmanager
def noting_lines(path: str) -> Iterator[None]:
    """Every module that is built inside remembers the line of the file `path` that builds it."""
    original = nn.Module.__init__

    def noting(module: nn.Module, *arguments: Any, **keywords: Any) -> None:
        original(module, *arguments, **keywords)
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != path:
            frame = frame.f_back  # type: ignore[assignment]
        if frame is not None:
            module.__dict__[_LINE] = frame.f_lineno

    nn.Module.__init__ = noting  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        nn.Module.__init__ = original  # type: ignore[method-assign]


def built_at(model: nn.Module, path: str) -> int:
    """The line that builds the submodule at a dotted path, or 0."""
    try:
        return int(vars(model.get_submodule(path)).get(_LINE, 0))
    except AttributeError:
        return 0
