"""Commands that may fail, but only in a way that tells the user something."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from conftest import Solar

DONE, PROBLEM, USAGE, LIMIT, INTERRUPTED = 0, 1, 2, 3, 130
ARCH = ("--arch", "h100-sxm")


@dataclass(frozen=True)
class Ran:
    """What a command gave back."""

    code: int
    out: str
    err: str


def run(
    solar: Solar,
    *arguments: object,
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
    redirect: str = "",
) -> Ran:
    """Runs a command; `redirect` is what a shell does with its descriptors. Fails on any sign of a fault of ours."""
    shell = ["sh", "-c", f'exec "$0" "$@" {redirect}'] if redirect else []
    done = subprocess.run(
        [*shell, os.fspath(solar.binary), *map(str, arguments)],
        env=solar.environment(environment),
        cwd=directory or solar.directory,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=300,
        check=False,
    )
    ran = Ran(done.returncode, done.stdout, done.stderr)
    assert ran.code in (DONE, PROBLEM, USAGE, LIMIT, INTERRUPTED), ran
    for sign in ("Traceback", "internal error", "terminate called", "\x1b"):
        assert sign not in ran.out + ran.err, ran
    if ran.code != DONE and "2>" not in redirect:
        assert "error[" in ran.err or ('"severity": "error"' in ran.out and "--json" in arguments), ran
    return ran
