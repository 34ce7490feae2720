"""Random repeats, whiles and branches."""

from dataclasses import replace
from typing import Protocol

from ..numpy_values import FLOATS, INTEGERS
from .facts import BOOL, Fact
from .kernels import pointwise
from .scope import WEIGHTED, Extent, RetryError, Scope, Tensor
from .tree import Node


class Statements(Protocol):
    """Makes some statements in a scope."""

    def __call__(self, scope: Scope, count: int) -> list[Node]: ...


def invariant(element: str) -> Fact:
    """What a carried value always is."""
    return BOOL if element == "bool" else Fact(-4, 4, 1.0)


def clamped(scope: Scope, tensor: Tensor, element: str, shape: tuple[Extent, ...]) -> tuple[Node, Tensor]:
    """A tensor of the wanted type and shape that keeps to the invariant."""
    names = "ijkm"[: len(shape)]
    loops = f"for {', '.join(f'{n}:{e.text}' for n, e in zip(names, shape, strict=True))} " if shape else ""
    read = f"{tensor.name}[{', '.join(names)}]"
    if element == "bool":
        text = read
    elif element in INTEGERS and element != "u8":
        text = f"{element}({read} % 9 - 4)"
    elif element == "u8":
        text = f"min({read}, 4)"
    else:
        text = f"max(min(round({read}), 4), -4)"
    name = scope.fresh("c")
    result = Tensor(name, element, shape, invariant(element))
    return scope.define(
        f"kernel {name}: {result.type_text(scope)} {{ {loops}{name}[{', '.join(names)}] = {text} }}", result
    ), result


def fitting(scope: Scope, element: str, shape: tuple[Extent, ...], fact: Fact, late: int) -> Tensor | None:
    """A tensor made after `late` that may be carried as it is."""
    values = [extent.value for extent in shape]
    found = [t for t in scope.tensors[late:] if t.element == element and [e.value for e in t.shape] == values
             and not t.packed and t.fact.within(fact)]  # fmt: skip
    return scope.random.choice(found) if found else None


def values_for(scope: Scope, wanted: list[Tensor], late: int, before: list[Node]) -> list[str]:
    """Names that hold new values of the carried tensors; adds statements to `before` where needed."""
    names = []
    for tensor in wanted:
        found = fitting(scope, tensor.element, tensor.shape, tensor.fact, late) if scope.chance(0.6) else None
        if found is None:
            before.append(pointwise(scope, tensor.element, tensor.shape, exact=True, plain=True))
            node, found = clamped(scope, scope.tensors[-1], tensor.element, tensor.shape)
            before.append(node)
        names.append(found.name)
    return names


def listed(names: list[str], scope: Scope) -> str:
    if len(names) == 1 and scope.chance(0.7):
        return names[0]
    return f"({', '.join(names)})"


def start_values(scope: Scope, carried: list[Tensor], before: list[Node]) -> list[str]:
    given = []
    for tensor in carried:
        if not tensor.shape and scope.chance(0.4):
            # Without a declared type of the next value, a literal is f32, i64 or bool.
            plain = {"bool": ["true", "false"], "f32": ["0.0", "2.0"], "i64": ["0", "3"]}.get(tensor.element)
            if plain or scope.chance(0.1):
                given.append(scope.random.choice(plain or (["0", "2.0"] if tensor.element in FLOATS else ["0", "3"])))
                continue
        given += values_for(scope, [tensor], 0, before)
    return given


def carried_values(scope: Scope, least: int) -> list[Tensor]:
    found = []
    for _ in range(scope.random.choice([least, 1, 1, 2, 3]) if least == 0 else scope.random.choice([1, 1, 2])):
        element = scope.random.choice([e for e in WEIGHTED if e != "f4e2m1" or scope.chance(0.3)])
        found.append(Tensor(scope.fresh("s"), element, scope.new_shape(2), invariant(element)))
    return found


def repeat(scope: Scope, statements: Statements) -> Node:
    random = scope.random
    extent = scope.extent()
    if scope.depth >= 2 or scope.step_count() * extent.value > 40:
        raise RetryError
    scope.shared.used.add("repeat")
    before: list[Node] = []
    carried = carried_values(scope, 0)
    given = start_values(scope, carried, before)
    inner = scope.inner()
    step = scope.fresh("t")
    inner.steps.append((step, extent.value))
    for tensor in carried:
        inner.add(tensor)
    late = len(inner.tensors)
    body = statements(inner, random.randint(1, 3))
    ending: list[Node] = []
    names = values_for(inner, carried, late - len(carried), ending)
    made = [t for t in inner.tensors[late - len(carried) :] if not t.packed and len(t.shape) <= 3 and t.count < 200]
    stacked = random.choices(made, k=random.choice([0, 1, 2])) if made else []
    if not carried and not stacked:
        raise RetryError
    next_text = "next"
    results = [replace(tensor, name=scope.fresh("r")) for tensor in carried]
    rows = [Tensor(scope.fresh("y"), t.element, (extent, *t.shape), t.fact) for t in stacked]
    left = "let"
    if results:
        next_text += f" {listed(names, scope)}"
        left += f" {listed([r.name for r in results], scope)}"
    if rows:
        next_text += f" stack {listed([t.name for t in stacked], scope)}"
        left += f" stack {listed([r.name for r in rows], scope)}"
    order = "revseq " if scope.chance(0.3) else ""
    given_text = ", ".join(f"{tensor.name} = {value}" for tensor, value in zip(carried, given, strict=True))
    text = f"{left} = repeat {order}{step}:{extent.text} with ({given_text}) @body"
    return scoped(scope, before, text, [*results, *rows], (*body, *ending, Node(next_text)))


def scoped(scope: Scope, before: list[Node], text: str, results: list[Tensor], *bodies: tuple[Node, ...]) -> Node:
    """The statement, behind those that prepare its values: see `unfold`."""
    for tensor in results:
        scope.add(tensor)
    return Node(text, tuple(t.name for t in results), (tuple(before), *bodies))


def while_(scope: Scope, statements: Statements) -> Node:
    random = scope.random
    if scope.depth >= 2 or scope.step_count() > 10:
        raise RetryError
    scope.shared.used.add("while")
    limit = random.randint(1, 6)
    before: list[Node] = []
    carried = carried_values(scope, 1)
    given = start_values(scope, carried, before)
    inner = scope.inner()
    counter = Tensor(scope.fresh("n"), "i64", (), Fact(0, limit + 1, 1.0))
    for tensor in (counter, *carried):
        inner.add(tensor)
    late = len(inner.tensors) - len(carried)
    body = statements(inner, random.randint(0, 1))
    bound = limit + (1 if scope.has("faults") and scope.chance(0.05) else 0)
    if bound > limit:
        scope.shared.used.add("faults")
    condition = pointwise(inner, "bool", (), True, True)
    flag, go = inner.tensors[-1].name, inner.fresh("go")
    rule = random.choice([f"{counter.name} < {bound}", f"{counter.name} < {bound} and {flag}[]",
                          f"{counter.name} < {bound} and ({flag} or {counter.name} < 2)"])  # fmt: skip
    test = inner.define(f"kernel {go}: bool[] {{ {go}[] = {rule} }}", Tensor(go, "bool", (), BOOL))
    more = statements(inner, random.randint(0, 2))
    ending: list[Node] = []
    names = values_for(inner, carried, late, ending)
    new = inner.fresh("n")
    ending.append(Node(f"kernel {new}: i64[] {{ {new}[] = {counter.name} + 1 }}", (new,)))
    results = [replace(tensor, name=scope.fresh("r")) for tensor in (counter, *carried)]
    given_text = ", ".join(f"{t.name} = {v}" for t, v in zip((counter, *carried), ["0", *given], strict=True))
    left = listed([r.name for r in results], scope)
    text = f"let {left} = while limit {limit} with ({given_text}) @body"
    last = Node(f"next {listed([new, *names], scope)}")
    return scoped(scope, before, text, results, (*body, condition, test, Node(f"test {go}"), *more, *ending, last))


def if_(scope: Scope, statements: Statements) -> Node:
    if scope.depth >= 2:
        raise RetryError
    scope.shared.used.add("if")
    before: list[Node] = [pointwise(scope, "bool", (), True, True)]
    condition = scope.tensors[-1].name
    wanted = carried_values(scope, 1)
    bodies = []
    for _ in range(2):
        inner = scope.inner()
        body = statements(inner, scope.random.randint(0, 2))
        names = values_for(inner, wanted, 0, body)
        bodies.append((*body, Node(f"next {listed(names, scope)}")))
    results = [replace(tensor, name=scope.fresh("r")) for tensor in wanted]
    text = f"let {listed([r.name for r in results], scope)} = if {condition} @body else @body"
    return scoped(scope, before, text, results, *bodies)


def unfold(node: Node) -> list[Node]:
    """The statements that prepare a loop, and the loop."""
    if not node.bodies:
        return [node]
    return [*node.bodies[0], replace(node, bodies=node.bodies[1:])]
