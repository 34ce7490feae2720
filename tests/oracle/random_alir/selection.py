"""Random sorts, compactions and scatters."""

from dataclasses import replace

import numpy as np

from ..numpy_values import FLOATS, INTEGERS
from .expressions import Expressions
from .facts import Fact, stored, sum_of
from .indices import Space
from .kernels import loops_for
from .scope import MOST_POINTS, WEIGHTED, Extent, RetryError, Scope, Tensor
from .tree import Node


def sort(scope: Scope) -> Node:
    random = scope.random
    source = scope.pick(lambda t: t.fact.exact and len(t.shape) >= 1 and not t.packed and t.element != "bool")
    axis = random.randrange(len(source.shape))
    extent = source.shape[axis]
    descending = random.choice(["", "", ", descending = true", ", descending = false"])
    places = Fact(0, extent.value - 1, 1.0)
    values, positions = scope.fresh("v"), scope.fresh("ix")
    kind = random.choice(["sort", "topk", "argsort"])
    if kind == "argsort":
        return scope.define(f"let {positions} = argsort({source.name}; axis = {axis}{descending})",
                            Tensor(positions, "i64", source.shape, places))  # fmt: skip
    shape, count = source.shape, ""
    if kind == "topk":
        k = random.randint(1, extent.value)
        shape = (*shape[:axis], Extent(str(k), k), *shape[axis + 1 :])
        count = f", k = {k}"
    return scope.define(
        f"let ({values}, {positions}) = {kind}({source.name}; axis = {axis}{count}{descending})",
        Tensor(values, source.element, shape, source.fact),
        Tensor(positions, "i64", shape, places),
    )


def compact(scope: Scope) -> Node:
    """unique, nonzero: what is left over is zeros."""
    random = scope.random
    source = scope.pick(lambda t: t.fact.exact and not t.packed and t.count <= 60)
    name, count = scope.fresh("v"), scope.fresh("n")
    limit = source.count
    if scope.has("faults") and scope.chance(0.02):
        scope.shared.used.add("faults")
        limit = max(1, limit // 2)
    extent = Extent(str(limit), limit)
    number = Tensor(count, "i64", (), Fact(0, limit, 1.0))
    if random.random() < 0.5 and source.element != "bool":
        fact = source.fact.joined(Fact(0, 0, 1.0))
        found = Tensor(name, source.element, (extent,), replace(fact, grain=source.fact.grain))
        return scope.define(f"let ({name}, {count}) = unique({source.name}; limit = {limit})", found, number)
    if not source.shape:
        raise RetryError
    rank = len(source.shape)
    most = max(extent.value for extent in source.shape) - 1
    found = Tensor(name, "i64", (extent, Extent(str(rank), rank)), Fact(0, most, 1.0))
    return scope.define(f"let ({name}, {count}) = nonzero({source.name}; limit = {limit})", found, number)


def scatter(scope: Scope) -> Node:
    random = scope.random
    element = random.choice(WEIGHTED)
    shape = scope.new_shape(2) or (scope.extent(),)
    loops = loops_for(scope, scope.new_shape(3), set())
    points = int(np.prod([1, *(loop.extent.value for loop in loops)]))
    if points * scope.step_count() > MOST_POINTS:
        raise RetryError
    space = Space(scope, loops)
    maker = Expressions(scope, space, indexed=True)
    guards = []
    while loops and scope.chance(0.25):
        condition = space.condition(1)
        if condition is not None and (space.mask & condition[1]).any():
            space.mask = space.mask & condition[1]
            guards.append(condition[0])
    if scope.chance(0.3):
        guards.append(maker.make("bool", 2).text)
    if element == "bool":
        assign = random.choice(["and=", "or="])
    else:
        assign = random.choice(["+=", "+=", "max=", "min=", "="])
        if element in INTEGERS and scope.chance(0.1):
            assign = "*="
    if assign == "=":
        return set_elements(scope, element)
    subscripts = [maker.data_index(e.value, e.text) if scope.chance(0.6) else space.within(e).text for e in shape]
    value = maker.make(element, 2)
    base = base_of(scope, element, shape, assign)
    if base is None and assign not in ("+=", "or="):
        raise RetryError
    fact = value.fact
    start = base.fact if base else Fact(0, 0, 1.0)
    if assign == "+=":
        total = sum_of(fact.joined(start), points + 1, element)
        fact = replace(
            total, low=min(total.low, fact.low, start.low, 0), high=max(total.high, fact.high, start.high, 0)
        )
        if element in FLOATS and not total.exact and fact.most > 1e6:
            raise RetryError
    elif assign == "*=":
        fact = Fact(*INTEGERS[element], 1.0)
    else:
        fact = fact.joined(start)
    name = scope.fresh()
    loop_text = f"for {', '.join(loop.render() for loop in loops)} " if loops else ""
    where = f"where {', '.join(guards)}  " if guards else ""
    ending = "" if base is None else f"  base {'donated ' if scope.chance(0.2) else ''}{base.name}"
    tensor = Tensor(name, element, shape, stored(fact, element))
    return scope.define(
        f"scatter {name}: {tensor.type_text(scope)} {{ {loop_text}{where}{name}[{', '.join(subscripts)}] {assign} "
        f"{value.text}{ending} }}",
        tensor,
    )


def base_of(scope: Scope, element: str, shape: tuple[Extent, ...], assign: str) -> Tensor | None:
    values = [extent.value for extent in shape]
    fitting = [t for t in scope.tensors if t.element == element and [e.value for e in t.shape] == values
               and (assign != "*=" or not t.fact.special)]  # fmt: skip
    if not fitting or (assign in ("+=", "or=") and scope.chance(0.4)):
        return None
    return scope.random.choice(fitting)


def set_elements(scope: Scope, element: str) -> Node:
    """`=` where every element is written at most once: a permutation, or distinct places."""
    extent = scope.extent()
    other = scope.extent(4)
    length = scope.random.randint(1, extent.value)
    shape = (extent, other)
    loops = loops_for(scope, (Extent(str(length), length), other), set())
    a, b = loops[0].name, loops[1].name
    space = Space(scope, loops)
    value = Expressions(scope, space, indexed=True).make(element, 2)
    first = scope.random.choice([a, f"{extent.text} - 1 - {a}", f"({a} + 1) % {extent.value}"])
    orders = [t for t in scope.tensors if t.name.startswith("ix") and len(t.shape) == 1 and t.shape[0].value == length
              and t.fact.low >= 0 and t.fact.high < extent.value]  # fmt: skip
    if orders and scope.has("faults"):  # mostly a permutation; if not, both must say so
        first = f"{scope.random.choice(orders).name}[{a}]"
        scope.shared.used.add("faults")
    base = base_of(scope, element, shape, "=")
    if base is None:
        raise RetryError
    fact = value.fact.joined(base.fact)
    name = scope.fresh()
    tensor = Tensor(name, element, shape, stored(fact, element))
    return scope.define(
        f"scatter {name}: {tensor.type_text(scope)} {{ for {', '.join(loop.render() for loop in loops)} "
        f"{name}[{first}, {b}] = {value.text}  base {base.name}  unique }}",
        tensor,
    )
