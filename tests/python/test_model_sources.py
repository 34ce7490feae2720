"""Sources beside files of Python: exported programs, and Hugging Face models by configuration."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from conftest import ROOT, Solar
from solar.constants import find_constants
from solar.frontends.torch import trace
from solar.huggingface.configurations import bundled_names, configuration_file, sizes_in_file, with_overrides
from solar.huggingface.sizes import constants_of
from solar.multiples import steps
from solar.problems import SourceError
from solar.sources import load
from solar.worker import inspect_source
from torch import nn

TINY = {"n_layer": 1, "n_embd": 12, "n_positions": 16, "vocab_size": 31, "sequence_length": 5}
FILE = """
import torch
from transformers import AutoConfig, AutoModelForCausalLM

config = AutoConfig.from_pretrained("gpt2")

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model = AutoModelForCausalLM.from_pretrained("gpt2", config=config)

    def forward(self, x):
        return self.model(x).logits

def get_inputs():
    return [torch.randint(0, config.vocab_size, (2, 5))]
"""


class Small(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 4)

    def forward(self, x: torch.Tensor, *, scale: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.fc(x)) * scale


# Serving models changes transformers for good, once a process, as a worker does.
TRACE = """
import json, sys
from solar.frontends.torch import trace
from solar.sources import load

result = trace(load(sys.argv[1], json.loads(sys.argv[2]), fake=True))
inputs = [p.name for p in result.ports if p.role == "input"]
print(json.dumps([result.text, result.warnings, inputs, result.mode]))
"""


def traced(source: str, overrides: dict[str, int]) -> tuple[str, list[str], list[str], str]:
    """Text, warnings, inputs and mode, from a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", TRACE, source, json.dumps(overrides)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    text, warnings, inputs, mode = json.loads(done.stdout.splitlines()[-1])
    return text, warnings, inputs, mode


@pytest.fixture
def archive(tmp_path: Path) -> str:
    path = tmp_path / "small.pt2"
    torch.export.save(torch.export.export(Small(), (torch.randn(2, 3),), {"scale": torch.randn(4)}), path)
    return str(path)


def test_an_archive_is_traced(archive: str) -> None:
    result = trace(load(archive, fake=True))
    assert {p.name: (p.role, p.key, p.index) for p in result.ports} == {
        "x": ("input", None, 0),
        "scale": ("input", None, 1),
        "fc_weight": ("param", "fc.weight", None),
        "fc_bias": ("param", "fc.bias", None),
    }
    assert result.name == "small"
    assert inspect_source({"source": archive}, print)["constants"] == []


class Open(nn.Module):
    """Sizes of the input stand in the operators' arguments, and the operators have a mode."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 4)
        self.drop = nn.Dropout(0.5)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = self.drop(self.fc(x))
        return y.reshape(x.shape[0] * x.shape[1], 4), torch.arange(x.shape[1])


def test_an_archive_with_open_sizes_is_traced_at_its_example(tmp_path: Path, solar: Solar) -> None:
    path = tmp_path / "open.pt2"
    sizes = ({0: torch.export.Dim("batch", min=2, max=64), 1: torch.export.Dim.AUTO},)
    torch.export.save(torch.export.export(Open().eval(), (torch.randn(5, 7, 3),), dynamic_shapes=sizes), path)
    result = trace(load(str(path), fake=True))
    assert result.warnings[0].endswith("those of its example inputs: x[0] = 5, x[1] = 7")
    assert {(p.name, p.key) for p in result.ports} == {
        ("x", None),
        ("fc_weight", "fc.weight"),
        ("fc_bias", "fc.bias"),
    }
    assert 'module "fc"' in result.text
    done = solar("analyze", path, "--arch", "a6000", "--json", "-", "--require-validated")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["totals"]["macs"] == 5 * 7 * 3 * 4
    assert report["mode"] == report["validation"]["mode"] == "eval"


def test_the_mode_of_an_archive_is_that_of_its_operators(archive: str, tmp_path: Path) -> None:
    for mode in ("train", "eval"):
        path = tmp_path / f"{mode}.pt2"
        model = getattr(Open(), mode)()
        torch.export.save(torch.export.export(model, (torch.randn(5, 7, 3),)), path)
        assert load(str(path), fake=True).mode == mode
    both = nn.Sequential(nn.Dropout(0.5), nn.Dropout(0.5).eval())
    path = tmp_path / "both.pt2"
    torch.export.save(torch.export.export(both, (torch.randn(3),)), path)
    assert load(str(path), fake=True).mode == "mixed"
    assert load(archive, fake=True).mode == "as exported"


def test_an_archive_that_cannot_be_used_is_told(archive: str, tmp_path: Path) -> None:
    broken = tmp_path / "broken.pt2"
    broken.write_bytes(b"nothing")
    with pytest.raises(SourceError, match="cannot be read"):
        load(str(broken), fake=True)
    with pytest.raises(SourceError, match="no constants to override"):
        load(archive, {"N": 2}, fake=True)


def test_bundled_configurations() -> None:
    assert len(bundled_names()) == 16
    for name in bundled_names():
        path = configuration_file(name)
        assert path == configuration_file(name.rpartition("/")[2])
        found = {constant.name: constant.value for constant in constants_of(path)}
        assert found["batch_size"] == 1
        assert any(key.endswith(("hidden_size", "embed_dim", "d_model", "n_embd", "hidden_sizes[0]")) for key in found)
        assert not any("layer" in key or "head" in key for key in found)


def test_an_unknown_model_is_told() -> None:
    with pytest.raises(SourceError, match="the Hugging Face hub is not asked") as caught:
        load("hf:nobody/nothing", fake=True)
    assert "gpt2" in caught.value.problems[0].hint


def test_a_pipe_is_no_configuration(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config.json")
    for name in (tmp_path, tmp_path / "config.json"):
        with pytest.raises(SourceError, match="is a named pipe, not the file of a configuration"):
            configuration_file(str(name))


def test_overrides_of_a_configuration() -> None:
    fields = {"vocab_size": 100, "eos_token_id": 99, "text_config": {"sizes": [8, 16]}}
    changed, found = with_overrides(fields, {"vocab_size": 10, "text_config.sizes[1]": 4, "other": 1})
    assert changed == {"vocab_size": 10, "eos_token_id": 9, "text_config": {"sizes": [8, 4]}}
    assert found == {"vocab_size", "text_config.sizes[1]"}


def test_sizes_of_the_configurations_that_a_file_loads() -> None:
    found = sizes_in_file(ast.parse(FILE))
    assert ("config.n_embd", 768) in [(constant.name, constant.value) for constant in found]
    assert sizes_in_file(ast.parse(FILE.replace("transformers", "others"))) == []


def test_sizes_keep_to_the_patches_and_heads_beside_them() -> None:
    clip = {constant.name: constant.step for constant in constants_of(configuration_file("clip-vit-base-patch32"))}
    assert clip["vision_config.image_size"] == 32
    assert (clip["vision_config.hidden_size"], clip["text_config.hidden_size"]) == (24, 16)
    assert "text_config.max_position_embeddings" in clip  # as many as the example's tokens
    assert "text_config.vocab_size" not in clip  # its end token is the last one
    assert clip["projection_dim"] == clip["text_config.intermediate_size"] == 1
    assert steps({"a.image_size[0]": 96, "a.image_size[1]": 72, "a.patch_size[0]": 8, "a.patch_size[1]": 6}) == {
        "a.image_size[0]": 24,
        "a.image_size[1]": 24,
        "a.patch_size[0]": 1,
        "a.patch_size[1]": 1,
    }
    assert set(
        steps({"image_size": 96, "b.patch_size": 8, "hidden_size": 64, "num_heads": 4, "head_dim": 32}).values()
    ) == {1}
    assert [c.step for c in find_constants(ast.parse("IMG_SIZE = 48\nPATCH = 6\nN = 12\n"))] == [6, 1, 1]


def test_without_the_library_a_model_is_told_to_need_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)  # importing it fails
    with pytest.raises(SourceError) as caught:
        load("hf:gpt2", fake=True)
    assert caught.value.problems[0].kind == "no-framework"
    assert caught.value.problems[0].hint.endswith(f"{sys.executable} -m pip install transformers")


def test_a_model_by_its_configuration() -> None:
    _, warnings, inputs, mode = traced("hf:gpt2", TINY)
    assert (inputs, mode) == (["input_ids"], "eval")
    assert "random" in " ".join(warnings)


def test_a_file_that_loads_a_pretrained_model(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(FILE)
    overrides = {f"config.{key}": value for key, value in TINY.items() if key != "sequence_length"}
    text, warnings, _, _ = traced(str(path), overrides)
    assert "lm_head" in text
    assert any("weights of `gpt2` are random" in warning for warning in warnings)


def test_a_configuration_of_nothing_is_told(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"hidden_size": 3}))
    with pytest.raises(SourceError, match="no `model_type`"):
        inspect_source({"source": f"hf:{tmp_path}"}, print)
