"""Random programs run by the program's executors and by the NumPy evaluator, and made smaller where they differ."""

import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import alir_text, numpy_eval, tensor_bytes
from .alir_nodes import Function
from .numpy_values import ProgramError
from .random_alir.program import FEATURES, generate
from .random_alir.tree import WORD, Node, Port, RandomProgram

Values = npt.NDArray[Any]
ROOT = Path(__file__).resolve().parents[2]
NOT_IN_FILES = ("i4", "f4e2m1")
CONSTRUCTS = frozenset(
    [
        "fn",
        "view",
        "slice",
        "concat",
        "split",
        "unbind",
        "stack",
        "indexed",
        "scatter",
        "repeat",
        "while",
        "if",
        "sort",
        "topk",
        "argsort",
        "unique",
        "nonzero",
        "update",
        "argmax",
        "argmin",
        "seq",
        "revseq",
        "in",
        "at",
        "wide",
    ]
)


class CrashedError(Exception):
    """The program's process ended; `seed` is what it was working on."""


@dataclass
class Outcome:
    """Tensors by name, or the kinds of what was wrong."""

    tensors: dict[str, Values] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()
    text: str = ""


def prelude() -> dict[str, Function]:
    files = [alir_text.read(path.read_text()) for path in sorted((ROOT / "prelude").glob("*.alir"))]
    return {name: function for file in files for name, function in file.functions.items()}


class Solar:
    """The process that runs programs, one after the other."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self.binary = binary
        self.program, self.inputs, self.outputs = (
            folder / name for name in ("program.alir", "inputs.safetensors", "outputs.safetensors")
        )
        # Compiled kernels are not taken from another time.
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(folder)}
        self.process = self.started()

    def started(self) -> "subprocess.Popen[str]":
        pipe = subprocess.PIPE
        return subprocess.Popen([self.binary], stdin=pipe, stdout=pipe, text=True, env=self.environment)

    def close(self) -> None:
        self.process.communicate()

    def prepare(self, program: RandomProgram) -> None:
        self.program.write_text(program.text())
        tensors = {port.name: (port.element, port.values) for port in program.ports if not port.literal}
        tensor_bytes.write(self.inputs, tensors)

    def run(self, executor: str) -> Outcome:
        """What was prepared."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.outputs.unlink(missing_ok=True)
        line = "\t".join((str(self.program), str(self.inputs), str(self.outputs), executor))
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            code = self.process.wait()
            self.process = self.started()
            raise CrashedError(f"{executor}: the process ended with {code}")
        found = json.loads(answer)
        if found["kinds"]:
            return Outcome(kinds=tuple(found["kinds"]), text=found["text"])
        return Outcome({name: values for name, (_, values) in tensor_bytes.read(self.outputs).items()})


def with_numpy(program: RandomProgram, functions: dict[str, Function]) -> Outcome:
    ports = {port.name: port.values[None] for port in program.ports if not port.literal}
    ports = ports or {"": np.zeros((1,))}
    try:
        found = numpy_eval.evaluate(alir_text.read(program.text()), functions, ports, exact=False)
    except ProgramError as error:
        if not error.kind:
            raise
        return Outcome(kinds=(error.kind,), text=str(error))
    tensors = {name: values[0] for name, values in found.outputs.items()}
    tensors.update({f"state/{name}": values[0] for name, values in found.states.items()})
    return Outcome(tensors)


def differences(program: RandomProgram, expected: Outcome, found: Outcome) -> list[str]:
    """The tensors in which two outcomes differ, in order, each with what is wrong; empty: they agree."""
    if expected.kinds or found.kinds:
        same = bool(found.kinds) and set(expected.kinds) == set(found.kinds)
        return [] if same else [f"kinds: {expected.kinds} {expected.text} / {found.kinds} {found.text}"]
    if set(expected.tensors) != set(found.tensors):
        return [f"names: {sorted(expected.tensors)} / {sorted(found.tensors)}"]
    wrong = []
    updates = {f"state/{node.text.split()[1]}": node.text.split()[3] for node in flat(program.statements)
               if node.text.startswith("update ")}  # fmt: skip
    for name, values in expected.tensors.items():
        error = program.errors.get(updates.get(name, name), 0.0)
        problem = difference(values, found.tensors[name], error)
        if problem:
            wrong.append(f"{name}: {problem}")
    return wrong


def difference(expected: Values, found: Values, error: float) -> str:
    if expected.shape != found.shape:
        return f"shape {expected.shape} / {found.shape}"
    if expected.dtype != found.dtype:
        return f"type {expected.dtype} / {found.dtype}"
    with np.errstate(invalid="ignore"):
        same = (expected == found) | ((expected != expected) & (found != found))
        if error:
            same |= np.abs(expected.astype(np.float64) - found.astype(np.float64)) <= error
    if same.all():
        return ""
    place = tuple(int(i) for i in np.argwhere(~same)[0])
    allowed = f", {error:.3g} allowed" if error else ", exact"
    return f"at {place}: {expected[place]!r} / {found[place]!r}{allowed}; {int((~same).sum())} of {same.size}"


def flat(nodes: Iterable[Node]) -> list[Node]:
    """Without op groups."""
    found: list[Node] = []
    for node in nodes:
        if node.text.startswith("op "):
            found += flat(node.bodies[0])
        else:
            found.append(node)
    return found


@dataclass
class Difference:
    program: RandomProgram
    executor: str
    wrong: list[str]

    def report(self, smallest: RandomProgram, wrong: Sequence[str]) -> str:
        values = "".join(f"# {port.name} = {np.array2string(port.values, threshold=50)}\n" for port in smallest.ports)
        return (
            f"seed {self.program.seed}, NumPy / {self.executor}:\n  " + "\n  ".join(self.wrong[:4]) + "\n"
            "smallest program that differs:\n  " + "\n  ".join(wrong[:4]) + f"\n{smallest.text()}{values}"
        )


class Comparison:
    """NumPy against the executors, program by program."""

    def __init__(self, solar: Solar, executors: Sequence[str]) -> None:
        self.solar = solar
        self.executors = executors
        self.functions = prelude()
        self.refused: list[tuple[int, str]] = []
        self.counts: Counter[str] = Counter()

    def check(self, program: RandomProgram) -> Difference | None:
        self.solar.prepare(program)
        expected: Outcome | None = None
        for executor in self.executors:
            found = self.solar.run(executor)
            if found.kinds and executor == self.executors[0] and is_refusal(found):
                self.refused.append((program.seed, found.text))
                return None
            expected = expected or with_numpy(program, self.functions)
            wrong = differences(program, expected, found)
            if wrong:
                return Difference(program, executor, wrong)
        self.counts["failed alike" if expected and expected.kinds else "same"] += 1
        return None

    def still(self, program: RandomProgram, executor: str) -> list[str]:
        """Where a smaller program differs; empty where it does not, or where it means nothing."""
        try:
            expected = with_numpy(program, self.functions)
        except (ProgramError, ValueError, KeyError, IndexError, TypeError, AssertionError):
            return []
        self.solar.prepare(program)
        try:
            found = self.solar.run(executor)
        except CrashedError as crash:
            return [str(crash)]
        if found.kinds and is_refusal(found):
            return []
        return differences(program, expected, found)

    def smallest(self, found: Difference) -> tuple[RandomProgram, list[str]]:
        best, wrong = found.program, found.wrong
        for smaller in (isolated, one_output, without_groups, without_statements):
            best, wrong = smaller(self, best, wrong, found.executor)
        return best, wrong

    def summary(self) -> str:
        """Counts, and what the verifier refused."""
        lines = [", ".join(f"{count} {what}" for what, count in sorted(self.counts.items()))]
        lines.append(f"{len(self.refused)} refused by the verifier")
        lines += [f"  seed {seed}: {text.splitlines()[0]}" for seed, text in self.refused[:10]]
        return "\n".join(lines)


def is_refusal(outcome: Outcome) -> bool:
    """Of the verifier: a run that fails does so with one of these kinds."""
    run_time = {"index-out-of-range", "duplicate-write", "step-limit", "result-limit", "hole"}
    return not set(outcome.kinds) & run_time


Smaller = tuple[RandomProgram, list[str]]


def one_output(compare: Comparison, best: RandomProgram, wrong: list[str], executor: str) -> Smaller:
    for name in best.outputs:
        trial = replace(best, outputs=(name,), statements=tuple(flat(best.statements))).without_dead_code()
        still = compare.still(trial, executor)
        if still:
            return trial, still
    return best, wrong


def without_groups(compare: Comparison, best: RandomProgram, wrong: list[str], executor: str) -> Smaller:
    trial = replace(best, statements=tuple(flat(best.statements)))
    still = compare.still(trial, executor)
    return (trial, still) if still else (best, wrong)


def isolated(compare: Comparison, best: RandomProgram, wrong: list[str], executor: str) -> Smaller:
    """One statement alone, its operands being inputs with the values that NumPy gives."""
    statements = [node for node in flat(best.statements) if node.results]
    names = {port.name for port in best.ports}
    everything = replace(best, statements=tuple(statements), outputs=tuple(holdable(best, statements)))
    try:
        values = with_numpy(everything, compare.functions).tensors
    except ProgramError:
        return best, wrong
    for node in statements:
        outputs = tuple(holdable(best, [node]))
        ports = [port for port in best.ports if port.name in node.words()]
        for name in sorted(node.words() & set(best.shapes) - names - set(node.results)):
            if name in values:
                element, extents = best.shapes[name]
                ports.append(Port("input", name, element, extents, values[name]))
        if outputs and ports:
            trial = replace(best, ports=tuple(ports), statements=(node,), outputs=outputs)
            trial = trial.with_used(trial.statements, node.words() | {port.name for port in ports})
            still = compare.still(trial, executor)
            if still:
                return trial, still
    return best, wrong


def holdable(program: RandomProgram, nodes: Iterable[Node]) -> list[str]:
    return [name for node in nodes for name in node.results if program.shapes[name][0] not in NOT_IN_FILES]


def without_statements(compare: Comparison, best: RandomProgram, wrong: list[str], executor: str) -> Smaller:
    """Takes statements away, also inside of bodies and functions, as long as the rest still differs."""
    changed = True
    while changed:
        changed = False
        for trial in smaller_programs(best):
            trial = trial.with_used(trial.statements, set(best.outputs).union(*(n.words() for n in trial.statements)))
            still = compare.still(trial, executor)
            if still:
                best, wrong, changed = trial, still, True
                break
    return best, wrong


def smaller_programs(program: RandomProgram) -> Iterable[RandomProgram]:
    for nodes in fewer(program.statements):
        yield replace(program, statements=nodes)
    for position, function in enumerate(program.functions):
        for nodes in fewer(function.body):
            functions = list(program.functions)
            functions[position] = replace(function, body=nodes)
            yield replace(program, functions=tuple(functions))


def fewer(nodes: tuple[Node, ...]) -> Iterable[tuple[Node, ...]]:
    for position, node in enumerate(nodes):
        if not node.text.startswith(("next ", "test ")):
            yield nodes[:position] + nodes[position + 1 :]
        for which, body in enumerate(node.bodies):
            for inner in fewer(body):
                bodies = (*node.bodies[:which], inner, *node.bodies[which + 1 :])
                yield (*nodes[:position], replace(node, bodies=bodies), *nodes[position + 1 :])


def run(comparison: Comparison, seeds: Iterable[int], features: frozenset[str] = FEATURES) -> str:
    """The report on the first difference, or nothing."""
    for seed in seeds:
        program = generate(seed, features)
        try:
            found = comparison.check(program)
        except CrashedError as crash:
            found = Difference(program, str(crash).partition(":")[0], [str(crash)])
        comparison.counts.update(f"with `{word}`" for word in CONSTRUCTS & set(WORD.findall(program.text())))
        if found is not None:
            return found.report(*comparison.smallest(found))
    return ""
