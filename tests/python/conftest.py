"""Fixtures that all Python tests share."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


# Workers of pytest-xdist, and runs in the background of a shell, ignore it, and so would all that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass(frozen=True)
class Solar:
    """Runs the binary (not the launcher): `solar("check", "f.alir")`."""

    binary: Path
    directory: Path

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """The environment that the launcher would give."""
        return {**os.environ, "SOLAR_ROOT": str(ROOT), "SOLAR_PYTHON": python(), **(extra or {})}

    def __call__(
        self,
        *arguments: object,
        environment: Mapping[str, str] | None = None,
        directory: Path | None = None,
        timeout: float = 600,
        stdin: str = "",
    ) -> subprocess.CompletedProcess[str]:
        """Runs to the end; relative paths are meant from `directory` (default: a folder of this test)."""
        return subprocess.run(
            [self.binary, *map(str, arguments)],
            env=self.environment(environment),
            cwd=directory or self.directory,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def start(self, *arguments: object, environment: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """Starts it in a process group of its own, for tests that interrupt."""
        return subprocess.Popen(
            [self.binary, *map(str, arguments)],
            env=self.environment(environment),
            cwd=self.directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )


def python() -> str:
    """The interpreter that the program's workers use."""
    return os.environ.get("SOLAR_PYTHON") or sys.executable


@pytest.fixture(scope="session")
def binary() -> Path:
    """SOLAR_BINARY, or the newest build."""
    given = os.environ.get("SOLAR_BINARY")
    built = [Path(given)] if given else [ROOT / "build" / preset / "solar" for preset in ("ci", "release", "dev")]
    found = [path for path in built if path.is_file()]
    if not found:
        pytest.fail(f"no binary at {', '.join(map(str, built))}: run `make test`, or set SOLAR_BINARY", pytrace=False)
    return max(found, key=lambda path: path.stat().st_mtime).resolve()


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's root."""
    return ROOT


@pytest.fixture
def solar(binary: Path, tmp_path: Path) -> Solar:
    """Runs the program in an empty folder."""
    return Solar(binary, tmp_path)
