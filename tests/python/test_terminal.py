"""What reaches a terminal: nothing that it would obey, no number that is none, and the reason for every failure."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Solar

HOSTILE = "e\x1b[2J\x9b1m\u202eo\u2066\x07"
SHOWN = r"e\x1b[2J\u009b1m\u202eo\u2066\x07"
OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")

PROGRAM = f"""\
program p(input x: f32[4, 8], input w: f32[8, 8]) -> (y) {{
  op "{HOSTILE}" at "{HOSTILE}.py:3" module "{HOSTILE}" {{
    kernel y: f32[4, 8] {{ for i:4, j:8, k:8   y[i, j] += x[i, k] * w[k, j] }}
  }}
}}
"""

MACHINE = """\
extends = "h100-sxm"
[dram]
bandwidth = "BANDWIDTH"
"""


def outputs(done: subprocess.CompletedProcess[str]) -> str:
    return done.stdout + done.stderr


def test_texts_of_the_user_are_shown_escaped(solar: Solar, tmp_path: Path) -> None:
    name = f"{HOSTILE}.alir"
    (tmp_path / name).write_text(PROGRAM, encoding="utf-8")
    (tmp_path / f"{HOSTILE}.toml").write_text(MACHINE.replace("BANDWIDTH", "1 TB/s"))
    machine = f"./{HOSTILE}.toml"
    commands = (
        ("check", name),
        ("lift", name),
        ("analyze", name, "--arch", machine),
        ("analyze", name, "--arch", machine, "--json", "-"),
        ("compare", name, "--arch", f"a6000,{machine}"),
        ("inverse", name, "--target", "2ms", "--arch", machine),
        ("arch", "show", machine),
        ("arch", "check", machine),
    )
    for command in commands:
        done = solar(*command)
        assert done.returncode == 0, (command, done.stderr)
        assert OBEYED.search(outputs(done)) is None, command
        assert SHOWN in done.stdout or "--json" in command or command[0] == "inverse", (command, done.stdout)
    assert json.loads(solar("analyze", name, "--arch", "a6000", "--json", "-").stdout)["nodes"][0]["op"] == HOSTILE


def test_errors_show_texts_of_the_user_escaped(solar: Solar, tmp_path: Path) -> None:
    name = f"{HOSTILE}.alir"
    (tmp_path / name).write_text(PROGRAM.replace("w[k, j]", f"q[k, j] # {HOSTILE}"), encoding="utf-8")
    commands = (
        ("check", name),
        ("check", "--json", name),
        ("fix", name),
        ("run", name),
        ("check", f"{HOSTILE}.none"),
        ("explain", HOSTILE),
        (HOSTILE,),
        ("analyze", name, f"--{HOSTILE}"),
        ("analyze", name, "--arch", HOSTILE),
        ("arch", "check", f"{HOSTILE}.toml"),
    )
    for command in commands:
        done = solar(*command)
        assert done.returncode in (1, 2), command
        assert outputs(done), command
        assert OBEYED.search(outputs(done)) is None, (command, outputs(done))


@pytest.mark.parametrize("bandwidth", ["1e-308 B/s", "0.5 B/s", "1e300 PB/s", "2e24 B/s", "0 B/s"])
def test_rates_that_no_machine_has(solar: Solar, tmp_path: Path, bandwidth: str) -> None:
    (tmp_path / "my.toml").write_text(MACHINE.replace("BANDWIDTH", bandwidth))
    done = solar("arch", "check", "./my.toml")
    assert done.returncode == 1
    assert "my.toml:3:" in done.stderr
    assert f"error[arch-unit]: `dram.bandwidth`: `{bandwidth}` is not between" in done.stderr


@pytest.mark.parametrize("bandwidth", ["1 B/s", "1e24 B/s"])
def test_no_report_holds_a_number_that_is_none(solar: Solar, tmp_path: Path, bandwidth: str) -> None:
    (tmp_path / "my.toml").write_text(MACHINE.replace("BANDWIDTH", bandwidth))
    (tmp_path / "p.alir").write_text(PROGRAM, encoding="utf-8")
    for command in (("analyze", "--arch"), ("compare", "--arch"), ("inverse", "--target", "1ns", "--arch")):
        done = solar(command[0], "p.alir", *command[1:], "./my.toml,a6000")
        assert done.returncode == 0, done.stderr
        assert re.search(r"\b(inf|nan)", done.stdout) is None, done.stdout


def test_two_architectures_of_one_name(solar: Solar, tmp_path: Path) -> None:
    (tmp_path / "p.alir").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "d").mkdir()
    for folder, bandwidth in ((".", "1 TB/s"), ("d", "2 TB/s")):
        (tmp_path / folder / "s1.toml").write_text(MACHINE.replace("BANDWIDTH", bandwidth))
    done = solar("compare", "p.alir", "--arch", "./s1.toml,./d/s1.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert "two different architectures are called `s1`: `./s1.toml` and `./d/s1.toml`" in done.stderr
    assert solar("compare", "p.alir", "--arch", "./s1.toml,s1.toml,./d/../s1.toml").returncode == 0


def test_several_architecture_files_are_checked(solar: Solar, tmp_path: Path) -> None:
    (tmp_path / "good.toml").write_text(MACHINE.replace("BANDWIDTH", "1 TB/s"))
    (tmp_path / "bad.toml").write_text(MACHINE.replace("BANDWIDTH", "1 TB"))
    done = solar("arch", "check", "./good.toml", "./bad.toml", "a6000")
    assert done.returncode == 1
    assert done.stdout.splitlines() == ["./good.toml: ok", "a6000: ok"]
    assert "bad.toml:3:" in done.stderr


RANDOM = """\
program p(input x: f32[64], rng r: f32[64]) -> (y) {
  kernel y: f32[64] { for i:64   y[i] = x[i] * r[i] }
}
"""


def test_random_draws_are_an_assumption_where_they_are_read(solar: Solar, tmp_path: Path) -> None:
    for role, listed in (("rng", True), ("input", False)):
        (tmp_path / "p.alir").write_text(RANDOM.replace("rng", role))
        for extra in ((), ("--strict",)):
            done = solar("analyze", "p.alir", "--arch", "a6000", "--json", "-", *extra)
            bounds = json.loads(done.stdout)["bounds"]
            assert [b["mode"] for b in bounds] == ["unfused", "fused", "algebraic"]
            assert [("random-draws-read" in b["assumptions"]) for b in bounds] == [listed] * 3
        inverse = json.loads(solar("inverse", "p.alir", "--target", "1ms", "--json", "-").stdout)
        assert ("random-draws-read" in inverse["assumptions"]) == listed


GATHER = """\
program p(input table: f32[1000, 16], input i: i64[32]) -> (y) {
  indexed y: f32[32, 16] { for n:32, d:16   y[n, d] = table[i[n], d] }
}
"""


def test_rows_show_the_bytes_of_their_time(solar: Solar, tmp_path: Path) -> None:
    """One row of the table at least; the bytes over the bandwidth are the time."""
    (tmp_path / "g.alir").write_text(GATHER)
    (tmp_path / "my.toml").write_text(MACHINE.replace("BANDWIDTH", "1 kB/s"))
    done = solar("analyze", "g.alir", "--arch", "./my.toml")
    least = 32 * 8 + 16 * 4 + 32 * 16 * 4
    assert f"{least / 1000:.4g} kB" in done.stdout
    row = next(line for line in done.stdout.splitlines() if line.split()[:1] == ["y"])
    assert f"{least / 1000:.4g} kB" in row
    assert f"{least / 1000:.4g} s" in row
    node = json.loads(solar("analyze", "g.alir", "--arch", "./my.toml", "--json", "-").stdout)["bounds"][0]["nodes"][0]
    assert node["traffic_bytes"] == least
    assert node["memory_s"] == pytest.approx(least / 1000)


def test_a_failure_is_said_beside_a_report_in_json(solar: Solar, tmp_path: Path) -> None:
    (tmp_path / "p.alir").write_text(PROGRAM, encoding="utf-8")
    for command in (("analyze", "--arch", "a6000"), ("compare", "--arch", "a6000"), ("inverse", "--target", "1ms")):
        done = solar(command[0], "p.alir", *command[1:], "--require-validated", "--json", "-")
        assert done.returncode == 1
        assert json.loads(done.stdout)["validation"]["status"] == "skipped"
        assert done.stderr == (
            "error[validation-failed]: not validated: an .alir file has no original to compare with\n"
        )


SOURCE = """\
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return (x @ x.t()).relu()
def get_inputs():
    return [torch.randn(4, 4)]
"""


def test_why_nothing_was_validated_names_the_option(solar: Solar, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(SOURCE)
    done = solar("analyze", "m.py", "--arch", "a6000", "--memory-limit", "2.384185791015625e-07")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "NOT VALIDATED: too large to run at full size (" in said
    assert "`--memory-limit` is 2.38e-07 GiB" in said
    assert " 0 GiB" not in said


def test_bound_dims_are_not_called_validated_when_nothing_was(solar: Solar, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(SOURCE)
    free = re.search(r"dims (\w+) = ", solar("trace", "m.py").stdout)
    assert free is not None
    options = ("--arch", "a6000", "--bind", f"{free[1]}=8")
    for extra, said in (("--no-validate",), "was traced at its own"), ((), "was traced and validated at its own"):
        done = solar("analyze", "m.py", *options, *extra)
        assert done.returncode == 0, done.stderr
        assert said in " ".join(done.stdout.split())


def catches(pid: int, number: signal.Signals) -> bool:
    """Whether the process has a handler for the signal."""
    status = Path(f"/proc/{pid}/status").read_text()
    caught = int(next(line for line in status.splitlines() if line.startswith("SigCgt:")).split()[1], 16)
    return bool(caught >> (number - 1) & 1)


@pytest.mark.parametrize("numbers", [(signal.SIGINT,), (signal.SIGTERM,), (signal.SIGINT, signal.SIGTERM)])
def test_work_that_does_not_end_is_ended(solar: Solar, numbers: tuple[signal.Signals, ...]) -> None:
    """It reads a pipe into which nobody writes, and so cannot see that it was asked to end."""
    process = subprocess.Popen(
        [solar.binary, "check", "/dev/stdin"],
        env=solar.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        while not all(catches(process.pid, number) for number in (*numbers, signal.SIGALRM)):
            assert process.poll() is None
            time.sleep(0.01)
        for number in numbers:
            process.send_signal(number)
        assert process.wait(60) == 130
        assert process.stderr is not None
        assert process.stderr.read() == "error[interrupted]: interrupted\n"
    finally:
        process.kill()
        process.communicate()
