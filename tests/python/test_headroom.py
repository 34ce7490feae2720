"""`solar headroom` at the command line: measured times against the floors of a run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from attempts import DONE, PROBLEM, USAGE, run

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Solar

# Row sums of a product: the algebra sums one operand first.
COLLAPSED = """\
program sums(input x: f32[B, K], param w: f32[N, K]) -> (s) {
  dims B = 4096, N = 4096, K = 4096
  kernel y: f32[B, N] { for b:B, n:N, k:K   y[b, n] += x[b, k] * w[n, k] }
  kernel s: f32[B] { for b:B, n:N   s[b] += y[b, n] }
}
"""


@pytest.fixture
def suite(solar: Solar, tmp_path: Path) -> Path:
    """A folder with a run, beside whose floors times are written."""
    (tmp_path / "problems/l1").mkdir(parents=True)
    (tmp_path / "problems/l1/a.alir").write_text(COLLAPSED)
    (tmp_path / "problems/l1/b.alir").write_text(COLLAPSED.replace("x[b, k] *", "x[b, k] + 0 *"))
    assert run(solar, "suite", "problems", "--jobs", 1, "--arch", "a6000", "--out", "run").code == DONE
    return tmp_path / "run"


def floors(suite: Path, problem: str) -> dict[str, float]:
    lines = map(json.loads, (suite / "results.jsonl").read_text().splitlines())
    return {b["mode"]: b["time_s"] for line in lines if line["problem"] == problem for b in line["bounds"]}


def found(solar: Solar, *arguments: object) -> dict[str, Any]:
    ran = run(solar, "headroom", "run", "--json", "out.json", *arguments)
    assert ran.code in (DONE, PROBLEM)
    return json.loads((solar.directory / "out.json").read_text())  # type: ignore[no-any-return]


def test_three_steps(solar: Solar, suite: Path) -> None:
    of = floors(suite, "l1/a.alir")
    assert of["algebraic"] < of["fused"] / 10
    (solar.directory / "t.csv").write_text(f"problem,time_s\nl1/a.alir,{3 * of['fused']}\n")
    time = found(solar, "--measured", "eager=t.csv")["times"][0]
    assert time["algorithm"] == pytest.approx(of["fused"] / of["algebraic"])
    assert time["headroom"] == pytest.approx(3)
    assert time["headroom"] == pytest.approx(time["overhead"] * time["fusion"])
    text = run(solar, "headroom", "run", "--measured", "t.csv")
    assert text.code == DONE
    assert "algorithm" in text.out
    assert "not measured (1): l1/b.alir" in text.out


def test_violations_are_in_no_mean(solar: Solar, suite: Path) -> None:
    a, b = floors(suite, "l1/a.alir"), floors(suite, "l1/b.alir")
    (solar.directory / "t.csv").write_text(f"problem,time_s\na.alir,{a['fused'] / 2}\nb.alir,{2 * b['fused']}\n")
    ran = solar("headroom", "run", "--measured", "t.csv", "--json", "out.json")
    assert ran.returncode == PROBLEM
    assert "violations (1): measured below the fused floor; 1 of them not below the algebraic one" in ran.stdout
    report = json.loads((solar.directory / "out.json").read_text())
    assert [(g["problems"], g["violations"]) for g in report["groups"]] == [(2, 1)]
    assert report["groups"][0]["headroom"] == pytest.approx(2)


def test_times_of_another_device(solar: Solar, suite: Path) -> None:
    (solar.directory / "t.csv").write_text("problem,device,time_s\na.alir,H100 PCIe,1\n")
    assert found(solar, "--measured", "t.csv")["warnings"] == [
        "the times are of `H100 PCIe`, which is h100-pcie, the floors of a6000"
    ]
    (solar.directory / "t.json").write_text('{"l1": {"a.alir": {"mean": 300, "min": 200, "hardware": "L40S_matx3"}}}')
    assert "`L40S_matx3`, which is l40s" in found(solar, "--measured", "t.json")["warnings"][0]
    (solar.directory / "t.csv").write_text("problem,device,time_s\na.alir,RTX A6000,1\n")
    assert found(solar, "--measured", "t.csv")["warnings"] == []


@pytest.mark.parametrize(
    ("content", "arguments", "code", "said"),
    [
        (b"problem,time_ms,time_us\na.alir,1,1000\n", (), PROBLEM, "line 1: the columns `time_ms` and `time_us` both"),
        (b"problem,mean_ms,min_ms\na.alir,1,3\n", (), PROBLEM, "row 2: the minimum `min_ms` is 0.003 s"),
        (b"problem,time_ms\nzz,1\n", (), PROBLEM, "none of the measured problems"),
        (b"problem,time_ms\na.alir,1\n", ("--arch", "h100-sxm"), USAGE, "there is nothing of `h100-sxm`"),
        (b"problem,time_ms\na.alir,1\n", ("--statistic", "max"), USAGE, "max"),
        (b"problem,time_ms\na.alir,1\n", ("--json", "none/x"), PROBLEM, "make its folder first"),
        (b"\xef\xbb\xbfproblem,time_s\na.alir,1\n", (), DONE, ""),
        (b'\xef\xbb\xbf{"l1/a.alir": {"eager_ms": 1000}}', (), DONE, ""),
    ],
)
def test_files_and_options(
    solar: Solar, suite: Path, content: bytes, arguments: tuple[str, ...], code: int, said: str
) -> None:
    (solar.directory / "t.csv").write_bytes(content)
    ran = run(solar, "headroom", "run", "--measured", "t.csv", *arguments)
    assert ran.code == code
    assert said in ran.err


def test_what_is_not_there(solar: Solar, suite: Path) -> None:
    missing = run(solar, "headroom", "run", "--measured", "none.csv")
    assert (missing.code, missing.out) == (PROBLEM, "")
    assert "cannot read `none.csv`" in missing.err
    nowhere = run(solar, "headroom", "nowhere", "--measured", "none.csv")
    assert (nowhere.code, nowhere.out) == (PROBLEM, "")
    assert "`nowhere` is not the folder of a run: there is no such folder" in nowhere.err
    other = run(solar, "headroom", "problems", "--measured", "none.csv")
    assert (other.code, other.out) == (PROBLEM, "")
    assert "`problems` is not the folder of a run of `solar suite`" in other.err
