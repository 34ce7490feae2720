"""One kernel of Affine Loop IR by NumPy broadcasting. See numpy_eval.py.

An expression over the loops has the value of an array with one axis per loop behind the sample axis, of extent 1 where
it does not depend on that loop. Loops of a kernel with an ordered loop are evaluated step by step along it.
"""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .alir_nodes import Binary, Call, Chain, Expression, Kernel, Loop, Name, Number, Pack, Read, Type, Unary
from .numpy_values import (
    COMPARE,
    FLOATS,
    FUNCTIONS,
    INTEGERS,
    REDUCTIONS,
    Array,
    ProgramError,
    Tensor,
    dim_value,
    dtype_of,
    floor_divide,
    modulo,
    round_to,
)

POINTS_AT_ONCE = 2**23

if TYPE_CHECKING:

    class ScopeLike(Protocol):
        dims: dict[str, int]
        steps: dict[str, int]
        packs: dict[str, tuple[int, ...]]
        types: dict[str, str]
        tensors: dict[str, "Tensor"]
        samples: int
        exact: bool

        def element(self, type_: Type) -> str: ...
        def shape(self, type_: Type) -> tuple[int, ...]: ...


class Nest:
    """Evaluates the expressions of one kernel on a block of samples."""

    def __init__(self, kernel: Kernel, scope: "ScopeLike", samples: slice) -> None:
        self.kernel = kernel
        self.scope = scope
        self.samples = samples
        self.count = len(range(*samples.indices(scope.samples)))
        self.loops, self.packs = expanded(kernel, scope)
        self.variables: dict[str, Array] = {}
        self.previous: Array | None = None
        for position, (name, extent) in enumerate(self.loops.items()):
            shape = [1] * (1 + len(self.loops))
            shape[1 + position] = extent
            self.variables[name] = np.arange(extent).reshape(shape)
        self.active: list[Array] = []  # conditions under which the expression in hand is needed

    def guard(self) -> Array | None:
        """True where a point is not skipped; None: everywhere."""
        mask: Array | None = None
        for loop in self.kernel.loops:
            if loop.begin is not None and loop.end is not None:
                here = self.variables[loop.variable]
                inside = (self.value(loop.begin) <= here) & (here < self.value(loop.end))
                mask = inside if mask is None else mask & inside
        data = []
        for guard in self.kernel.guards:
            if reads_tensor(guard, self.kernel.lets, self.scope):
                data.append(guard)
            else:
                mask = joined(mask, self.value(guard))
        if data:  # data is tested only where the index guards hold
            self.active = [] if mask is None else [mask]
            inner = mask
            for guard in data:
                inner = joined(inner, self.value(guard))
            self.active = []
            mask = inner
        return mask

    def value(self, expression: Expression) -> Any:
        match expression:
            case Number(value=value):
                return value
            case Name(name="prev"):
                return self.previous
            case Name(name=name):
                return self.named(name)
            case Read():
                return self.read(expression)
            case Unary(operator="-", operand=operand):
                return -self.value(operand)
            case Unary(operator="not", operand=operand):
                return np.logical_not(self.value(operand))
            case Binary(operator=operator, left=left, right=right):
                return self.binary(operator, self.value(left), self.value(right))
            case Chain(operands=operands, operators=operators):
                values = [self.value(operand) for operand in operands]
                result: Any = True
                for operator, a, b in zip(operators, values, values[1:], strict=False):
                    result = np.logical_and(result, COMPARE[operator](a, b))
                return result
            case Call():
                return self.call(expression)
        raise ProgramError("unknown expression")

    def named(self, name: str) -> Any:
        if name in self.variables:
            return self.variables[name]
        if name in self.kernel.lets:
            return self.value(self.kernel.lets[name])
        if name in self.scope.dims:
            return self.scope.dims[name]
        if name in self.scope.steps:
            return np.asarray(self.scope.steps[name], dtype=np.int64)
        return self.read(Read((0, 0), name, ()))

    def binary(self, operator: str, a: Any, b: Any) -> Any:
        match operator:
            case "+":
                return a + b
            case "-":
                return a - b
            case "*":
                return a * b
            case "/":
                return np.divide(a, b) if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) else a / b
            case "//":
                return floor_divide(a, b)
            case "%":
                return modulo(a, b)
            case "and":
                return np.logical_and(a, b)
            case "or":
                return np.logical_or(a, b)
        raise ProgramError(f"operator {operator}")

    def call(self, call: Call) -> Any:
        if call.function == "select":
            condition = np.asarray(self.value(call.arguments[0]))
            self.active.append(condition)
            yes = self.value(call.arguments[1])
            self.active[-1] = np.logical_not(condition)
            no = self.value(call.arguments[2])
            self.active.pop()
            return self.where(condition, yes, no)
        values = [self.value(argument) for argument in call.arguments]
        if call.function in ("min", "max") and all(isinstance(value, int | float) for value in values):
            return (min if call.function == "min" else max)(values)
        if call.function in FUNCTIONS:
            return FUNCTIONS[call.function](*values)
        if call.function == "wide":
            value = np.asarray(values[0])
            # A held value already has the width of its accumulation type.
            return value.astype(np.int64) if value.dtype.kind in "iu" else value
        element = self.scope.types.get(call.function, call.function)
        if element in FLOATS or element in INTEGERS or element == "bool":
            return round_to(np.asarray(values[0]), element, self.scope.exact)
        raise ProgramError(f"no scalar function `{call.function}`")

    @staticmethod
    def where(condition: Array, yes: Any, no: Any) -> Array:
        """A literal takes the other side's type."""
        if isinstance(yes, np.ndarray) and not isinstance(no, np.ndarray):
            no = yes.dtype.type(no)
        elif isinstance(no, np.ndarray) and not isinstance(yes, np.ndarray):
            yes = no.dtype.type(yes)
        chosen: Array = np.where(condition, yes, no)
        return chosen

    def read(self, read: Read) -> Array:
        if read.tensor not in self.scope.tensors:
            raise ProgramError(f"unknown name `{read.tensor}`")
        tensor = self.scope.tensors[read.tensor].values[self.samples]
        names = self.subscript_names(read.subscripts)
        if len(names) != tensor.ndim - 1:
            raise ProgramError(f"`{read.tensor}` has {tensor.ndim - 1} axes, not {len(names)}")
        plain = self.plain(names, tensor)
        if plain is not None:
            return plain
        index: list[Any] = [np.arange(self.count).reshape((self.count, *([1] * len(self.loops))))]
        for axis, subscript in enumerate(names):
            value = np.asarray(self.variables[subscript] if isinstance(subscript, str) else self.value(subscript))
            extent = tensor.shape[axis + 1]
            outside = (value < 0) | (value >= extent)
            if outside.any():
                for condition in self.active:
                    outside = outside & condition
                if outside.any():
                    raise ProgramError(f"subscript {axis} of `{read.tensor}` leaves its axis", "index-out-of-range")
                value = np.clip(value, 0, extent - 1)
            index.append(value)
        gathered: Array = tensor[tuple(index)]
        return gathered

    def subscript_names(self, subscripts: tuple[Expression | Pack, ...]) -> list[str | Expression]:
        """Subscripts with packs written out; a plain loop variable as its name."""
        found: list[str | Expression] = []
        for subscript in subscripts:
            if isinstance(subscript, Pack):
                found.extend(self.packs[subscript.name])
            elif isinstance(subscript, Name) and subscript.name in self.loops:
                found.append(subscript.name)
            else:
                found.append(subscript)
        return found

    def plain(self, names: list[str | Expression], tensor: Array) -> Array | None:
        """The read as a transposed view, where every subscript is another loop over the whole axis."""
        order = list(self.loops)
        positions = []
        for axis, name in enumerate(names):
            if not isinstance(name, str) or self.variables[name].size != tensor.shape[axis + 1]:
                return None
            positions.append(order.index(name))
        if len(set(positions)) != len(positions):
            return None
        by_loop = sorted(range(len(positions)), key=positions.__getitem__)
        moved = tensor.transpose((0, *(axis + 1 for axis in by_loop)))
        shape = [tensor.shape[0]] + [1] * len(order)
        for axis, position in enumerate(positions):
            shape[1 + position] = tensor.shape[axis + 1]
        return moved.reshape(shape)


def joined(mask: Array | None, value: Any) -> Array:
    return np.asarray(value) if mask is None else mask & np.asarray(value)


def reads_tensor(expression: Expression | Pack, lets: Mapping[str, Expression], scope: "ScopeLike") -> bool:
    match expression:
        case Read():
            return True
        case Name(name=name):
            return reads_tensor(lets[name], lets, scope) if name in lets else name in scope.tensors
        case Unary(operand=operand):
            return reads_tensor(operand, lets, scope)
        case Binary(left=left, right=right):
            return reads_tensor(left, lets, scope) or reads_tensor(right, lets, scope)
        case Chain(operands=operands):
            return any(reads_tensor(operand, lets, scope) for operand in operands)
        case Call(arguments=arguments):
            return any(reads_tensor(argument, lets, scope) for argument in arguments)
    return False


def expanded(kernel: Kernel, scope: "ScopeLike") -> tuple[dict[str, int], dict[str, list[str]]]:
    """The loops with packs written out, and the loops of each pack."""
    loops: dict[str, int] = {}
    packs: dict[str, list[str]] = {}
    for loop in kernel.loops:
        if isinstance(loop.extent, Pack):
            packs[loop.variable] = [f"*{loop.variable}{i}" for i in range(len(scope.packs[loop.extent.name]))]
            loops.update(zip(packs[loop.variable], scope.packs[loop.extent.name], strict=True))
        else:
            loops[loop.variable] = dim_value(loop.extent, scope.dims)
    return loops, packs


def run(kernel: Kernel, scope: "ScopeLike") -> dict[str, Tensor]:
    """The tensors a kernel defines."""
    loops, _ = expanded(kernel, scope)
    if any(extent < 1 for extent in loops.values()):
        raise ProgramError("a loop without points")
    block = max(1, POINTS_AT_ONCE // max(1, math.prod(loops.values())))
    results: dict[str, list[Array]] = {name: [] for name in kernel.types}
    for start in range(0, scope.samples, block):
        nest = Nest(kernel, scope, slice(start, start + block))
        with np.errstate(all="ignore"):
            for name, values in run_block(nest).items():
                results[name].append(values)
    tensors = {}
    for name, parts in results.items():
        type_ = kernel.types[name]
        values = np.concatenate(parts)
        if values.shape[1:] != scope.shape(type_):
            raise ProgramError(f"`{name}` has shape {values.shape[1:]}, declared {scope.shape(type_)}")
        tensors[name] = Tensor(scope.element(type_), values)
    return tensors


def run_block(nest: Nest) -> dict[str, Array]:
    ordered: Loop | None = next((loop for loop in nest.kernel.loops if loop.order), None)
    if ordered is not None:
        return run_ordered(nest, ordered)
    mask = nest.guard()
    if mask is not None:
        nest.active.append(mask)
    if nest.kernel.assign in ("argmax=", "argmin="):
        return run_arg(nest, mask)
    target = nest.kernel.targets[0]
    element = nest.scope.element(nest.kernel.types[target.tensor])
    keep = [list(nest.loops).index(str(name)) + 1 for name in nest.subscript_names(target.subscripts)]
    reduced = tuple(axis for axis in range(1, 1 + len(nest.loops)) if axis not in keep)
    summed = sum_of_products(nest, mask, keep)
    values = full(nest, nest.value(nest.kernel.values[0]), element) if summed is None else summed
    nest.active.clear()
    if nest.kernel.assign != "=":
        values = reduce(nest, values, mask, reduced, element) if summed is None else started(nest, values)
    if nest.kernel.otherwise is not None and mask is not None:
        reached = np.broadcast_to(mask, (nest.count, *nest.loops.values())).any(axis=reduced, keepdims=True)
        values = np.where(reached, values, nest.value(nest.kernel.otherwise))
    return {target.tensor: store(nest, values, keep, reduced, element)}


def full(nest: Nest, value: Any, element: str) -> Array:
    """A value over the whole iteration space, in the type it is computed in."""
    array = np.asarray(value).astype(dtype_of(element, nest.scope.exact))
    return np.broadcast_to(array, (nest.count, *nest.loops.values()))


def reduce(nest: Nest, values: Array, mask: Array | None, reduced: tuple[int, ...], element: str) -> Array:
    operation, identity = REDUCTIONS[nest.kernel.assign]
    if element in INTEGERS and math.isinf(identity):
        identity = INTEGERS[element][identity > 0]
    neutral = np.asarray(identity).astype(values.dtype)
    if mask is not None:
        values = np.where(mask, values, neutral)
    values = operation.reduce(values, axis=reduced, keepdims=True) if reduced else values
    if nest.kernel.init is None:  # the start matters where computed values leave the type's range
        values = operation(values, neutral)
    return started(nest, values)


def started(nest: Nest, values: Array) -> Array:
    """Reduced values together with what the reduction starts from."""
    if nest.kernel.init is None:
        return values
    operation, _ = REDUCTIONS[nest.kernel.assign]
    return np.asarray(operation(values, np.asarray(nest.value(nest.kernel.init)).astype(values.dtype)))


def sum_of_products(nest: Nest, mask: Array | None, keep: list[int]) -> Array | None:
    """`+= a * b` in float64 without making the products: much quicker. None where that does not apply."""
    product = nest.kernel.values[0]
    if not (
        nest.scope.exact and nest.kernel.assign == "+=" and isinstance(product, Binary) and product.operator == "*"
    ):
        return None
    a, b = (np.asarray(nest.value(side)) for side in (product.left, product.right))
    rank = 1 + len(nest.loops)
    if a.ndim != rank or b.ndim != rank or a.dtype != np.float64 or b.dtype != np.float64:
        return None
    if mask is not None:
        a = np.where(mask, a, 0.0)
    extents = [nest.count, *nest.loops.values()]
    covered = [a.shape[i] == extents[i] or b.shape[i] == extents[i] for i in range(rank)]
    if not (all(covered) and np.isfinite(a).all() and np.isfinite(b).all()):
        return None
    kept = [0, *sorted(keep)]
    used = [[i for i in range(rank) if array.shape[i] > 1] for array in (a, b)]
    result = np.einsum(a.squeeze(), used[0], b.squeeze(), used[1], [i for i in kept if extents[i] > 1])
    return np.asarray(result).reshape([extents[i] if i in kept else 1 for i in range(rank)])


def store(nest: Nest, values: Array, keep: list[int], reduced: tuple[int, ...], element: str) -> Array:
    """Drops the reduced axes, brings the others into the target's order, rounds."""
    values = values.transpose((0, *keep, *reduced))
    values = values.reshape(values.shape[: 1 + len(keep)])
    return round_to(values, element, nest.scope.exact)


def run_arg(nest: Nest, mask: Array | None) -> dict[str, Array]:
    """An extreme value and where it is: the first by ties, a NaN before all."""
    first, second = nest.kernel.targets
    elements = [nest.scope.element(nest.kernel.types[target.tensor]) for target in (first, second)]
    sign = 1 if nest.kernel.assign == "argmax=" else -1
    values = full(nest, nest.value(nest.kernel.values[0]), elements[0])
    places = full(nest, nest.value(nest.kernel.values[1]), elements[1])
    keep = [list(nest.loops).index(str(name)) + 1 for name in nest.subscript_names(first.subscripts)]
    reduced = tuple(axis for axis in range(1, values.ndim) if axis not in keep)
    nest.active.clear()
    valid = np.broadcast_to(True if mask is None else mask, values.shape)

    def flat(array: Array) -> Array:
        array = array.transpose((0, *keep, *reduced))
        return array.reshape((*array.shape[: 1 + len(keep)], -1))

    values, places, valid = flat(values), flat(places), flat(valid)
    keys = sign * values.astype(np.float64)
    # A skipped point must lose even against minus infinity: rank first, then choose the first of the best.
    best = np.where(valid, keys, -np.inf).max(axis=-1, keepdims=True)
    winners = valid & ((keys == best) | np.isnan(keys) & np.isnan(best))
    chosen = winners.argmax(axis=-1)[..., None]
    reached = valid.any(axis=-1)
    results = [np.take_along_axis(array, chosen, axis=-1)[..., 0] for array in (values, places)]
    if not reached.all():
        if nest.kernel.otherwise is None:
            raise ProgramError("an element is reached by no point")
        otherwise = nest.value(nest.kernel.otherwise)
        if isinstance(otherwise, np.ndarray):
            otherwise = flat(np.broadcast_to(otherwise, (nest.count, *nest.loops.values())))[..., 0]
        results = [np.where(reached, results[0], otherwise), np.where(reached, results[1], 0)]
    rounded = [round_to(np.asarray(r), e, nest.scope.exact) for r, e in zip(results, elements, strict=True)]
    return {first.tensor: rounded[0], second.tensor: rounded[1]}


def run_ordered(nest: Nest, ordered: Loop) -> dict[str, Array]:
    """Step by step along the ordered loop; every step sees the stored value of the one before."""
    kernel = nest.kernel
    target = kernel.targets[0]
    element = nest.scope.element(kernel.types[target.tensor])
    axis = list(nest.loops).index(ordered.variable) + 1
    extent = nest.loops[ordered.variable]
    nest.loops[ordered.variable] = 1
    if kernel.init is None:
        raise ProgramError("an ordered loop needs init")
    previous = full(nest, nest.value(kernel.init), element)  # not stored, and so not rounded
    steps: list[Array] = [previous] * extent
    for step in range(extent) if ordered.order == "seq" else reversed(range(extent)):
        nest.variables[ordered.variable] = np.array(step).reshape([1] * (1 + len(nest.loops)))
        nest.previous = previous
        mask = nest.guard()
        nest.active = [] if mask is None else [mask]
        values = full(nest, nest.value(kernel.values[0]), element)
        nest.active = []
        if mask is not None:
            otherwise = kernel.otherwise
            if otherwise is None:
                raise ProgramError("a guarded assignment needs else")
            values = np.where(mask, values, nest.value(otherwise))
        previous = round_to(values, element, nest.scope.exact)
        steps[step] = previous
    values = np.concatenate(steps, axis=axis)
    nest.loops[ordered.variable] = extent
    keep = [list(nest.loops).index(str(name)) + 1 for name in nest.subscript_names(target.subscripts)]
    return {target.tensor: store(nest, values, keep, (), element)}
