"""Every program of the language's reference runs, and gives what the NumPy evaluator gives."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import ROOT
from oracle import mutant_trial
from oracle.alir_nodes import Port
from oracle.alir_text import read
from oracle.numpy_eval import Scope, evaluate
from oracle.numpy_values import dtype_of
from safetensors.torch import load_file, save_file

SEED = 5
TYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "i64": torch.int64, "bool": torch.bool}


def programs() -> dict[str, str]:
    """The reference's programs by name, without those that show an error."""
    blocks = (ROOT / "docs" / "language.md").read_text().split("```alir\n")[1:]
    texts = [block.split("```")[0] for block in blocks]
    named = {}
    for text in texts:
        if "# error:" not in text and "program " in text:
            named[text.split("program ")[1].split("(")[0]] = text
    return named


def value(scope: Scope, port: Port, random: np.random.Generator) -> Any:
    """Normal floats; integers that are positions in every axis, also in ascending order."""
    element, shape = scope.element(port.type), (1, *scope.shape(port.type))
    if element == "bool":
        return random.integers(0, 2, shape).astype(np.bool_)
    if element == "i64":
        return np.sort(random.integers(0, 3, shape), axis=-1) if len(shape) > 1 else random.integers(0, 2, shape)
    values = random.normal(size=shape).astype(dtype_of(element, False))
    return torch.from_numpy(values).to(TYPES[element]).to(torch.float32).numpy()


@pytest.mark.parametrize("name", sorted(programs()))
def test_programs_of_the_reference(solar: Any, tmp_path: Path, name: str) -> None:
    path, inputs, outputs = tmp_path / f"{name}.alir", tmp_path / "in.safetensors", tmp_path / "out.safetensors"
    path.write_text(programs()[name])
    file = read(path.read_text())
    assert file.program is not None
    random = np.random.default_rng(SEED)
    scope = Scope({}, 1, exact=False)
    scope.declare(file.program.body)
    given = {port.name: value(scope, port, random) for port in file.program.ports if port.role != "const"}
    elements = {port.name: scope.element(port.type) for port in file.program.ports}
    save_file({n: torch.from_numpy(np.array(v[0])).to(TYPES[elements[n]]) for n, v in given.items()}, inputs)
    done = solar("run", path, "--inputs", inputs, "-o", outputs)
    assert done.returncode == 0, done.stdout + done.stderr
    prelude = {function: f for part in mutant_trial.prelude_files() for function, f in part.functions.items()}
    expected = evaluate(file, prelude, given, exact=False)
    found = load_file(outputs)
    assert set(found) == {*expected.outputs, *expected.states}
    for output, values in {**expected.outputs, **expected.states}.items():
        tensor = found[output]
        if not tensor.is_floating_point():
            np.testing.assert_array_equal(tensor.numpy(), values[0], err_msg=output)
            continue
        narrow = torch.finfo(tensor.dtype).eps if tensor.dtype == torch.bfloat16 else 0.0
        tolerance = 1e-5 * float(np.abs(values[0]).max()) + 1e-7
        np.testing.assert_allclose(tensor.double().numpy(), values[0], rtol=narrow, atol=tolerance, err_msg=output)


def test_reference_has_programs() -> None:
    assert len(programs()) >= 12
