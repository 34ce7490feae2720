"""The version and the framing of the worker protocol; protocol.json describes the messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LINE = 64 << 20


def version() -> int:
    """The protocol's version, as protocol.json says."""
    text = Path(__file__).with_name("protocol.json").read_text(encoding="utf-8")
    return int(json.loads(text)["version"])


def encode(message: dict[str, Any]) -> bytes:
    """One message as a line. What is not Unicode (a lone surrogate in a message or path) becomes `?`."""
    text = json.dumps(message, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "replace") + b"\n"


class LineBuffer:
    """Collects bytes and gives complete lines back. A line longer than MAX_LINE is a ValueError."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Adds bytes; yields the lines that are now complete, without their end."""
        self._data += data
        while (end := self._data.find(b"\n")) >= 0:
            line = bytes(self._data[:end])
            del self._data[: end + 1]
            yield line
        if len(self._data) > MAX_LINE:
            raise ValueError("a line of the worker protocol is too long")
