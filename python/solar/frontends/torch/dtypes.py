"""Element types of torch and of the IR, and torch's type promotion."""

from __future__ import annotations

import torch

_NAMES: dict[torch.dtype, str] = {
    torch.float64: "f64",
    torch.float32: "f32",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float8_e4m3fn: "f8e4m3",
    torch.float8_e5m2: "f8e5m2",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.int16: "i16",
    torch.int8: "i8",
    torch.uint8: "u8",
    torch.bool: "bool",
}

Number = int | float | bool


def type_name(dtype: torch.dtype) -> str | None:
    """The IR's name of a dtype, or None if the IR has no such type."""
    return _NAMES.get(dtype)


def is_float(dtype: torch.dtype) -> bool:
    return dtype.is_floating_point


def is_integer(dtype: torch.dtype) -> bool:
    return not dtype.is_floating_point and not dtype.is_complex and dtype != torch.bool


def number(value: Number, dtype: torch.dtype) -> Number:
    """`value` as the literal that fits a tensor of type `dtype`."""
    if dtype == torch.bool:
        return bool(value)
    return float(value) if is_float(dtype) else int(value)


def promote(*operands: tuple[torch.dtype, int] | Number) -> torch.dtype:
    """The type in which torch combines tensors, given as (dtype, rank), and Python numbers."""
    samples: list[torch.Tensor | Number] = []
    for operand in operands:
        if isinstance(operand, tuple):
            dtype, rank = operand
            samples.append(torch.empty((1,) * rank, dtype=dtype, device="meta"))
        else:
            samples.append(operand)
    if len(samples) == 1 and isinstance(samples[0], torch.Tensor):
        return samples[0].dtype
    # result_type is not associative across categories, so the running value keeps its category by its rank.
    tensors = [s for s in samples if isinstance(s, torch.Tensor) and s.ndim > 0]
    scalars = [s for s in samples if isinstance(s, torch.Tensor) and s.ndim == 0]
    numbers = [s for s in samples if not isinstance(s, torch.Tensor)]
    dimensioned = _common(tensors)
    result: torch.Tensor | Number | None = dimensioned
    zero_rank = _common(scalars)
    if zero_rank is not None:
        joined = (
            zero_rank
            if result is None
            else torch.empty((1,), dtype=torch.result_type(result, zero_rank), device="meta")
        )
        result = joined
    for value in numbers:
        if result is None:
            result = value
        else:
            rank = result.ndim if isinstance(result, torch.Tensor) else 0
            result = torch.empty((1,) * rank, dtype=torch.result_type(result, value), device="meta")
    if isinstance(result, torch.Tensor):
        return result.dtype
    return torch.tensor(result).dtype


def _common(tensors: list[torch.Tensor]) -> torch.Tensor | None:
    if not tensors:
        return None
    dtype = tensors[0].dtype
    for tensor in tensors[1:]:
        dtype = torch.promote_types(dtype, tensor.dtype)
    return torch.empty((1,) * min(tensors[0].ndim, 1), dtype=dtype, device="meta")
