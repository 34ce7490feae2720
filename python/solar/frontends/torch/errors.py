"""What can go wrong while a program is traced. `kind` is the slug of the diagnostic it becomes."""

from __future__ import annotations

import os
from dataclasses import dataclass


class TraceError(Exception):
    """The program could not be traced."""

    kind = "trace-failed"

    def __init__(self, message: str, *, file: str | None = None, line: int | None = None, hint: str | None = None):
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.hint = hint


class NotLoweredError(Exception):
    """Raised by a lowering for arguments that it does not support; says which."""


@dataclass(frozen=True)
class UnsupportedCall:
    """One unsupported operator, at the first place where it occurs."""

    operator: str
    operands: str
    reason: str
    file: str | None
    line: int | None
    module: str
    count: int

    def text(self) -> str:
        place = f" at {os.path.basename(self.file)}:{self.line}" if self.file else ""
        module = f" in module {self.module}" if self.module else ""
        times = f" ({self.count} times)" if self.count > 1 else ""
        return f"{self.operator}({self.operands}){place}{module}{times}: {self.reason}"


class UnsupportedOperatorError(TraceError):
    """The program calls operators that have no lowering. `calls` lists each distinct one once."""

    kind = "unsupported-operator"

    def __init__(self, calls: list[UnsupportedCall]):
        first = calls[0]
        if len(calls) == 1:
            message = first.text()
        else:
            message = f"{len(calls)} operators:" + "".join(f"\n  {call.text()}" for call in calls)
        hint = "write the operator with supported ones, or translate the program by hand to ALIR"
        super().__init__(message, file=first.file, line=first.line, hint=hint)
        self.calls = calls
