"""Layers of the prelude against PyTorch's own: recurrent layers, attention, norms and poolings by definition."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn import functional

SEED = 17
STEPS, BATCH, INPUTS, HIDDEN = 5, 3, 4, 6


def run(solar: Any, folder: Path, text: str, inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    program, given, found = folder / "p.alir", folder / "inputs.safetensors", folder / "outputs.safetensors"
    program.write_text(text)
    save_file({name: value.detach().contiguous() for name, value in inputs.items()}, given)
    done = solar("run", program, "--inputs", given, "-o", found)
    assert done.returncode == 0, done.stdout + done.stderr
    return load_file(found)


def call(function: str, inputs: Mapping[str, Tensor], results: str, after: str = "") -> str:
    """A program that calls the function with its inputs in order."""
    ports = ", ".join(f"input {name}: f32[{', '.join(map(str, value.shape))}]" for name, value in inputs.items())
    return f"program p({ports}) -> ({results}) {{ let ({results}) = {function}({', '.join(inputs)}{after}) }}"


def close(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected.detach(), rtol=2e-5, atol=2e-6)


RECURRENT = {
    "lstm": (lambda **k: torch.nn.LSTM(INPUTS, HIDDEN, **k), ""),
    "gru": (lambda **k: torch.nn.GRU(INPUTS, HIDDEN, **k), ""),
    "rnn": (lambda **k: torch.nn.RNN(INPUTS, HIDDEN, **k), "; RELU = 0"),
    "rnn relu": (lambda **k: torch.nn.RNN(INPUTS, HIDDEN, nonlinearity="relu", **k), "; RELU = 1"),
}


@pytest.mark.parametrize("direction", ["", "_reverse", "_bidirectional"])
@pytest.mark.parametrize("kind", sorted(RECURRENT))
def test_recurrent_layers(solar: Any, tmp_path: Path, kind: str, direction: str) -> None:
    make, after = RECURRENT[kind]
    torch.manual_seed(SEED)
    both = direction == "_bidirectional"
    layer = make(bidirectional=both)
    x = torch.randn(STEPS, BATCH, INPUTS)
    states = [torch.randn(2 if both else 1, BATCH, HIDDEN) for _ in range(2 if kind == "lstm" else 1)]
    # A reversed layer is a forward one over the steps from the last to the first.
    seen = x.flip(0) if direction == "_reverse" else x
    y, last = layer(seen, tuple(states) if kind == "lstm" else states[0])
    if direction == "_reverse":
        y = y.flip(0)
    expected = [y, *(last if kind == "lstm" else [last])]
    inputs = {"x": x}
    for name, state in zip("hc", states, strict=False):
        inputs[f"{name}0"] = state if both else state[0]
    inputs |= {name.replace("_l0", ""): value for name, value in layer.named_parameters()}
    function = kind.split()[0] + direction
    results = ["y", "h", "c"][: len(expected)]
    found = run(solar, tmp_path, call(function, inputs, ", ".join(results), after), inputs)
    for name, value in zip(results, expected, strict=True):
        close(found[name], value if both or name == "y" else value[0])


def attention_inputs(heads: int, groups: int) -> dict[str, Tensor]:
    torch.manual_seed(SEED)
    return {
        "q": torch.randn(2, heads, 7, 4),
        "k": torch.randn(2, groups, 7, 4),
        "v": torch.randn(2, groups, 7, 5),
    }


@pytest.mark.parametrize("causal", [False, True])
def test_grouped_attention(solar: Any, tmp_path: Path, causal: bool) -> None:
    inputs = attention_inputs(6, 2)
    q, k, v = inputs.values()
    expected = functional.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=True)
    found = run(solar, tmp_path, call("gqa_causal" if causal else "gqa", inputs, "o", ", 0.5"), inputs)
    close(found["o"], expected)


def test_window_attention(solar: Any, tmp_path: Path) -> None:
    inputs = attention_inputs(3, 3)
    q, k, v = inputs.values()
    i, j = torch.arange(7)[:, None], torch.arange(7)[None, :]
    expected = functional.scaled_dot_product_attention(q, k, v, attn_mask=(i >= j) & (i - j < 3))
    found = run(solar, tmp_path, call("sdpa_window", inputs, "o", ", 0.5; W = 3"), inputs)
    close(found["o"], expected)


def selective_scan(x: Tensor, dt: Tensor, a: Tensor, b: Tensor, c: Tensor, skip: Tensor) -> Tensor:
    """By definition, one step after the other."""
    h = torch.zeros(x.shape[0], x.shape[2], a.shape[1])
    rows = []
    for t in range(x.shape[1]):
        h = torch.exp(dt[:, t, :, None] * a) * h + (dt[:, t] * x[:, t])[:, :, None] * b[:, t, None, :]
        rows.append((h * c[:, t, None, :]).sum(-1) + skip * x[:, t])
    return torch.stack(rows, 1)


def test_selective_scan(solar: Any, tmp_path: Path) -> None:
    torch.manual_seed(SEED)
    inputs = {
        "x": torch.randn(2, 6, 3),
        "dt": torch.rand(2, 6, 3),
        "a": -torch.rand(3, 4),
        "b": torch.randn(2, 6, 4),
        "c": torch.randn(2, 6, 4),
        "skip": torch.randn(3),
    }
    close(run(solar, tmp_path, call("selective_scan", inputs, "y"), inputs)["y"], selective_scan(**inputs))


ONE_INPUT: dict[str, tuple[str, Callable[[Tensor], Tensor], tuple[int, ...]]] = {
    "response norm": (
        "local_response_norm(x, 0.3, 0.75, 2.0; N = 4)",
        lambda x: functional.local_response_norm(x, 4, alpha=0.3, beta=0.75, k=2.0),
        (2, 7, 5),
    ),
    "lp pool 1d": ("lp_pool1d(x, 2.0; RW = 3, SW = 2)", lambda x: functional.lp_pool1d(x, 2.0, 3, 2), (2, 4, 9)),
    "lp pool 2d": (
        "lp_pool2d(x, 3.0; RH = 2, RW = 3, SH = 1, SW = 2)",
        lambda x: functional.lp_pool2d(x, 3.0, (2, 3), (1, 2)),
        (2, 4, 6, 9),
    ),
}


@pytest.mark.parametrize("name", sorted(ONE_INPUT))
def test_functions_of_one_input(solar: Any, tmp_path: Path, name: str) -> None:
    written, expected, shape = ONE_INPUT[name]
    torch.manual_seed(SEED)
    x = torch.rand(shape) + 0.1
    text = f"program p(input x: f32[{', '.join(map(str, shape))}]) -> (y) {{ let y = {written} }}"
    close(run(solar, tmp_path, text, {"x": x})["y"], expected(x))
