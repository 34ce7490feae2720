"""The PyTorch tracer: its text for small programs, and what it does at the edges."""

import os
import re
import textwrap
from pathlib import Path

import pytest
import torch
from conftest import Solar
from solar.frontends.torch import TraceResult, trace
from solar.frontends.torch.reshaping import refine
from solar.problems import SourceError
from solar.sources import load
from torch import nn

GOLDEN = Path(__file__).parents[1] / "golden" / "frontends" / "torch"
PROGRAMS = sorted(path.stem for path in GOLDEN.glob("*.py"))
UPDATE = "SOLAR_UPDATE_GOLDENS" in os.environ


def trace_text(folder: Path, body: str, inputs: str = "[torch.randn(2, 3)]") -> TraceResult:
    """Traces a file with the given class body (or bare statements of `forward(self, x)`)."""
    body = textwrap.dedent(body).strip()
    if "def forward" not in body:
        body = "def forward(self, x):\n" + textwrap.indent(body, "    ")
    text = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\nclass Model(nn.Module):\n"
    text += textwrap.indent(body, "    ")
    text += f"\n\n\ndef get_inputs():\n    return {inputs}\n"
    path = folder / "program.py"
    path.write_text(text)
    return trace(load(str(path), {}, fake=True))


def operators(result: TraceResult) -> list[str]:
    return re.findall(r'op "([^"]+)"', result.text)


def ports(result: TraceResult) -> dict[str, str]:
    return {port.name: port.role for port in result.ports}


@pytest.mark.parametrize("name", PROGRAMS)
def test_text_is_as_recorded(name: str) -> None:
    """SOLAR_UPDATE_GOLDENS=1 rewrites the recorded texts; read the difference before committing it."""
    result = trace(load(str(GOLDEN / f"{name}.py"), {}, fake=True))
    recorded = GOLDEN / f"{name}.alir"
    if UPDATE:
        recorded.write_text(result.text)
    assert result.text == recorded.read_text()


@pytest.mark.parametrize("name", PROGRAMS)
def test_recorded_text_is_verified(name: str, solar) -> None:
    done = solar("check", GOLDEN / f"{name}.alir")
    assert done.returncode == 0, done.stdout + done.stderr


def test_ports_name_their_tensors(tmp_path: Path) -> None:
    body = """
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
        self.table = torch.arange(20.0).reshape(20, 1)
        self.eval()
    def forward(self, x, *, y=None):
        return self.net(x) + y, self.table + 1
    """
    result = trace_text(tmp_path, body, "{'x': torch.randn(2, 3), 'y': torch.randn(3)}")
    found = {port.name: (port.role, port.key, port.index) for port in result.ports}
    assert found == {
        "x": ("input", None, 0),
        "y": ("input", None, 1),
        "net_0_weight": ("param", "net.0.weight", None),
        "net_0_bias": ("param", "net.0.bias", None),
        "net_1_weight": ("param", "net.1.weight", None),
        "net_1_bias": ("param", "net.1.bias", None),
        "net_1_running_mean": ("buffer", "net.1.running_mean", None),
        "net_1_running_var": ("buffer", "net.1.running_var", None),
        "table": ("buffer", "table", None),
    }
    assert result.mode == "eval"
    assert len(result.outputs) == 2


def test_shared_and_tied_parameters_are_one_port(tmp_path: Path) -> None:
    body = """
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 3, bias=False)
        self.b = nn.Linear(3, 3, bias=False)
        self.b.weight = self.a.weight
        self.c = self.a
    def forward(self, x):
        return self.c(self.b(self.a(x)))
    """
    result = trace_text(tmp_path, body)
    assert ports(result) == {"x": "input", "a_weight": "param"}
    assert operators(result) == ["aten.linear"] * 3


def test_parameters_in_the_same_memory(tmp_path: Path) -> None:
    """The same elements are one port; parts of each other and other orders are told."""
    body = """
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4, bias=False)
        self.same = nn.Parameter(self.fc.weight.data[:])
        self.part = nn.Parameter(self.fc.weight.data[:2])
        self.rest = nn.Parameter(self.fc.weight.data[2:])
        self.even = nn.Parameter(self.fc.weight.data.view(12)[::2])
        self.odd = nn.Parameter(self.fc.weight.data.view(12)[1::2])
        self.register_buffer("copied", self.fc.weight.detach().clone())
    def forward(self, x):
        return self.fc(x) + x @ self.same.t() @ self.copied @ self.copied.t(), {more}
    """
    result = trace_text(tmp_path, body.format(more="x + 1"))
    assert ports(result) == {"x": "input", "same": "param", "copied": "buffer"}
    assert result.warnings == ()
    result = trace_text(tmp_path, body.format(more="self.part + 1, self.rest + 1, self.even, self.odd * 2"))
    pairs = {tuple(re.findall(r"`(.*?)`", warning)) for warning in result.warnings}
    whole = {("same", name) for name in ("part", "rest", "even", "odd")}
    assert pairs == whole | {(a, b) for a in ("part", "rest") for b in ("even", "odd")}
    assert "share memory" in result.warnings[0]


def test_statistics_of_training_are_state(tmp_path: Path) -> None:
    body = """
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
    def forward(self, x):
        return self.norm(x)
    """
    result = trace_text(tmp_path, body)
    states = {name for name, role in ports(result).items() if role == "state"}
    assert states == {"norm_running_mean", "norm_running_var", "norm_num_batches_tracked"}
    assert set(result.updates) == states
    assert result.mode == "train"


def test_a_decomposed_program_keeps_its_updates(tmp_path: Path) -> None:
    """In its graph nothing is written in place: new statistics are results."""
    exported = torch.export.export(nn.Sequential(nn.BatchNorm1d(3)).train(), (torch.randn(2, 3),)).run_decompositions()
    torch.export.save(exported, tmp_path / "program.pt2")
    result = trace(load(str(tmp_path / "program.pt2"), {}, fake=True))
    assert set(result.updates) == {"_0_running_mean", "_0_running_var", "_0_num_batches_tracked"}


def test_casts_of_what_is_used_are_no_unused_operators(tmp_path: Path) -> None:
    source = tmp_path / "casts.py"
    source.write_text(
        "import torch\n"
        "class Model(torch.nn.Module):\n"
        "    def forward(self, x, i):\n"
        "        y, largest = x.to(torch.float64).max(1)\n"
        "        return y.half()[i.long()], x.int()\n"
        "def get_inputs():\n    return [torch.randn(4, 8), torch.zeros(2, dtype=torch.int32)]\n"
    )
    assert trace(load(str(source), {}, fake=True)).warnings == ()
    source.write_text(source.read_text().replace("return y", "x.double().exp(); return y"))
    (warning,) = trace(load(str(source), {}, fake=True)).warnings
    assert warning.startswith("1 operators whose results are not used")


def test_dropout(tmp_path: Path) -> None:
    body = """
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.25)
        {mode}
    def forward(self, x):
        return self.drop(x) + 1
    """
    training = trace_text(tmp_path, body.format(mode="pass"))
    assert ports(training) == {"x": "input", "dropout_mask": "rng"}
    assert operators(training) == ["aten.dropout", "aten.add"]
    evaluating = trace_text(tmp_path, body.format(mode="self.eval()"))
    assert ports(evaluating) == {"x": "input"}
    assert operators(evaluating) == ["aten.add"]
    nothing = trace_text(tmp_path, body.format(mode="self.drop.p = 1.0"))
    assert ports(nothing) == {"x": "input"}


def test_dropout_of_everything_is_validated(solar: Solar, tmp_path: Path) -> None:
    source = tmp_path / "model.py"
    source.write_text(
        "import torch\nimport torch.nn.functional as F\n"
        "class Model(torch.nn.Module):\n"
        "    def forward(self, x):\n"
        "        y = F.dropout(x, 1.0) + F.dropout2d(x, 1.0) + F.alpha_dropout(x, 1.0, True)\n"
        "        return y + F.dropout(x, 0.5) + F.feature_alpha_dropout(x, 1.0, True)\n"
        "def get_inputs():\n    return [torch.randn(2, 3, 4, 5)]\n"
    )
    done = solar("analyze", source, "--arch", "a6000", "--require-validated")
    assert done.returncode == 0, done.stderr


def test_operators_without_effect_are_none(tmp_path: Path) -> None:
    result = trace_text(
        tmp_path, "return x.contiguous().to(torch.float32).detach().view(3, 2).reshape(6).expand(2, 6)[1:, ::2]"
    )
    assert operators(result) == []


def test_operators_that_copy_are_operators(tmp_path: Path) -> None:
    result = trace_text(tmp_path, "return x.t().contiguous(), x.t().reshape(6), x.clone(), torch.cat([x, x])")
    assert operators(result) == ["aten.contiguous", "aten.reshape", "aten.clone", "aten.cat"]


def test_in_place_operators_are_functional(tmp_path: Path) -> None:
    body = """
    y = x * 2
    z = y
    y.add_(1)
    y.relu_()
    return z - x
    """
    result = trace_text(tmp_path, body)
    assert operators(result) == ["aten.mul", "aten.add_", "aten.relu_", "aten.sub"]
    assert "sub(relu, x)" in result.text


@pytest.mark.parametrize(
    ("view", "operator"),
    [("y.unfold(1, 2, 1)", "unfold"), ("y.expand(2, 2, 3)", "expand"), ("y.as_strided((2, 2), (1, 1))", "as_strided")],
)
def test_writes_through_some_views_are_refused(tmp_path: Path, view: str, operator: str) -> None:
    with pytest.raises(SourceError) as caught:
        trace_text(tmp_path, f"y = x * 2\n{view}[0].add_(1)\nreturn y")
    assert {problem.kind for problem in caught.value.problems} == {"unsupported-operator"}
    assert operator in caught.value.problems[0].message


def test_a_write_to_a_part_moves_that_part(tmp_path: Path) -> None:
    """It is an update of the tensor in place, and other views are made again only where they are read."""
    result = trace_text(tmp_path, "y = x * 2\nv, w = y[0], y[1]\ny[0, 1:].add_(1)\nreturn y, v")
    assert operators(result) == ["aten.mul", "aten.add_"]
    assert result.text.count("write_slice(") == 2
    assert len(re.findall(r"slice \w+ = \w+\[(0|index\w*|1), :\]", result.text)) == 2


def test_numbers_of_constants_are_folded(tmp_path: Path) -> None:
    assert "mul_scalar(x, 5.0)" in trace_text(tmp_path, "return x * torch.arange(4).add(2).max().item()").text


def test_tensors_without_elements_are_left_out_of_a_concatenation(tmp_path: Path) -> None:
    result = trace_text(tmp_path, "return torch.cat([torch.tensor([]), x[:, :0].flatten(), x[0]])")
    assert operators(result) == ["aten.cat"]
    with pytest.raises(SourceError, match="no elements"):
        trace_text(tmp_path, "return x[:0] + 1, x[:0].sum()")


def test_a_write_that_nothing_reads_is_left_out(tmp_path: Path) -> None:
    result = trace_text(tmp_path, "y = torch.empty(2, 3)\ny.uniform_(-1, 1)\nreturn x + 1")
    assert operators(result) == ["aten.add"]


def test_operators_that_torch_makes_of_others(tmp_path: Path) -> None:
    result = trace_text(tmp_path, "return torch.nan_to_num(x)")
    assert operators(result) == ["aten.nan_to_num"]


def test_in_place_result_keeps_its_type(tmp_path: Path) -> None:
    result = trace_text(tmp_path, "y = x.clone()\ny.mul_(2.5)\nreturn y", "[torch.ones(2, dtype=torch.float16)]")
    assert "f16[x_0]" in result.text


def test_all_unsupported_operators_are_listed(tmp_path: Path) -> None:
    body = """
    y = torch.linalg.qr(x)[0]
    z = torch.linalg.qr(x)[1].sum()
    return torch.relu(torch.special.i0(y) + z)
    """
    with pytest.raises(SourceError) as caught:
        trace_text(tmp_path, body, "[torch.randn(3, 3)]")
    messages = [problem.message for problem in caught.value.problems]
    assert len(messages) == 2
    assert messages[0].startswith("aten.linalg_qr.default(f32[3, 3]) at program.py:8")
    assert "(2 times)" in messages[0]
    assert messages[1].startswith("aten.special_i0.default(f32[3, 3]) at program.py:10")
    assert {problem.kind for problem in caught.value.problems} == {"unsupported-operator"}
    assert caught.value.problems[1].line == 10


def test_what_follows_from_an_unsupported_operator_is_not_told(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        trace_text(tmp_path, "return torch.special.bessel_j0(x).abs().sum() * 2")
    messages = [problem.message.partition("(")[0] for problem in caught.value.problems]
    assert messages == ["aten.special_bessel_j0.default"]


@pytest.mark.parametrize("body", ["return x + 1 if x.sum() > 0 else x", "return torch.zeros(int(x.sum()))[:1]"])
def test_branch_on_data_is_a_trace_failure(tmp_path: Path, body: str) -> None:
    with pytest.raises(SourceError) as caught:
        trace_text(tmp_path, body)
    (problem,) = caught.value.problems
    assert problem.kind == "trace-failed"
    assert problem.line == 8
    assert problem.message == (
        "`forward` cannot be traced: a branch or a size depends on the values of a tensor, which a trace does not have"
    )
    assert "values that are only known when it runs" in problem.hint


def test_a_result_of_unknown_size_is_unsupported(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        trace_text(tmp_path, "return x[x > 0].sum()")
    (problem,) = caught.value.problems
    assert (problem.kind, problem.line) == ("unsupported-operator", 8)
    assert problem.message.endswith("the size of its result depends on values that are only known when it runs")


def test_an_exception_of_the_program_passes_through(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        trace_text(tmp_path, "return x + 1 // 0")


def test_blocks_that_set_a_mode_are_inlined(tmp_path: Path) -> None:
    body = """
    with torch.inference_mode():
        y = torch.relu(x)
    with torch.enable_grad():
        return y * 2
    """
    assert operators(trace_text(tmp_path, body)) == ["aten.relu", "aten.mul"]


def test_constants_of_the_program(tmp_path: Path) -> None:
    result = trace_text(tmp_path, "return x * torch.tensor([1.5, -2.0, 0.25]) + torch.tensor(list(range(30)))[:3]")
    small, large = (port for port in result.ports if port.role in ("const", "buffer"))
    assert small.role == "const"
    assert "= [1.5, -2.0, 0.25]" in result.text
    assert large.role == "buffer"
    assert torch.equal(result.constants[large.name], torch.arange(30))


def test_dead_code_is_left_out(tmp_path: Path) -> None:
    result = trace_text(tmp_path, "y = (x * 3).relu_()\nreturn x + 1")
    assert operators(result) == ["aten.add"]
    assert any("not used" in warning for warning in result.warnings)


def test_provenance_is_the_users_line_and_module(tmp_path: Path) -> None:
    body = """
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(3, 3), nn.ReLU())])
    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x
    """
    text = trace_text(tmp_path, body).text
    assert 'op "aten.linear" at "program.py:12" module "blocks.0.0"' in text
    assert 'op "aten.relu" at "program.py:12" module "blocks.0.1"' in text


PLACES = """
import torch
from torch import nn

def helper(x):
    return x.sin()

def function(x):
    y = helper(x)
    return y @ y.t()

def factory():
    return nn.Sequential(
        nn.Linear(3, 3),
        nn.TransformerEncoderLayer(3, 1, 5, dropout=0.0),
    )

module = nn.Sequential(nn.ReLU())

def example_args():
    return [torch.randn(2, 3)]
"""


@pytest.mark.parametrize(
    ("member", "lines"), [("function", {6, 10}), ("factory", {14, 15}), ("module", {18})], ids=lambda value: str(value)
)
def test_places_are_lines_of_the_file(tmp_path: Path, member: str, lines: set[int]) -> None:
    path = tmp_path / "places.py"
    path.write_text(PLACES)
    text = trace(load(f"{path}:{member}", {}, fake=True)).text
    places = re.findall(r' at "([^"]*)"', text)
    assert len(places) == len(re.findall(r"\bop ", text))
    assert {place.rpartition(":")[0] for place in places} == {"places.py"}
    assert {int(place.rpartition(":")[2]) for place in places} == lines


def test_names_avoid_keywords(tmp_path: Path) -> None:
    result = trace_text(
        tmp_path,
        "def forward(self, input, select):\n    return input.view(6) + select",
        "[torch.randn(2, 3), torch.randn(6)]",
    )
    assert ports(result) == {"input_0": "input", "select_0": "input"}


def test_type_promotion(tmp_path: Path) -> None:
    result = trace_text(
        tmp_path,
        "def forward(self, i, h, s):\n    return i * 0.5, h + s, i + h, i / 2, i // 2, (i > 1) + 1",
        "[torch.arange(3), torch.ones(3, dtype=torch.bfloat16), torch.tensor(2.0)]",
    )
    casts = re.findall(r"cast\((\w+); T = (\w+)\)", result.text)
    assert casts == [("i", "f32"), ("s", "bf16"), ("i", "bf16"), ("i", "f32"), ("gt", "i64")]


@pytest.mark.parametrize(
    ("old", "new", "pieces"),
    [
        ((6, 4), (24,), [([0, 1], [0], None)]),
        ((2, 12), (2, 3, 4), [([0], [0], None), ([1], [1, 2], None)]),
        ((4, 6), (8, 3), [([0, 1], [0, 1], [4, 2, 3])]),
        ((1, 5, 8), (5, 8), [([0, 1], [0], None), ([2], [1], None)]),
        ((5, 1), (5,), [([0], [0], None), ([1], [], None)]),
        ((5,), (5, 1), [([0], [0], None), ([], [1], None)]),
        ((), (1, 1), [([], [0, 1], None)]),
        ((6, 4), (8, 3), [([0, 1], [0, 1], [2, 3, 4])]),
    ],
)
def test_refinement(old: tuple[int, ...], new: tuple[int, ...], pieces: object) -> None:
    if (old, new) == ((6, 4), (8, 3)):
        assert refine(old, new) is None  # 4 and 3 do not divide: flatten, then split
    else:
        assert refine(old, new) == pieces
