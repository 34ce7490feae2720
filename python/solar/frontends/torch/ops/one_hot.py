"""aten.one_hot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.one_hot.default")
def one_hot(b: Builder, x: Value, num_classes: int = -1) -> Value:
    if num_classes < 0:
        raise b.unsupported("a number of classes that depends on data; give num_classes")
    classes = b.dim("classes", num_classes)
    return b.call("one_hot", b.cast(x, torch.int64), extents=[*b.extents(x), classes], dims={"C": classes})
