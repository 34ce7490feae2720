"""Seeded small faults in Affine Loop IR text, as a translator might make them.

A mutant differs from the original in one place. A place inside a function of the prelude is changed in a copy made for
one call alone, so the mutant's text holds everything that differs. Kinds:

    axis      two subscripts, a view's axes or atoms swapped
    bound     a reduced loop one shorter, a slice shifted
    guard     a guard dropped, its comparison changed or shifted by one
    operator  an arithmetic operator, function, reduction or called function replaced
    constant  a literal changed
    init      what a reduction starts from, or the value where no point arrives
"""

import itertools
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from .alir_nodes import (
    Apply,
    At,
    Axis,
    Binary,
    Call,
    Chain,
    File,
    Function,
    Kernel,
    Name,
    Number,
    Pack,
    Read,
    Repeat,
    Slice,
    Statement,
    Unary,
    View,
)
from .alir_text import read

KINDS = ("axis", "bound", "guard", "operator", "constant", "init")

OPERATORS: Mapping[str, tuple[str, ...]] = {
    "+": ("-",), "-": ("+",), "*": ("/", "+"), "/": ("*",), "//": ("*",), "%": ("//",),
}  # fmt: skip
ASSIGNMENTS: Mapping[str, tuple[str, ...]] = {
    "+=": ("max=", "*="), "*=": ("+=",), "max=": ("min=", "+="), "min=": ("max=",), "and=": ("or=",), "or=": ("and=",),
    "argmax=": ("argmin=",), "argmin=": ("argmax=",),
}  # fmt: skip
FUNCTIONS: Mapping[str, tuple[str, ...]] = {
    "exp": ("expm1", "tanh"), "log": ("log1p",), "sqrt": ("rsqrt",), "rsqrt": ("sqrt",), "tanh": ("sigmoid", "erf"),
    "sigmoid": ("tanh",), "erf": ("tanh",), "max": ("min",), "min": ("max",), "abs": ("sign",), "sin": ("cos",),
    "cos": ("sin",),
}  # fmt: skip
COMPARISONS: Mapping[str, tuple[str, ...]] = {
    "<": ("<=", ">"), "<=": ("<", ">="), ">": (">=", "<"), ">=": (">", "<="), "==": ("!=",), "!=": ("==",),
}  # fmt: skip


@dataclass(frozen=True)
class Edit:
    """Replacements in one text: (where, new words)."""

    kind: str
    note: str
    changes: tuple[tuple[At, str], ...]


@dataclass(frozen=True)
class Site:
    """An edit of the function reached by these calls from the program (none: of the program itself)."""

    path: tuple[Apply, ...]
    edit: Edit


@dataclass(frozen=True)
class Mutant:
    kind: str
    note: str
    text: str


# --- places in one body -------------------------------------------------------------------------------


def nodes(value: Any) -> Iterator[Any]:
    """All expression nodes below a value."""
    if isinstance(value, tuple):
        for member in value:
            yield from nodes(member)
    elif isinstance(value, Number | Name | Read | Call | Unary | Binary | Chain):
        yield value
        for each in fields(value):
            yield from nodes(getattr(value, each.name))


class Finder:
    """Collects the possible edits of one body."""

    def __init__(self, text: str, functions: Mapping[str, Function]) -> None:
        self.text = text
        self.functions = functions
        self.found: list[Edit] = []

    def words(self, at: At) -> str:
        return self.text[at[0] : at[1]]

    def add(self, kind: str, note: str, *changes: tuple[At, str]) -> None:
        self.found.append(Edit(kind, note, changes))

    def swap(self, kind: str, note: str, a: At, b: At) -> None:
        if self.words(a) != self.words(b):
            self.add(kind, note, (a, self.words(b)), (b, self.words(a)))

    def body(self, body: tuple[Statement, ...]) -> list[Edit]:
        for statement in body:
            if isinstance(statement, Kernel):
                self.kernel(statement)
            elif isinstance(statement, View):
                self.view(statement)
            elif isinstance(statement, Slice):
                self.slice(statement)
            elif isinstance(statement, Apply):
                self.apply(statement)
            elif isinstance(statement, Repeat):
                self.body(statement.body)
        return self.found

    def kernel(self, kernel: Kernel) -> None:
        targets = {s.name for t in kernel.targets for s in t.subscripts if isinstance(s, Name)}
        label = f"kernel {kernel.targets[0].tensor}"
        for loop in kernel.loops:
            if not isinstance(loop.extent, Pack) and loop.variable not in targets:
                words = self.words(loop.extent.at)
                self.add("bound", f"{label}: loop {loop.variable} one shorter", (loop.extent.at, f"({words}) - 1"))
        expressions = [*kernel.lets.values(), *kernel.values]
        expressions += [e for e in (kernel.init, kernel.otherwise) if e is not None]
        for node in nodes(tuple(expressions)):
            self.expression(node, label)
        for target in kernel.targets[:1]:
            for a, b in itertools.pairwise(target.subscripts):
                self.swap("axis", f"{label}: target", a.at, b.at)
        for other in ASSIGNMENTS.get(kernel.assign, ()):
            self.add("operator", f"{label}: {kernel.assign} to {other}", (kernel.assign_at, other))
        self.guards(kernel, label)
        self.starts(kernel, label)

    def guards(self, kernel: Kernel, label: str) -> None:
        if kernel.guards:
            self.add("guard", f"{label}: no guards", (kernel.where_at, ""))
        for node in nodes(kernel.guards):
            if isinstance(node, Chain):
                for operator, at in zip(node.operators, node.operators_at, strict=True):
                    for other in COMPARISONS[operator]:
                        self.add("guard", f"{label}: {operator} to {other}", (at, other))
                last = node.operands[-1]
                for shift in ("+ 1", "- 1"):
                    here = (last.at[1], last.at[1])
                    self.add("guard", f"{label}: guard {shift}", (here, f" {shift}"))

    def starts(self, kernel: Kernel, label: str) -> None:
        end = (kernel.at[1] - 1, kernel.at[1] - 1)
        reduces = kernel.assign not in ("=", "argmax=", "argmin=")
        if kernel.init is not None:
            self.add("init", f"{label}: init plus 1", (kernel.init.at, f"({self.words(kernel.init.at)}) + 1"))
        elif reduces:
            for value in ("1", "-0.5"):
                self.add("init", f"{label}: init {value}", (end, f" init {value} "))
        if kernel.otherwise is not None:
            self.add("init", f"{label}: else plus 1", (kernel.otherwise.at, f"({self.words(kernel.otherwise.at)}) + 1"))
        elif reduces and kernel.guards:
            self.add("init", f"{label}: else 1", (end, " else 1 "))

    def expression(self, node: Any, label: str) -> None:
        if isinstance(node, Read):
            for a, b in itertools.pairwise(node.subscripts):
                self.swap("axis", f"{label}: subscripts of {node.tensor}", a.at, b.at)
        elif isinstance(node, Binary):
            for other in OPERATORS.get(node.operator, ()):
                self.add("operator", f"{label}: {node.operator} to {other}", (node.operator_at, other))
        elif isinstance(node, Call):
            for other in FUNCTIONS.get(node.function, ()):
                name_at = (node.at[0], node.at[0] + len(node.function))
                self.add("operator", f"{label}: {node.function} to {other}", (name_at, other))
        elif isinstance(node, Unary) and node.operator == "-":
            self.add("operator", f"{label}: minus sign lost", (node.at, self.words(node.operand.at)))
        elif isinstance(node, Number):
            self.number(node, label)

    def number(self, node: Number, label: str) -> None:
        words = self.words(node.at)
        if isinstance(node.value, bool):
            others = ["false" if node.value else "true"]
        elif isinstance(node.value, int):
            others = [str(node.value + 1)] + ([str(node.value - 1)] if node.value > 0 else [])
        elif words in ("inf", "nan"):
            others = ["0.0"]
        else:
            others = [repr(node.value * 2), repr(node.value * 0.75), repr(node.value + 0.1)]
        for other in others:
            self.add("constant", f"{label}: {words} to {other}", (node.at, other))

    def view(self, view: View) -> None:
        label = f"view {view.output}"
        for side in (view.left, view.right):
            if side is view.right:
                for i, a in enumerate(side):
                    for b in side[i + 1 :]:
                        self.swap("axis", f"{label}: right axes", a.at, b.at)
            for group in (axis.group for axis in side if axis.group is not None):
                for a, b in itertools.pairwise(group):
                    self.swap("axis", f"{label}: atoms", a.at, b.at)
        for axis in (*view.left, *view.right):
            self.atom_extents(axis, label)

    def atom_extents(self, axis: Axis, label: str) -> None:
        for member in axis.group or ():
            if isinstance(member.extent, Number):
                self.number(member.extent, label)

    def slice(self, slice_: Slice) -> None:
        for item in slice_.items:
            if item.start is not None and item.stop is not None:
                for shift in ("+ 1", "- 1"):
                    changes = [((e.at[1], e.at[1]), f" {shift}") for e in (item.start, item.stop)]
                    self.add("bound", f"slice {slice_.output}: {shift}", *changes)
            elif item.kind == "index" and item.start is not None:
                self.add("bound", f"slice {slice_.output}: index + 1", ((item.start.at[1], item.start.at[1]), " + 1"))

    def apply(self, call: Apply) -> None:
        label = f"call of {call.function}"
        for value in (*call.arguments, *call.attributes.values()):
            for node in nodes(value):
                if isinstance(node, Number):
                    self.number(node, label)
        names = [a for a in call.arguments if isinstance(a, Name)]
        for a, b in itertools.pairwise(names):
            self.swap("axis", f"{label}: arguments", a.at, b.at)
        function = self.functions.get(call.function)
        if function is not None:
            for other in self.functions.values():
                if other.name != function.name and signature(other) == signature(function):
                    self.add("operator", f"{label} to {other.name}", (call.function_at, other.name))


def signature(function: Function) -> Any:
    """What two functions must share to take each other's place."""

    def plain(value: Any) -> Any:
        if is_dataclass(value):
            return tuple(plain(getattr(value, f.name)) for f in fields(value) if f.name != "at")
        return tuple(plain(v) for v in value) if isinstance(value, tuple) else value

    types = tuple(plain(type_) for _, type_ in function.parameters)
    return (function.generics, types, len(function.results))


# --- mutants of a program -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Library:
    """Functions with the texts they stand in."""

    functions: Mapping[str, Function]
    texts: Mapping[str, str]

    @staticmethod
    def of(prelude: list[File], program: File) -> "Library":
        functions: dict[str, Function] = {}
        texts: dict[str, str] = {}
        for file in (*prelude, program):
            for name, function in file.functions.items():
                functions[name] = function
                texts[name] = file.text
        return Library(functions, texts)


def edited(text: str, at: At, changes: list[tuple[At, str]]) -> str:
    """The part `at` of the text with the changes made."""
    result, position = [], at[0]
    for (start, end), words in sorted(changes):
        result.append(text[position:start])
        result.append(words)
        position = end
    return "".join([*result, text[position : at[1]]])


def sites(file: File, library: Library) -> list[Site]:
    """Every place of the program and, call by call, of the functions it uses."""
    assert file.program is not None
    found: list[Site] = []

    def visit(body: tuple[Statement, ...], text: str, path: tuple[Apply, ...]) -> None:
        found.extend(Site(path, edit) for edit in Finder(text, library.functions).body(body))
        for statement in calls(body):
            if statement.function in library.functions:
                function = library.functions[statement.function]
                visit(function.body, library.texts[function.name], (*path, statement))

    visit(file.program.body, file.text, ())
    return found


def calls(body: tuple[Statement, ...]) -> Iterator[Apply]:
    """The calls of a body, those in its loops too."""
    for statement in body:
        if isinstance(statement, Apply):
            yield statement
        elif isinstance(statement, Repeat):
            yield from calls(statement.body)


def mutate(file: File, library: Library, site: Site) -> Mutant:
    """The whole text of the program with one edit; functions on the way to it are copied."""
    changes = list(site.edit.changes)
    copies: list[str] = []
    for call in reversed(site.path):
        function = library.functions[call.function]
        changes.append((function.name_at, f"{function.name}_changed"))
        copies.append(edited(library.texts[function.name], function.at, changes))
        changes = [(call.function_at, f"{function.name}_changed")]
    text = edited(file.text, (0, len(file.text)), changes)
    note = " in ".join([site.edit.note, *(call.function for call in reversed(site.path))])
    return Mutant(site.edit.kind, note, "\n\n".join([text, *reversed(copies)]) + "\n")


def mutants(
    text: str,
    prelude: list[File],
    count: int,
    seed: int,
    accepted: Callable[[str], bool],
) -> list[Mutant]:
    """`count` different mutants that `accepted` (the verifier) lets pass, the kinds in turn."""
    file = read(text)
    library = Library.of(prelude, file)
    rng = random.Random(seed)
    pools: dict[str, list[Site]] = {kind: [] for kind in KINDS}
    for site in sites(file, library):
        pools[site.edit.kind].append(site)
    for pool in pools.values():
        pool.sort(key=lambda site: (len(site.path), site.edit.note))
        rng.shuffle(pool)
    found: dict[str, Mutant] = {}
    turn = 0
    while len(found) < count and any(pools.values()):
        pool = pools[KINDS[turn % len(KINDS)]]
        turn += 1
        while pool:
            mutant = mutate(file, library, pool.pop())
            if mutant.text not in found and accepted(mutant.text):
                found[mutant.text] = mutant
                break
    return list(found.values())
