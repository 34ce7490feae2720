"""Bad input and hostile programs at the command line: a clear error and the right exit code, never a crash.

Sources in the language start no worker and are quick; the Python sources are run once, side by side.
"""

from __future__ import annotations

import json
import os
import subprocess
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import ROOT, Solar

if TYPE_CHECKING:
    from collections.abc import Mapping

DONE, PROBLEM, USAGE, LIMIT, INTERRUPTED = 0, 1, 2, 3, 130
ARCH = ("--arch", "h100-sxm")
MATMUL = """\
program mm(input a: f32[M, K], param b: f32[K, N]) -> (c) {
  dims M = 4, K = 8, N = 16, P = M*2
  kernel c: f32[M, N] { for m:M, n:N, k:K   c[m, n] += a[m, k] * b[k, n] }
}
"""


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


@pytest.fixture
def mm(tmp_path: Path) -> str:
    """A good program, by its name in the test's folder."""
    (tmp_path / "mm.alir").write_text(MATMUL)
    return "mm.alir"


# Options.


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ("", USAGE, "subcommand is required"),
        ("frobnicate", USAGE, "`solar` has no command `frobnicate`"),
        ("anlyze mm.alir", USAGE, "did you mean `analyze`?"),
        ("arch lst", USAGE, "did you mean `list`?"),
        ("analyze", USAGE, "SRC is required"),
        ("analyze mm.alir", USAGE, "--arch is required"),
        ("analyze mm.alir extra --arch h100-sxm", USAGE, "not expected: extra"),
        ("analyze mm.alir --arch h100-sxm --bogus", USAGE, "--bogus"),
        ("analyze mm.alir --arch h100", PROBLEM, "did you mean `h100-pcie` or `h100-sxm`?"),
        ("analyze mm.alir --arch nothing", PROBLEM, "no architecture is called `nothing`"),
        ("analyze mm.alir --arch h100-sxm,h100,nothing", PROBLEM, "no architecture is called `nothing`"),
        ("analyze mm.alir --arch ./none.toml", PROBLEM, "`./none.toml`: no such file"),
        ("analyze mm.alir --arch a6000 --precision nvfp4", PROBLEM, "error[missing-rate]: `a6000` has no nvfp4 rate"),
        ("analyze mm.alir --arch a6000 --precision half", USAGE, "unknown precision `half`"),
        ("analyze mm.alir --arch a6000 --params frozen", USAGE, "only runtime is"),
        ("analyze mm.alir --arch a6000 --cache hot", USAGE, "only cold is"),
        ("analyze mm.alir --arch a6000 --storage f4", USAGE, "only as-written is"),
        ("analyze mm.alir --arch a6000 --no-validate --require-validated", USAGE, "exclude each other"),
        ("analyze mm.alir --arch a6000 --bind M", USAGE, "`--bind M` is not NAME=INTEGER"),
        ("analyze mm.alir --arch a6000 --bind =4", USAGE, "is not NAME=INTEGER"),
        ("analyze mm.alir --arch a6000 --bind M=4x", USAGE, "is not NAME=INTEGER"),
        ("analyze mm.alir --arch a6000 --bind M=0", USAGE, "must be at least 1"),
        ("analyze mm.alir --arch a6000 --bind M=-4", USAGE, "must be at least 1"),
        ("analyze mm.alir --arch a6000 --bind M=4,M=5", USAGE, "gives `M` two values, 4 and 5"),
        ("analyze mm.alir --arch a6000 --bind M=99999999999999999999", USAGE, "does not fit 64 bits"),
        ("analyze mm.alir --arch a6000 --bind Q=4", USAGE, "its free dims are `K`, `M` or `N`"),
        ("analyze mm.alir --arch a6000 --bind P=4", USAGE, "`P` is derived"),
        ("analyze mm.alir --arch a6000 --bind M=9223372036854775807", PROBLEM, "error["),
        ("analyze mm.alir --arch a6000 --set X=3", USAGE, "`--bind D=N` sets a free dim"),
        ("analyze mm.alir --arch a6000 --timeout 0", USAGE, "`0` is not a number of seconds above 0"),
        ("analyze mm.alir --arch a6000 --timeout nan", USAGE, "is not a number of seconds"),
        ("analyze mm.alir --arch a6000 --memory-limit 1e300", USAGE, "is not a number of GiB"),
        ("check mm.alir --memory-limit -1", USAGE, "is not a number of GiB"),
        ("inverse mm.alir", USAGE, "--target 2ms, or --rate 500Hz"),
        ("inverse mm.alir --target 2ms --rate 5Hz", USAGE, "either a target time or a rate"),
        ("inverse mm.alir --target 2", USAGE, "`2` has no unit"),
        ("inverse mm.alir --target 2kg", USAGE, "`kg` is not a unit"),
        ("inverse mm.alir --target 2Hz", USAGE, "`2Hz` is a frequency, but a duration is wanted"),
        ("inverse mm.alir --target -2ms", USAGE, "is not a positive number with a unit"),
        ("inverse mm.alir --target nans", USAGE, "is not a positive number with a unit"),
        ("inverse mm.alir --target 1e-320s", USAGE, "between"),
        ("inverse mm.alir --rate 0Hz", USAGE, "is not between"),
        ("inverse mm.alir --rate 1e308kHz", USAGE, "between"),
        ("explain subscrpt-range", USAGE, "did you mean `subscript-range`?"),
        ("trace mm.alir", USAGE, "is an .alir file already"),
        ("analyze none.alir --arch a6000", PROBLEM, "cannot read `none.alir`"),
        ("analyze none.py --arch a6000", PROBLEM, "no such file: none.py"),
        ("analyze none.py:Net --arch a6000", PROBLEM, "no such file: none.py"),
        ("analyze . --arch a6000", PROBLEM, "a source is FILE.py, FILE.py:NAME, FILE.pt2, hf:MODEL or FILE.alir"),
        ("check mm.alir --against none.py", PROBLEM, "no such file: none.py"),
        ("check none.alir", PROBLEM, "cannot read `none.alir`"),
        ("check /dev/zero", PROBLEM, "cannot read `/dev/zero`: it is a device"),
        ("fmt none.alir", PROBLEM, "cannot read `none.alir`"),
        ("run mm.alir --inputs none.npz", PROBLEM, "none.npz"),
        ("run mm.alir", PROBLEM, "input `a`: f32[4, 8] is missing"),
    ],
)
def test_wrong_arguments_are_explained(solar: Solar, mm: str, arguments: str, code: int, said: str) -> None:
    ran = run(solar, *arguments.split(" ") if arguments else ())
    assert (ran.code, ran.out) == (code, "")
    assert said in ran.err


def test_repeated_architectures_count_once(solar: Solar, mm: str) -> None:
    ran = run(solar, "analyze", mm, "--arch", "h100-sxm,a6000,h100-sxm", "--json", "-")
    assert [b["arch"] for b in json.loads(ran.out)["bounds"]] == ["h100-sxm"] * 2 + ["a6000"] * 2


# Programs in the language.

N = 20_000
DEEP = {
    "parentheses": "kernel y: f32[2] { for i:2  y[i] = " + "(" * N + "x[i]" + ")" * N + " }",
    "signs": "kernel y: f32[2] { for i:2  y[i] = " + "-" * N + "x[i] }",
    "sums": "kernel y: f32[2] { for i:2  y[i] = " + " + ".join(["x[i]"] * N) + " }",
    "subscripts": "kernel y: f32[2] { for i:2  y[i] = x[" + "+".join(["i"] + ["0"] * N) + "] }",
    "guards": "kernel y: f32[2] { for i:2 where " + " and ".join(["i <= 1"] * N) + "  y[i] = x[i] else 0 }",
    "indices": "kernel y: f32[2] { for i:2  y[i] = " + "x[" * N + "i" + "]" * N + " }",
    "groups": 'op "a" { ' * N + "let y = relu(x) " + "}" * N,
    "calls": "let y = " + "relu(" * N + "x" + ")" * N,
    "dims": "dims A = " + "(" * N + "1" + ")" * N + " let y = relu(x)",
}


@pytest.mark.parametrize("name", DEEP)
def test_deep_texts_do_not_overflow_the_stack(solar: Solar, tmp_path: Path, name: str) -> None:
    (tmp_path / "deep.alir").write_text(f"program p(input x: f32[2]) -> (y) {{ {DEEP[name]} }}\n")
    for command in (("check",), ("fmt", "--stdout")):
        ran = run(solar, *command, "deep.alir")
        assert ran.code == PROBLEM
        assert "deep.alir:1:" in ran.err


@pytest.mark.parametrize(
    ("dims", "said"),
    [
        ("M = 0, K = 8, N = 16", "must be at least 1"),
        ("M = -3, K = 8, N = 16", "must be at least 1"),
        ("M = 1099511627776, K = 1099511627776, N = 1", "error[count-overflow]: `a` has more than 2^58 elements"),
        (
            "M = 2097152, K = 2097152, N = 2097152",
            "error[count-overflow]: the multiply-accumulates or operations of `c`",
        ),
        ("M = 4611686018427387904, K = 8, N = 1", "error["),
        ("M = 99999999999999999999, K = 8, N = 1", "does not fit 64 bits"),
    ],
)
def test_sizes_out_of_range(solar: Solar, tmp_path: Path, dims: str, said: str) -> None:
    (tmp_path / "f.alir").write_text(MATMUL.replace("M = 4, K = 8, N = 16, P = M*2", dims))
    ran = run(solar, "analyze", "f.alir", *ARCH, "--json", "out.json")
    assert (ran.code, ran.out) == (PROBLEM, "")
    assert said in ran.err
    assert "f.alir:" in ran.err
    assert not (tmp_path / "out.json").exists()


def test_a_run_beyond_the_memory_limit_is_refused_before_it_starts(solar: Solar, tmp_path: Path) -> None:
    (tmp_path / "f.alir").write_text(MATMUL.replace("M = 4, K = 8, N = 16", "M = 1048576, K = 1048576, N = 1048576"))
    ran = run(solar, "run", "f.alir")
    assert ran.code == LIMIT
    assert "error[memory-limit]" in ran.err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no `program`"),
        (bytes(range(256)) * 20, "error[syntax]"),
        (MATMUL.encode().replace(b"+=", b"\0="), "f.alir:3:"),
        (MATMUL.encode().replace(b"+=", b"\x1b[31m="), "f.alir:3:"),
        (MATMUL.encode().replace(b"a[m, k]", b"a[m, \xff]"), "f.alir:3:"),
        (MATMUL.encode().replace(b"\n", b"\r\n").replace(b"b[k", b"b[k + 1"), "error[subscript-range]"),
        (MATMUL.encode()[:-60], "error[syntax]"),
    ],
)
def test_files_that_hold_no_program(solar: Solar, tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "f.alir").write_bytes(content)
    for command in (("analyze", "f.alir", *ARCH), ("check", "f.alir"), ("lift", "f.alir"), ("run", "f.alir")):
        ran = run(solar, *command)
        assert (ran.code, ran.out) == (PROBLEM, "")
        assert said in ran.err
        assert "\0" not in ran.err


def test_editors_and_systems_may_differ(solar: Solar, tmp_path: Path) -> None:
    """CR LF, a byte order mark, names with spaces and names that are not UTF-8, links, other folders."""
    folder = tmp_path / "my folder"
    folder.mkdir()
    (folder / "crlf.alir").write_bytes(MATMUL.encode().replace(b"\n", b"\r\n"))
    (folder / "bom.alir").write_bytes(b"\xef\xbb\xbf" + MATMUL.encode())
    (folder / "link.alir").symlink_to("bom.alir")
    (folder / "loop.alir").symlink_to("loop.alir")
    strange = os.fsdecode(b"name\xff.alir")
    (folder / strange).write_text(MATMUL)
    for name in ("crlf.alir", "bom.alir", "link.alir", strange):
        assert run(solar, "check", name, directory=folder).code == DONE
        report = run(solar, "analyze", folder / name, *ARCH, "--json", "-")
        assert json.loads(report.out)["totals"]["macs"] == 512
    assert "loop.alir" in run(solar, "check", folder / "loop.alir").err
    (folder / strange).write_text("program")
    diagnostics = run(solar, "check", "--json", strange, directory=folder)
    assert diagnostics.code == PROBLEM
    assert json.loads(diagnostics.out)[0]["kind"] == "syntax"


def test_formatting_keeps_links_and_modes(solar: Solar, tmp_path: Path) -> None:
    target = tmp_path / "real.alir"
    target.write_text("# moved\n\n\n" + MATMUL)
    target.chmod(0o640)
    (tmp_path / "link.alir").symlink_to("real.alir")
    assert run(solar, "fmt", "link.alir").code == DONE
    assert (tmp_path / "link.alir").is_symlink()
    assert target.read_text() == "# moved\n" + run(solar, "fmt", "--stdout", "link.alir").out.partition("\n")[2]
    assert target.stat().st_mode & 0o777 == 0o640


def test_the_language_needs_no_python(solar: Solar, mm: str) -> None:
    environment = {"SOLAR_PYTHON": "/no/such/python"}
    for command in (("analyze", mm, *ARCH), ("lift", mm), ("inverse", mm, "--target", "2ms"), ("check", mm)):
        assert run(solar, *command, environment=environment).code == DONE


# Where output goes.


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("none/x.json", "make its folder first"),
        ("mm.alir/x.json", "Not a directory"),
        (".", "Is a directory"),
        ("/dev/full", "No space left on device"),
        ("/proc/x.json", "cannot write `/proc/x.json`"),
        ("", "without a name"),
    ],
)
def test_reports_that_cannot_be_written(solar: Solar, mm: str, tmp_path: Path, path: str, said: str) -> None:
    for command in (("analyze", mm, *ARCH), ("compare", mm, *ARCH), ("inverse", mm, "--target", "2ms")):
        ran = run(solar, *command, "--json", path)
        assert (ran.code, ran.out) == (PROBLEM, "")
        assert "error[output-file]" in ran.err
        assert said in ran.err
    assert [entry.name for entry in tmp_path.iterdir()] == [mm]


def test_a_failed_analysis_leaves_the_old_report(solar: Solar, mm: str, tmp_path: Path) -> None:
    (tmp_path / "out.json").write_text("old")
    assert run(solar, "analyze", mm, "--arch", "a6000", "--precision", "fp4", "--json", "out.json").code == PROBLEM
    assert (tmp_path / "out.json").read_text() == "old"
    assert run(solar, "analyze", mm, "--arch", "a6000", "--json", "out.json").code == DONE
    assert json.loads((tmp_path / "out.json").read_text())["schema"] == "solar.report/1"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [mm, "out.json"]


COMMANDS = (
    ("--help",),
    ("--version",),
    ("explain",),
    ("arch", "list"),
    ("arch", "show", "h100-sxm"),
    ("check", "mm.alir"),
    ("check", "--json", "mm.alir"),
    ("fmt", "--stdout", "mm.alir"),
    ("lift", "mm.alir"),
    ("analyze", "mm.alir", *ARCH),
    ("analyze", "mm.alir", *ARCH, "--json", "-"),
    ("inverse", "mm.alir", "--rate", "500Hz"),
)


@pytest.mark.parametrize("redirect", [">/dev/full", ">&-"])
def test_standard_output_that_cannot_be_written(solar: Solar, mm: str, redirect: str) -> None:
    for command in COMMANDS:
        ran = run(solar, *command, redirect=redirect)
        assert (command, ran.code) == (command, PROBLEM)
        assert "error[output-file]" in ran.err


def test_a_closed_pipe_is_an_error_and_not_a_crash(solar: Solar, mm: str) -> None:
    for command in COMMANDS:
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(
            [solar.binary, *command],
            env=solar.environment(),
            cwd=solar.directory,
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        os.close(writing)
        assert (command, done.returncode) == (command, PROBLEM)
        assert "Broken pipe" in done.stderr


@pytest.mark.parametrize("redirect", ["<&-", "2>&-", "2>/dev/full", "<&- 2>&-"])
def test_other_descriptors_may_be_closed(solar: Solar, mm: str, redirect: str) -> None:
    assert json.loads(run(solar, "analyze", mm, *ARCH, "--json", "-", redirect=redirect).out)["totals"]["macs"] == 512
    assert run(solar, "analyze", "none.alir", *ARCH, redirect=redirect).code == PROBLEM
    assert run(solar, "analyze", mm, redirect=redirect).code == USAGE


# Architecture files.


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "`name` is missing"),
        (bytes(range(256)), "not valid TOML"),
        (b'extends = "h100-sxm"\nname = "x\0"\n', "my.toml:2:"),
        (b'extends = "h100-sxm"\nname = "\xff"\n', "my.toml:2:"),
        (b'extends = "my.toml"\n', "extends itself"),
        (b'extends = "h100"\n', "did you mean `h100-pcie` or `h100-sxm`?"),
        (b'extends = "h100-sxm"\n[foo]\nbar = 3\n', "`foo.bar` is not a key"),
        (b"a = " + b"[" * 20_000, "not valid TOML"),
    ],
)
def test_broken_architecture_files(solar: Solar, mm: str, tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "my.toml").write_bytes(content)
    for command in (("arch", "check", "./my.toml"), ("analyze", mm, "--arch", "./my.toml")):
        ran = run(solar, *command)
        assert (ran.code, ran.out) == (PROBLEM, "")
        assert said in ran.err


# The program's own surroundings.


@pytest.mark.parametrize("command", [("arch", "list"), ("arch", "check", "a6000"), ("analyze", "mm.alir", *ARCH)])
def test_a_wrong_root_is_named(solar: Solar, mm: str, command: tuple[str, ...]) -> None:
    ran = run(solar, *command, environment={"SOLAR_ROOT": "/no/such/root"})
    assert ran.code == USAGE
    assert "SOLAR_ROOT is `/no/such/root`" in ran.err
    assert run(solar, "check", mm, environment={"SOLAR_ROOT": "/no/such/root"}).code == DONE


def test_a_binary_without_its_root_says_so(solar: Solar, mm: str, tmp_path: Path) -> None:
    alone = tmp_path / "bin" / "solar"
    alone.parent.mkdir()
    alone.write_bytes(solar.binary.read_bytes())
    alone.chmod(0o755)
    ran = run(Solar(alone, tmp_path), "analyze", mm, *ARCH, environment={"SOLAR_ROOT": ""})
    assert ran.code == USAGE
    assert "set SOLAR_ROOT" in ran.err
    assert "//" not in ran.err


@pytest.mark.parametrize(
    ("python", "said"),
    [
        ("/no/such/python", "cannot run the Python interpreter `/no/such/python`"),
        ("/bin/true", "ended with status 0"),
        ("/dev/null", "cannot run the Python interpreter"),
    ],
)
def test_interpreters_that_are_none(solar: Solar, tmp_path: Path, python: str, said: str) -> None:
    (tmp_path / "m.py").write_text("import torch\n")
    ran = run(solar, "analyze", "m.py", *ARCH, environment={"SOLAR_PYTHON": python})
    assert ran.code == PROBLEM
    assert said in ran.err
    assert "Python 3.11" in ran.err


@pytest.mark.parametrize("error", ["ImportError('no torch here')", "OSError('libtorch.so: cannot open')"])
def test_a_python_without_the_framework(solar: Solar, tmp_path: Path, error: str) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "torch.py").write_text(f"raise {error}\n")
    (tmp_path / "m.py").write_text("import torch\n")
    ran = run(solar, "analyze", "m.py", *ARCH, environment={"PYTHONPATH": str(tmp_path / "site")})
    assert ran.code == PROBLEM
    assert "error[no-framework]" in ran.err
    assert error.partition("'")[2].partition("'")[0] in ran.err
    assert "pip install torch" in ran.err


# Python sources. Each case costs an import of the framework.

SOURCE = """\
import os, sys, threading, time
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        {constructor}

    def forward(self, x):
        {forward}


def get_inputs():
    return [torch.randn({sizes})]
"""


@dataclass(frozen=True)
class Case:
    """A Python source and what must become of it."""

    code: int
    said: tuple[str, ...]
    constructor: str = "pass"
    forward: str = "return x.relu()"
    sizes: str = "4, 8"
    before: str = ""
    text: bytes | None = None
    name: str = "model.py"
    options: tuple[str, ...] = field(default=())


AWKWARD = (
    "print('said', flush=True); os.write(1, b'raw'); os.fork(); "
    "threading.Thread(target=time.sleep, args=(1000,), daemon=True).start(); return x.relu()"
)

CASES = {
    "syntax error": Case(
        PROBLEM, ("model.py:2:", "error[source-file]", "syntax error"), text=b"import torch\ndef f(:\n"
    ),
    "binary": Case(PROBLEM, ("error[source-file]", "model.py"), text=b"\x7fELF\0\xff\xfe"),
    "no model": Case(PROBLEM, ("error[source-form]", "`Model`", "defined are: net"), text=b"net = 3\n"),
    "relative import": Case(PROBLEM, ("model.py:1:", "not `from . import x`"), before="from . import helper\n"),
    "constructor raises": Case(
        PROBLEM,
        ("model.py:8:", "error[source-raised]: constructing `Model` raised ValueError: no \\x1b[31m luck"),
        constructor="raise ValueError('no \\x1b[31m luck \\udcff')",
    ),
    "forward raises": Case(PROBLEM, ("model.py:11:", "`forward` raised KeyError: 'k'"), forward="raise KeyError('k')"),
    "forward ends": Case(PROBLEM, ("model.py:11:", "`forward` raised SystemExit"), forward="sys.exit(0)"),
    "process ends": Case(PROBLEM, ("error[worker-failed]", "ended the process (exit status 0)"), forward="os._exit(0)"),
    "zygote killed": Case(
        PROBLEM, ("error[worker-failed]", "was killed by signal 9"), forward="os.kill(os.getppid(), 9); time.sleep(9)"
    ),
    "hangs": Case(
        LIMIT,
        ("error[worker-limit]", "tracing the program ran longer than 2 s"),
        forward="time.sleep(1000)",
        options=("--timeout", "2"),
    ),
    "eats memory": Case(
        LIMIT, ("error[worker-limit]", "needs more memory than it may use"), forward="x = bytearray(1 << 45)"
    ),
    "no tensor": Case(PROBLEM, ("model.py:10:", "`forward` returned a str"), forward="return 'text'"),
    "unsupported": Case(
        PROBLEM,
        ("model.py:11:", "error[unsupported-operator]", "aten.linalg_svd", "f32[4, 8]"),
        forward="return torch.linalg.svd(x)[1]",
    ),
    "zero": Case(PROBLEM, ("input `x`: a tensor of shape [0, 8] has no elements",), sizes="0, 8"),
    "negative": Case(PROBLEM, ("model.py:15:", "a tensor cannot have -4 elements along an axis"), sizes="-4, 8"),
    "awkward": Case(DONE, (), before="import helper\n", forward=AWKWARD, name="my folder/my model.py"),
}


@dataclass(frozen=True)
class Outcome:
    """A case's run, and what it left."""

    ran: Ran
    files: list[str]
    alive: list[int]


def marked(mark: str) -> list[int]:
    """Processes that were started with `mark` in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def play(binary: Path, folder: Path, case: Case) -> Outcome:
    """Runs one case with files and processes counted."""
    source = folder / "source" / case.name
    source.parent.mkdir(parents=True)
    (source.parent / "helper.py").write_text("VALUE = 3\n")
    text = SOURCE.format(constructor=case.constructor, forward=case.forward, sizes=case.sizes)
    source.write_bytes(case.text if case.text is not None else (case.before + text).encode())
    for name in ("work", "tmp"):
        (folder / name).mkdir()
    mark = f"SOLAR_TEST_{uuid.uuid4().hex}"
    options = case.options or ("--timeout", "200")
    environment = {mark: "1", "TMPDIR": str(folder / "tmp"), "PYTHONDONTWRITEBYTECODE": "1"}
    solar = Solar(binary, folder / "work")
    output = "-" if case.code == DONE else "out.json"
    ran = run(solar, "analyze", source, *ARCH, "--json", output, *options, environment=environment)
    left = [entry.name for name in ("work", "tmp") for entry in (folder / name).iterdir()]
    left = [name for name in left if not name.startswith("torchinductor")]  # torch makes it when it is imported
    return Outcome(ran, left, marked(mark))


@pytest.fixture(scope="module")
def outcomes(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome | AssertionError]:
    """All cases, side by side."""

    def attempt(case: Case) -> Outcome | AssertionError:
        try:
            return play(binary, tmp_path_factory.mktemp("case"), case)
        except AssertionError as error:
            return error

    with ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0))) as pool:
        return dict(zip(CASES, pool.map(attempt, CASES.values()), strict=True))


@pytest.mark.parametrize("name", CASES)
def test_python_sources(outcomes: dict[str, Outcome | AssertionError], name: str) -> None:
    case, outcome = CASES[name], outcomes[name]
    if isinstance(outcome, AssertionError):
        raise outcome
    assert outcome.ran.code == case.code, outcome.ran
    for words in case.said:
        assert words in outcome.ran.err
    assert str(ROOT / "python") not in outcome.ran.err, "a place in our own code is no help"
    assert outcome.files == []
    assert outcome.alive == []


def test_a_program_that_prints_and_forks_is_analysed(outcomes: dict[str, Outcome | AssertionError]) -> None:
    """What it prints stays out of the report; a copy of it that returns does not count."""
    outcome = outcomes["awkward"]
    assert isinstance(outcome, Outcome)
    report = json.loads(outcome.ran.out)
    assert report["validation"]["status"] == "passed"
    assert report["source"].endswith("my folder/my model.py")


def test_source_names_that_cannot_be_sent_to_a_worker(solar: Solar, tmp_path: Path) -> None:
    name = os.fsdecode(b"m\xff.py")
    (tmp_path / name).write_text("import torch\n")
    ran = run(solar, "analyze", name, *ARCH)
    assert ran.code == PROBLEM
    assert "is not UTF-8" in ran.err
