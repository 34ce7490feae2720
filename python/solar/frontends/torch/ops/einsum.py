"""aten.einsum: the equation is the kernel; aten.bilinear."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from solar.frontends.torch.builder import Builder, Meta, Value
from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class _Operand:
    letters: str
    value: Value


@lowering("aten.einsum.default")
def einsum(b: Builder, equation: str, tensors: Sequence[Value], path: Sequence[int] | None = None) -> Value:
    """Contracts two operands at a time, from the left or along `path`, as torch does."""
    inputs, output = _parse(b, equation, tensors)
    operands = [_Operand(letters, value) for letters, value in zip(inputs, tensors, strict=True)]
    sizes = {letter: n for o in operands for letter, n in zip(o.letters, o.value.shape, strict=True) if n != 1}
    extents: dict[str, str] = {}
    for operand in operands:
        for axis, letter in enumerate(operand.letters):
            if letter not in extents and operand.value.shape[axis] == sizes.get(letter, 1):
                extents[letter] = b.extent(operand.value, axis)
    steps = list(path) if path else [0, 1] * (len(operands) - 1)
    for first, second in zip(steps[::2], steps[1::2], strict=True):
        pair = [operands[first], operands[second]]
        operands = [o for i, o in enumerate(operands) if i not in (first, second)]
        later = set(output).union(*(o.letters for o in operands))
        kept = "".join(dict.fromkeys(c for o in pair for c in o.letters if c in later))
        result = _contract(b, pair, kept if operands else output, extents, sizes)
        operands.insert(0, result) if not path else operands.append(result)
    last = operands[0]
    if sorted(last.letters) != sorted(output):  # a sum, or a diagonal (a repeated letter)
        last = _contract(b, [last], output, extents, sizes)
    return b.permute(last.value, [last.letters.index(c) for c in output])


def _parse(b: Builder, equation: str, tensors: Sequence[Value]) -> tuple[list[str], str]:
    """Letters of every operand and of the output; an ellipsis becomes upper-case letters."""
    equation = equation.replace(" ", "")
    left, arrow, output = equation.partition("->")
    inputs = left.split(",")
    if len(inputs) != len(tensors):
        raise b.unsupported(f"the equation {equation} with {len(tensors)} operands")
    used = set(equation)
    spare = [c for c in "ZYXWVUTSRQPONMLKJIHGFEDCBA" if c not in used]
    widest = 0
    for letters, value in zip(inputs, tensors, strict=True):
        if "..." in letters:
            widest = max(widest, value.rank - len(letters) + 3)
    batch = "".join(spare[:widest])[::-1]
    expanded = []
    for letters, value in zip(inputs, tensors, strict=True):
        n = value.rank - len(letters) + 3
        expanded.append(letters.replace("...", batch[widest - n :]) if "..." in letters else letters)
    if arrow:
        return expanded, output.replace("...", batch)
    counts = "".join(expanded)
    single = sorted({c for c in counts if counts.count(c) == 1 and c not in batch})
    return expanded, batch + "".join(single)


def _contract(
    b: Builder, operands: Sequence[_Operand], output: str, extents: dict[str, str], sizes: dict[str, int]
) -> _Operand:
    """One kernel: the output's letters, then the summed ones, as loops; the product of the operands as body."""
    value_of = [_without_broadcast(b, o, sizes) for o in operands]
    output = "".join(dict.fromkeys(output))
    summed = dict.fromkeys(c for o in operands for c in o.letters if c not in output)
    loop = {c: f"{c.lower()}_" if c.isupper() else c for c in [*output, *summed]}
    loops = ", ".join(f"{loop[c]}:{extents[c]}" for c in [*output, *summed])
    product = " * ".join(f"{o.value.token}[{', '.join(loop[c] for c in o.letters)}]" for o in value_of)
    assign = "+=" if summed else "="
    text = f"{f'for {loops}   ' if loops else ''}@[{', '.join(loop[c] for c in output)}] {assign} {product}"
    shape = tuple(sizes.get(c, 1) for c in output)
    result = b.kernel(
        Meta(shape, operands[0].value.dtype), text, [o.value for o in value_of], [extents[c] for c in output]
    )
    return _Operand(output, result)


def _without_broadcast(b: Builder, operand: _Operand, sizes: dict[str, int]) -> _Operand:
    """Axes of extent 1 that meet a larger extent are dropped: the kernel repeats them."""
    dropped = [
        axis
        for axis, letter in enumerate(operand.letters)
        if operand.value.shape[axis] == 1 and sizes.get(letter, 1) != 1
    ]
    if not dropped:
        return operand
    kept = "".join(c for axis, c in enumerate(operand.letters) if axis not in dropped)
    return _Operand(kept, b.squeeze(operand.value, dropped))


@lowering("aten.bilinear.default")
def bilinear(b: Builder, input1: Value, input2: Value, weight: Value, bias: Value | None = None) -> Value:
    """x W y for each of the weight's matrices."""
    y = einsum(b, "...i,oij,...j->...o", [input1, weight, input2])
    return y if bias is None else b.pointwise("add", y, bias)
