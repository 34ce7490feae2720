"""Random kernels: pointwise, reductions, arg reductions, ordered and ragged loops, data-dependent reads."""

from dataclasses import dataclass, replace

import numpy as np

from ..numpy_values import FLOATS, INTEGERS
from .expressions import Expression, Expressions
from .facts import BOOL, Fact, product_of, stored, sum_of, unit
from .indices import Index, Loop, Space
from .scope import MOST_ELEMENTS, MOST_POINTS, PRIMARY, WEIGHTED, Extent, RetryError, Scope, Tensor
from .tree import Node

LOOP_NAMES = "ijkmnpqrs"


@dataclass
class Draft:
    """A kernel in the making."""

    scope: Scope
    element: str
    shape: tuple[Extent, ...]
    target: list[Loop]
    reduced: list[Loop]
    indexed: bool = False
    ragged: bool = False

    def __post_init__(self) -> None:
        random = self.scope.random
        self.loops = [*self.target, *self.reduced]
        if not self.ragged:
            random.shuffle(self.loops)
        points = float(np.prod([1, *(loop.extent.value for loop in self.loops)]))
        if points * self.scope.step_count() > MOST_POINTS:
            raise RetryError
        self.space = Space(self.scope, self.loops)
        self.maker = Expressions(self.scope, self.space, self.indexed)
        self.maker.pack_loop = {loop.extent.text: loop.name for loop in self.loops if loop.extent.pack}
        self.outer = Expressions(self.scope, Space(self.scope, self.target))
        self.outer.pack_loop = {loop.extent.text: loop.name for loop in self.target if loop.extent.pack}
        self.lets: list[str] = []
        self.guards: list[str] = []
        self.guarded = self.ragged

    @property
    def count(self) -> int:
        """Points that one element is reduced over."""
        return int(np.prod([1, *(loop.extent.value for loop in self.reduced)]))

    def abbreviate(self) -> None:
        """Kernel `let`s: index expressions and values."""
        random = self.scope.random
        if self.loops and self.scope.chance(0.25):
            index = self.space.free(2)
            name = f"h{len(self.lets)}"
            self.space.lets[name] = Index(name, PRIMARY, index.low, index.high)
            self.lets.append(f"let {name} = {index.text}")
            if self.scope.chance(0.6):
                self.guard(self.space.lets[name])
        if self.scope.chance(0.15):
            value = self.maker.make(random.choice(WEIGHTED), 2)
            name = f"v{len(self.lets)}"
            self.lets.append(f"let {name} = {value.text}")
            self.maker.values.append(replace(value, text=name, level=PRIMARY))

    def guard(self, index: Index) -> None:
        """Keeps an index inside of some axis."""
        low, high = self.space.bounds(index)
        extent = self.scope.extent()
        if (index.low != index.high).any() or low >= extent.value or high < 0:
            return
        holds = (index.low >= 0) & (index.low < extent.value)
        self.add_guard(f"0 <= {index.at(4)} < {extent.text}", holds)

    def add_guard(self, text: str, holds: "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]") -> None:
        if not (self.space.mask & holds).any():
            return
        self.space.mask = self.space.mask & holds
        self.guards.append(text)
        self.guarded = True

    def guard_some(self) -> None:
        while self.loops and self.scope.chance(0.25):
            condition = self.space.condition(1)
            if condition is not None:
                self.add_guard(*condition)
        if self.indexed and self.scope.chance(0.4):
            self.guards.append(self.maker.make("bool", 2).text)
            self.guarded = True

    def render(self, name: str, body: str, more: str = "") -> str:
        """`body`: from the target to the end."""
        random = self.scope.random
        word = "indexed" if self.indexed else "kernel"
        shape = ", ".join(extent.text for extent in self.shape)
        loops = f"for {', '.join(loop.render() for loop in self.loops)} " if self.loops else ""
        lets = "".join(f"{let} " for let in self.lets)
        where = f"where {', '.join(self.guards)}  " if self.guards else ""
        trailing = "," if random.random() < 0.05 and self.shape else ""
        return (
            f"{word} {name}: {self.scope.element_text(self.element)}[{shape}{trailing}]{more} "
            f"{{ {loops}{lets}{where}{body} }}"
        )

    def subscripts(self) -> str:
        return ", ".join(f"*{loop.name}" if loop.extent.pack else loop.name for loop in self.target)


def loops_for(scope: Scope, shape: tuple[Extent, ...], taken: set[str]) -> list[Loop]:
    loops = []
    for extent in shape:
        name = "l" if extent.pack else scope.random.choice([n for n in LOOP_NAMES if n not in taken])
        taken.add(name)
        loops.append(Loop(name, extent))
    return loops


def draft(scope: Scope, element: str | None = None, shape: tuple[Extent, ...] | None = None,
          reduces: bool = False, indexed: bool | None = None) -> Draft:  # fmt: skip
    random = scope.random
    element = element or random.choice(WEIGHTED)
    lead = None
    if shape is None:
        if scope.tensors and scope.chance(0.75):
            lead = scope.pick()
            axes = list(lead.shape)
            if not lead.packed:
                random.shuffle(axes)
            if reduces and axes and not axes[-1].pack and scope.chance(0.8):
                axes.pop()
            shape = tuple(axes)
        else:
            shape = scope.new_shape()
            if scope.packs and scope.chance(0.6):
                shape = (scope.packs[0], *shape[:1])
    if sum(extent.pack for extent in shape) > 1 or len(shape) > 4:
        raise RetryError
    if np.prod([1, *(extent.value for extent in shape)]) > MOST_ELEMENTS:
        raise RetryError
    taken: set[str] = set()
    target = loops_for(scope, shape, taken)
    extra: tuple[Extent, ...] = ()
    if reduces:
        axes = [e for e in (lead.shape if lead else ()) if e not in shape and not e.pack]
        extra = tuple(axes[:2]) if axes and scope.chance(0.7) else (scope.extent(),)
        if scope.chance(0.25):
            extra = (*extra, scope.extent(4))
    reduced = loops_for(scope, extra, taken)
    if indexed is None:
        indexed = scope.chance(0.2)
    result = Draft(scope, element, shape, target, reduced, indexed)
    if lead:
        result.maker.preferred.append(lead)
    result.abbreviate()
    result.guard_some()
    return result


def finish(made: Draft, fact: Fact, body: str, plain: bool = False) -> Node:
    name = made.scope.fresh()
    tensor = Tensor(name, made.element, made.shape, stored(fact, made.element))
    if plain and tensor.fact.special:
        raise RetryError
    return made.scope.define(made.render(name, body.replace("@", name)), tensor)


def pointwise(scope: Scope, element: str | None = None, shape: tuple[Extent, ...] | None = None,
              exact: bool = False, plain: bool = False) -> Node:  # fmt: skip
    made = draft(scope, element, shape)
    value = made.maker.make(made.element, 3, exact, plain)
    fact, otherwise = value.fact, ""
    if made.guarded or scope.chance(0.05):
        other = made.outer.make(made.element, 1, exact, plain)
        fact, otherwise = fact.joined(other.fact), f"  else {other.text}"
    return finish(made, fact, f"@[{made.subscripts()}] = {value.text}{otherwise}", plain)


def reduction(scope: Scope) -> Node:
    random = scope.random
    made = draft(scope, reduces=True)
    kinds = ["and=", "or="] if made.element == "bool" else ["+=", "+=", "+=", "*=", "max=", "min="]
    assign = random.choice(kinds)
    if assign == "+=" and made.element in FLOATS and scope.chance(0.4):
        value = product(made)
    else:
        value = made.maker.make(made.element, 2)
    fact = reduced_fact(made, assign, value.fact)
    endings = []
    if scope.chance(0.3):
        start = made.outer.make(made.element, 1)
        fact = started(fact, start.fact, assign, made)
        endings.append(f"init {start.text}")
    needs = made.guarded and assign in ("max=", "min=") and not endings
    if needs or (made.guarded and scope.chance(0.3)):
        other = made.outer.make(made.element, 1)
        fact = fact.joined(other.fact)
        endings.append(f"else {other.text}")
    random.shuffle(endings)
    return finish(made, fact, f"@[{made.subscripts()}] {assign} {value.text}  {'  '.join(endings)}".rstrip())


def product(made: Draft) -> Expression:
    """Two reads under `+=`: a contraction."""
    maker, element = made.maker, made.element
    a, b = maker.make(element, 0), maker.make(element, 0)
    most = a.fact.most * b.fact.most
    if most > 1e5:
        raise RetryError
    error = a.fact.error * b.fact.most + b.fact.error * a.fact.most + a.fact.error * b.fact.error
    grain = a.fact.grain * b.fact.grain
    text = f"{a.at(5)} * {b.at(6)}"
    return Expression(text, 5, element, Fact(-most, most, grain, error, a.fact.special or b.fact.special))


def reduced_fact(made: Draft, assign: str, fact: Fact) -> Fact:
    if assign == "+=":
        total = sum_of(fact, made.count, made.element)
        return replace(total, low=min(total.low, fact.low, 0), high=max(total.high, fact.high, 0))
    if assign == "*=":
        found = product_of(fact, made.count, made.element)
        if found is None:
            raise RetryError
        return found
    return BOOL if made.element == "bool" else fact


def started(fact: Fact, start: Fact, assign: str, made: Draft) -> Fact:
    if assign == "+=":
        return sum_of(fact.joined(start), 2, made.element)
    if assign == "*=":
        found = product_of(fact.joined(start), 2, made.element)
        if found is None:
            raise RetryError
        return found
    return fact.joined(start)


def arg_reduction(scope: Scope) -> Node:
    element = scope.random.choice([e for e in WEIGHTED if e != "bool"])
    made = draft(scope, element, reduces=True)
    value = made.maker.make(element, 2, exact=True)
    if value.fact.special and element == "f4e2m1":
        raise RetryError
    place = made.space.free(1)
    low, high = made.space.bounds(place)
    fact, ending = value.fact, ""
    if made.guarded:
        other = made.outer.make(element, 1, exact=True)
        fact, ending = fact.joined(other.fact), f"  else {other.text}"
    name, second = scope.fresh("v"), scope.fresh("ix")
    shape = ", ".join(extent.text for extent in made.shape)
    subs = made.subscripts()
    assign = scope.random.choice(["argmax=", "argmin="])
    place_text = place.text if made.space.variables else "0"
    if not any(variable in place_text for variable in made.space.variables):
        place_text, low, high = f"{place_text}", min(low, 0), max(high, 0)
    body = f"{name}[{subs}], {second}[{subs}] {assign} {value.text}, {place_text}{ending}"
    text = made.render(name, body, f", {second}: i64[{shape}]")
    return scope.define(
        text,
        Tensor(name, element, made.shape, stored(fact, element)),
        Tensor(second, "i64", made.shape, Fact(min(low, 0), max(high, 0), 1.0)),
    )


def ordered(scope: Scope) -> Node:
    """A loop along which every element sees the one before."""
    random = scope.random
    made = draft(scope)
    plain = [loop for loop in made.target if not loop.extent.pack]
    if not plain:
        raise RetryError
    along = random.choice(plain)
    marked = replace(along, order=random.choice(["seq", "revseq"]))
    made.loops[made.loops.index(along)] = marked
    made.target[made.target.index(along)] = marked
    others = [loop for loop in made.target if loop is not marked]
    first = Expressions(scope, Space(scope, others))
    first.pack_loop = made.outer.pack_loop
    init = first.make(made.element, 1, plain=True)
    step = made.maker.make(made.element, 2, plain=True)
    fact, text = recurrence(made, init, step, along.extent.value)
    ending = ""
    if made.guarded:
        other = made.outer.make(made.element, 1, plain=True)
        if not other.fact.within(fact):
            other = replace(init, text="0" if made.element != "bool" else "false", fact=Fact(0, 0, 1.0))
            fact = fact.joined(other.fact)
        ending = f"  else {other.text}"
    return finish(made, fact, f"@[{made.subscripts()}] = {text}  init {init.text}{ending}")


def recurrence(made: Draft, init: Expression, step: Expression, count: int) -> tuple[Fact, str]:
    random, element = made.scope.random, made.element
    both = init.fact.joined(step.fact)
    if element == "bool":
        return BOOL, random.choice([f"prev or {step.at(1)}", f"not prev and {step.at(2)}", f"{step.at(4)} != prev"])
    if random.random() < 0.3:
        return both, f"{random.choice(['min', 'max'])}(prev, {step.text})"
    if element in INTEGERS:
        modulus = random.choice([7, 11, 100])
        if random.random() < 0.4:
            return Fact(min(-modulus, int(init.fact.low)), max(modulus, int(init.fact.high)), 1.0), (
                f"(prev * 3 + {step.at(5)}) % {modulus}"
            )
        total = sum_of(both, count + 1, element)
        total = replace(total, low=min(total.low, both.low), high=max(total.high, both.high))
        if total.most > 2**45:
            raise RetryError
        return stored(total, element), f"{step.at(4)} + prev" if random.random() < 0.5 else f"prev + {step.at(5)}"
    if both.most * (count + 1) > 400 and element in ("f8e4m3", "f8e5m2", "f4e2m1", "f16"):
        raise RetryError
    if both.most > 1e4:
        raise RetryError
    if random.random() < 0.5:
        total = sum_of(both, count + 1, element)
        total = replace(total, low=min(total.low, both.low), high=max(total.high, both.high))
        # Sums in a fixed order are exact even where they round.
        error = 0.0 if both.exact else total.error + 4 * count * count * both.most * unit(element)
        return replace(total, error=error, grain=0.0 if error == 0 and total.error else total.grain), (
            f"prev + {step.at(5)}"
        )
    most = 2.5 * both.most + 1
    error = 0.0 if both.exact else 3 * (both.error + 8 * unit(element) * most)
    return Fact(-most, most, 0.0, error), f"0.5 * prev - {step.at(5)}"


def ragged(scope: Scope) -> Node:
    """`p:NNZ in ptr[i] .. ptr[i + 1]`: reduced, or a target loop."""
    bounds = [t for t in scope.tensors if t.element in INTEGERS and len(t.shape) == 1 and t.fact.most <= 20
              and not t.packed]  # fmt: skip
    if not bounds:
        raise RetryError
    pointer = scope.random.choice(bounds)
    rows = pointer.shape[0].value - 1
    if rows < 1:
        raise RetryError
    rows_extent = Extent(f"{pointer.shape[0].text} - 1", rows)
    scope.shared.used.add("ragged")
    row = Loop("i", rows_extent)
    length = scope.extent()
    end = "i + 1" if scope.chance(0.8) else "i"
    last = f"{pointer.name}[{end}]" if end == "i + 1" else f"{pointer.name}[i] + 2"
    inner = Loop("p", length, ragged=f" in {pointer.name}[i] .. {last}")
    element = scope.random.choice(WEIGHTED)
    others = loops_for(scope, (scope.extent(),) if scope.chance(0.5) else (), {"i", "p"})
    if scope.chance(0.3):
        target = [row, inner, *others]
        made = Draft(scope, element, tuple(loop.extent for loop in target), target, [], True, True)
        value = made.maker.make(element, 2)
        other = made.outer.make(element, 1)
        return finish(made, value.fact.joined(other.fact), f"@[{made.subscripts()}] = {value.text}  else {other.text}")
    target = [row, *others]
    made = Draft(scope, element, tuple(loop.extent for loop in target), target, [inner], True, True)
    made.loops = [row, inner, *others] if scope.chance(0.5) else [row, *others, inner]
    kinds = ["and=", "or="] if element == "bool" else ["+=", "+=", "max=", "min="]
    assign = scope.random.choice(kinds)
    value = made.maker.make(element, 2)
    fact, ending = reduced_fact(made, assign, value.fact), ""
    if assign in ("max=", "min=") or scope.chance(0.2):
        other = made.outer.make(element, 1)
        fact, ending = fact.joined(other.fact), f"  else {other.text}"
    return finish(made, fact, f"@[{made.subscripts()}] {assign} {value.text}{ending}")
