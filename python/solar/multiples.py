"""What a size must be a multiple of, as the sizes beside it say: an image is whole patches, a width whole heads."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

IMAGE = re.compile(r"(image|img|input)_?(size|height|width|h|w|res(olution)?)|resolution", re.I)
PATCH = re.compile(r"patch(_?(size|height|width|h|w))?", re.I)
WIDTH = re.compile(r"hidden_?(size|dim)|d_model|n_embd|emb(ed)?_?(dim|size)|model_?dim|width|dim", re.I)
HEADS = re.compile(r"(num_|n_)?((attention|encoder_attention|decoder_attention)_)?heads?", re.I)
OWN_HEAD = re.compile(r"(.*_)?head_(dim|size)|d_kv|d_head", re.I)  # a head's width is not a share of the model's


def steps(integers: Mapping[str, int]) -> dict[str, int]:
    """For every integer what it stays a multiple of; 1 where nothing says so.

    Names are dotted paths, places of lists in brackets; beside an integer is what has the same path but the last part.
    """
    beside: dict[str, list[tuple[str, int]]] = {}
    for name, value in integers.items():
        folder, last = _split(name)
        beside.setdefault(folder, []).append((last, value))
    return {name: _step(*_split(name), value, beside) for name, value in integers.items()}


def _split(name: str) -> tuple[str, str]:
    folder, _, last = name.rpartition(".")
    return folder, re.sub(r"(\[[^\]]*\])+$", "", last)


def _step(folder: str, last: str, value: int, beside: Mapping[str, list[tuple[str, int]]]) -> int:
    others = beside[folder]
    if IMAGE.fullmatch(last):
        found = [number for other, number in others if PATCH.fullmatch(other)]
    elif WIDTH.fullmatch(last) and not any(OWN_HEAD.fullmatch(other) for other, _ in others):
        found = [number for other, number in others if HEADS.fullmatch(other)]
        found += [2 * number for number in found if value % (2 * number) == 0]  # rotary embeddings turn halves of heads
    else:
        return 1
    step = math.lcm(*(number for number in found if number > 0))
    return step if value > step and value % step == 0 else 1
