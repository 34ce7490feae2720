"""A random program and random values for its ports."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from ..numpy_values import FLOATS, INTEGERS, dtype_of, round_to
from . import calls, control, kernels, moves, prelude_calls, selection
from .facts import BOOL, Fact
from .scope import WEIGHTED, Extent, RetryError, Scope, Shared, Tensor
from .tree import Node, Port, RandomProgram, constant

FEATURES = frozenset(
    ("repeat", "while", "if", "scatter", "ragged", "sort", "split", "stack", "runtime-slice", "compact", "faults")
)
NOT_IN_FILES = ("i4", "f4e2m1")  # no tensor file holds them
OUTPUTS = 40

Maker = Callable[[Scope], Node]


def statements(scope: Scope, count: int) -> list[Node]:
    """So many statements, or a few less where the choices lead nowhere."""
    made: list[Node] = []
    for _ in range(count):
        for _ in range(20):
            saved = (list(scope.tensors), list(scope.shared.functions), list(scope.shared.signatures))
            try:
                made += control.unfold(maker(scope)(scope))
                break
            except RetryError:
                scope.tensors[:], scope.shared.functions[:], scope.shared.signatures[:] = saved
    return made


def maker(scope: Scope) -> Maker:
    choices: list[tuple[int, Maker]] = [
        (22, kernels.pointwise),
        (22, kernels.reduction),
        (6, kernels.arg_reduction),
        (7, kernels.ordered),
        (8, moves.view),
        (7, moves.slice_),
        (4, moves.concat),
        (10, prelude_calls.prelude_call),
        (3, calls.again),
    ]
    if scope.depth < 2:
        choices.append((5, lambda scope: calls.own_function(scope, statements)))
    optional: list[tuple[str, int, Maker]] = [
        ("repeat", 5, lambda scope: control.repeat(scope, statements)),
        ("while", 3, lambda scope: control.while_(scope, statements)),
        ("if", 3, lambda scope: control.if_(scope, statements)),
        ("scatter", 6, selection.scatter),
        ("ragged", 4, kernels.ragged),
        ("sort", 5, selection.sort),
        ("compact", 3, selection.compact),
        ("split", 3, moves.split),
        ("stack", 3, moves.stack),
    ]
    choices += [(weight, one) for feature, weight, one in optional if scope.has(feature)]
    return scope.random.choices([one for _, one in choices], [weight for weight, _ in choices])[0]


def port_values(rng: np.random.Generator, element: str, shape: tuple[int, ...], special: bool) -> tuple[Any, Fact]:
    """Small numbers: every sum of them is exact."""
    if element == "bool":
        return rng.integers(0, 2, shape).astype(np.bool_), BOOL
    if element in INTEGERS:
        low = int(rng.choice([0, 0, -4])) if element != "u8" else 0
        high = int(rng.choice([3, 5, 7]))
        return rng.integers(low, high + 1, shape).astype(np.int64), Fact(low, high, 1.0)
    if element in ("f32", "f64") and rng.random() < 0.25:
        values = np.asarray(rng.uniform(-2, 2, shape)).astype(dtype_of(element, False))
        return values, Fact(-2.0, 2.0)
    grain = 1.0 if element == "f4e2m1" or rng.random() < 0.6 else 0.25
    values = np.asarray(rng.integers(-4, 5, shape) * grain).astype(dtype_of(element, False))
    if special and shape:
        for value in (np.inf, -np.inf, np.nan):
            values[np.asarray(rng.random(shape) < 0.15)] = value
        values = round_to(values, element, False)
        return values, Fact(-4.0 * grain, 4.0 * grain, grain, 0.0, True)
    return values, Fact(-4.0 * grain, 4.0 * grain, grain)


def make_ports(scope: Scope, rng: np.random.Generator, special: bool) -> list[Port]:
    ports = []
    elements = [e for e in WEIGHTED if e not in NOT_IN_FILES]
    for _ in range(scope.random.randint(2, 5)):
        element = scope.random.choice(elements)
        shape = scope.new_shape()
        sizes = tuple(extent.value for extent in shape)
        values, fact = port_values(rng, element, sizes, special and element in FLOATS and scope.chance(0.6))
        role = scope.random.choice(["input", "input", "param", "buffer", "state", "rng", "const"])
        if role == "const" and (fact.special or fact.grain == 0 or element == "bool"):
            role = "input"
        tensor = scope.add(Tensor(scope.fresh(f"{role[0]}_"), element, shape, fact))
        literal = constant(values) if role == "const" else ""
        ports.append(Port(role, tensor.name, element, ", ".join(e.text for e in shape), values, literal))
    if scope.has("ragged") and scope.chance(0.4):
        ports.append(pointer_port(scope, rng))
    return ports


def pointer_port(scope: Scope, rng: np.random.Generator) -> Port:
    """Ascending row starts, as sparse formats have them; not always inside of what they point into."""
    extent = scope.extent()
    values = np.sort(rng.integers(0, 8, extent.value)) if rng.random() < 0.8 else rng.integers(-2, 9, extent.value)
    scope.add(Tensor("ptr", "i64", (extent,), Fact(-2, 8, 1.0)))
    return Port("input", "ptr", "i64", extent.text, values.astype(np.int64))


def outputs_of(scope: Scope, first: int) -> tuple[list[Node], list[str]]:
    """Everything, or some; types that no file holds are converted."""
    made = list(scope.tensors[first:])
    if scope.chance(0.5) and len(made) > 1:
        made = scope.random.sample(made, k=scope.random.randint(1, len(made)))
    nodes, names = [], []
    for tensor in made[:OUTPUTS]:
        if tensor.element in NOT_IN_FILES:
            node, tensor = converted(scope, tensor)
            nodes.append(node)
        names.append(tensor.name)
    return nodes, names


def converted(scope: Scope, tensor: Tensor) -> tuple[Node, Tensor]:
    element = "i8" if tensor.element == "i4" else "f32"
    names = "ijkmn"[: len(tensor.shape)]
    loops = ", ".join(f"{name}:{extent.text}" for name, extent in zip(names, tensor.shape, strict=True))
    subs = ", ".join(names)
    result = Tensor(scope.fresh("o"), element, tensor.shape, tensor.fact)
    text = f"kernel {result.name}: {result.type_text(scope)} {{ {'for ' + loops + ' ' if names else ''}"
    return scope.define(f"{text}{result.name}[{subs}] = {element}({tensor.name}[{subs}]) }}", result), result


def grouped(scope: Scope, nodes: list[Node]) -> list[Node]:
    """Some statements inside of op groups."""
    result: list[Node] = []
    position = 0
    while position < len(nodes):
        size = scope.random.randint(1, 4)
        part = nodes[position : position + size]
        position += size
        if scope.chance(0.3):
            at = ' at "m.py:3"' if scope.chance(0.3) else ""
            names = tuple(name for node in part for name in node.results)
            result.append(Node(f'op "some.operator"{at} @body', names, (tuple(part),)))
        else:
            result += part
    return result


def generate(seed: int, features: frozenset[str] = FEATURES, size: int = 8) -> RandomProgram:
    rng = np.random.default_rng(seed)
    shared = Shared(random.Random(seed), features)
    scope = Scope(shared, [], [])
    dims: list[str] = []
    for i in range(shared.random.randint(1, 5)):
        name, value = "ABCDE"[i], shared.random.randint(1, 7)
        if i >= 2 and scope.chance(0.2):
            a, b = scope.extents[0], scope.extents[1]
            text, value = shared.random.choice([(f"{a.text}*{b.text}", a.value * b.value),
                                                (f"{a.text} + {b.text}", a.value + b.value)])  # fmt: skip
            if value <= 12:
                dims.append(f"{name} = {text}")
                scope.extents.append(Extent(name, value))
                continue
            value = 3
        dims.append(f"{name} = {value}")
        scope.extents.append(Extent(name, value))
    ports = make_ports(scope, rng, shared.random.random() < 0.2)
    first = len(scope.tensors)
    nodes = statements(scope, shared.random.randint(1, size))
    if len(scope.tensors) == first:
        nodes.append(kernels.pointwise(scope, "f32", (scope.extents[0],)))
    more, outputs = outputs_of(scope, first)
    nodes = grouped(scope, nodes + more)
    nodes += updates(scope, ports)
    errors = {name: tensor.fact.error for name, tensor in shared.errors.items()}
    kinds = {n: (t.element, ", ".join(e.text for e in t.shape)) for n, t in shared.errors.items()}
    return RandomProgram(seed, ", ".join(dims), tuple(shared.functions), tuple(ports), tuple(nodes), tuple(outputs),
                         errors, kinds, frozenset(shared.used))  # fmt: skip


def updates(scope: Scope, ports: list[Port]) -> list[Node]:
    nodes = []
    for port in ports:
        if port.role != "state":
            continue
        state = next(t for t in scope.tensors if t.name == port.name)
        values = [e.value for e in state.shape]
        fitting = [t for t in scope.tensors if t.element == state.element and [e.value for e in t.shape] == values]
        if scope.chance(0.8):
            nodes.append(Node(f"update {state.name} = {scope.random.choice(fitting).name}"))
    return nodes
