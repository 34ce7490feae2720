"""repeat, while and if of Affine Loop IR. Samples may go different ways: then each is run alone. See numpy_eval.py."""

from typing import TYPE_CHECKING

import numpy as np

from .alir_nodes import Expression, If, Kernel, Name, Next, Number, Repeat, Statement, Test, Unary, While
from .numpy_values import ProgramError, Tensor, dim_value

if TYPE_CHECKING:
    from .numpy_eval import Scope

Tensors = dict[str, Tensor]


def last(body: tuple[Statement, ...]) -> Next:
    if not body or not isinstance(body[-1], Next):
        raise ProgramError("a body must end with `next`")
    return body[-1]


def literal_element(expression: Expression) -> str:
    """The type of a literal that takes none from elsewhere."""
    value = expression.operand if isinstance(expression, Unary) else expression
    assert isinstance(value, Number)
    if isinstance(value.value, bool):
        return "bool"
    return "i64" if isinstance(value.value, int) else "f32"


def start(carried: tuple[tuple[str, Expression], ...], scope: "Scope", body: tuple[Statement, ...]) -> Tensors:
    """The initial values; a literal takes the type that the value `next` gives is declared with."""
    declared = {name: type_ for statement in body if isinstance(statement, Kernel)
                for name, type_ in statement.types.items()}  # fmt: skip
    found: Tensors = {}
    for (name, value), new in zip(carried, last(body).values, strict=True):
        if isinstance(value, Name):
            found[name] = scope.argument(value, None)
        else:
            element = scope.element(declared[new]) if new in declared else literal_element(value)
            found[name] = scope.argument(value, element)
    return found


def step(scope: "Scope", carried: Tensors, body: tuple[Statement, ...]) -> Tensors:
    """The tensors after one run of the body; the scope stays as it was."""
    outer = scope.tensors
    scope.tensors = {**outer, **carried}
    try:
        scope.run(body)
        return scope.tensors
    finally:
        scope.tensors = outer


def repeat(loop: Repeat, scope: "Scope") -> Tensors:
    extent = dim_value(loop.extent, scope.dims)
    if extent < 1:
        raise ProgramError("a repeat without steps")
    order = range(extent - 1, -1, -1) if loop.descending else range(extent)
    ending = last(loop.body)
    rows: dict[int, list[Tensor]] = {}
    try:
        scope.steps[loop.step] = order[0]
        carried = start(loop.carried, scope, loop.body)
        for t in order:
            scope.steps[loop.step] = t
            inner = step(scope, carried, loop.body)
            carried = {name: inner[new] for (name, _), new in zip(loop.carried, ending.values, strict=True)}
            rows[t] = [inner[name] for name in ending.stacked]
    finally:
        del scope.steps[loop.step]
    results = dict(zip(loop.results, carried.values(), strict=True))
    for position, name in enumerate(loop.stacks):
        values = np.stack([rows[t][position].values for t in range(extent)], axis=1)
        results[name] = Tensor(rows[0][position].element, values)
    return results


def run_while(loop: While, scope: "Scope") -> Tensors:
    if scope.samples > 1:
        return joined([run_while(loop, scope.single(sample)) for sample in range(scope.samples)])
    limit = dim_value(loop.limit, scope.dims)
    position = next(i for i, statement in enumerate(loop.body) if isinstance(statement, Test))
    test = loop.body[position]
    assert isinstance(test, Test)
    before, after, ending = loop.body[:position], loop.body[position + 1 :], last(loop.body)
    carried = start(loop.carried, scope, before + after)
    for done in range(limit + 1):
        inner = step(scope, carried, before)
        if not inner[test.condition].values.all():
            return dict(zip(loop.results, carried.values(), strict=True))
        if done == limit:
            break
        inner = step(scope, inner, after)
        carried = {name: inner[new] for (name, _), new in zip(loop.carried, ending.values, strict=True)}
    raise ProgramError(f"a while took more than {limit} steps", "step-limit")


def run_if(branch: If, scope: "Scope") -> Tensors:
    condition = scope.tensors[branch.condition].values
    if condition.all() or not condition.any():
        body = branch.taken if condition.all() else branch.otherwise
        inner = step(scope, {}, body)
        return {name: inner[value] for name, value in zip(branch.results, last(body).values, strict=True)}
    return joined([run_if(branch, scope.single(sample)) for sample in range(scope.samples)])


def joined(samples: list[Tensors]) -> Tensors:
    first = samples[0]
    return {n: Tensor(t.element, np.concatenate([sample[n].values for sample in samples])) for n, t in first.items()}
