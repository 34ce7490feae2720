"""Random polymorphic functions of the program's own, and calls of them."""

from dataclasses import dataclass, replace

import numpy as np

from ..numpy_values import widened
from .control import Statements
from .scope import Extent, RetryError, Scope, Tensor
from .tree import Node, OwnFunction

DIM_NAMES = ("N", "M", "K", "P", "Q", "R")


@dataclass(frozen=True)
class Signature:
    """A function with what its arguments were when it was made: another call needs arguments of that kind."""

    name: str
    parameters: tuple[Tensor, ...]  # as arguments
    results: tuple[Tensor, ...]


def own_function(scope: Scope, statements: Statements) -> Node:
    """Defines a function and calls it."""
    random = scope.random
    if scope.types:  # functions of functions come from other calls
        raise RetryError
    packed = scope.chance(0.5)
    arguments = choose_arguments(scope)
    name = scope.fresh("fn_")
    pack = pack_of(scope, arguments) if packed else None
    dims: dict[int, str] = {}
    extents: list[Extent] = []

    def dim(value: int) -> Extent:
        if value not in dims or (scope.chance(0.2) and len(extents) < len(DIM_NAMES)):
            if len(extents) == len(DIM_NAMES):
                raise RetryError
            dims[value] = DIM_NAMES[len(extents)]
            extents.append(Extent(dims[value], value))
        return Extent(dims[value], value)

    lead = arguments[0].element
    types: dict[str, list[str]] = {}
    if scope.chance(0.7):
        types[lead] = ["T"]
        if lead != "bool":
            wide = widened(lead)
            types[wide] = ["T", "wide(T)"] if wide == lead else ["wide(T)", wide]
    parameters = []
    for argument in arguments:
        shape = list(argument.shape)
        front: list[Extent] = []
        if pack is not None and starts_with(argument, pack):
            front = [Extent("*L", int(np.prod([1, *pack])), pack=True)]
            shape = shape[len(pack) :]
        inner_shape = (*front, *(dim(extent.value) for extent in shape))
        parameters.append(Tensor(scope.fresh("x"), argument.element, inner_shape, argument.fact))
    inner = Scope(scope.shared, [], extents, [], types, scope.depth + 1)
    if pack is not None:
        inner.packs = [Extent("*L", int(np.prod([1, *pack])), pack=True)]
    for parameter in parameters:
        inner.add(parameter)
    if not extents:
        inner.extents = [Extent("2", 2)]
    body = statements(inner, random.randint(1, 4))
    made = [t for t in inner.tensors[len(parameters) :] if len(t.shape) + len(pack or ()) <= 5]
    if not made:
        raise RetryError
    results = random.sample(made[-3:], k=min(len(made[-3:]), random.choice([1, 1, 2])))
    generics = [*(["*L"] if pack is not None else []), *(extent.text for extent in extents if extent.text in DIM_NAMES)]
    if types:
        generics.append("type T")
    listed = ", ".join(f"{p.name}: {p.type_text(plain_types(inner, lead, p))}" for p in parameters)
    angled = f"<{', '.join(generics)}>" if generics else ""
    head = f"fn {name}{angled}({listed}) -> ({', '.join(r.name for r in results)})"
    scope.shared.functions.append(OwnFunction(name, head, tuple(body)))
    scope.shared.used.add("own-function")
    shaped = [replace(r, shape=outer_shape(r, pack), name=r.name) for r in results]
    signature = Signature(name, tuple(arguments), tuple(shaped))
    return call(scope, signature, list(arguments))


def plain_types(inner: Scope, lead: str, parameter: Tensor) -> Scope:
    """Parameters of the leading type say T, so that the call can bind it."""
    types = {lead: ["T"]} if inner.types and parameter.element == lead else {}
    return replace(inner, types=types)


def starts_with(tensor: Tensor, pack: tuple[int, ...]) -> bool:
    return tuple(extent.value for extent in tensor.shape[: len(pack)]) == pack


def pack_of(scope: Scope, arguments: list[Tensor]) -> tuple[int, ...]:
    shape = arguments[0].shape
    return tuple(extent.value for extent in shape[: scope.random.randint(0, len(shape))])


def outer_shape(tensor: Tensor, pack: tuple[int, ...] | None) -> tuple[Extent, ...]:
    shape: list[Extent] = []
    for extent in tensor.shape:
        values = (pack or ()) if extent.pack else (extent.value,)
        shape += [Extent(str(value), value) for value in values]
    return tuple(shape)


def choose_arguments(scope: Scope) -> list[Tensor]:
    first = scope.pick(lambda t: not t.packed and len(t.shape) <= 3)
    more = [scope.pick(lambda t: not t.packed and len(t.shape) <= 3) for _ in range(scope.random.randint(0, 2))]
    return [first, *more]


def call(scope: Scope, signature: Signature, arguments: list[Tensor]) -> Node:
    results = [replace(result, name=scope.fresh()) for result in signature.results]
    left = ", ".join(result.name for result in results)
    left = f"({left})" if len(results) > 1 else left
    names = ", ".join(argument.name for argument in arguments)
    scope.shared.signatures.append(signature)
    return scope.define(f"let {left} = {signature.name}({names})", *results)


def again(scope: Scope) -> Node:
    """A function called before, with other arguments of the same kind."""
    if not scope.shared.signatures or scope.types:
        raise RetryError
    signature = scope.random.choice(scope.shared.signatures)
    arguments = []
    for wanted in signature.parameters:
        values = [extent.value for extent in wanted.shape]
        fitting = [t for t in scope.tensors if t.element == wanted.element and not t.packed
                   and [e.value for e in t.shape] == values and t.fact.within(wanted.fact)]  # fmt: skip
        if not fitting:
            raise RetryError
        arguments.append(scope.random.choice(fitting))
    return call(scope, signature, arguments)
