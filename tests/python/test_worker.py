"""Workers: what they refuse, what they survive, and that nothing is left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from solar.problems import display_path
from zygote_client import COMMAND, ENVIRONMENT, ROOT, Zygote, alive, ends, wait_for_file

GOOD = """
    import torch
    from torch import nn
    N = 3
    class Model(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.fc = nn.Linear(width, 2)
        def forward(self, x):
            return self.fc(x)
    def get_inputs():
        return [torch.randn(N, 4)]
    def get_init_inputs():
        return [4]
"""
FORWARD = """
    import os, sys, subprocess, time
    import torch
    from torch import nn
    class Model(nn.Module):
        def forward(self, x):
            {}
    def get_inputs():
        return [torch.randn(2, 3)]
"""
PORTS = [
    {"name": "x", "role": "input", "index": 0},
    {"name": "fc_weight", "role": "param", "key": "fc.weight"},
    {"name": "fc_bias", "role": "param", "key": "fc.bias"},
]
X = [{"name": "x", "role": "input", "index": 0}]

Write = Callable[[str], Path]


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    client = Zygote()
    yield client
    assert client.close() == 0


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def make(text: str, name: str = "model.py") -> Path:
        path = tmp_path / name
        path.write_text(textwrap.dedent(text))
        return path

    return make


def only(answer: dict[str, Any]) -> dict[str, Any]:
    assert not answer["ok"], answer
    assert len(answer["problems"]) == 1, answer["problems"]
    return answer["problems"][0]


def line_of(path: Path, text: str) -> int:
    return next(i for i, line in enumerate(path.read_text().splitlines(), 1) if text in line)


def test_hello_names_the_versions(zygote: Zygote) -> None:
    assert zygote.hello["event"] == "hello"
    assert zygote.hello["torch"].startswith("2.")
    assert zygote.hello["problem"] == ""


def test_a_good_source_is_traced_and_run(zygote: Zygote, write: Write, tmp_path: Path) -> None:
    source = write(GOOD)
    traced = zygote.ask("trace", source, out=str(tmp_path / "m.alir"))
    assert traced["ok"], traced
    assert Path(traced["result"]["alir"]).read_text().lstrip().startswith(("program", "#"))
    assert traced["result"]["mode"] == "train"
    assert {port["role"] for port in traced["result"]["ports"]} == {"input", "param"}
    out = tmp_path / "g.safetensors"
    golden = zygote.ask("golden", source, ports=traced["result"]["ports"], want_f64=True, out=str(out))
    assert golden["ok"], golden
    from solar.tensorfile import read_tensors

    tensors = read_tensors(str(out))
    names = {port["key"]: port["name"] for port in traced["result"]["ports"]}
    x = next(tensors[f"in/{port['name']}"] for port in traced["result"]["ports"] if port["role"] == "input")
    weight, bias = tensors[f"in/{names['fc.weight']}"], tensors[f"in/{names['fc.bias']}"]
    assert (x @ weight.T + bias - tensors["out/0"]).abs().max() < 1e-5
    assert str(tensors["f64/0"].dtype) == "torch.float64"
    steps = json.loads(Path(traced["result"]["steps"]).read_text())
    nodes = [step["node"] for step in steps]
    inside = zygote.ask("steps", source, ports=traced["result"]["ports"], nodes=nodes, out=str(tmp_path / "s"))
    assert inside["ok"], inside
    values = read_tensors(str(tmp_path / "s"))
    assert bool((values[f"node/{nodes[-1]}/0"] == tensors["out/0"]).all())
    assert bool((values["in/" + names["fc.weight"]] == weight).all())
    names_here = sorted(p.name for p in tmp_path.iterdir())
    assert names_here == ["g.safetensors", "m.alir", "m.alir.steps.json", "model.py", "s"]


@pytest.mark.parametrize(
    ("text", "kind", "said", "line"),
    [
        ("def broken(:\n    pass\n", "source-file", "syntax error", "def broken"),
        ("import torch\ndef helper():\n    pass\nN = 3\n", "source-form", "Model", ""),
        ("import no_such_package_here\n", "source-raised", "no_such_package_here", "import no_such"),
        (GOOD.replace("self.fc = ", "raise ValueError('too wide'); self.fc = "), "source-raised", "too wide", "raise"),
        (GOOD.replace("return self.fc(x)", "return self.fc(x.t())"), "source-raised", "`forward`", "x.t()"),
        (GOOD.replace("return [torch.randn(N, 4)]", "raise KeyError('k')"), "source-raised", "get_inputs", "raise"),
        (GOOD.replace("return [torch.randn(N, 4)]", "return 7"), "source-form", "returned a int", ""),
        (GOOD.replace("torch.randn(N, 4)]", "torch.randn(N, 4), 1, 2]"), "source-form", "do not fit", ""),
        (GOOD.replace("def get_inputs", "def other"), "source-form", "get_inputs", ""),
        (GOOD.replace("class Model(nn.Module)", "class Model"), "source-form", "not a subclass", "class Model"),
        (GOOD.replace("return self.fc(x)", "return 'text'"), "source-form", "returned a str", "def forward"),
        (GOOD.replace("N = 3", "import sys; sys.exit(4)"), "source-raised", "SystemExit", "sys.exit"),
    ],
)
@pytest.mark.parametrize("do", ["trace", "golden"])
def test_bad_sources_are_explained(
    zygote: Zygote, write: Write, tmp_path: Path, do: str, text: str, kind: str, said: str, line: str
) -> None:
    source = write(text)
    problem = only(zygote.ask(do, source, ports=PORTS, out=str(tmp_path / "out")))
    assert (problem["kind"], said in problem["message"]) == (kind, True), problem
    assert problem["file"] == str(source)
    if line:
        assert problem["line"] == line_of(source, line), problem
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.py"]


def test_a_missing_model_lists_what_there_is(zygote: Zygote, write: Write) -> None:
    source = write(GOOD.replace("class Model", "class Net"))
    assert only(zygote.ask("trace", source, out="/dev/null"))["hint"] == f"use {display_path(str(source))}:Net"


def test_functions_of_a_file_without_a_model_are_offered(zygote: Zygote, write: Write) -> None:
    source = write("import torch\nfrom math import sqrt\nN = 3\ndef f(x):\n    return x\ndef g(x):\n    return x\n")
    path = display_path(str(source))
    problem = only(zygote.ask("trace", source, out="/dev/null"))
    assert problem["hint"] == f"use {path}:f or {path}:g, with an `example_args()` that returns its inputs"


@pytest.mark.parametrize(
    ("name", "said"), [("missing.py", "no such file"), (".", "not a file"), ("weights.bin", "unknown kind")]
)
@pytest.mark.parametrize("do", ["inspect", "trace", "golden"])
def test_files_that_are_no_source(zygote: Zygote, tmp_path: Path, do: str, name: str, said: str) -> None:
    (tmp_path / "weights.bin").write_bytes(b"\0\1")
    problem = only(zygote.ask(do, tmp_path / name, ports=[], out=str(tmp_path / "o")))
    assert problem["kind"] == "source-file"
    assert said in problem["message"]


def test_a_program_that_hangs_is_stopped_where_it_hangs(zygote: Zygote, write: Write, tmp_path: Path) -> None:
    source = write(FORWARD.format("time.sleep(1000)  # here"))
    answer = zygote.ask("golden", source, ports=X, out=str(tmp_path / "o"), limits={"wall_seconds": 6})
    problem = only(answer)
    assert problem["kind"] == "worker-limit"
    assert "ran longer than 6 s" in problem["message"]
    assert (problem["file"], problem["line"]) == (str(source), line_of(source, "# here"))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.py"]


def test_a_program_that_eats_memory_is_stopped(zygote: Zygote, write: Write, tmp_path: Path) -> None:
    source = write(FORWARD.format("kept = [torch.ones(1 << 22) for _ in range(1000)]; return x"))
    answer = zygote.ask("golden", source, ports=X, out=str(tmp_path / "o"), limits={"memory_bytes": 1 << 30})
    problem = only(answer)
    assert problem["kind"] == "worker-limit"
    assert "more than 1 GiB" in problem["message"]
    assert answer["peak_rss"] < 3 << 30


def test_an_allocation_that_cannot_succeed_is_a_limit(zygote: Zygote, write: Write, tmp_path: Path) -> None:
    source = write(FORWARD.format("return torch.empty(1 << 45)"))
    problem = only(zygote.ask("golden", source, ports=X, out=str(tmp_path / "o")))
    assert problem["kind"] == "worker-limit"
    assert problem["line"] == line_of(source, "1 << 45")


def test_a_program_that_forks_without_end_is_stopped(zygote: Zygote, write: Write, tmp_path: Path) -> None:
    body = "[subprocess.Popen(['sleep', '1000']) for _ in range(60)]; time.sleep(100)"
    source = write(FORWARD.format(body))
    problem = only(zygote.ask("golden", source, ports=X, out=str(tmp_path / "o"), limits={"processes": 8}))
    assert problem["kind"] == "worker-limit"
    assert "more than 8 processes" in problem["message"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("os._exit(0)", "ended the process (exit status 0)"),
        ("os.abort()", "crashed with SIGABRT"),
        ("import ctypes; ctypes.string_at(8)", "crashed with SIGSEGV"),
        ("os.kill(os.getpid(), 9)", "crashed with SIGKILL"),
    ],
)
def test_a_crash_costs_only_its_worker(zygote: Zygote, write: Write, tmp_path: Path, body: str, said: str) -> None:
    source = write(FORWARD.format(body))
    problem = only(zygote.ask("golden", source, ports=X, out=str(tmp_path / "o")))
    assert problem["kind"] == "worker-failed"
    assert said in problem["message"]
    assert zygote.ask("inspect", write(GOOD))["ok"]


def test_closed_descriptors_do_not_hurt_the_zygote(zygote: Zygote, write: Write, tmp_path: Path) -> None:
    source = write(FORWARD.format("os.closerange(0, 1000); return x"))
    assert only(zygote.ask("golden", source, ports=X, out=str(tmp_path / "o")))["kind"] == "worker-failed"
    assert zygote.ask("inspect", write(GOOD))["ok"]


def test_what_the_program_prints_is_kept_apart(zygote: Zygote, write: Write, tmp_path: Path) -> None:
    source = write(FORWARD.format("print('{}' * 100000, flush=True); os.write(1, b'raw'); raise ValueError('end')"))
    answer = zygote.ask("golden", source, ports=X, out=str(tmp_path / "o"))
    assert only(answer)["kind"] == "source-raised"
    assert answer["log"].endswith("raw")
    assert len(answer["log"]) < 100000


def test_the_network_is_out_of_reach(zygote: Zygote, write: Write, tmp_path: Path) -> None:
    source = write(FORWARD.format("import socket; raise ValueError(str(socket.if_nameindex()))"))
    answer = zygote.ask("golden", source, ports=X, out=str(tmp_path / "o"))
    names = only(answer)["message"]
    assert answer["isolated"] == zygote.hello["isolated"]
    if answer["isolated"]:
        assert "'lo'" in names
        assert names.count("(") == 1


def test_detached_processes_do_not_outlive_the_request(zygote: Zygote, write: Write, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    start = f"subprocess.Popen('echo $$ >{note}; exec sleep 1000', shell=True, start_new_session=True)"
    source = write(FORWARD.format(f"{start}; time.sleep(0.5); return x"))
    assert zygote.ask("golden", source, ports=X, out=str(tmp_path / "o"))["ok"]
    assert ends([int(wait_for_file(note))])


def test_requests_run_side_by_side_and_can_be_cancelled(write: Write, tmp_path: Path) -> None:
    client = Zygote()
    note = tmp_path / "pid"
    body = f"open({str(note)!r}, 'w').write(str(os.getpid()) + chr(10)); time.sleep(1000)"
    hanging = write(FORWARD.format(body))
    first = client.send(do="golden", source=str(hanging), ports=X, out=str(tmp_path / "o"))
    pid = int(wait_for_file(note))
    client.process.stdin.write(b'{"id":%d,"do":"cancel"}\n' % first)
    client.process.stdin.flush()
    answer = client.answer()
    assert (answer["id"], only(answer)["kind"]) == (first, "interrupted")
    assert ends([pid])
    assert client.close() == 0


def test_an_unwritable_output_is_an_error(zygote: Zygote, write: Write) -> None:
    problem = only(zygote.ask("golden", write(GOOD), ports=PORTS, out="/no/such/folder/g"))
    assert problem["kind"] == "output-file"
    assert "/no/such/folder/g" in problem["message"]


def test_an_output_that_cannot_grow_is_an_error(zygote: Zygote, write: Write, tmp_path: Path) -> None:
    source = write(FORWARD.format("import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1)); return x"))
    problem = only(zygote.ask("golden", source, ports=X, out=str(tmp_path / "o")))
    assert problem["kind"] == "output-file"
    assert problem["message"] == f"cannot write {tmp_path / 'o'}: File too large"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.py"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_process_outlives_its_client(write: Write, tmp_path: Path, number: signal.Signals) -> None:
    """The client is killed in the middle of a request whose program has a child of its own."""
    note = tmp_path / "pids"
    start = "child = subprocess.Popen(['sleep', '1000'], start_new_session=True)"
    tell = f"open({str(note)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}' + chr(10))"
    source = write(FORWARD.format(f"{start}; {tell}; time.sleep(1000)"))
    script = textwrap.dedent(f"""
        import sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from zygote_client import Zygote
        client = Zygote()
        print(client.process.pid, flush=True)
        client.ask("golden", {str(source)!r}, ports=[], out={str(tmp_path / "o")!r})
    """)
    client = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    zygote_pid = int(client.stdout.readline())
    pids = [zygote_pid, *map(int, wait_for_file(note).split())]
    assert all(alive(pid) for pid in pids)
    client.send_signal(number)
    client.wait(timeout=300)
    client.stdout.close()
    assert ends(pids)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.py", "pids"]


def test_workers_die_with_a_killed_zygote(write: Write, tmp_path: Path) -> None:
    client = Zygote()
    note = tmp_path / "pid"
    body = f"open({str(note)!r}, 'w').write(str(os.getpid()) + chr(10)); time.sleep(1000)"
    client.send(do="golden", source=str(write(FORWARD.format(body))), ports=X, out=str(tmp_path / "o"))
    pid = int(wait_for_file(note))
    client.process.kill()
    assert ends([pid])
    client.process.wait()


def test_a_missing_framework_is_reported_per_request(write: Write, tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('no torch in this environment')\n")
    environment = {**ENVIRONMENT, "PYTHONPATH": f"{tmp_path}:{ROOT / 'python'}"}
    source = write(GOOD)
    requests = f'{{"id":1,"do":"trace","source":"{source}","out":"o"}}\n{{"id":2,"do":"inspect","source":"{source}"}}\n'
    process = subprocess.Popen(COMMAND, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    killer = threading.Timer(60, process.kill)
    killer.start()
    process.stdin.write(requests)
    process.stdin.flush()
    import json

    messages = []
    while sum(m["event"] == "done" for m in messages) < 2:
        messages.append(json.loads(process.stdout.readline()))
    killer.cancel()
    process.communicate()
    answers = {m["id"]: m for m in messages if m["event"] == "done"}
    problem = only(answers[1])
    assert (problem["kind"], problem["hint"]) == (
        "no-framework",
        f"{sys.executable} -m pip install torch==2.13.0",
    )
    assert answers[2]["ok"]
    assert os.path.exists(source)
