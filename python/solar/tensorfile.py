"""Writes and reads safetensors files tensor by tensor, without a second copy of the data in memory."""

from __future__ import annotations

import json
import math
import os
import struct
from typing import TYPE_CHECKING, Any

import torch

from solar.plain_tensors import irregularity
from solar.problems import Problem, SourceError, writing

if TYPE_CHECKING:
    from types import TracebackType

HEADER_ROOM = 1 << 18
MOVED_BYTES = 1 << 24

DTYPES: dict[torch.dtype, str] = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.float8_e4m3fn: "F8_E4M3",
    torch.float8_e5m2: "F8_E5M2",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}


class TensorFileWriter:
    """Appends tensors to the file `part` and renames it to `path` when all are there.

    Used as a context manager; an exception inside removes the partial file. `room` is the number of tensors for
    which the header keeps place; where there are more, the data are moved at the end. Raises SourceError: output-file
    where the file cannot be written, source-form for a tensor that has no dense values of a known type.
    """

    def __init__(self, path: str, part: str, room: int) -> None:
        self._path = path
        self._part = part
        self._room = HEADER_ROOM + 512 * room
        self._entries: dict[str, Any] = {}
        self._size = 0
        with writing(path):
            self._file = open(part, "w+b", buffering=0)  # noqa: SIM115
            self._file.seek(8 + self._room)

    def __enter__(self) -> TensorFileWriter:
        return self

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def add(self, name: str, tensor: torch.Tensor) -> None:
        """Appends one tensor; its name must be new."""
        if name in self._entries:
            raise ValueError(f"tensor `{name}` is written twice")
        if tensor.is_complex() and not tensor.is_meta:  # the language holds both parts along a last axis
            tensor = torch.view_as_real(tensor.resolve_conj())
        reason = irregularity(tensor) or ("" if tensor.dtype in DTYPES else f"of the type {tensor.dtype}")
        if tensor.is_meta:
            reason = "on the device `meta`, where tensors have no values"
        if reason:
            hint = "make it a dense tensor on the CPU, or do without validation (--no-validate)"
            raise SourceError(Problem("source-form", f"`{name}` cannot be compared: it is {reason}", hint=hint))
        data = tensor.detach().cpu().contiguous()
        count = data.numel() * data.element_size()
        if count:
            with writing(self._path):
                self._write(data.reshape(-1).view(torch.uint8).numpy().data)
        self._entries[name] = {
            "dtype": DTYPES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [self._size, self._size + count],
        }
        self._size += count

    def _write(self, data: memoryview) -> None:
        while data:
            data = data[self._file.write(data) :]

    def _make_room(self, size: int) -> None:
        """Moves the data behind a header of `size` bytes, from their end on."""
        for begin in reversed(range(0, self._size, MOVED_BYTES)):
            count = min(MOVED_BYTES, self._size - begin)
            self._file.seek(8 + self._room + begin)
            data = bytearray()
            while len(data) < count:
                data += self._file.read(count - len(data))
            self._file.seek(8 + size + begin)
            self._write(memoryview(data))
        self._room = size

    def _finish(self) -> None:
        header = json.dumps(self._entries, separators=(",", ":")).encode()
        if len(header) > self._room:
            self._make_room(-(-len(header) // 8) * 8)
        self._file.seek(0)
        self._write(memoryview(struct.pack("<Q", self._room) + header.ljust(self._room)))
        self._file.close()
        os.replace(self._part, self._path)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                with writing(self._path):
                    self._finish()
        finally:
            self._file.close()
            if os.path.exists(self._part):
                os.unlink(self._part)


def read_tensors(path: str) -> dict[str, torch.Tensor]:
    """All tensors of a file, as copies."""
    types = {name: dtype for dtype, name in DTYPES.items()}
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        base = 8 + length
        result: dict[str, torch.Tensor] = {}
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            dtype, shape = types[entry["dtype"]], entry["shape"]
            begin, end = entry["data_offsets"]
            file.seek(base + begin)
            data = bytearray(file.read(end - begin))
            count = math.prod(shape)
            if len(data) != count * torch.empty(0, dtype=dtype).element_size():
                raise ValueError(f"{path}: tensor `{name}` is cut off")
            flat = torch.frombuffer(data, dtype=dtype) if count else torch.empty(0, dtype=dtype)
            result[name] = flat.reshape(shape)
    return result
