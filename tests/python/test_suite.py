"""`solar suite`: each problem costs at most itself, and whatever kills a run loses and doubles nothing."""

from __future__ import annotations

import json
import random
import signal
import textwrap
import time
from typing import TYPE_CHECKING, Any

import pytest
from solar.limits import tree_of
from zygote_client import ends

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from conftest import Solar

MODEL = """\
    import os, time
    import torch
    class Model(torch.nn.Module):
        def forward(self, x):
            {}
            return x @ x.T
    def get_inputs():
        return [torch.randn(3, {})]
"""
ALIR = """\
program scale(input x: f32[N]) -> (y) {
  dims N = 8
  op "scale" { kernel y: f32[N] { for n:N   y[n] = 2 * x[n] } }
}
"""
FIELDS = {
    "schema", "problem", "status", "method", "reason", "diagnostics", "macs", "macs_useful", "nodes", "statements",
    "bounds", "wall_s", "cpu_s", "peak_rss_bytes", "timings_s", "warnings", "degenerate",
}  # fmt: skip


def model(body: str = "pass", width: int = 4) -> str:
    return textwrap.dedent(MODEL).format(body, width)


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def results(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "results.jsonl").read_text().splitlines()]


def test_each_problem_costs_only_itself(solar: Solar, tmp_path: Path) -> None:
    problems = write(
        tmp_path / "problems",
        {
            "level1/10_last.py": model(),
            "level1/2_first.py": model(width=5),
            "level1/3_raises.py": model("raise ValueError('no')"),
            "level1/4_exits.py": model("os._exit(3)"),
            "level2/1_hangs.py": model("time.sleep(1000)"),
            "level2/2_eats.py": model("b'x' * (3 << 30)"),
            "level2/3_none.py": "x = 1\n",
            "level2/4_scale.alir": ALIR,
            "level2/5_broken.alir": ALIR.replace("x[n]", "x[n + 1]"),
        },
    )
    done = solar(
        "suite", problems, "--arch", "a6000", "--jobs", 2, "--timeout", 10, "--memory-limit", 0.1, "--out", "run"
    )
    assert done.returncode == 1, done.stderr
    lines = results(tmp_path / "run")
    found = {line["problem"]: (line["status"], [d["kind"] for d in line["diagnostics"]]) for line in lines}
    assert found == {
        "level1/2_first.py": ("passed", []),
        "level1/3_raises.py": ("error", ["source-raised"]),
        "level1/4_exits.py": ("crashed", ["worker-failed"]),
        "level1/10_last.py": ("passed", []),
        "level2/1_hangs.py": ("limit", ["worker-limit"]),
        "level2/2_eats.py": ("limit", ["worker-limit"]),
        "level2/3_none.py": ("error", ["source-form"]),
        "level2/4_scale.alir": ("skipped", []),
        "level2/5_broken.alir": ("error", ["subscript-range"]),
    }
    assert len(lines) == len(found)
    by_name = {line["problem"]: line for line in lines}
    assert all(line["schema"] == "solar.result/1" and set(line) <= FIELDS for line in lines)
    raised = by_name["level1/3_raises.py"]["diagnostics"][0]
    assert raised["at"] == f"{problems}/level1/3_raises.py:5"
    good = by_name["level1/2_first.py"]
    assert (good["method"], good["macs"], good["macs_useful"], good["nodes"]) == ("full", 45, 45, 1)
    assert good["statements"] >= 1
    assert [(bound["arch"], bound["mode"]) for bound in good["bounds"]] == [
        ("a6000", mode) for mode in ("unfused", "fused", "algebraic")
    ]
    assert good["cpu_s"] > 0
    assert good["timings_s"]["trace"] < good["wall_s"]
    assert by_name["level2/2_eats.py"]["peak_rss_bytes"] > 1 << 30 > good["peak_rss_bytes"]
    assert by_name["level2/1_hangs.py"]["wall_s"] > 10

    report = json.loads((tmp_path / "run/reports/level1/2_first.py.json").read_text())
    assert report["totals"]["macs"] == 45
    assert report["validation"]["status"] == "passed"
    assert not (tmp_path / "run/reports/level1/3_raises.py.json").exists()

    progress = done.stderr.splitlines()
    assert len(progress) == 9
    assert progress[-1].startswith("[9/9] ")
    assert any(" level1/3_raises.py error source-raised " in line for line in progress)
    assert "error, source-form (1): level2/3_none.py" in done.stdout
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert [(f["folder"], f["problems"], f["traced"], f["passed"]) for f in summary["folders"]] == [
        ("level1", 4, 2, {"full": 2}),
        ("level2", 5, 1, {}),
    ]


def test_policies_and_usage(solar: Solar, tmp_path: Path) -> None:
    problems = write(tmp_path / "problems", {"a.alir": ALIR, "b.alir": ALIR.replace("2 *", "3 *")})
    common = ("suite", problems, "--jobs", 1)
    assert solar(*common).returncode == 0
    assert [line["problem"] for line in results(tmp_path / "solar-suite")] == ["a.alir", "b.alir"]
    before = (tmp_path / "solar-suite/results.jsonl").read_text()

    again = solar(*common)
    assert again.returncode == 2
    assert "--resume" in again.stderr
    other = solar(*common, "--arch", "a6000", "--resume")
    assert other.returncode == 2
    assert '`arch` was [], is ["a6000"]' in other.stderr
    assert solar(*common, "--resume", "--fail-on", "unvalidated").returncode == 1
    assert solar(*common, "--resume", "--fail-on", "never").returncode == 0
    assert (tmp_path / "solar-suite/results.jsonl").read_text() == before

    write(problems, {"c.alir": "program"})
    assert solar(*common, "--resume").returncode == 1  # a problem more
    assert (tmp_path / "solar-suite/results.jsonl").read_text().startswith(before)
    assert len(results(tmp_path / "solar-suite")) == 3

    for wrong in (("missing",), (tmp_path / "solar-suite/reports",), (problems, "--arch", "none"), ()):
        failed = solar("suite", *wrong, "--out", "new")
        assert failed.returncode in (1, 2), wrong
        assert not (tmp_path / "new").exists(), wrong


def modes(run: Path) -> dict[str, list[str]]:
    return {line["problem"]: [bound["mode"] for bound in line["bounds"]] for line in results(run)}


def test_a_run_from_before_the_algebra_goes_on(solar: Solar, tmp_path: Path) -> None:
    problems = write(tmp_path / "problems", {"a.alir": ALIR, "b.alir": ALIR.replace("2 *", "3 *")})
    command = ("suite", problems, "--jobs", 1, "--arch", "a6000", "--out", "run")
    assert solar(*command).returncode == 0
    run = tmp_path / "run"
    first = results(run)[0]
    first["bounds"] = [bound for bound in first["bounds"] if bound["mode"] != "algebraic"]
    (run / "results.jsonl").write_text(json.dumps(first) + "\n")
    options = json.loads((run / "suite.json").read_text())
    assert options["options"].pop("algebra") is True
    (run / "suite.json").write_text(json.dumps(options))

    done = solar(*command, "--resume")
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[0] == "1 of 2 problems are done already"
    assert len(done.stderr.splitlines()) == 2
    assert modes(run) == {"a.alir": ["unfused", "fused"], "b.alir": ["unfused", "fused", "algebraic"]}

    (run / "times.csv").write_text("problem,time_us\na.alir,1\nb.alir,1\n")
    both = solar("headroom", run, "--measured", run / "times.csv", "--json", "-")
    assert [("algorithm" in time, time["problem"]) for time in json.loads(both.stdout)["times"]] == [
        (False, "a.alir"),
        (True, "b.alir"),
    ]


def test_without_algebra(solar: Solar, tmp_path: Path) -> None:
    problems = write(tmp_path / "problems", {"a.alir": ALIR})
    command = ("suite", problems, "--jobs", 1, "--arch", "a6000", "--out", "run")
    done = solar(*command, "--no-algebra")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "run: 1 problem")
    assert "done already" not in done.stderr
    assert modes(tmp_path / "run") == {"a.alir": ["unfused", "fused"]}
    assert "algebra" not in results(tmp_path / "run")[0]["timings_s"]
    other = solar(*command, "--resume")
    assert other.returncode == 2
    assert "`algebra` was false, is true" in other.stderr

    times = tmp_path / "times.csv"
    times.write_text("problem,time_us\na.alir,1\n")
    for form in ((), ("--json", "-"), ("--csv", "-")):
        found = solar("headroom", "run", "--measured", times, *form)
        assert found.returncode == 0, found.stderr
        assert "algorithm" not in found.stdout


def test_degenerate_problems_are_summed_up(solar: Solar, tmp_path: Path) -> None:
    nothing = ALIR.replace("2 * x[n]", "x[n] - x[n]")
    problems = write(tmp_path / "problems", {"l/a.alir": nothing, "l/b.alir": ALIR, "l/c.alir": nothing})
    done = solar("suite", problems, "--jobs", 1, "--out", "run")
    assert done.returncode == 0, done.stderr
    assert "degenerate programs (2)\nconstant-output (2): l/a.alir, l/c.alir\n" in done.stdout
    line = results(tmp_path / "run")[0]
    assert {d["kind"] for d in line["degenerate"]} == {"constant-output", "ignored-input"}
    assert "degenerate" not in results(tmp_path / "run")[1]
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert summary["degenerate_problems"] == 2
    assert summary["degenerate"][0] == {"kind": "constant-output", "problems": ["l/a.alir", "l/c.alir"]}


def wait_for_lines(run: Path, count: int, process: subprocess.Popen[str]) -> None:
    limit = time.monotonic() + 120
    path = run / "results.jsonl"
    while not path.exists() or path.read_text().count("\n") < count:
        assert time.monotonic() < limit
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


@pytest.mark.parametrize(("number", "lines"), [(signal.SIGKILL, 1), (signal.SIGINT, 2)])
def test_killed_and_resumed(solar: Solar, tmp_path: Path, number: signal.Signals, lines: int) -> None:
    files = {f"{i}.alir": ALIR for i in (1, 3)} | {f"{i}.py": model(width=i) for i in (2, 4, 5, 6)}
    problems = write(tmp_path / "problems", files)
    command = ("suite", problems, "--jobs", 2, "--out", "run")
    run = tmp_path / "run"
    process = solar.start(*command)
    wait_for_lines(run, lines, process)
    pids = tree_of(process.pid)
    assert len(pids) > 1 or lines == 0
    process.send_signal(number)
    _, error = process.communicate(timeout=30)
    assert ends(pids)
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert "--resume" in error
    before = (run / "results.jsonl").read_bytes() if (run / "results.jsonl").exists() else b""
    assert before.count(b"\n") < len(files)
    with (run / "results.jsonl").open("ab") as file:
        file.write(b'{"schema": "solar.res')  # what a kill in the middle of a write would leave
    done = solar(*command, "--resume")
    assert done.returncode == 0, done.stderr
    assert (run / "results.jsonl").read_bytes().startswith(before)
    assert sorted(line["problem"] for line in results(run)) == sorted(files)
    assert "6 problems" in done.stdout


def test_killed_at_ten_moments(solar: Solar, tmp_path: Path) -> None:
    """Whatever the moment, what is on disk stays, and in the end every problem is there once."""
    files = {f"{i}.alir": ALIR for i in range(40)} | {f"m{i}.py": model(width=i + 1) for i in range(6)}
    problems = write(tmp_path / "problems", files)
    command = ("suite", problems, "--jobs", 2, "--out", "run", "--resume")
    results_file = tmp_path / "run/results.jsonl"
    seed = 7
    print(f"seed {seed}")
    moments = random.Random(seed)
    kept = b""
    for _ in range(10):
        process = solar.start(*command)
        time.sleep(moments.choice((0.01, 0.05, 0.2, 1.0)) * moments.random() * 2)
        pids = tree_of(process.pid)
        process.kill()
        process.communicate(timeout=30)
        assert ends(pids)
        before, kept = kept, results_file.read_bytes() if results_file.exists() else b""
        assert kept.startswith(before[: before.rfind(b"\n") + 1])  # a half-written line may go
    done = solar(*command)
    assert done.returncode == 0, done.stderr
    assert results_file.read_bytes().startswith(kept[: kept.rfind(b"\n") + 1])
    assert sorted(line["problem"] for line in results(tmp_path / "run")) == sorted(files)
    assert "46 problems" in done.stdout
