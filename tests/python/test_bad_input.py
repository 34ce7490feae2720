"""Bad options, files and texts at the command line: a clear error and the right exit code, never a crash.

Nothing here starts a worker; test_bad_sources.py has what does.
"""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest
from attempts import ARCH, DONE, LIMIT, PROBLEM, USAGE, run
from conftest import Solar

if TYPE_CHECKING:
    from pathlib import Path

MATMUL = """\
program mm(input a: f32[M, K], param b: f32[K, N]) -> (c) {
  dims M = 4, K = 8, N = 16, P = M*2
  kernel c: f32[M, N] { for m:M, n:N, k:K   c[m, n] += a[m, k] * b[k, n] }
}
"""


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
        ("analyze mm.alir --arch a6000 --params melted", USAGE, "runtime or frozen"),
        ("analyze mm.alir --arch a6000 --params frozen --no-algebra", USAGE, "leave `--no-algebra` out"),
        ("inverse mm.alir --target 1ms --params frozen", USAGE, "`solar analyze` has it"),
        ("analyze mm.alir --arch a6000 --cache hot", USAGE, "unknown cache state `hot`"),
        ("analyze mm.alir --arch gaudi-3 --cache warm", PROBLEM, "error[missing-capacity]"),
        ("inverse mm.alir --target 1ms --cache warm", USAGE, "depends on what the cache holds"),
        ("analyze mm.alir --arch a6000 --sparsity 1:2", USAGE, "none or 2:4"),
        ("analyze mm.alir --arch a6000 --storage f4", USAGE, "unknown storage `f4`"),
        ("analyze mm.alir --arch a6000 --storage weights=bf16", USAGE, "params=, state=, activations="),
        ("analyze mm.alir --arch a6000 --no-validate --require-validated", USAGE, "exclude each other"),
        ("analyze mm.alir --arch a6000 --bind M", USAGE, "`--bind M` is not NAME=INTEGER"),
        ("analyze mm.alir --arch a6000 --bind =4", USAGE, "is not NAME=INTEGER"),
        ("analyze mm.alir --arch a6000 --bind M=4x", USAGE, "is not NAME=INTEGER"),
        ("analyze mm.alir --arch a6000 --bind M=0", PROBLEM, "the extent is M = 0, it must be at least 1"),
        ("analyze mm.alir --arch a6000 --bind M=-4", PROBLEM, "the extent is M = -4, it must be at least 1"),
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
        ("check mm.alir --set M=3", USAGE, "name it with --against"),
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


SUBCOMMANDS = (
    "analyze", "compare", "inverse", "trace", "check", "run", "lift", "fmt", "fix", "arch", "arch show", "explain",
    "doctor", "suite", "sweep", "score", "headroom", "flops",
)  # fmt: skip


@pytest.mark.parametrize("command", SUBCOMMANDS)
def test_help_is_readable(solar: Solar, command: str) -> None:
    ran = run(solar, *command.split(), "--help")
    assert ran.code == DONE
    for sign in ("ENUM", " in {", ":{", "->", "FLOAT", "INT:", "NUMBER"):
        assert sign not in ran.out
    if "FILE.py" in ran.out:
        assert "FILE.py, FILE.py:NAME, FILE.pt2" in ran.out
        assert "hf:MODEL" in ran.out


def test_choices_are_named(solar: Solar, mm: str) -> None:
    assert "--fail-on suspicious|impossible|never" in run(solar, "score", "--help").out
    assert "--sort params|macs|macs_useful|bytes" in run(solar, "flops", "--help").out
    ran = run(solar, "flops", mm, "--sort", "size")
    assert ran.code == USAGE
    assert "--sort: `size` is not `params`, `macs`, `macs_useful` or `bytes`" in ran.err
    ran = run(solar, "suite", mm, "--jobs", "0")
    assert ran.code == USAGE
    assert "not in range" in ran.err


def test_times_may_be_picoseconds(solar: Solar, mm: str) -> None:
    assert run(solar, "inverse", mm, "--target", "900ps").code == DONE
    assert "ps, ns, us, ms, s, min, h" in run(solar, "inverse", mm, "--target", "9fs").err


def test_repeated_architectures_count_once(solar: Solar, mm: str) -> None:
    ran = run(solar, "analyze", mm, "--arch", "h100-sxm,a6000,h100-sxm", "--json", "-")
    assert [b["arch"] for b in json.loads(ran.out)["bounds"]] == ["h100-sxm"] * 3 + ["a6000"] * 3


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
    assert "bytes (1.229e+04 GiB), the limit is 10737418240 (10 GiB)" in ran.err
    assert "raise --memory-limit" in ran.err


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


def test_named_pipes_are_refused_and_named(solar: Solar, mm: str, tmp_path: Path) -> None:
    names = ("p.alir", "p.py", "p.pt2", "p.npz", "p.safetensors", "p.toml", "p.json")
    for name in names:
        os.mkfifo(tmp_path / name)
    for arguments in (
        *(("analyze", name, *ARCH) for name in ("p.alir", "p.py", "p.py:f", "p.pt2")),
        *((command, "p.alir") for command in ("check", "fmt", "fix", "lift", "run")),
        ("check", mm, "--against", "p.py"),
        ("analyze", mm, "--arch", "./p.toml"),
        ("arch", "show", "./p.toml"),
        *(("run", mm, "--inputs", name) for name in ("p.npz", "p.safetensors")),
        ("trace", "p.py", "-o", "-"),
        ("flops", "p.py"),
    ):
        ran = run(solar, *arguments)
        assert ran.code == PROBLEM, ran
        assert "a named pipe" in ran.err, ran
    ran = run(solar, "suite", mm, *ARCH, "--out", "measured")
    assert ran.code == DONE, ran
    ran = run(solar, "headroom", "measured", "--measured", "p.json")
    assert (ran.code, "it is a named pipe" in ran.err) == (PROBLEM, True), ran


def test_what_a_shell_pipes_in_is_read(solar: Solar, mm: str) -> None:
    done = subprocess.run(
        ["bash", "-c", f'"$0" check <(sleep 0.3; cat {mm})', solar.binary],
        env=solar.environment(), cwd=solar.directory, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


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
