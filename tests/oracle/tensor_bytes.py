"""safetensors files of every element type that they can hold, read and written with NumPy alone."""

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .numpy_values import NARROW, round_narrow

NAMES: Mapping[str, tuple[str, Any]] = {
    "f64": ("F64", np.float64),
    "f32": ("F32", np.float32),
    "f16": ("F16", np.float16),
    "bf16": ("BF16", np.uint16),
    "f8e4m3": ("F8_E4M3", np.uint8),
    "f8e5m2": ("F8_E5M2", np.uint8),
    "i64": ("I64", np.int64),
    "i32": ("I32", np.int32),
    "i16": ("I16", np.int16),
    "i8": ("I8", np.int8),
    "u8": ("U8", np.uint8),
    "bool": ("BOOL", np.bool_),
}
Values = npt.NDArray[Any]


def codes(element: str) -> Values:
    """The value of every bit pattern of a one-byte float."""
    narrow = NARROW[element]
    pattern = np.arange(256)
    exponent, fraction = (pattern & 127) >> narrow.mantissa_bits, pattern & ((1 << narrow.mantissa_bits) - 1)
    scale = np.ldexp(1.0, np.maximum(exponent, 1) - narrow.bias - narrow.mantissa_bits)
    values = (fraction + np.where(exponent > 0, 1 << narrow.mantissa_bits, 0)) * scale
    if element == "f8e4m3":
        values[pattern & 127 == 127] = np.nan
    else:
        values[exponent == 31] = np.where(fraction == 0, np.inf, np.nan)[exponent == 31]
    return np.where(pattern >= 128, -values, values)


CODES = {element: codes(element) for element in ("f8e4m3", "f8e5m2")}


def to_bytes(values: Values, element: str) -> bytes:
    """From the values as the evaluator holds them."""
    if element == "bf16":
        return (np.ascontiguousarray(values, dtype=np.float32).view(np.uint32) >> 16).astype(np.uint16).tobytes()
    if element in CODES:
        table = CODES[element]
        flat = round_narrow(np.asarray(values, dtype=np.float64), NARROW[element]).ravel()
        same = (table[None, :] == flat[:, None]) & (np.signbit(table)[None, :] == np.signbit(flat)[:, None])
        same |= np.isnan(table)[None, :] & np.isnan(flat)[:, None]
        return same.argmax(axis=1).astype(np.uint8).tobytes()
    return np.ascontiguousarray(values, dtype=NAMES[element][1]).tobytes()


def from_bytes(data: bytes, element: str) -> Values:
    """To the values as the evaluator holds them."""
    raw = np.frombuffer(data, dtype=NAMES[element][1])
    if element == "bf16":
        return (raw.astype(np.uint32) << 16).view(np.float32)
    if element in CODES:
        return CODES[element][raw].astype(np.float32)
    if element == "f16":
        return raw.astype(np.float32)
    return raw if element in ("f64", "f32", "bool") else raw.astype(np.int64)


def write(path: Path, tensors: Mapping[str, tuple[str, Values]]) -> None:
    header: dict[str, Any] = {}
    parts, offset = [], 0
    for name, (element, values) in tensors.items():
        data = to_bytes(values, element)
        header[name] = {
            "dtype": NAMES[element][0],
            "shape": list(values.shape),
            "data_offsets": [offset, offset + len(data)],
        }
        parts.append(data)
        offset += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))


def read(path: Path) -> dict[str, tuple[str, Values]]:
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    elements = {kind: element for element, (kind, _) in NAMES.items()}
    found = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name == "__metadata__":
            continue
        start, end = entry["data_offsets"]
        element = elements[entry["dtype"]]
        values = from_bytes(data[8 + length + start : 8 + length + end], element)
        found[name] = (element, values.reshape(entry["shape"]))
    return found
