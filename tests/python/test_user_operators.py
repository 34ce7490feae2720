"""Operators that a file registers: those written with torch's are traced as what they do, others are named."""

from pathlib import Path

import pytest
from solar.frontends.torch import trace
from solar.problems import SourceError
from solar.sources import load

FILE = """\
import torch
import torch.nn as nn


@torch.library.custom_op("solar_{name}::double", mutates_args=(), device_types={devices})
def double(x: torch.Tensor) -> torch.Tensor:
    return {body}


@double.register_fake
def _(x):
    return torch.empty_like(x)

{more}

class Model(nn.Module):
    def forward(self, x):
        return double(x)


def get_inputs():
    return [torch.randn(2, 3)]
"""
KERNEL = """
@double.register_kernel("cpu")
def _(x):
    return x + x
"""


def text(folder: Path, name: str, body: str, devices: str = "None", more: str = "") -> str:
    path = folder / f"{name}.py"
    path.write_text(FILE.format(name=name, body=body, devices=devices, more=more))
    return trace(load(str(path), fake=True)).text


def test_a_body_of_torch_operators_is_traced(tmp_path: Path) -> None:
    assert 'op "solar_plain.double"' in text(tmp_path, "plain", "torch.relu(x) * 2")


@pytest.mark.parametrize(
    ("name", "body", "devices", "more"),
    [
        ("foreign", "torch.from_numpy(x.numpy() * 2)", "None", ""),
        ("elsewhere", "x * 2", '"cuda"', KERNEL),  # on a CPU something else runs
    ],
)
def test_another_is_named_with_its_signature(tmp_path: Path, name: str, body: str, devices: str, more: str) -> None:
    with pytest.raises(SourceError) as caught:
        text(tmp_path, name, body, devices, more)
    (problem,) = caught.value.problems
    assert problem.kind == "unsupported-operator"
    assert problem.message.startswith(f"solar_{name}.double.default(f32[2, 3]) at {name}.py:")
