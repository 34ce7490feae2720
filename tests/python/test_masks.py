"""Masks in PyTorch programs count as what they leave over, however they are made."""

import json
from pathlib import Path

import pytest
import torch
from conftest import Solar
from solar.sources import load
from solar.tape import Tape, is_mask
from torch._subclasses.fake_tensor import FakeTensorMode

S, E = 24, 8
SEEN = S * (S + 1) // 2

HEADER = f"""
import torch
from torch import nn
import torch.nn.functional as F
S, E = {S}, {E}
def get_inputs():
    return [torch.randn(2, S, E) for _ in range(3)]
class Model(nn.Module):
"""

BUFFER = """
    def __init__(self):
        super().__init__()
        self.register_buffer("bias", torch.tril(torch.ones(64, 64)).view(1, 64, 64))
    def forward(self, q, k, v):
        s = (q @ k.transpose(-2, -1)).masked_fill(self.bias[:, :S, :S] == 0, float("-inf"))
        return F.softmax(s, dim=-1) @ v
"""
WRITTEN_BUFFER = """
    def __init__(self):
        super().__init__()
        mask = torch.full((S, S), float("-inf"))
        for i in range(S):
            mask[i, : i + 1] = 0
        self.mask = mask
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=self.mask)
"""
LOWEST = """
    def forward(self, q, k, v):
        places = torch.arange(S)
        hidden = places[None, :] > places[:, None]
        mask = hidden.to(q.dtype) * torch.finfo(q.dtype).min
        return F.softmax(q @ k.transpose(-2, -1) + mask, dim=-1) @ v
"""
LOWEST_IN_PLACE = """
    def forward(self, q, k, v):
        seen = torch.arange(S)[:, None] >= torch.arange(S)[None, :]
        s = q @ k.transpose(-2, -1)
        s = torch.where(seen, s, torch.full([], torch.finfo(s.dtype).min))
        return F.softmax(s.masked_fill(~seen, torch.finfo(s.dtype).min), dim=-1) @ v
"""
BOOLS = """
    def forward(self, q, k, v):
        mask = torch.ones(S, S, dtype=torch.bool).tril()[None]
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
"""
CUMULATIVE = """
    def forward(self, q, k, v):
        places = torch.ones(S, dtype=torch.int64).cumsum(0) - 1
        mask = torch.where(places[:, None] >= places[None, :], 0.0, float("-inf"))
        return F.softmax(q @ k.transpose(-2, -1) + mask, dim=-1) @ v
"""


@pytest.mark.parametrize(
    ("body", "assumption"),
    [
        (BUFFER, "buffers-as-constructed"),
        (WRITTEN_BUFFER, "buffers-as-constructed"),
        (LOWEST, "lowest-numbers-mask"),
        (LOWEST_IN_PLACE, "lowest-numbers-mask"),
        (BOOLS, None),
        (CUMULATIVE, None),
    ],
    ids=["buffer", "written", "lowest", "lowest-in-place", "bools", "cumulative"],
)
def test_causal_attention_counts_its_triangle(body: str, assumption: str | None, solar: Solar, tmp_path: Path) -> None:
    source = tmp_path / "model.py"
    source.write_text(HEADER + body)
    done = solar("analyze", source, "--arch", "a6000", "--no-validate", "--json", "-")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["totals"]["macs"] == 2 * 2 * S * S * E
    assert report["totals"]["macs_useful"] == 2 * 2 * SEEN * E
    assumptions = set(report["bounds"][0]["assumptions"])
    assert "dense-intermediates" not in assumptions
    assert assumption is None or assumption in assumptions


def test_a_random_buffer_is_no_structure(solar: Solar, tmp_path: Path) -> None:
    source = tmp_path / "model.py"
    source.write_text(
        HEADER
        + BUFFER.replace("torch.tril(torch.ones(64, 64))", "(torch.rand(64, 64) > 0.5).float()").replace(
            "== 0", "== 0.0"
        )
    )
    done = solar("analyze", source, "--arch", "a6000", "--no-validate", "--json", "-")
    assert done.returncode == 0, done.stderr
    totals = json.loads(done.stdout)["totals"]
    assert totals["macs_useful"] == totals["macs"]


def test_tape_gives_what_the_constructor_computes() -> None:
    def make() -> list[torch.Tensor]:
        base = torch.zeros(4, 6)
        view = base[1:3]
        view.fill_(2)
        view[:, ::2] = torch.arange(3.0)
        return [base, base.t() + 1, torch.tensor([[1, 0], [1, 1]]), torch.eye(3).bool().logical_not()]

    tape = Tape()
    with FakeTensorMode(allow_non_fake_inputs=True), tape:
        shapes = make()
    for shape, expected in zip(shapes, make(), strict=True):
        found = tape.values(shape)
        assert found is not None
        assert torch.equal(found, expected)


def test_tape_gives_nothing_that_is_random() -> None:
    tape = Tape()
    with FakeTensorMode(), tape:
        drawn = torch.zeros(3, 3)
        drawn.normal_()
        shape = drawn + torch.ones(3, 3)
    assert tape.values(shape) is None


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([[0.0, 1.0]], True),
        ([[0.0, float("-inf")]], True),
        ([[False, True]], True),
        ([[0.0, 0.0]], False),
        ([[0.0, 0.5]], False),
        ([[0.0, 1.0, 2.0]], False),
        ([[1.0, float("-inf")]], False),
    ],
)
def test_is_mask(values: list[list[float]], expected: bool) -> None:
    assert is_mask(torch.tensor(values)) is expected


def test_a_source_keeps_its_tape(tmp_path: Path) -> None:
    source = tmp_path / "model.py"
    source.write_text(HEADER + BUFFER)
    loaded = load(str(source), fake=True)
    assert loaded.tape is not None
    found = loaded.tape.values(loaded.model.bias)
    assert found is not None
    assert torch.equal(found[0], torch.ones(64, 64).tril())
