"""Which parameters and buffers of a model are the same memory."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

MARKED_ELEMENTS = 1 << 28  # larger memory is compared by its ends


def first_names(model: torch.nn.Module) -> dict[str, str]:
    """For every parameter and buffer path the first path of the same elements in the same order."""
    first: dict[tuple[object, ...], str] = {}
    return {name: first.setdefault(_place(tensor), name) for name, tensor in _tensors(model)}


def overlaps(model: torch.nn.Module, names: Collection[str]) -> list[tuple[str, str]]:
    """The pairs of `names` that have elements in common."""
    storages: dict[object, list[tuple[str, torch.Tensor]]] = {}
    for name, tensor in _tensors(model):
        if name in names and tensor.numel():
            storages.setdefault(_place(tensor)[0], []).append((name, tensor))
    pairs = (pair for tensors in storages.values() for pair in itertools.combinations(tensors, 2))
    return [(a[0], b[0]) for a, b in pairs if _overlap(a[1], b[1])]


def _tensors(model: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    yield from model.named_parameters(remove_duplicate=False)
    yield from model.named_buffers(remove_duplicate=False)


def _place(tensor: torch.Tensor) -> tuple[object, ...]:
    if tensor.layout != torch.strided:
        return (id(tensor),)
    storage = tensor.untyped_storage()._cdata
    if not tensor.numel():
        return (storage, id(tensor))
    return (storage, tensor.storage_offset(), tensor.dtype, tuple(tensor.shape), tuple(tensor.stride()))


def _overlap(a: torch.Tensor, b: torch.Tensor) -> bool:
    (begin, end), (other_begin, other_end) = _span(a), _span(b)
    low, high = min(begin, other_begin), max(end, other_end)
    if end <= other_begin or other_end <= begin or a.dtype != b.dtype or high - low > MARKED_ELEMENTS:
        return begin < other_end and other_begin < end
    size = a.element_size()
    marks = torch.zeros((high - low) // size, dtype=torch.bool)
    marks.as_strided(a.shape, a.stride(), (begin - low) // size).fill_(True)
    return bool(marks.as_strided(b.shape, b.stride(), (other_begin - low) // size).any())


def _span(tensor: torch.Tensor) -> tuple[int, int]:
    """First byte and the one behind the last, in its storage."""
    last = sum((int(n) - 1) * int(step) for n, step in zip(tensor.shape, tensor.stride(), strict=True))
    begin = int(tensor.storage_offset()) * tensor.element_size()
    return begin, begin + (last + 1) * tensor.element_size()
