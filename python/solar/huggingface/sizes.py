"""The sizes of an `hf:` source: those of its example inputs and those of its configuration. Needs no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from solar.constants import Constant
from solar.huggingface.configurations import read_configuration, sizes

if TYPE_CHECKING:
    from collections.abc import Mapping

SEQUENCE = 128  # tokens of the example inputs, where the model takes as many
OWN_SIZES = ("batch_size", "sequence_length")


def example_sizes(fields: Mapping[str, Any]) -> dict[str, int]:
    """Batch and sequence length of the example inputs."""
    text = fields.get("text_config") or fields
    limits = [text[key] for key in ("max_position_embeddings", "n_positions") if isinstance(text.get(key), int)]
    return {"batch_size": 1, "sequence_length": min([SEQUENCE, *limits])}


def constants_of(path: str) -> list[Constant]:
    """The sizes of an `hf:` source that may be overridden and made smaller."""
    fields = read_configuration(path)
    example = example_sizes(fields)
    own = [Constant(name, value, 0, "field") for name, value in example.items()]
    return own + sizes(fields, sequence=example["sequence_length"])
