"""A random program as a tree of statements, so that a failing one can be made smaller."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Node:
    """One statement: text with `{}` where bodies stand. `results` are the tensors it defines for its surroundings."""

    text: str
    results: tuple[str, ...] = ()
    bodies: tuple[tuple["Node", ...], ...] = ()

    def render(self, indent: str) -> str:
        text = self.text
        for body in self.bodies:
            inner = "".join(node.render(indent + "  ") for node in body)
            text = text.replace("@body", "{\n" + inner + indent + "}", 1)
        return f"{indent}{text}\n"

    def words(self) -> set[str]:
        """Everything that may be a name in it."""
        found = set(WORD.findall(self.text))
        for body in self.bodies:
            for node in body:
                found |= node.words()
        return found


@dataclass(frozen=True)
class OwnFunction:
    name: str
    head: str  # `fn NAME<..>(..) -> (..)`
    body: tuple[Node, ...]

    def render(self) -> str:
        return f"{self.head} {{\n{''.join(node.render('  ') for node in self.body)}}}\n"

    def words(self) -> set[str]:
        return set(WORD.findall(self.head)).union(*(node.words() for node in self.body))


@dataclass(frozen=True)
class Port:
    role: str
    name: str
    element: str
    extents: str
    values: npt.NDArray[Any]  # as the evaluator holds them, without the sample axis
    literal: str = ""  # const ports: their values as text

    def render(self) -> str:
        return f"{self.role} {self.name}: {self.element}[{self.extents}]{self.literal}"


@dataclass(frozen=True)
class RandomProgram:
    seed: int
    dims: str
    functions: tuple[OwnFunction, ...]
    ports: tuple[Port, ...]
    statements: tuple[Node, ...]
    outputs: tuple[str, ...]
    errors: dict[str, float]  # per tensor: how far results may be apart
    shapes: dict[str, tuple[str, str]] = field(default_factory=dict)  # per tensor: element, extents
    features: frozenset[str] = frozenset()

    def text(self) -> str:
        ports = ",\n    ".join(port.render() for port in self.ports)
        body = "".join(node.render("  ") for node in self.statements)
        used = "".join(function.render() for function in self.functions)
        dims = f"  dims {self.dims}\n" if self.dims else ""
        outputs = ", ".join(self.outputs)
        return f"{used}program random(\n    {ports}\n) -> ({outputs}) {{\n{dims}{body}}}\n"

    def without_dead_code(self) -> "RandomProgram":
        wanted = set(self.outputs)
        kept: list[Node] = []
        for node in reversed(self.statements):
            if not node.results and node.text.startswith("update "):
                if not any(port.name in node.words() and port.role == "state" for port in self.ports):
                    continue
            elif not wanted & set(node.results):
                continue
            kept.append(node)
            wanted |= node.words()
        statements = tuple(reversed(kept))
        return self.with_used(statements, wanted)

    def with_used(self, statements: tuple[Node, ...], wanted: set[str]) -> "RandomProgram":
        """Without functions and ports that nothing uses."""
        kept: list[OwnFunction] = []
        for function in reversed(self.functions):  # a function calls earlier ones
            if function.name in wanted or any(function.name in later.words() for later in kept):
                kept.append(function)
        ports = tuple(port for port in self.ports if port.name in wanted)
        return replace(self, statements=statements, functions=tuple(reversed(kept)), ports=ports or self.ports[:1])

    def tensors(self) -> Iterator[str]:
        """Defined at the top level, in order."""
        for node in self.statements:
            yield from node.results


def constant(values: npt.NDArray[Any]) -> str:
    def number(value: Any) -> str:
        if isinstance(value, bool | np.bool_):
            return "true" if value else "false"
        if isinstance(value, int | np.integer):
            return str(int(value))
        return f"{float(value)!r}"

    return " = [" + ", ".join(number(value) for value in values.ravel()) + "]"
