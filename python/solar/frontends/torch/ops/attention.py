"""aten.scaled_dot_product_attention, kept whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from solar.frontends.torch.registry import lowering

if TYPE_CHECKING:
    from solar.frontends.torch.builder import Builder, Value


@lowering("aten.scaled_dot_product_attention.default")
def attention(
    b: Builder,
    query: Value,
    key: Value,
    value: Value,
    attn_mask: Value | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Value:
    if dropout_p > 0:
        raise b.unsupported("dropout_p > 0")
    scale = 1.0 / float(query.shape[-1]) ** 0.5 if scale is None else float(scale)
    repeats = query.shape[-3] // key.shape[-3] if enable_gqa and query.rank > 2 else 1
    if repeats > 1:
        query, key, value = _grouped(b, query, key, value, repeats)
        if attn_mask is not None and attn_mask.rank > 2:
            attn_mask = _grouped_mask(b, attn_mask, query)
    query, key, value = _same_batch(b, query, key, value)
    shape = (*query.shape[:-1], value.shape[-1])
    known = [*b.extents(query)[:-1], b.extent(value, -1)]
    operands = [query, key, value]
    function = "sdpa_causal" if is_causal else "sdpa"
    if attn_mask is not None:
        if is_causal:
            raise b.unsupported("is_causal together with attn_mask")
        function = "sdpa_masked" if attn_mask.dtype == torch.bool else "sdpa_bias"
        pairs = (*query.shape[:-1], key.shape[-2])
        mask = attn_mask if attn_mask.dtype == torch.bool else b.cast(attn_mask, query.dtype)
        operands.append(b.expand(mask, pairs, [*b.extents(query)[:-1], b.extent(key, -2)]))
    result = b.call(function, *operands, scale, shape=shape, extents=known)
    return b.merge_axes(result, -4, -3) if repeats > 1 else result


def _grouped(b: Builder, query: Value, key: Value, value: Value, repeats: int) -> tuple[Value, Value, Value]:
    """Heads as (group, head in group); the keys and values of a group serve all its heads."""
    groups = key.shape[-3]
    per_group = b.dim("per_group", repeats)
    query = b.split_axis(query, -3, [groups, repeats], [b.extent(key, -3), per_group])
    shared = []
    for tensor in (key, value):
        one = b.unsqueeze(tensor, tensor.rank - 2)
        shape = (*one.shape[:-3], repeats, *one.shape[-2:])
        shared.append(b.expand(one, shape, [*[None] * (one.rank - 3), per_group, None, None]))
    return query, shared[0], shared[1]


def _grouped_mask(b: Builder, mask: Value, query: Value) -> Value:
    groups, repeats = query.shape[-4], query.shape[-3]
    if mask.shape[-3] == 1:
        return b.unsqueeze(mask, mask.rank - 2)
    return b.split_axis(mask, -3, [groups, repeats], [b.extent(query, -4), b.extent(query, -3)])


def _same_batch(b: Builder, *values: Value) -> list[Value]:
    """Tensors with the same leading axes: all but the last two."""
    batch = torch.broadcast_shapes(*(v.shape[:-2] for v in values))
    known: list[str | None] = []
    for axis, n in enumerate(batch):
        place = axis - len(batch) - 2
        source = next(v for v in values if v.rank >= -place and v.shape[place] == n)
        differs = any(v.rank < -place or v.shape[place] != n for v in values)
        known.append(b.extent(source, place) if differs else None)
    return [b.expand(v, (*batch, *v.shape[-2:]), [*known, None, None]) for v in values]
