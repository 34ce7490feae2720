"""A plain client of the zygote, for tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
COMMAND = [os.environ.get("SOLAR_PYTHON") or sys.executable, "-P", "-m", "solar.zygote"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "python")}


class Zygote:
    """Starts a zygote on pipes; `ask` sends one request and returns its answer."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            COMMAND, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.hello = self.receive()
        self.count = 0

    def receive(self) -> dict[str, Any]:
        line = self.process.stdout.readline()
        assert line, f"the zygote ended: {self.process.stderr.read().decode()}"
        return json.loads(line)

    def send(self, **request: Any) -> int:
        self.count += 1
        data = json.dumps({"id": self.count, **request}) + "\n"
        self.process.stdin.write(data.encode())
        self.process.stdin.flush()
        return self.count

    def answer(self) -> dict[str, Any]:
        """The next answer of any request."""
        while (message := self.receive())["event"] != "done":
            pass
        return message

    def ask(self, do: str, source: object, *, limits: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
        self.send(do=do, source=str(source), limits={"wall_seconds": 60, **(limits or {})}, **fields)
        return self.answer()

    def close(self) -> int:
        self.process.stdin.close()
        status = self.process.wait(timeout=20)
        self.process.stdout.close()
        self.process.stderr.close()
        return status


def alive(pid: int) -> bool:
    """Whether a process exists and is not just waiting to be reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def ends(pids: list[int], seconds: float = 20) -> bool:
    """Whether all processes end within a time."""
    limit = time.monotonic() + seconds
    while any(alive(pid) for pid in pids):
        if time.monotonic() > limit:
            return False
        time.sleep(0.02)
    return True


def wait_for_file(path: Path, seconds: float = 60) -> str:
    """The text of a file that another process writes."""
    limit = time.monotonic() + seconds
    while not (path.exists() and path.read_text().endswith("\n")):
        assert time.monotonic() < limit, f"{path} was not written"
        time.sleep(0.02)
    return path.read_text()
