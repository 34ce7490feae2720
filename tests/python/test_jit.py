"""Compiled kernels through the command line: the same results as the interpreter's, and the cache on disk."""

import subprocess
from pathlib import Path

import pytest
import torch
from conftest import Solar
from safetensors.torch import load_file, save_file

SEED = 5
PROGRAM = """
program several(
    input x: f32[B, C, H, H], param w: f32[O, C, 3, 3], param g: f32[O], input ids: i64[B]
) -> (y, s, e, c) {
  dims B = 3, C = 5, O = 6, H = 17
  kernel y: f32[B, O, H, H] {
    for b:B, o:O, p:H, q:H, i:C, r:3, t:3
    where 0 <= p + r - 1 < H, 0 <= q + t - 1 < H
    y[b,o,p,q] += x[b, i, p + r - 1, q + t - 1] * w[o,i,r,t]
  }
  let s = softmax(y)
  indexed e: f32[B, O] { for b:B, o:O   e[b,o] = g[o] * f32(ids[b]) + y[ids[b], o, 0, 0] }
  let c = cumsum(s)
}
"""


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """The folder of the program and its inputs."""
    generator = torch.Generator().manual_seed(SEED)
    (tmp_path / "p.alir").write_text(PROGRAM)
    tensors = {
        "x": torch.randn(3, 5, 17, 17, generator=generator),
        "w": torch.randn(6, 5, 3, 3, generator=generator),
        "g": torch.randn(6, generator=generator),
        "ids": torch.tensor([2, 0, 1]),
    }
    save_file(tensors, tmp_path / "in.safetensors")
    return tmp_path


def arguments(folder: Path, executor: str, out: str) -> list[object]:
    inputs = folder / "in.safetensors"
    return ["run", folder / "p.alir", "--inputs", inputs, "--executor", executor, "--out", folder / out]


def outputs(solar: Solar, folder: Path, executor: str, cache: Path) -> dict[str, torch.Tensor]:
    done = solar(*arguments(folder, executor, "out.safetensors"), environment={"XDG_CACHE_HOME": str(cache)})
    assert done.returncode == 0, done.stderr
    return load_file(folder / "out.safetensors")


def check_equal(found: dict[str, torch.Tensor], expected: dict[str, torch.Tensor]) -> None:
    assert found.keys() == expected.keys()
    for name, tensor in expected.items():
        torch.testing.assert_close(found[name], tensor, rtol=1e-5, atol=1e-5, msg=lambda text, n=name: f"{n}: {text}")


def test_compiled_equals_interpreted(solar: Solar, case: Path) -> None:
    cache = case / "cache"
    expected = outputs(solar, case, "interpreter", cache)
    assert not cache.exists()
    check_equal(outputs(solar, case, "compiled", cache), expected)
    assert list((cache / "solar" / "kernels").iterdir())
    check_equal(outputs(solar, case, "jit", cache), expected)


def test_damaged_cache_is_rebuilt(solar: Solar, case: Path) -> None:
    cache = case / "cache"
    expected = outputs(solar, case, "compiled", cache)
    files = sorted((cache / "solar" / "kernels").iterdir())
    whole = [file.read_bytes() for file in files]
    damages = [lambda b: b[: len(b) // 2], lambda b: b"", lambda b: b[:-9] + bytes(x ^ 255 for x in b[-9:])]
    for i, file in enumerate(files):
        file.write_bytes(damages[i % len(damages)](whole[i]))
    found = outputs(solar, case, "compiled", cache)
    for name, tensor in expected.items():
        assert torch.equal(found[name], tensor), name
    assert sorted((cache / "solar" / "kernels").iterdir()) == files
    assert [file.read_bytes() for file in files] == whole


def test_unusable_cache_folder_does_no_harm(solar: Solar, case: Path) -> None:
    (case / "file").write_text("not a folder")
    check_equal(outputs(solar, case, "compiled", case / "file"), outputs(solar, case, "interpreter", case / "file"))


def test_processes_share_a_cache(solar: Solar, case: Path) -> None:
    environment = {"XDG_CACHE_HOME": str(case / "cache")}
    names = [f"out{i}.safetensors" for i in range(4)]
    running = [solar.start(*arguments(case, "compiled", name), environment=environment) for name in names]
    for process in running:
        _, errors = process.communicate(timeout=600)
        assert process.returncode == 0, errors
    expected = load_file(case / names[0])
    for name in names[1:]:
        for key, tensor in load_file(case / name).items():
            assert torch.equal(tensor, expected[key]), f"{name}: {key}"
    assert not [file for file in (case / "cache" / "solar" / "kernels").iterdir() if "." in file.name]


def test_cancelled_while_running(solar: Solar, tmp_path: Path) -> None:
    """Ctrl-C ends a long compiled kernel, with the interruption's exit code."""
    (tmp_path / "long.alir").write_text(
        """program long(input x: f32[1]) -> (y) {
          kernel y: f32[4096, 4096] {
            for i:4096, j:4096, k:4096   y[i,j] += sin(exp(x[0] * f32(i - k)) + f32(j + k))
          }
        }"""
    )
    save_file({"x": torch.ones(1)}, tmp_path / "in.safetensors")
    process = solar.start(
        "run", tmp_path / "long.alir", "--inputs", tmp_path / "in.safetensors", "--executor", "compiled"
    )
    with pytest.raises(subprocess.TimeoutExpired):
        process.communicate(timeout=3)
    process.send_signal(2)
    process.communicate(timeout=60)
    assert process.returncode == 130
