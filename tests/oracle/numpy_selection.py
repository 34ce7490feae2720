"""Operations of Affine Loop IR that are called like functions: joining, splitting, sorting. See numpy_eval.py."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from .alir_nodes import Apply, Number
from .numpy_values import Array, ProgramError, Tensor, dim_value

if TYPE_CHECKING:
    from .numpy_eval import Scope

Tensors = dict[str, Tensor]


def axis_of(call: Apply, scope: "Scope") -> int:
    """Behind the sample axis."""
    return dim_value(call.attributes["axis"], scope.dims) + 1


def one(call: Apply, scope: "Scope") -> Tensor:
    return scope.argument(call.arguments[0], None)


def concat(call: Apply, scope: "Scope") -> Tensors:
    parts = [scope.argument(argument, None) for argument in call.arguments]
    joined = np.concatenate([part.values for part in parts], axis=axis_of(call, scope))
    return {call.results[0]: Tensor(parts[0].element, joined)}


def stack(call: Apply, scope: "Scope") -> Tensors:
    parts = [scope.argument(argument, None) for argument in call.arguments]
    joined = np.stack([part.values for part in parts], axis=axis_of(call, scope))
    return {call.results[0]: Tensor(parts[0].element, joined)}


def split(call: Apply, scope: "Scope") -> Tensors:
    x = one(call, scope)
    parts = np.split(x.values, len(call.results), axis=axis_of(call, scope))
    return {name: Tensor(x.element, part) for name, part in zip(call.results, parts, strict=True)}


def unbind(call: Apply, scope: "Scope") -> Tensors:
    x, axis = one(call, scope), axis_of(call, scope)
    parts = [np.take(x.values, i, axis=axis) for i in range(x.values.shape[axis])]
    return {name: Tensor(x.element, part) for name, part in zip(call.results, parts, strict=True)}


def positions(values: Array, axis: int, descending: bool) -> Array:
    """A stable order; NaN is larger than everything."""
    flat = np.where(np.isnan(values), 0, values) if values.dtype.kind == "f" else values
    _, ranks = np.unique(flat, return_inverse=True)
    ranks = ranks.reshape(values.shape).astype(np.int64)
    if values.dtype.kind == "f":
        ranks = np.where(np.isnan(values), ranks.max() + 1, ranks)
    return np.argsort(-ranks if descending else ranks, axis=axis, kind="stable")


def ordered(call: Apply, scope: "Scope") -> Tensors:
    x, axis = one(call, scope), axis_of(call, scope)
    descending = call.function == "topk"
    if "descending" in call.attributes:
        given = call.attributes["descending"]
        assert isinstance(given, Number)
        descending = bool(given.value)
    place = positions(x.values, axis, descending)
    if call.function == "topk":
        place = np.take(place, np.arange(dim_value(call.attributes["k"], scope.dims)), axis=axis)
    indices = Tensor("i64", place)
    if call.function == "argsort":
        return {call.results[0]: indices}
    return {call.results[0]: Tensor(x.element, np.take_along_axis(x.values, place, axis)), call.results[1]: indices}


def compact(call: Apply, scope: "Scope") -> Tensors:
    """unique and nonzero: at most `limit` of them, the rest zeros, and their number."""
    x = one(call, scope)
    limit = dim_value(call.attributes["limit"], scope.dims)
    found = [distinct(values) if call.function == "unique" else np.argwhere(values) for values in x.values]
    if max(len(values) for values in found) > limit:
        raise ProgramError(f"`{call.function}` found more than {limit}", "result-limit")
    shape = (limit,) if call.function == "unique" else (limit, x.values.ndim - 1)
    rows = np.zeros((scope.samples, *shape), dtype=found[0].dtype)
    for row, values in zip(rows, found, strict=True):
        row[: len(values)] = values
    counts = np.array([len(values) for values in found], dtype=np.int64)
    element = x.element if call.function == "unique" else "i64"
    return {call.results[0]: Tensor(element, rows), call.results[1]: Tensor("i64", counts)}


def distinct(values: Array) -> Array:
    return np.unique(values.ravel())


OPERATIONS: Mapping[str, Callable[[Apply, "Scope"], Tensors]] = {
    "concat": concat,
    "stack": stack,
    "split": split,
    "unbind": unbind,
    "sort": ordered,
    "argsort": ordered,
    "topk": ordered,
    "unique": compact,
    "nonzero": compact,
}
