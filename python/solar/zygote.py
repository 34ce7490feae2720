"""The process that imports the framework once and forks a worker per request.

It runs no operation of the framework and starts no thread, so that forks are safe. It supervises its workers: wall
time, resident memory and number of processes, each over the worker and all of its descendants. When its input ends,
or its parent does, it kills what it started and exits. See protocol.json for the messages.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import logging
import os
import platform
import re
import select
import signal
import sys
import time
import traceback
from collections import deque
from typing import Any

from solar import limits, protocol
from solar.child import become_worker, failure
from solar.job import TICK, Job, ended_soon, log_text, place_in_log, read_log, remove_parts, where_it_is
from solar.limits import Limits
from solar.problems import Problem, describe, pip_install
from solar.source_name import source_path

OLDEST_TORCH = (2, 13)


class Zygote:
    """Reads requests, forks workers, watches them, answers."""

    def __init__(self, in_fd: int, out_fd: int, jobs: int) -> None:
        self.in_fd = in_fd
        self.out_fd = out_fd
        self.max_jobs = jobs
        self.lines = protocol.LineBuffer()
        self.waiting: deque[dict[str, Any]] = deque()
        self.jobs: dict[int, Job] = {}
        self.isolated = limits.can_leave_network()
        self.framework_problem = ""
        self.cpu_told = 0.0  # of this process, up to the last answer
        self.cpu_of_orphans = 0.0

    def run(self) -> None:
        """Serves until the input ends."""
        self.send(self.hello())
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # until here it ends the process at once
        gc.collect()
        gc.freeze()
        self.cpu_told = time.process_time()
        try:
            while self.turn():
                pass
        finally:
            self.kill_all()

    def hello(self) -> dict[str, Any]:
        version, self.framework_problem = preload()
        return {
            "event": "hello",
            "protocol": protocol.version(),
            "python": platform.python_version(),
            "torch": version,
            "problem": self.framework_problem,
            "isolated": self.isolated,
        }

    def send(self, message: dict[str, Any]) -> None:
        data = memoryview(protocol.encode(message))
        while data:
            try:
                data = data[os.write(self.out_fd, data) :]
            except BlockingIOError:
                select.select([], [self.out_fd], [])
            except BrokenPipeError:
                raise SystemExit(0) from None

    def turn(self) -> bool:
        """One round of the loop. False when the input has ended."""
        while self.waiting and len(self.jobs) < self.max_jobs:
            self.start(self.waiting.popleft())
        by_fd = {job.reply_fd: job for job in self.jobs.values()}
        logs = {job.log_fd: job for job in self.jobs.values() if job.log_open}
        ready, _, _ = select.select([self.in_fd, *by_fd, *logs], [], [], TICK if self.jobs else None)
        for fd in ready:
            if fd in logs:
                read_log(logs[fd])
        for fd in ready:
            if fd in by_fd:
                self.read_reply(by_fd[fd])
        for job in list(self.jobs.values()):
            self.watch(job)
        self.reap_orphans()
        return self.in_fd not in ready or self.read_requests()

    def read_requests(self) -> bool:
        data = os.read(self.in_fd, 1 << 16)
        if not data:
            return False
        for line in self.lines.feed(data):
            request = json.loads(line)
            if request.get("do") == "cancel":
                self.cancel(request.get("id"))
            else:
                self.waiting.append(request)
        return True

    def cancel(self, identity: Any) -> None:
        self.waiting = deque(request for request in self.waiting if request.get("id") != identity)
        for job in list(self.jobs.values()):
            if job.request.get("id") == identity:
                self.finish(job, [Problem("interrupted", "the request was cancelled")])

    def start(self, request: dict[str, Any]) -> None:
        """Forks a worker for the request."""
        if self.framework_problem and request.get("do") != "inspect":
            problem = Problem("no-framework", self.framework_problem, hint=pip_install("torch==2.13.0"))
            self.send(failure(request, [problem], isolated=self.isolated))
            return
        allowed = Limits.from_json(request.get("limits", {}))
        reply_read, reply_write = os.pipe()
        log_read, log_write = os.pipe()
        begin = time.monotonic()
        self.send({"id": request.get("id"), "event": "started"})
        pid = os.fork()
        if pid == 0:
            close = [self.in_fd, self.out_fd, reply_read, log_read]
            close += [fd for job in self.jobs.values() for fd in (job.reply_fd, job.log_fd)]
            become_worker(request, allowed, reply_write, log_write, close)
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)
        os.close(reply_write)
        os.close(log_write)
        os.set_blocking(log_read, False)
        self.jobs[pid] = Job(request, allowed, pid, reply_read, log_read, begin)

    def read_reply(self, job: Job) -> None:
        """Forwards what a worker says; an end without an answer is a crash."""
        data = os.read(job.reply_fd, 1 << 16)
        if not data:
            self.crashed(job)
            return
        try:
            for line in job.lines.feed(data):
                message = json.loads(line)
                if message.get("event") == "done":
                    read_log(job)
                    if not message["ok"]:
                        message["log"] = log_text(job)
                    message["peak_rss"] = max(job.peak, message["peak_rss"])
                    self.close(job, message)
                    return
                self.send(message)
        except (ValueError, KeyError, AttributeError):
            self.finish(job, [Problem("worker-failed", "the worker's answer cannot be read")])

    def crashed(self, job: Job) -> None:
        end = os.waitid(os.P_PID, job.pid, os.WEXITED | os.WNOWAIT) if ended_soon(job.pid) else None
        read_log(job)
        path = source_path(str(job.request.get("source", "")))
        file, line = place_in_log(job, path)
        number = end.si_status if end else 0
        if end and end.si_code != os.CLD_EXITED:
            message = f"the program crashed with {signal.Signals(number).name}"
            hint = "the system may be short of memory" if number == signal.SIGKILL else ""
            problem = Problem("worker-failed", message, file, line, hint)
        else:
            message = f"the program ended the process (exit status {number})"
            problem = Problem("worker-failed", message, file, line)
        self.finish(job, [problem])

    def watch(self, job: Job) -> None:
        """Applies the limits."""
        if job.pid not in self.jobs:
            return
        use = limits.use_of(job.pid)
        job.peak = max(job.peak, use.resident_bytes)
        allowed = job.limits
        elapsed = time.monotonic() - job.begin
        hint = ""
        if use.resident_bytes > allowed.memory_bytes:
            used, most = (bytes_ / 2**30 for bytes_ in (use.resident_bytes, allowed.memory_bytes))
            what = f"used more than {most:.4g} GiB of memory ({used:.4g} GiB)"
            hint = limits.MEMORY_HINT
        elif use.processes > allowed.processes:
            what = f"started more than {allowed.processes} processes"
        elif elapsed > allowed.wall_seconds:
            what = f"ran longer than {allowed.wall_seconds:.3g} s"
            hint = "`--timeout` is the limit of one run, in seconds"
        else:
            return
        file, line = where_it_is(job)
        doing = {"golden": "running the original", "trace": "tracing the program"}.get(job.request.get("do", ""), "it")
        self.finish(job, [Problem("worker-limit", f"{doing} {what}", file, line, hint)])

    def finish(self, job: Job, problems: list[Problem]) -> None:
        """Ends a job that has not answered by itself."""
        message = failure(job.request, problems, isolated=self.isolated, seconds=time.monotonic() - job.begin)
        message |= {"log": log_text(job), "peak_rss": job.peak}
        self.close(job, message)

    def close(self, job: Job, message: dict[str, Any]) -> None:
        """Kills what is left of a worker, removes its partial file, answers."""
        del self.jobs[job.pid]
        limits.kill_tree(job.pid)
        cpu = limits.reap(job.pid)
        self.reap_orphans()
        os.close(job.reply_fd)
        os.close(job.log_fd)
        remove_parts(job)
        own = time.process_time()
        message["cpu_seconds"] = cpu + self.cpu_of_orphans + own - self.cpu_told
        self.cpu_told, self.cpu_of_orphans = own, 0.0
        self.send(message)

    def reap_orphans(self) -> None:
        """Kills processes that a worker detached from itself."""
        for pid in limits.children_of(os.getpid()):
            if pid not in self.jobs:
                limits.kill_tree(pid)
                self.cpu_of_orphans += limits.reap(pid)

    def kill_all(self) -> None:
        """Kills all workers and whatever they started; removes their partial files."""
        for job in self.jobs.values():
            limits.kill_tree(job.pid)
            remove_parts(job)
        while left := limits.children_of(os.getpid()):
            for pid in left:
                limits.kill_tree(pid)
                limits.reap(pid)


def preload() -> tuple[str | None, str]:
    """Imports the framework and the tracer. Returns torch's version, and a problem or an empty text."""
    try:
        import torch
    except Exception as error:  # a broken library is an OSError, a broken NumPy a RuntimeError
        return None, f"torch cannot be imported by {sys.executable}: {describe(error)}"
    version = str(torch.__version__)
    numbers = tuple(int(n) for n in re.findall(r"\d+", version)[:2])
    if numbers < OLDEST_TORCH:
        return version, f"torch {version} is too old; 2.13 or newer is needed"
    import torch._export.non_strict_utils
    import torch.export._trace
    import torch.fx.experimental.proxy_tensor

    import solar.golden
    import solar.worker

    with contextlib.suppress(ImportError):  # a broken tracer is reported by the trace that needs it
        import solar.frontends.torch  # noqa: F401
    for name in list(logging.root.manager.loggerDict):
        if name.startswith("torch"):  # it logs the errors that it raises, too
            logging.getLogger(name).disabled = True
    return version, ""


def main() -> None:
    """Runs the zygote on two descriptors."""
    parser = argparse.ArgumentParser(prog="python -m solar.zygote", description=__doc__.splitlines()[0])
    parser.add_argument("--in-fd", type=int, default=0, help="where requests are read from")
    parser.add_argument("--out-fd", type=int, default=1, help="where answers are written to")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="workers at a time")
    options = parser.parse_args()
    in_fd, out_fd = os.dup(options.in_fd), os.dup(options.out_fd)
    if options.out_fd == 1:
        os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limits.adopt_orphans()
    try:
        Zygote(in_fd, out_fd, max(1, options.jobs)).run()
    except SystemExit:
        pass
    except BaseException:
        traceback.print_exc()
        os._exit(70)
    os._exit(0)  # nothing is left to do; tearing the framework down takes long


if __name__ == "__main__":
    main()
