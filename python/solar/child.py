"""The life of a forked worker: takes its limits, does one request, answers, ends."""

from __future__ import annotations

import faulthandler
import os
import resource
import signal
import sys
import time
from typing import TYPE_CHECKING, Any, NoReturn

from solar import limits, protocol
from solar.job import DUMP_SIGNAL

if TYPE_CHECKING:
    from solar.limits import Limits
    from solar.problems import Problem


def become_worker(request: dict[str, Any], allowed: Limits, reply_fd: int, log_fd: int, close: list[int]) -> NoReturn:
    """The life of a forked worker: never returns."""
    parent = os.getppid()
    status = 1
    try:
        os.setpgid(0, 0)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        for fd in close:
            os.close(fd)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(log_fd, 1)
        os.dup2(log_fd, 2)
        os.close(null)
        os.close(log_fd)
        sys.stdin, sys.stdout, sys.stderr = (
            open(fd, mode, buffering=1, errors="replace", closefd=False)  # noqa: SIM115
            for fd, mode in ((0, "r"), (1, "w"), (2, "w"))
        )
        isolated = limits.leave_network()
        limits.die_with_parent(parent)
        limits.restrict(allowed)
        faulthandler.enable(2)
        faulthandler.register(DUMP_SIGNAL, 2, all_threads=False, chain=False)
        os.set_inheritable(reply_fd, False)
        limits.claim_work()
        message = work(request, allowed, isolated, reply_fd)
        limits.end_copies()
        sys.stdout.flush()
        sys.stderr.flush()
        send_all(reply_fd, protocol.encode(message))
        status = 0
    finally:
        os._exit(status)


def work(request: dict[str, Any], allowed: Limits, isolated: bool, reply_fd: int) -> dict[str, Any]:
    """Does the request; the answer, with what it cost."""
    from solar.worker import handle, problems_of

    begin = time.monotonic()
    identity = request.get("id")

    def progress(text: str) -> None:
        send_all(reply_fd, protocol.encode({"id": identity, "event": "progress", "text": text}))

    try:
        if torch := sys.modules.get("torch"):
            torch.set_num_threads(allowed.threads or len(os.sched_getaffinity(0)))
        message = {"id": identity, "event": "done", "ok": True, "result": handle(request, progress)}
    except BaseException as error:
        message = failure(request, list(problems_of(error)), isolated=isolated)
    message["isolated"] = isolated
    message["seconds"] = time.monotonic() - begin
    message["peak_rss"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return message


def failure(
    request: dict[str, Any], problems: list[Problem], *, isolated: bool, seconds: float = 0.0
) -> dict[str, Any]:
    """The answer to a request that failed."""
    return {
        "id": request.get("id"),
        "event": "done",
        "ok": False,
        "isolated": isolated,
        "seconds": seconds,
        "peak_rss": 0,
        "log": "",
        "problems": [problem.to_json() for problem in problems],
    }


def send_all(fd: int, data: bytes) -> None:
    """Writes all bytes."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
