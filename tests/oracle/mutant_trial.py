"""Does validation notice faults? Mutates the traced program of a source at small sizes.

Whether a mutant means another function is judged here, by the NumPy evaluator on 50 seeds; whether validation refuses
it is asked of `solar check MUTANT --against SOURCE`. `test_mutants.py` tries ten mutants of each published model,
`problem_mutants.py` a few of every problem in folders.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from solar import worker
from solar.tensorfile import read_tensors

from .alir_nodes import File, UnreadableError
from .alir_text import read
from .mutate import Mutant, mutants
from .numpy_eval import Outcome, evaluate
from .numpy_values import ProgramError

if TYPE_CHECKING:
    import subprocess

ROOT = Path(__file__).resolve().parents[2]
SEEDS = 50

Solar = Callable[..., "subprocess.CompletedProcess[str]"]
Ports = dict[str, npt.NDArray[Any]]
Arrays = list[npt.NDArray[np.float64]]


@dataclass(frozen=True)
class Source:
    """A program with sizes at which the evaluator is quick."""

    path: Path
    sizes: Mapping[str, int]

    def options(self) -> list[str]:
        """`--set` and what it is given."""
        return ["--set", ",".join(f"{name}={value}" for name, value in self.sizes.items())] if self.sizes else []


# Sizes at which nothing degenerates: extents differ, windows are ragged, guards hold here and not there.
SMALL_IMAGES = {"BATCH": 2, "CLASSES": 5}
SMALL_LAYERS = {"BATCH": 2, "LAYERS": 2, "HEADS": 3, "HEAD_WIDTH": 4}
EXAMPLES = {
    "resnet18": Source(ROOT / "examples/resnet18.py", {**SMALL_IMAGES, "IMAGE": 40, "WIDTH": 3}),
    "gpt2": Source(ROOT / "examples/gpt2.py", {**SMALL_LAYERS, "SEQUENCE": 7, "POSITIONS": 9, "VOCABULARY": 13}),
    "vit_b16": Source(ROOT / "examples/vit_b16.py", {**SMALL_IMAGES, **SMALL_LAYERS, "IMAGE": 12, "PATCH": 4}),
}


class UntellingError(Exception):
    """The program itself is not accepted at these sizes, so that refusing a mutant says nothing."""


@dataclass(frozen=True)
class Verdict:
    """What became of one mutant."""

    mutant: Mutant
    changed: bool
    rejected: bool


@dataclass(frozen=True)
class Trial:
    """All mutants of one source."""

    name: str
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


def samples(source: Source, folder: Path, seeds: int = SEEDS) -> tuple[Ports, Arrays]:
    """The program's ports for every seed, and what the original gives in float64."""
    torch.set_num_threads(1)  # the tensors are tiny
    request: dict[str, Any] = {"source": str(source.path), "overrides": dict(source.sizes)}
    traced = worker.handle({**request, "do": "trace", "out": str(folder / "judged.alir")})
    golden = {"do": "golden", "ports": traced["ports"], "constants": traced.get("constants"), "want_f64": True}
    path = folder / "judged.safetensors"
    collected: dict[str, list[npt.NDArray[Any]]] = {}
    results: list[list[npt.NDArray[Any]]] = []
    for seed in range(seeds):
        distribution = "normal" if seed % 2 else "example"
        again = {**request, **golden, "seed": 1 + seed, "distribution": distribution, "out": str(path)}
        worker.handle(again)
        tensors = {name: as_array(tensor) for name, tensor in read_tensors(str(path)).items()}
        for name, array in tensors.items():
            if name.startswith("in/"):
                collected.setdefault(name[3:], []).append(array)
        kind = "f64" if "f64/0" in tensors else "out"
        results.append([tensors[name] for name in sorted_by_number(tensors, kind)])
    outputs = [np.stack(one).astype(np.float64) for one in zip(*results, strict=True)]
    return {name: np.stack(values) for name, values in collected.items()}, outputs


def sorted_by_number(names: Mapping[str, Any], kind: str) -> list[str]:
    return sorted((n for n in names if n.startswith(f"{kind}/")), key=lambda n: int(n.rpartition("/")[2]))


def as_array(tensor: torch.Tensor) -> npt.NDArray[Any]:
    """The values; NumPy has no bfloat16 and no float8."""
    if tensor.is_floating_point() and tensor.dtype not in (torch.float64, torch.float32, torch.float16):
        tensor = tensor.float()
    return tensor.detach().numpy().copy()


def outputs_of(outcome: Outcome) -> Arrays:
    return [output.astype(np.float64) for output in outcome.outputs.values()]


def largest(values: npt.NDArray[np.float64]) -> float:
    """The largest finite magnitude."""
    finite = np.abs(values[np.isfinite(values)])
    return float(finite.max()) if finite.size else 0.0


class Judge:
    """Knows the original's outputs and how far float32 arithmetic alone moves them."""

    def __init__(self, source: Source, folder: Path, program: File, prelude: Sequence[File]) -> None:
        self.functions = {name: f for file in prelude for name, f in file.functions.items()}
        self.ports, self.source = samples(source, folder)
        self.exact = self.evaluated(program, exact=True)
        rounded = self.evaluated(program, exact=False)
        eps = float(np.finfo(np.float32).eps)
        with np.errstate(invalid="ignore"):
            self.noise = [
                max(largest(r - e), eps * largest(e), float(np.finfo(np.float32).tiny))
                for r, e in zip(rounded, self.exact, strict=True)
            ]

    def evaluated(self, program: File, exact: bool) -> Arrays:
        return outputs_of(evaluate(program, self.functions, self.ports, exact=exact))

    def difference(self, outputs: Arrays) -> float:
        """The largest difference to the program's own outputs, in units of the noise."""
        if [o.shape for o in outputs] != [e.shape for e in self.exact]:
            return np.inf
        worst = 0.0
        for output, exact, noise in zip(outputs, self.exact, self.noise, strict=True):
            with np.errstate(invalid="ignore"):
                same = (output == exact) | (np.isnan(output) & np.isnan(exact))
                difference = np.where(same, 0.0, np.abs(output - exact) / noise)
            worst = max(worst, float(np.nan_to_num(difference, nan=np.inf).max(initial=0.0)))
        return worst

    def changed(self, mutant: Mutant) -> bool:
        """Whether the mutant's function differs by more than rounding could on any of the seeds."""
        try:
            return self.difference(self.evaluated(read(mutant.text), exact=True)) > 8
        except ProgramError:
            return True


def prelude_files() -> list[File]:
    return [read(path.read_text()) for path in sorted((ROOT / "prelude").glob("*.alir"))]


def readable(text: str) -> bool:
    try:
        read(text)
    except UnreadableError:
        return False
    return True


def trace(solar: Solar, source: Source, folder: Path) -> Path:
    """The file with the program as `solar trace` writes it."""
    path = folder / "traced.alir"
    done = solar("trace", str(source.path), *source.options(), "-o", str(path))
    assert done.returncode == 0, done.stderr
    return path


def run(solar: Solar, source: Source, folder: Path, count: int, seed: int) -> Trial:
    """Traces the source, makes mutants that pass the verifier, judges and validates each."""
    traced = trace(solar, source, folder)
    prelude = prelude_files()
    program = read(traced.read_text())
    judge = Judge(source, folder, program, prelude)
    assert judge.difference(judge.source) < 8, "the evaluator and PyTorch disagree on the traced program"

    candidate = folder / "candidate.alir"

    def passes_the_verifier(text: str) -> bool:
        candidate.write_text(text)
        return readable(text) and solar("check", str(candidate)).returncode == 0

    found = mutants(traced.read_text(), prelude, count, seed, passes_the_verifier)

    with ThreadPoolExecutor(1) as pool:
        rejected = pool.submit(rejections, solar, source, traced, found, folder)
        changed = [judge.changed(mutant) for mutant in found]
    verdicts = tuple(Verdict(*of_one) for of_one in zip(found, changed, rejected.result(), strict=True))
    return Trial(source.path.stem, verdicts)


def rejections(solar: Solar, source: Source, traced: Path, found: Sequence[Mutant], folder: Path) -> list[bool]:
    """Which mutants validation refuses; the original runs once for all, the traced program among them."""
    paths = [str(folder / f"mutant_{number}.alir") for number in range(len(found))]
    for path, mutant in zip(paths, found, strict=True):
        Path(path).write_text(mutant.text)
    done = solar("check", str(traced), *paths, "--against", str(source.path), *source.options())
    assert done.returncode in (0, 1), f"exit code {done.returncode}: {done.stderr}"
    if f"{traced}: equal to " not in done.stdout:
        raise UntellingError(done.stderr)
    rejected = [f"{path}: equal to " not in done.stdout for path in paths]
    # A fault in an index may already stop the run.
    kinds = done.stderr.count("error[validation-failed]") + done.stderr.count("error[index-out-of-range]")
    assert kinds == sum(rejected), done.stderr
    return rejected


def describe(trial: Trial) -> str:
    lines = [f"{trial.name}: {trial.caught} of {trial.changed} mutants that change the function rejected"]
    lines[0] += f" ({len(trial.verdicts)} mutants in all)"
    lines += [f"  missed: [{mutant.kind}] {mutant.note}" for mutant in trial.missed]
    lines += [f"  rejected, though equal: [{m.kind}] {m.note}" for m in trial.refused_though_equal]
    return "\n".join(lines)
