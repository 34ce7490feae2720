"""Values that the original is run on: other distributions than the source's own, and values near them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from torch import nn

# How example inputs of floating type are replaced. `example` keeps what the file makes.
DISTRIBUTIONS = ("example", "normal", "large", "negative", "constant", "zeros")
FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
NORM_STATISTICS = ("running_mean", "running_var")


def perturb_constants(model: nn.Module, generator: torch.Generator) -> None:
    """Makes parameters and norm statistics that hold one value everywhere (biases of 0, scales of 1) differ.

    A program that leaves out such a parameter would otherwise agree with the original.
    """
    with torch.no_grad():
        for tensor in _perturbed(model):
            if tensor.dtype not in FLOATS or tensor.numel() == 0:
                continue
            value = float(tensor.reshape(-1)[0])
            if not bool((tensor == value).all()):
                continue
            noise = torch.rand(tensor.shape, generator=generator, dtype=torch.float32)
            if value == 0:
                tensor.copy_((noise - 0.5) * 0.4)
            else:
                tensor.copy_(value * (0.5 + noise))


def _perturbed(model: nn.Module) -> Iterator[torch.Tensor]:
    yield from model.parameters()
    for name, buffer in model.named_buffers():
        if name.rpartition(".")[2] in NORM_STATISTICS:
            yield buffer


def redistribute(leaves: Sequence[Any], distribution: str, generator: torch.Generator) -> list[Any]:
    """The example inputs with other values of floating type; anything else stays as it is.

    Shapes, types and strides stay, and so does what shares memory: a tensor that is given twice, views of one tensor,
    an expanded tensor.
    """
    if distribution == "example":
        return list(leaves)
    sizes: dict[tuple[int, torch.dtype], int] = {}
    for leaf in filter(_is_replaced, leaves):
        count = leaf.untyped_storage().nbytes() // leaf.element_size()
        sizes[_memory(leaf)] = max(count, sizes.get(_memory(leaf), 0))
    values = {memory: random_values(count, distribution, generator).to(memory[1]) for memory, count in sizes.items()}

    def replaced(leaf: Any) -> Any:
        if not _is_replaced(leaf):
            return leaf
        return values[_memory(leaf)].as_strided(leaf.shape, leaf.stride(), leaf.storage_offset())

    return map_once(replaced, leaves)


def _is_replaced(leaf: Any) -> bool:
    return isinstance(leaf, torch.Tensor) and leaf.dtype in FLOATS and leaf.layout == torch.strided


def _memory(leaf: torch.Tensor) -> tuple[int, torch.dtype]:
    return leaf.untyped_storage().data_ptr(), leaf.dtype


def random_values(count: int, distribution: str, generator: torch.Generator) -> torch.Tensor:
    """`count` numbers of a distribution."""
    if distribution == "constant":
        return torch.full((count,), 0.75)
    values = torch.randn(count, generator=generator)
    if distribution == "large":
        values *= 100.0
    elif distribution == "negative":
        values = -values.abs_()
    elif distribution == "zeros":
        values *= torch.rand(count, generator=generator) > 0.3
    return values


def map_once(change: Callable[[Any], Any], leaves: Sequence[Any]) -> list[Any]:
    """`change` of every leaf; what is one object stays one object."""
    done: dict[int, Any] = {}
    for leaf in leaves:
        if id(leaf) not in done:
            done[id(leaf)] = change(leaf)
    return [done[id(leaf)] for leaf in leaves]


def move_values(model: nn.Module, leaves: Sequence[Any], share: float, generator: torch.Generator) -> None:
    """Moves inputs, parameters and buffers of floating type up or down, in place, by a share of themselves.

    At least by a rounding of their type. The result of a stable computation with rounding errors is the exact one of
    values near its own: how far the outputs move tells how far apart correct results may lie.
    """
    done: set[tuple[int, torch.dtype]] = set()
    for tensor in [*leaves, *model.parameters(), *model.buffers()]:
        if not _is_replaced(tensor) or _memory(tensor) in done:
            continue
        done.add(_memory(tensor))
        count = tensor.untyped_storage().nbytes() // tensor.element_size()
        flat = torch.as_strided(tensor.detach(), (count,), (1,), 0)
        wide = torch.promote_types(tensor.dtype, torch.float32)
        up = torch.randint(0, 2, (count,), generator=generator, dtype=torch.int8).to(wide)
        flat.copy_(flat.to(wide) * (1 + max(share, torch.finfo(tensor.dtype).eps) * (2 * up - 1)))
