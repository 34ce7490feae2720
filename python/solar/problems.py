"""What is wrong with the user's source, as data; the C++ side turns it into diagnostics."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shlex
import stat
import sys
import traceback
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

TAIL_LINES = 12
# Where torch's messages turn to the developers of torch.
ASIDE = re.compile(
    r"\n\s*(consider using|Caused by:|For more |For extended |If you |Exception raised from|Set TORCH|User Stack|"
    r"The following call raised|To fix|C\+\+ stack|Potential framework|NOTE:|Unsupported|"
    r"Please use |The error above occurred|You can suppress)|  \((Size-like|unhinted)"
)
BY_VALUES_HINT = (
    "the program branches or sizes a tensor on values that are only known when it runs: take them from constants of "
    "the file, or keep every element with torch.where or a mask"
)


@dataclass(frozen=True, slots=True)
class Problem:
    """One diagnostic. `kind` is a slug of src/base/diagnostic_kinds.def; `line` counts from 1, 0 is unknown."""

    kind: str
    message: str
    file: str = ""
    line: int = 0
    hint: str = ""
    traceback_tail: str = ""

    def to_json(self) -> dict[str, Any]:
        """The problem as the protocol's object."""
        return asdict(self)


class SourceError(Exception):
    """The source cannot be used; `problems` say why."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = problems


def user_line(trace: TracebackType | None, path: str) -> int:
    """The line of the innermost frame that lies in the file `path`, or 0."""
    line = 0
    for frame, number in traceback.walk_tb(trace):
        if frame.f_code.co_filename == path:
            line = number
    return line


def traceback_tail(error: BaseException, path: str) -> str:
    """The last lines of the traceback, from the first frame of the user's file on."""
    frames = traceback.extract_tb(error.__traceback__)
    first = next((i for i, frame in enumerate(frames) if frame.filename == path), 0)
    lines = "".join(traceback.format_list(frames[first:])).splitlines()
    return "\n".join(lines[-TAIL_LINES:])


def negative_size(error: BaseException) -> int:
    """The size below 0 that torch refused without naming it, or 0."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_name == "validate_dim_length":
            size = frame.f_locals.get("length")
            return size if isinstance(size, int) and size < 0 else 0
    return 0


def text_of(error: BaseException) -> str:
    """The exception's message; a class of the user's may raise where it should tell it."""
    try:
        return str(error)
    except BaseException as failure:
        return f"(its message cannot be shown: `__str__` raised {type(failure).__name__})"


def describe(error: BaseException) -> str:
    """`ValueError: the message's first lines`, bounded in length."""
    negative = negative_size(error)
    text = f"a tensor cannot have {negative} elements along an axis" if negative else text_of(error)
    text = ASIDE.split(text.strip(), maxsplit=1)[0].rstrip().removesuffix(".")
    name = type(error).__name__
    return f"{name}: {text[:600]}" if text else name


def by_values(error: BaseException) -> str:
    """Why a trace fails on a program that needs the values of tensors; empty for other errors."""
    name = type(error).__name__
    if name == "DynamicOutputShapeException":
        return "the size of a result depends on the values of a tensor, which a trace does not have"
    if name == "DataDependentOutputException":
        return "the value of a tensor becomes a Python number, which a trace does not have"
    if "DataDependent" in name or "data-dependent" in text_of(error):
        return "a branch or a size depends on the values of a tensor, which a trace does not have"
    return ""


def raised(error: BaseException, path: str, what: str, kind: str = "source-raised", hint: str = "") -> Problem:
    """The problem for an exception that came out of the user's code while doing `what`."""
    line = user_line(error.__traceback__, path)
    if isinstance(error, SyntaxError) and error.filename == path and error.lineno:
        line = error.lineno
    return Problem(kind, f"{what} raised {describe(error)}", path, line, hint, traceback_tail(error, path))


@contextlib.contextmanager
def writing(path: str) -> Iterator[None]:
    """Turns a failure to write `path` into a problem (output-file)."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        reason = "no space left on the device" if full else error.strerror or str(error)
        hint = "free some space, or set TMPDIR to a folder on a larger disk" if full else ""
        raise SourceError(Problem("output-file", f"cannot write {path}: {reason}", hint=hint)) from error


def pip_install(package: str) -> str:
    """The command that installs `package` where this program looks for it."""
    return f"{shlex.quote(sys.executable)} -m pip install {package}"


def irregular_kind(path: str) -> str:
    """What stands at `path` instead of a file: `a directory`, `a named pipe`, ...; empty for a regular file."""
    mode = os.stat(path).st_mode
    if stat.S_ISREG(mode):
        return ""
    if stat.S_ISDIR(mode):
        return "a directory"
    return "a named pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"


def display_path(path: str) -> str:
    """`path` as the user would write it: relative to the working directory where that is shorter."""
    relative = os.path.relpath(path)
    return relative if len(relative) < len(path) else path
