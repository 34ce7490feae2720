"""Integer constants of a source file that may be overridden: found and rewritten in its syntax tree.

Names are stable: `N` and `shape[2]` for module-level assignments, `get_init_inputs[0]` for literals that
`get_init_inputs` returns, `get_inputs[k]` for the k-th size literal of `get_inputs` (or `example_args`),
`get_inputs.batch` for its local assignments, `Model.__init__.depth` for defaults of a module's constructor, and
`Config.width` for fields of a dataclass. Lines of the file stay what they are, so errors point to the right place.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from solar.multiples import steps
from solar.problems import Problem, SourceError, display_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

INPUT_FUNCTIONS = ("get_inputs", "example_args")
Slot = tuple[ast.AST, str, int | None]  # parent node, field, and place in a list field


@dataclass(frozen=True, slots=True)
class Constant:
    """A positive integer constant. `kind`: module, init_input, input, default or field."""

    name: str
    value: int
    line: int
    kind: str
    aliases: tuple[str, ...] = ()
    step: int = 1  # it stays a multiple of this

    def to_json(self) -> dict[str, Any]:
        """The constant as the protocol's object."""
        return asdict(self) | {"aliases": list(self.aliases)}


def parse_file(path: str) -> ast.Module:
    """The file's syntax tree; SourceError where it cannot be read or parsed."""
    try:
        with open(path, "rb") as file:
            text = file.read()
        return ast.parse(text, filename=path)
    except OSError as error:
        message = f"cannot read {display_path(path)}: {error.strerror}"
        raise SourceError(Problem("source-file", message, path)) from error
    except SyntaxError as error:
        message = f"syntax error: {error.msg}" if error.lineno else f"{display_path(path)} is not Python: {error.msg}"
        raise SourceError(Problem("source-file", message, path, error.lineno or 0)) from error
    except (ValueError, RecursionError, MemoryError) as error:
        message = f"{display_path(path)} is not a Python source: {error}"
        raise SourceError(Problem("source-file", message, path)) from error


def defined_names(tree: ast.Module) -> list[str]:
    """Names of the functions and classes at the top of a file, and of its plain assignments."""
    names: list[str] = []
    for statement in tree.body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.append(statement.name)
        elif isinstance(statement, ast.Assign):
            names += [target.id for target in statement.targets if isinstance(target, ast.Name)]
    return names


def find_constants(tree: ast.Module) -> list[Constant]:
    """All constants of the file, in the order of the file within each kind."""
    found = [constant for constant, _ in _constants(tree)]
    step = steps({constant.name: constant.value for constant in found})
    return [replace(constant, step=step[constant.name]) for constant in found]


def apply_overrides(tree: ast.Module, path: str, overrides: Mapping[str, int]) -> ast.Module:
    """A copy of `tree` with the named constants replaced. An unknown name is an error that lists the known ones."""
    if not overrides:
        return tree
    tree = copy.deepcopy(tree)
    slots: dict[str, Slot] = {}
    for constant, slot in _constants(tree):
        for name in (constant.name, *constant.aliases):
            slots[name] = slot
    for name, value in overrides.items():
        if name not in slots:
            hint = f"constants of this file: {', '.join(slots)}" if slots else "the file has no integer constants"
            raise SourceError(Problem("usage", f"no integer constant `{name}` to override", path, 0, hint))
        parent, field, place = slots[name]
        old = getattr(parent, field) if place is None else getattr(parent, field)[place]
        new = ast.copy_location(ast.Constant(value=int(value)), old)
        if place is None:
            setattr(parent, field, new)
        else:
            getattr(parent, field)[place] = new
    return tree


def _integer(node: ast.AST | None) -> int | None:
    """The value of an expression of integer literals; None for anything else."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.BinOp):
        left, right = _integer(node.left), _integer(node.right)
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.FloorDiv) and right:
            return left // right
        if isinstance(node.op, ast.Pow) and 0 <= right <= 64 and abs(left) <= 1 << 16:
            return int(left**right)
        if isinstance(node.op, ast.LShift) and 0 <= right <= 62:
            return left << right
    return None


def _make(name: str, node: ast.expr, kind: str, aliases: tuple[str, ...] = ()) -> Constant | None:
    value = _integer(node)
    if value is None or not 0 < value < 1 << 62:
        return None
    return Constant(name, value, node.lineno, kind, aliases)


def _constants(tree: ast.Module) -> Iterator[tuple[Constant, Slot]]:
    for statement in tree.body:
        yield from _assignment(statement, "", "module")
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "get_init_inputs":
            yield from _init_inputs(statement)
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef) and statement.name in INPUT_FUNCTIONS:
            yield from _inputs(statement)
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef):
            yield from _class(statement)


def _assignment(statement: ast.stmt, prefix: str, kind: str) -> Iterator[tuple[Constant, Slot]]:
    """Constants of `a = 1`, `a = b = 1`, `a: int = 1`, `a, b = 1, 2` and `a = (1, 2)`."""
    if isinstance(statement, ast.AnnAssign):
        targets: list[ast.expr] = [statement.target]
    elif isinstance(statement, ast.Assign):
        targets = statement.targets
    else:
        return
    value = statement.value
    if value is None:
        return
    names = [prefix + target.id for target in targets if isinstance(target, ast.Name)]
    if names:
        constant = _make(names[0], value, kind, tuple(names[1:]))
        if constant:
            yield constant, (statement, "value", None)
        else:
            yield from _elements(names[0], value, kind)
    elif len(targets) == 1 and isinstance(targets[0], ast.Tuple) and isinstance(value, ast.Tuple):
        for place, (target, item) in enumerate(zip(targets[0].elts, value.elts, strict=False)):
            if isinstance(target, ast.Name):
                constant = _make(prefix + target.id, item, kind)
                if constant:
                    yield constant, (value, "elts", place)


def _elements(name: str, value: ast.expr, kind: str) -> Iterator[tuple[Constant, Slot]]:
    """Constants inside a list, tuple or dict display, however deep."""
    if isinstance(value, (ast.Tuple, ast.List)):
        for place, item in enumerate(value.elts):
            constant = _make(f"{name}[{place}]", item, kind)
            if constant:
                yield constant, (value, "elts", place)
            else:
                yield from _elements(f"{name}[{place}]", item, kind)
    elif isinstance(value, ast.Dict):
        for place, (key, item) in enumerate(zip(value.keys, value.values, strict=True)):
            if isinstance(key, ast.Constant) and isinstance(key.value, (str, int)):
                label = f"{name}[{key.value}]"
                constant = _make(label, item, kind)
                if constant:
                    yield constant, (value, "values", place)
                else:
                    yield from _elements(label, item, kind)


def _init_inputs(function: ast.FunctionDef) -> Iterator[tuple[Constant, Slot]]:
    for statement in function.body:
        yield from _assignment(statement, f"{function.name}.", "init_input")
        if isinstance(statement, ast.Return) and statement.value is not None:
            yield from _elements(function.name, statement.value, "init_input")


def _inputs(function: ast.FunctionDef) -> Iterator[tuple[Constant, Slot]]:
    """Local assignments by name, and the positional literals of calls by their order (seeds left out)."""
    for statement in function.body:
        yield from _assignment(statement, f"{function.name}.", "input")
    count = 0
    for node in _in_order(function):
        if not isinstance(node, ast.Call) or "seed" in ast.unparse(node.func):
            continue
        for parent, field, place, item in _size_arguments(node):
            constant = _make(f"{function.name}[{count}]", item, "input")
            if constant:
                count += 1
                yield constant, (parent, field, place)


def _size_arguments(call: ast.Call) -> Iterator[tuple[ast.AST, str, int, ast.expr]]:
    for place, argument in enumerate(call.args):
        if isinstance(argument, (ast.Tuple, ast.List)):
            for inner, item in enumerate(argument.elts):
                yield argument, "elts", inner, item
        else:
            yield call, "args", place, argument
    for keyword in call.keywords:
        if keyword.arg in ("size", "shape") and isinstance(keyword.value, (ast.Tuple, ast.List)):
            for inner, item in enumerate(keyword.value.elts):
                yield keyword.value, "elts", inner, item


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _in_order(child)


def _class(definition: ast.ClassDef) -> Iterator[tuple[Constant, Slot]]:
    plain = any("dataclass" in ast.unparse(decorator) for decorator in definition.decorator_list)
    plain = plain or any("NamedTuple" in ast.unparse(base) for base in definition.bases)
    for statement in definition.body:
        if plain and isinstance(statement, ast.AnnAssign):
            yield from _assignment(statement, f"{definition.name}.", "field")
        if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
            yield from _defaults(definition.name, statement.args)


def _defaults(owner: str, arguments: ast.arguments) -> Iterator[tuple[Constant, Slot]]:
    positional = [*arguments.posonlyargs, *arguments.args]
    first = len(positional) - len(arguments.defaults)
    for place, value in enumerate(arguments.defaults):
        constant = _make(f"{owner}.__init__.{positional[first + place].arg}", value, "default")
        if constant:
            yield constant, (arguments, "defaults", place)
    for place, (argument, default) in enumerate(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)):
        if default is not None:
            constant = _make(f"{owner}.__init__.{argument.arg}", default, "default")
            if constant:
                yield constant, (arguments, "kw_defaults", place)
