"""Traces many operator calls as one program, and compares what it gives with torch."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from solar.frontends.torch import trace
from solar.sources import LoadedProgram
from torch import nn
from torch_case_generator import Case

# Runs a traced program: text, tensors by port name -> outputs by name.
Runner = Callable[[str, dict[str, torch.Tensor]], dict[str, torch.Tensor]]


class _Batch(nn.Module):
    """All cases in one module; every case takes its share of the arguments."""

    def __init__(self, cases: Sequence[Case]) -> None:
        super().__init__()
        self.cases = cases

    def forward(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The results of all cases, flat."""
        results: list[torch.Tensor] = []
        place = 0
        for case in self.cases:
            count = len(case.inputs)
            results += _flat(case.function(*tensors[place : place + count]))
            place += count
        return tuple(results)


def _flat(result: object) -> list[torch.Tensor]:
    """The tensors of a result; those without elements are no results of a program."""
    tensors = [result] if isinstance(result, torch.Tensor) else list(result)  # type: ignore[call-overload]
    return [t for t in tensors if t is not None and t.numel()]


def _real(tensor: torch.Tensor) -> torch.Tensor:
    """A complex tensor as programs hold it: both parts along a last axis."""
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def traced(cases: Sequence[Case]) -> tuple[str, dict[str, torch.Tensor], tuple[str, ...]]:
    """The text of one program for all cases, its input tensors, and the names of its outputs."""
    inputs = tuple(x for case in cases for x in case.inputs)
    names = tuple(f"x{i}" for i in range(len(inputs)))
    loaded = LoadedProgram(
        model=_Batch(cases),
        inputs=inputs,
        kwargs={},
        name="operators",
        path=str(Path(__file__)),
        input_names=names,
        form="module",
    )
    result = trace(loaded)
    values = {port.name: _real(inputs[port.index]).clone() for port in result.ports if port.index is not None}
    return result.text, values, result.outputs


def failures(cases: Sequence[Case], run: Runner) -> list[str]:
    """What is wrong, one line a case. A batch that fails as a whole is cut in two."""
    try:
        text, values, names = traced(cases)
        outputs = run(text, values)
        return _differences(cases, [outputs[name] for name in names])
    except Exception as error:  # a case that cannot be traced or run must not hide the others
        if len(cases) == 1:
            return [f"{cases[0].name}: {type(error).__name__}: {error}"]
        half = len(cases) // 2
        parts = failures(cases[:half], run) + failures(cases[half:], run)
        return parts or [
            f"{len(cases)} cases from `{cases[0].name}` on, only together: {type(error).__name__}: {error}"
        ]


def _differences(cases: Sequence[Case], outputs: Sequence[torch.Tensor]) -> list[str]:
    wrong: list[str] = []
    rest = iter(outputs)
    for case in cases:
        with torch.no_grad():
            expected = [_real(t) for t in _flat(case.function(*(x.clone() for x in case.inputs)))]
        size = max((x.numel() for x in case.inputs), default=1)
        for wanted in expected:
            problem = difference(next(rest), wanted, size)
            if problem:
                wrong.append(f"{case.name}: {problem}")
    return wrong


def difference(found: torch.Tensor, wanted: torch.Tensor, size: int) -> str:
    """Empty if equal: integers exactly, floats within 8 eps sqrt(R) of the largest value, NaN and infinity exactly."""
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return f"{found.dtype}{list(found.shape)} instead of {wanted.dtype}{list(wanted.shape)}"
    if not wanted.is_floating_point():
        return (
            "" if torch.equal(found, wanted) else f"{found.flatten().tolist()} instead of {wanted.flatten().tolist()}"
        )
    a, b = found.double().flatten(), wanted.double().flatten()
    same = (a == b) | (a.isnan() & b.isnan())
    finite = a.isfinite() & b.isfinite()
    if bool((~same & ~finite).any()):
        place = int((~same & ~finite).nonzero()[0])
        return f"{float(a[place])} instead of {float(b[place])} at {place}"
    if not bool(finite.any()):
        return ""
    length = max(1.0, size / max(1, wanted.numel()))
    scale = float(b[finite].abs().max())
    # Ill-conditioned results (a tangent near its pole) are judged by their own size.
    limit = 8 * torch.finfo(wanted.dtype).eps * math.sqrt(length) * scale
    error = (a - b).abs()
    error[~finite] = 0
    worst = int(error.argmax())
    if float(error[worst]) <= limit:
        return ""
    return f"{float(a[worst])} instead of {float(b[worst])} at {worst} (allowed {limit:.2e})"
