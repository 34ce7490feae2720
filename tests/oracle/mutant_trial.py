"""Does validation notice faults? Mutates the traced programs of the three published models at small size.

Whether a mutant means another function is judged here, by the NumPy evaluator on 50 seeds; whether validation refuses
it is asked of `solar check MUTANT --against SOURCE`. The test suite tries ten mutants of each model; for more:

    python -m oracle.mutant_trial SOLAR_BINARY [--count 100] [--seed 1] [--model gpt2]      (from tests/)
"""

import argparse
import importlib.util
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from .alir_nodes import File, UnreadableError
from .alir_text import read
from .mutate import Mutant, mutants
from .numpy_eval import Outcome, evaluate
from .numpy_values import ProgramError

ROOT = Path(__file__).resolve().parents[2]
SEEDS = 50
# Small sizes at which nothing degenerates: extents differ, windows are ragged, guards hold here and not there.
SIZES: Mapping[str, Mapping[str, int]] = {
    "resnet18": {"BATCH": 2, "IMAGE": 40, "WIDTH": 3, "CLASSES": 5},
    "gpt2": {
        "BATCH": 2,
        "SEQUENCE": 7,
        "POSITIONS": 9,
        "VOCABULARY": 13,
        "LAYERS": 2,
        "HEADS": 3,
        "HEAD_WIDTH": 4,
    },
    "vit_b16": {"BATCH": 2, "IMAGE": 12, "PATCH": 4, "CLASSES": 5, "LAYERS": 2, "HEADS": 3, "HEAD_WIDTH": 4},
}

Solar = Callable[..., "subprocess.CompletedProcess[str]"]
Ports = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Verdict:
    """What became of one mutant."""

    mutant: Mutant
    changed: bool
    rejected: bool


@dataclass(frozen=True)
class Trial:
    """All mutants of one model."""

    model: str
    verdicts: tuple[Verdict, ...]

    @property
    def changed(self) -> int:
        return sum(v.changed for v in self.verdicts)

    @property
    def caught(self) -> int:
        return sum(v.changed and v.rejected for v in self.verdicts)

    @property
    def missed(self) -> list[Mutant]:
        return [v.mutant for v in self.verdicts if v.changed and not v.rejected]

    @property
    def refused_though_equal(self) -> list[Mutant]:
        return [v.mutant for v in self.verdicts if v.rejected and not v.changed]


def small_source(model: str, folder: Path) -> Path:
    """The example with its module-level sizes made small."""
    text = (ROOT / "examples" / f"{model}.py").read_text()
    for name, value in SIZES[model].items():
        text, count = re.subn(rf"^{name} = \d+$", f"{name} = {value}", text, flags=re.MULTILINE)
        assert count == 1, f"{model}: constant {name}"
    path = folder / f"{model}.py"
    path.write_text(text)
    return path


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"small_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def samples(module: ModuleType, program: File, seeds: int = SEEDS) -> tuple[Ports, npt.NDArray[Any]]:
    """The program's ports for every seed, and what the module itself gives (in float64)."""
    assert program.program is not None
    torch.set_num_threads(1)  # the tensors are tiny
    torch.manual_seed(0)
    model = module.Model(*module.get_init_inputs()).double()
    collected: dict[str, list[npt.NDArray[Any]]] = {}
    results = []
    for seed in range(seeds):
        torch.manual_seed(1 + seed)
        with torch.no_grad():
            for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
                if name.endswith("running_var"):
                    tensor.copy_(0.5 + torch.rand_like(tensor))
                elif tensor.dim() == 1:
                    tensor.copy_(float(name.endswith("weight")) + 0.3 * torch.randn_like(tensor))
                elif tensor.dim() > 1:
                    tensor.copy_(torch.randn_like(tensor) * tensor[0].numel() ** -0.5)
            inputs = [x.double() if x.is_floating_point() else x for x in module.get_inputs()]
            results.append(model(*inputs).numpy())
        state = {name.replace(".", "_"): value for name, value in model.state_dict().items()}
        remaining = list(inputs)
        for port in program.program.ports:
            if port.role == "const":
                continue
            value = remaining.pop(0) if port.role == "input" else state[port.name]
            collected.setdefault(port.name, []).append(value.detach().numpy().copy())
    return {name: np.stack(values) for name, values in collected.items()}, np.stack(results)


def only_output(outcome: Outcome) -> npt.NDArray[np.float64]:
    (output,) = outcome.outputs.values()
    return output.astype(np.float64)


class Judge:
    """Knows the original's outputs and how far float32 arithmetic alone moves them."""

    def __init__(self, module: ModuleType, program: File, prelude: Sequence[File]) -> None:
        self.functions = {name: f for file in prelude for name, f in file.functions.items()}
        self.ports, self.source = samples(module, program)
        self.exact = only_output(evaluate(program, self.functions, self.ports, exact=True))
        rounded = only_output(evaluate(program, self.functions, self.ports, exact=False))
        scale = float(np.abs(self.exact).max())
        self.noise = max(float(np.abs(rounded - self.exact).max()), float(np.finfo(np.float32).eps) * scale)

    def differs_from_source(self) -> float:
        """The largest difference between the program and the module it was traced from, in units of the noise."""
        return float(np.abs(self.exact - self.source).max()) / self.noise

    def changed(self, mutant: Mutant) -> bool:
        """Whether the mutant's function differs by more than rounding could on any of the seeds."""
        try:
            output = only_output(evaluate(read(mutant.text), self.functions, self.ports, exact=True))
        except ProgramError:
            return True
        if output.shape != self.exact.shape:
            return True
        difference = np.abs(output - self.exact)
        return not bool((difference <= 8 * self.noise).all())


def prelude_files() -> list[File]:
    return [read(path.read_text()) for path in sorted((ROOT / "prelude").glob("*.alir"))]


def readable(text: str) -> bool:
    try:
        read(text)
    except UnreadableError:
        return False
    return True


def run(solar: Solar, model: str, folder: Path, count: int, seed: int) -> Trial:
    """Traces the small model, makes mutants that pass the verifier, judges and validates each."""
    source = small_source(model, folder)
    traced = folder / f"{model}.alir"
    done = solar("trace", str(source), "-o", str(traced))
    assert done.returncode == 0, done.stderr
    prelude = prelude_files()
    program = read(traced.read_text())
    judge = Judge(load(source), program, prelude)
    assert judge.differs_from_source() < 8, f"{model}: the evaluator and PyTorch disagree on the traced program"

    candidate = folder / f"{model}_mutant.alir"

    def passes_the_verifier(text: str) -> bool:
        candidate.write_text(text)
        return readable(text) and solar("check", str(candidate)).returncode == 0

    found = mutants(traced.read_text(), prelude, count, seed, passes_the_verifier)

    def verdict(number: int) -> Verdict:
        mutant = found[number]
        path = folder / f"{model}_mutant_{number}.alir"
        path.write_text(mutant.text)
        done = solar("check", str(path), "--against", str(source))
        output = done.stdout + done.stderr
        assert done.returncode in (0, 1), f"exit code {done.returncode}: {output}"
        # A fault in an index may already stop the run.
        assert done.returncode == 0 or "validation-failed" in output or "index-out-of-range" in output, output
        return Verdict(mutant, judge.changed(mutant), done.returncode == 1)

    with ThreadPoolExecutor(2) as pool:
        verdicts = list(pool.map(verdict, range(len(found))))
    return Trial(model, tuple(verdicts))


def describe(trial: Trial) -> str:
    lines = [f"{trial.model}: {trial.caught} of {trial.changed} mutants that change the function rejected"]
    lines[0] += f" ({len(trial.verdicts)} mutants in all)"
    lines += [f"  missed: [{mutant.kind}] {mutant.note}" for mutant in trial.missed]
    lines += [f"  rejected, though equal: [{m.kind}] {m.note}" for m in trial.refused_though_equal]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--count", type=int, default=100, help="mutants of each model")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--model", choices=sorted(SIZES), action="append")
    parser.add_argument("--folder", type=Path, required=True, help="where programs are written")
    options = parser.parse_args()

    def solar(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([options.binary, *arguments], capture_output=True, text=True, check=False)

    for model in options.model or sorted(SIZES):
        print(describe(run(solar, model, options.folder, options.count, options.seed)), flush=True)


if __name__ == "__main__":
    main()
