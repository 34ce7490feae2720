"""Shared by losses: torch's `reduction` argument."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solar.frontends.torch.ops.reduction import reduce

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Value

NONE, MEAN, SUM = 0, 1, 2


def reduced(b: Builder, losses: Value, reduction: int) -> Value:
    """The losses themselves, their mean, or their sum."""
    if reduction == NONE:
        return losses
    if losses.rank > 4:
        losses = b.merge_axes(losses, 0, losses.rank - 4)
    return reduce(b, "mean" if reduction == MEAN else "sum", losses, range(losses.rank))
