"""A worker at work, as the zygote sees it: its pipes, what it printed, where it is."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import time
from dataclasses import dataclass, field
from typing import Any

from solar import limits, protocol
from solar.source_name import source_path

LOG_BYTES = 32 << 10
TICK = 0.02
DUMP_SECONDS = 1.0
DUMP = re.compile(
    r"^(?:Fatal Python error: .*\n\n)?(?:Current thread|Thread|Stack) .*\(most recent call first\):", re.M
)
DUMP_SIGNAL = signal.SIGUSR2  # makes a worker write where it is


@dataclass(slots=True)
class Job:
    """A worker at work."""

    request: dict[str, Any]
    limits: limits.Limits
    pid: int
    reply_fd: int
    log_fd: int
    begin: float
    lines: protocol.LineBuffer = field(default_factory=protocol.LineBuffer)
    log: bytearray = field(default_factory=bytearray)
    peak: int = 0
    log_open: bool = True


def ended_soon(pid: int) -> bool:
    """Whether a process whose pipe is closed ends within a moment; it is left to be waited for."""
    for _ in range(100):
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return True
        time.sleep(0.01)
    return False


def where_it_is(job: Job) -> tuple[str, int]:
    """The user's file and the line that the worker is at, 0 where it does not say so within a moment."""
    path = source_path(str(job.request.get("source", "")))
    with contextlib.suppress(OSError):
        os.kill(job.pid, DUMP_SIGNAL)
    patience = time.monotonic() + DUMP_SECONDS
    while job.log_open and time.monotonic() < patience:
        if limits.use_of(job.pid).resident_bytes > 1.25 * job.limits.memory_bytes:
            break
        select.select([job.log_fd], [], [], TICK)
        read_log(job)
        if (place := place_in_log(job, path))[1]:
            return place
    return place_in_log(job, path)


def remove_parts(job: Job) -> None:
    """Removes the files that a worker had not finished."""
    out = str(job.request.get("out", ""))
    for name in (out, f"{out}.constants.safetensors"):
        with contextlib.suppress(OSError):
            os.unlink(f"{name}.{job.pid}.part")


def read_log(job: Job) -> None:
    """Takes what the program printed; keeps the end of it."""
    for _ in range(64):
        try:
            data = os.read(job.log_fd, 1 << 16)
        except BlockingIOError:
            return
        if not data:
            job.log_open = False
            return
        job.log += data
        if len(job.log) > 2 * LOG_BYTES:
            del job.log[:-LOG_BYTES]


def printed(job: Job) -> str:
    """The end of what the worker printed, as text."""
    return bytes(job.log[-LOG_BYTES:]).decode(errors="replace")


def log_text(job: Job) -> str:
    """The end of what the program printed; where faulthandler found it to be is not of its printing."""
    return DUMP.split(printed(job), maxsplit=1)[0]


def place_in_log(job: Job, path: str) -> tuple[str, int]:
    """The innermost frame of the user's file in the dump that faulthandler wrote."""
    full = os.path.abspath(path)
    found = re.search(rf'File "{re.escape(full)}", line (\d+)', printed(job).rpartition("(most recent call first)")[2])
    return full, int(found[1]) if found else 0
