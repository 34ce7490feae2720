"""Programs written by hand beside the PyTorch they mean: run on the original's tensors, and judged by `check`."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.utils import _pytree as pytree

IDIOMS = sorted(Path(__file__).parents[1].joinpath("idioms").glob("*.alir"))


def original(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"idiom_{path.stem}", path.with_suffix(".py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ports(text: str) -> list[str]:
    """The names of the program's inputs, in order."""
    signature = text[text.index("(") + 1 : text.index("->")]
    return [part.split(":")[0].split()[1] for part in signature.split(",") if " input " in f" {part.strip()}"]


@pytest.mark.parametrize("path", IDIOMS, ids=[path.stem for path in IDIOMS])
def test_runs_as_the_original_does(solar, tmp_path: Path, path: Path) -> None:
    torch.manual_seed(7)
    module = original(path)
    model = module.Model()
    arguments = module.get_inputs()
    tensors = dict(zip(ports(path.read_text()), arguments, strict=True))
    tensors |= {key.replace(".", "_"): value.clone() for key, value in model.state_dict().items()}
    save_file({name: value.contiguous() for name, value in tensors.items()}, tmp_path / "x.safetensors")
    with torch.no_grad():
        expected = pytree.tree_leaves(model(*arguments))
    done = solar("run", path, "--inputs", tmp_path / "x.safetensors", "-o", tmp_path / "y.safetensors")
    assert done.returncode == 0, done.stderr
    outputs = load_file(tmp_path / "y.safetensors")
    names = path.read_text().split("-> (")[1].split(")")[0].split(", ")
    for name, value in zip(names, expected, strict=True):
        torch.testing.assert_close(outputs[name], value)


@pytest.mark.parametrize("path", IDIOMS, ids=[path.stem for path in IDIOMS])
def test_check_finds_it_equal(solar, path: Path) -> None:
    done = solar("check", path, "--against", path.with_suffix(".py"))
    assert done.returncode == 0, done.stderr
    assert "equal to" in done.stdout
