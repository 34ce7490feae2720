"""Hostile Python sources at the command line: run once, side by side, with what they leave behind counted."""

from __future__ import annotations

import json
import os
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from attempts import ARCH, DONE, LIMIT, PROBLEM, Ran, run
from conftest import ROOT, Solar

SOURCE = """\
import os, sys, threading, time
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        {constructor}

    def forward(self, x, y=None):
        {forward}


def get_inputs():
    return [torch.randn({sizes})]
"""

MUTE = """class Mute(Exception):
    def __str__(self): raise SystemExit(7)
    __repr__ = __str__
"""
NESTED = """import torch
def make(layout):
    return torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(3, 3)], layout=layout)
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
    "mute exception": Case(
        PROBLEM,
        ("model.py:14:", "`forward` raised Mute: (its message cannot be shown: `__str__` raised SystemExit)"),
        before=MUTE,
        forward="raise Mute()",
    ),
    "mute constructor": Case(PROBLEM, ("constructing `Model` raised Mute",), before=MUTE, constructor="raise Mute()"),
    "mute file": Case(PROBLEM, ("running the file raised Mute",), before=MUTE + "raise Mute()\n"),
    "sparse": Case(PROBLEM, ("input `x` is sparse (torch.sparse_coo)",), sizes="4, 8).to_sparse("),
    "sparse rows": Case(PROBLEM, ("input `x` is sparse (torch.sparse_csr)",), sizes="4, 8).to_sparse_csr("),
    "opaque": Case(PROBLEM, ("a tensor of `get_inputs()` is opaque",), sizes="4, 8).to_mkldnn("),
    "nested": Case(
        PROBLEM, ("a tensor of `get_inputs()` is nested",), before=NESTED, sizes="4, 8), make(torch.strided"
    ),
    "jagged": Case(PROBLEM, ("input `y` is nested",), before=NESTED, sizes="4, 8), make(torch.jagged"),
    "quantized": Case(
        PROBLEM,
        ("aten.dequantize", "trace the model before it is quantized"),
        before="import torch\ndef make(): return torch.quantize_per_tensor(torch.ones(4), 0.1, 0, torch.quint8)\n",
        forward="return y.dequantize() + x[0, :4]",
        sizes="4, 8), make(",
    ),
    "sparse buffer": Case(
        PROBLEM,
        ("buffer `e` is sparse (torch.sparse_coo)",),
        constructor="self.register_buffer('e', torch.eye(4).to_sparse())",
    ),
    "on meta": Case(PROBLEM, ("`in/x` cannot be compared: it is on the device `meta`",), sizes="4, 8, device='meta'"),
    "to meta": Case(PROBLEM, ("`out/0` cannot be compared",), forward="return x.to('meta')"),
    "forward ends": Case(PROBLEM, ("model.py:11:", "`forward` raised SystemExit"), forward="sys.exit(0)"),
    "process ends": Case(PROBLEM, ("error[worker-failed]", "ended the process (exit status 0)"), forward="os._exit(0)"),
    "zygote killed": Case(
        PROBLEM, ("error[worker-failed]", "was killed by signal 9"), forward="os.kill(os.getppid(), 9); time.sleep(9)"
    ),
    "hangs": Case(
        LIMIT,
        ("error[worker-limit]", "tracing the program ran longer than 2 s", "`--timeout` is the limit"),
        forward="time.sleep(1000)",
        options=("--timeout", "2"),
    ),
    "eats memory": Case(
        LIMIT,
        ("error[worker-limit]", "needs more memory than it may use, where all may be ", "raise `--memory-limit`"),
        forward="x = bytearray(1 << 45)",
    ),
    "eats memory of torch": Case(
        LIMIT,
        ("error[worker-limit]", "needs more memory than it may use: 3.277e+04 GiB at once", "raise `--memory-limit`"),
        forward="x = torch.UntypedStorage(1 << 45)",
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
