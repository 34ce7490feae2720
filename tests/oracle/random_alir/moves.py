"""Random views, slices and joins."""

from typing import TYPE_CHECKING

from .kernels import pointwise
from .scope import MOST_ELEMENTS, Extent, RetryError, Scope, Tensor
from .tree import Node

if TYPE_CHECKING:
    from .facts import Fact


def view(scope: Scope) -> Node:
    random = scope.random
    source = scope.pick(lambda t: not t.packed)
    if len(source.shape) > 4:
        raise RetryError
    left: list[str] = []
    atoms: list[tuple[str, Extent]] = []
    for position, extent in enumerate(source.shape):
        factors = [f for f in range(2, extent.value) if extent.value % f == 0]
        if extent.value == 1 and scope.chance(0.6):
            left.append("1")
        elif (factors and scope.chance(0.5)) or scope.chance(0.05):
            outer = random.choice(factors) if factors else 1
            inner = extent.value // outer
            a, b = f"a{position}", f"b{position}"
            atoms += [(a, Extent(str(outer), outer)), (b, Extent(str(inner), inner))]
            left.append(random.choice([f"({a}:{outer}, {b})", f"({a}, {b}:{inner})", f"({a}:{outer}, {b}:{inner})"]))
        else:
            name = "xyzw"[position]
            atoms.append((name, extent))
            left.append(f"{name}:{extent.text}" if scope.chance(0.1) else name)
    order = list(atoms)
    if scope.chance(0.6):
        random.shuffle(order)
    if scope.chance(0.2):
        extra = scope.extent(3)
        order.insert(random.randint(0, len(order)), (f"r:{extra.text}", extra))
    right: list[str] = []
    shape: list[Extent] = []
    position = 0
    while position < len(order):
        size = random.choice([1, 1, 1, 2, 3])
        group = order[position : position + size]
        position += size
        if len(group) == 1:
            right.append(group[0][0])
            shape.append(group[0][1])
            continue
        value = 1
        for _, extent in group:
            value *= extent.value
        right.append(f"({', '.join(name for name, _ in group)})")
        shape.append(Extent(str(value), value))
    if scope.chance(0.1):
        place = random.randint(0, len(right))
        right.insert(place, "1")
        shape.insert(place, Extent("1", 1))
    name = scope.fresh()
    result = Tensor(name, source.element, tuple(shape), source.fact)
    if result.count > MOST_ELEMENTS or len(shape) > 4 or not left or not right:
        raise RetryError
    return scope.define(f"view {name} = {source.name} {{ {', '.join(left)} -> {', '.join(right)} }}", result)


def slice_(scope: Scope) -> Node:
    random = scope.random
    source = scope.pick(lambda t: not t.packed and len(t.shape) > 0)
    rank = len(source.shape)
    first = random.randint(0, rank) if scope.chance(0.2) else rank + 1
    last = random.randint(first, rank) if first <= rank else rank
    items: list[str] = []
    shape: list[Extent] = []
    for axis, extent in enumerate([*source.shape, None]):
        if axis == first:
            items.append("...")
        if extent is None:
            continue
        if first <= axis < last:
            shape.append(extent)
            continue
        item, left = one_item(scope, extent)
        items.append(item)
        shape += left
    name = scope.fresh()
    return scope.define(
        f"slice {name} = {source.name}[{', '.join(items)}]", Tensor(name, source.element, tuple(shape), source.fact)
    )


def one_item(scope: Scope, extent: Extent) -> tuple[str, list[Extent]]:
    random = scope.random
    roll = random.random()
    n = extent.value
    for step, count in scope.steps if scope.has("repeat") else []:
        if count <= n and scope.chance(0.5):
            size = random.randint(1, n - count + 1)
            forms = [(step, []), (f"{step}:{step} + {size}", [Extent(str(size), size)])]
            if extent.text.isidentifier():
                forms.append((f"{extent.text} - 1 - {step}", []))
            return random.choice(forms)
    if scope.has("runtime-slice") and roll > 0.85:
        size = random.randint(1, n)
        starts = [t for t in scope.tensors if t.element in ("i64", "i32") and not t.shape
                  and t.fact.low >= 0 and t.fact.high <= n - size]  # fmt: skip
        if starts:
            scope.shared.used.add("runtime-slice")
            return f"at {random.choice(starts).name} size {size}", [Extent(str(size), size)]
    if roll < 0.35:
        return ":", [extent]
    if roll < 0.5:
        place = random.randrange(n)
        return f"{extent.text} - 1" if place == n - 1 and scope.chance(0.5) else str(place), []
    if roll < 0.6:
        return "reverse", [extent]
    start = random.randrange(n)
    stop = random.randint(start + 1, n)
    step = random.choice([1, 1, 2, 3])
    count = (stop - start + step - 1) // step
    low = "" if start == 0 and scope.chance(0.5) else str(start)
    high = "" if stop == n and scope.chance(0.4) else extent.text if stop == n else str(stop)
    text = f"{low}:{high}" + (f":{step}" if step > 1 or scope.chance(0.1) else "")
    return text, [Extent(str(count), count)]


def plain_pick(scope: Scope) -> Tensor:
    return scope.pick(lambda t: not t.packed and 1 <= len(t.shape) <= 3)


def concat(scope: Scope) -> Node:
    first = plain_pick(scope)
    axis = scope.random.randrange(len(first.shape))
    parts = [first]
    for _ in range(scope.random.randint(1, 2)):
        fitting = [t for t in scope.tensors if joins(t, first, axis)]
        parts.append(scope.random.choice(fitting))
    total = sum(part.shape[axis].value for part in parts)
    shape = list(first.shape)
    shape[axis] = Extent(str(total), total)
    return joined(scope, "concat", parts, axis, tuple(shape))


def joins(t: Tensor, first: Tensor, axis: int) -> bool:
    if t.element != first.element or len(t.shape) != len(first.shape) or t.packed:
        return False
    return all(i == axis or a.value == b.value for i, (a, b) in enumerate(zip(t.shape, first.shape, strict=True)))


def joined(scope: Scope, function: str, parts: list[Tensor], axis: int, shape: tuple[Extent, ...]) -> Node:
    fact: Fact = parts[0].fact
    for part in parts[1:]:
        fact = fact.joined(part.fact)
    name = scope.fresh()
    result = Tensor(name, parts[0].element, shape, fact)
    if result.count > MOST_ELEMENTS:
        raise RetryError
    names = ", ".join(part.name for part in parts)
    return scope.define(f"let {name} = {function}({names}; axis = {axis})", result)


def stack(scope: Scope) -> Node:
    first = scope.pick(lambda t: not t.packed and len(t.shape) <= 3)
    fitting = [t for t in scope.tensors if joins(t, first, -1)]
    parts = [first, *scope.random.choices(fitting, k=scope.random.randint(0, 2))]
    axis = scope.random.randint(0, len(first.shape))
    shape = list(first.shape)
    shape.insert(axis, Extent(str(len(parts)), len(parts)))
    return joined(scope, "stack", parts, axis, tuple(shape))


def split(scope: Scope) -> Node:
    source = plain_pick(scope)
    axis = scope.random.randrange(len(source.shape))
    extent = source.shape[axis]
    if scope.chance(0.5) and extent.value <= 4:
        shape = source.shape[:axis] + source.shape[axis + 1 :]
        parts, function = extent.value, "unbind"
    else:
        parts = scope.random.choice([f for f in range(1, extent.value + 1) if extent.value % f == 0])
        each = extent.value // parts
        shape = (*source.shape[:axis], Extent(str(each), each), *source.shape[axis + 1 :])
        function = "split"
    tensors = [Tensor(scope.fresh(), source.element, shape, source.fact) for _ in range(parts)]
    names = ", ".join(tensor.name for tensor in tensors)
    left = f"({names})" if parts > 1 or scope.chance(0.5) else names
    return scope.define(f"let {left} = {function}({source.name}; axis = {axis})", *tensors)


def scalar_of(scope: Scope, element: str, exact: bool = True) -> Node:
    return pointwise(scope, element, (), exact, True)
