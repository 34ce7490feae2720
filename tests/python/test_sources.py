"""Source forms, constants and their overrides, and golden runs, in this process."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest
import torch
from solar.constants import apply_overrides, find_constants, parse_file
from solar.distributions import DISTRIBUTIONS, move_values, redistribute
from solar.golden import Port, run_golden
from solar.problems import SourceError
from solar.sources import load
from solar.tensorfile import TensorFileWriter, read_tensors

if TYPE_CHECKING:
    from pathlib import Path

FORMS = """
    import torch
    from torch import nn
    from dataclasses import dataclass
    BATCH = 2 * 3
    HEIGHT = WIDTH = 8
    SHAPE = (BATCH, 3, [5, -1])
    ROWS, COLS = 4, 7
    RATE: float = 0.5
    DERIVED = HEIGHT * 2
    @dataclass
    class Config:
        layers: int = 12
        ratio: float = 4.0
    class Model(nn.Module):
        def __init__(self, width, depth=3, *, heads=2):
            super().__init__()
            self.fc = nn.Linear(width, depth)
        def forward(self, first, *rest, scale=None):
            return self.fc(first)
    def get_inputs():
        torch.manual_seed(13)
        count = 9
        return [torch.randn(5, WIDTH), {"a": torch.randn((2, 6)), "b": torch.zeros(1)}]
    def get_init_inputs():
        return [WIDTH, 10]
    def function(x, y):
        return x @ y
    def factory(width=WIDTH):
        return Model(width).eval()
    instance = nn.ReLU()
"""


@pytest.fixture
def forms(tmp_path: Path) -> Path:
    path = tmp_path / "7_forms.py"
    path.write_text(textwrap.dedent(FORMS))
    return path


def test_constants_have_stable_names(forms: Path) -> None:
    found = {constant.name: constant for constant in find_constants(parse_file(str(forms)))}
    assert {name: constant.value for name, constant in found.items()} == {
        "BATCH": 6,
        "HEIGHT": 8,
        "SHAPE[1]": 3,
        "SHAPE[2][0]": 5,
        "ROWS": 4,
        "COLS": 7,
        "get_init_inputs[1]": 10,
        "get_inputs.count": 9,
        "get_inputs[0]": 5,
        "get_inputs[1]": 2,
        "get_inputs[2]": 6,
        "get_inputs[3]": 1,
        "Config.layers": 12,
        "Model.__init__.depth": 3,
        "Model.__init__.heads": 2,
    }
    assert found["HEIGHT"].aliases == ("WIDTH",)
    lines = forms.read_text().splitlines()
    assert all(str(c.value) in lines[c.line - 1] or "2 * 3" in lines[c.line - 1] for c in found.values())


def test_every_constant_can_be_overridden_and_lines_stay(forms: Path) -> None:
    tree = parse_file(str(forms))
    for constant in find_constants(tree):
        changed = apply_overrides(tree, str(forms), {constant.name: constant.value + 100})
        values = {c.name: c.value for c in find_constants(changed)}
        assert values.pop(constant.name) == constant.value + 100
        assert values == {c.name: c.value for c in find_constants(tree) if c.name != constant.name}
    assert [c.name for c in find_constants(tree) if c.value > 100] == []


def test_an_override_of_an_alias_changes_the_number(forms: Path) -> None:
    assert load(str(forms), {"WIDTH": 4, "get_inputs[0]": 1}, fake=True).inputs[0].shape == (1, 4)


def test_an_unknown_override_lists_the_constants(forms: Path) -> None:
    with pytest.raises(SourceError) as caught:
        load(str(forms), {"HIGHT": 4}, fake=True)
    assert caught.value.problems[0].kind == "usage"
    assert "HEIGHT" in caught.value.problems[0].hint


def test_inputs_are_named_after_parameters(forms: Path) -> None:
    loaded = load(str(forms), fake=True)
    assert loaded.input_names == ("first", "x1_a", "x1_b")
    assert (loaded.name, loaded.form, loaded.mode) == ("forms", "model", "train")
    assert loaded.fake_mode is not None
    assert not loaded.real_model


@pytest.mark.parametrize(
    ("member", "form", "mode"),
    [("factory", "factory", "eval"), ("instance", "module", "train"), ("Model", "model", "train")],
)
def test_members_of_a_file(forms: Path, member: str, form: str, mode: str) -> None:
    forms.write_text(forms.read_text() + "\ndef example_args():\n    return torch.randn(2, 8)\n")
    loaded = load(f"{forms}:{member}", fake=True)
    assert (loaded.form, loaded.mode, loaded.name) == (form, mode, f"forms_{member}")
    assert loaded.inputs[0].shape == (2, 8)


def test_a_function_is_called_with_its_example(forms: Path) -> None:
    forms.write_text(forms.read_text() + "\ndef example_args():\n    return torch.ones(2, 8), torch.ones(8, 3)\n")
    loaded = load(f"{forms}:function", fake=False)
    assert loaded.form == "callable"
    assert loaded.input_names == ("x", "y")
    assert torch.equal(loaded.model(*loaded.inputs), torch.full((2, 3), 8.0))


def test_a_constructor_that_needs_values_is_run_for_real(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(
        textwrap.dedent("""
            import torch
            from torch import nn
            class Model(nn.Module):
                def __init__(self):
                    super().__init__()
                    rates = [x.item() for x in torch.linspace(0, 1, 3)]
                    self.fc = nn.Linear(4, int(rates[2]) + 1)
                def forward(self, x):
                    return self.fc(x)
            def get_inputs():
                return [torch.randn(1 << 20, 4)]
        """)
    )
    loaded = load(str(path), fake=True)
    assert loaded.model.fc.out_features == 2
    assert type(loaded.inputs[0]).__name__ == "FakeTensor"


def test_a_huge_model_is_not_allocated(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(
        textwrap.dedent("""
            import torch
            from torch import nn
            class Model(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.layers = nn.ModuleList(nn.Linear(1 << 16, 1 << 16) for _ in range(8))
                def forward(self, x):
                    return self.layers[0](x)
            def get_inputs():
                return [torch.randn(1 << 16, 1 << 16)]
        """)
    )
    loaded = load(str(path), fake=True)
    assert sum(p.numel() for p in loaded.model.parameters()) > 8 << 32


def test_other_seeds_give_other_inputs_even_where_the_file_seeds(forms: Path) -> None:
    first, again, other = (load(str(forms), fake=False, seed=seed).inputs[0] for seed in (0, 0, 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    torch.manual_seed(13)
    assert torch.equal(first, torch.randn(5, 8))


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_distributions_keep_types_shapes_and_integers(distribution: str) -> None:
    generator = torch.Generator().manual_seed(1)
    example = torch.rand(50, 4, dtype=torch.bfloat16)
    integers = torch.arange(3)
    value, *others = redistribute([example, integers, 7], distribution, generator)
    assert others[0] is integers
    assert others[1] == 7
    assert (value.dtype, value.shape) == (example.dtype, example.shape)
    assert bool(value.isfinite().all())
    checks = {
        "example": value is example,
        "large": bool(value.abs().max() > 50),
        "negative": bool((value <= 0).all()),
        "constant": bool((value == value[0, 0]).all()),
        "zeros": 10 < int((value == 0).sum()) < 150,
    }
    assert checks.get(distribution, True)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_inputs_that_share_memory_still_do(distribution: str) -> None:
    x = torch.rand(6, 4)
    leaves = [x, x, x.t(), x[2:, 1:], torch.rand(1, 4).expand(9, 4), torch.rand(6, 4), torch.empty(0, 2)]
    same, again, turned, part, wide, other, empty = redistribute(leaves, distribution, torch.Generator().manual_seed(1))
    assert same is again
    assert torch.equal(turned, same.t())
    assert torch.equal(part, same[2:, 1:])
    assert wide.stride() == (0, 1)
    assert wide.shape == (9, 4)
    assert distribution == "constant" or not torch.equal(other, same)
    assert empty.shape == (0, 2)


def test_values_move_by_a_rounding_at_least() -> None:
    model = torch.nn.BatchNorm1d(8)
    x = torch.randn(50, 8)
    leaves = [x, x.t(), x[2:], torch.randn(9).double(), torch.randn(9).to(torch.bfloat16), torch.arange(9), 7]
    originals = [leaf.clone() if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
    weight = model.weight.detach().clone()
    move_values(model, leaves, 0, torch.Generator().manual_seed(1))
    for leaf, original in zip(leaves[:5], originals[:5], strict=True):
        moved = ((leaf.double() - original.double()) / original.double()).abs() / torch.finfo(leaf.dtype).eps
        assert bool((moved > 0).all())
        assert bool((moved <= 2).all())
    assert torch.equal(leaves[5], originals[5])
    assert torch.equal(leaves[1], leaves[0].t())
    assert not torch.equal(model.weight, weight)
    assert int(model.num_batches_tracked) == 0


STATEFUL = """
    import torch
    from torch import nn
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(4, 5)
            self.norm = nn.BatchNorm1d(5)
            self.drop = nn.Dropout(0.3)
            self.memory = torch.zeros(3, 5)
        def forward(self, x):
            x.mul_(2.0)
            y = self.drop(torch.relu_(self.norm(self.fc(x)))) + torch.randn(3, 5)
            self.memory = y + self.memory
            return {"y": y, "none": None, "rest": [self.memory]}
    def get_inputs():
        return [torch.randn(3, 4)]
"""


def test_a_golden_run_holds_everything_before_and_after(tmp_path: Path) -> None:
    source, out = tmp_path / "m.py", tmp_path / "g.safetensors"
    source.write_text(textwrap.dedent(STATEFUL))
    ports = [
        Port("x", "input", index=0),
        Port("w", "param", key="fc.weight"),
        Port("b", "param", key="fc.bias"),
        Port("gain", "param", key="norm.weight"),
        Port("shift", "param", key="norm.bias"),
        Port("mean", "state", key="norm.running_mean"),
        Port("memory", "state", key="memory"),
        Port("mask", "rng", dtype="f32"),
        Port("noise", "rng", dtype="f32"),
    ]
    loaded = load(str(source), fake=False, seed=2)
    run = run_golden(loaded, ports, seed=2, distribution="normal", out=str(out), part=f"{out}.part", want_f64=True)
    t = read_tensors(str(out))
    assert run.has_f64
    assert run.warnings == ()
    z = 2 * t["in/x"] @ t["in/w"].T + t["in/b"]
    normed = (z - z.mean(0)) / (z.var(0, unbiased=False) + 1e-5).sqrt() * t["in/gain"] + t["in/shift"]
    y = normed.relu() * t["in/mask"] / 0.7 + t["in/noise"]
    torch.testing.assert_close(t["out/0"], y, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(t["out/1"], y + t["in/memory"], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(t["state/memory"], t["out/1"])
    torch.testing.assert_close(t["state/mean"], 0.9 * t["in/mean"] + 0.1 * z.mean(0), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(t["f64/1"], t["out/1"].double(), rtol=1e-4, atol=1e-5)
    for name in ("in/b", "in/gain", "in/shift", "in/mean"):
        assert len(t[name].unique()) == 5, f"{name} would not be noticed if it were left out"


def test_unrecorded_random_numbers_are_said(tmp_path: Path) -> None:
    source, out = tmp_path / "m.py", tmp_path / "g.safetensors"
    source.write_text(textwrap.dedent(STATEFUL))
    loaded = load(str(source), fake=False)
    ports = [Port("x", "input", index=0)]
    run = run_golden(loaded, ports, seed=0, distribution="example", out=str(out), part=f"{out}.part", want_f64=False)
    assert any("random" in warning for warning in run.warnings)


def test_tensor_files_keep_every_type(tmp_path: Path) -> None:
    path = tmp_path / "t.safetensors"
    values = {
        "a": torch.randn(2, 3).to(torch.bfloat16),
        "b": torch.tensor(7),
        "c": torch.tensor([True, False]),
        "d": torch.randn(4, 6).t(),
        "e": torch.empty(0, 3),
        "f": torch.randn(3).to(torch.float8_e4m3fn),
    }
    with TensorFileWriter(str(path), f"{path}.part", room=len(values)) as file:
        for name, value in values.items():
            file.add(name, value)
    back = read_tensors(str(path))
    assert list(back) == list(values)
    for name, value in values.items():
        assert back[name].dtype == value.dtype
        assert torch.equal(back[name].float(), value.float())
    from safetensors.torch import load_file

    assert torch.equal(load_file(path)["d"], values["d"])


def test_a_tensor_file_with_more_tensors_than_expected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The data move behind the longer header, piece by piece."""
    monkeypatch.setattr("solar.tensorfile.HEADER_ROOM", 64)
    monkeypatch.setattr("solar.tensorfile.MOVED_BYTES", 1000)
    path = tmp_path / "t.safetensors"
    values = {f"out/{place}": torch.full((place % 5, 3), float(place)) for place in range(300)}
    with TensorFileWriter(str(path), f"{path}.part", room=0) as file:
        for name, value in values.items():
            file.add(name, value)
    back = read_tensors(str(path))
    assert list(back) == list(values)
    assert all(torch.equal(back[name], value) for name, value in values.items())
    from safetensors.torch import load_file

    assert torch.equal(load_file(path)["out/299"], values["out/299"])


def test_a_full_disk_is_said(tmp_path: Path) -> None:
    """/dev/full refuses every byte as a full disk does."""
    path, part = tmp_path / "t.safetensors", tmp_path / "part"
    part.symlink_to("/dev/full")
    with pytest.raises(SourceError) as caught, TensorFileWriter(str(path), str(part), room=1) as file:
        file.add("a", torch.zeros(2))
    (problem,) = caught.value.problems
    assert (problem.kind, problem.message) == ("output-file", f"cannot write {path}: no space left on the device")
    assert "TMPDIR" in problem.hint
    assert list(tmp_path.iterdir()) == []


def test_a_failed_file_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "t.safetensors"
    values = {"a": torch.zeros(2), "b": torch.zeros(2, dtype=torch.uint16)}

    def write() -> None:
        with TensorFileWriter(str(path), f"{path}.part", room=1) as file:
            for name, value in values.items():
                file.add(name, value)

    with pytest.raises(SourceError) as caught:
        write()
    (problem,) = caught.value.problems
    assert problem.message == "`b` cannot be compared: it is of the type torch.uint16"
    assert list(tmp_path.iterdir()) == []


CONVERTED = """
    import torch
    from torch import nn
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(10, 4)
            self.norm = nn.LayerNorm(4)
            self.head = nn.Linear(4, 10, bias=False)
            self.head.weight = self.embed.weight
            self.register_buffer("steps", torch.zeros(2, dtype=torch.int64))
            self.to(torch.bfloat16)
        def forward(self, ids):
            return self.head(self.norm(self.embed(ids)))
    def get_inputs():
        return [torch.zeros(3, dtype=torch.int64)]
"""


@pytest.mark.parametrize("fake", [True, False])
def test_a_constructor_may_convert_the_model(tmp_path: Path, fake: bool) -> None:
    path = tmp_path / "model.py"
    path.write_text(textwrap.dedent(CONVERTED))
    apply = torch.nn.Module._apply
    model = load(str(path), fake=fake).model
    assert {name: p.dtype for name, p in model.named_parameters()} == dict.fromkeys(
        ("embed.weight", "norm.weight", "norm.bias"), torch.bfloat16
    )
    assert model.head.weight is model.embed.weight
    assert model.steps.dtype == torch.int64
    assert torch.nn.Module._apply is apply
