"""Safetensors files by byte ranges: the header is checked in full, then rows of one tensor are read at a time.

Each read opens the file, seeks and reads. A map of the file would count every page it ever touched as memory of the
process; this holds one piece of a tensor, whatever the size of the file.
"""

import math
import os
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dynamics.files.strict_json import parse_object

LARGEST_HEADER = 100_000_000  # the format's own limit
FLOATS = {"F16": "<f2", "BF16": "<u2", "F32": "<f4", "F64": "<f8"}
BITS = {
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"), 8),
    **dict.fromkeys(("U16", "I16", "F16", "BF16"), 16),
    **dict.fromkeys(("U32", "I32", "F32"), 32),
    **dict.fromkeys(("U64", "I64", "F64", "C64"), 64),
    **{"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6},
}
PIECE = 1 << 20  # bytes read at once


class StoredTensor(NamedTuple):
    """Where one tensor lies: bytes start.. of a file that had this size and time of change when its header was read."""

    path: Path
    name: str
    dtype: str
    shape: tuple[int, ...]
    start: int
    stamp: tuple[int, int]


def tensors(path: Path) -> dict[str, StoredTensor]:
    """Read the header of a safetensors file: an 8-byte length, JSON, then the tensors without gaps or overlaps.

    Raises: OSError; ValueError, one line that names file and tensor, for a header that is too long, cut off or not
    JSON, a name given twice or that does not print, an unknown type, a range that is not that of its shape, lies beyond
    the file, overlaps another or leaves a hole, or bytes after the last tensor.
    """
    with open(path, "rb") as stream:
        stamp = _stamp(stream)
        header, data_start = _header(stream, path, stamp[0])
    header.pop("__metadata__", None)
    ranges = {name: _entry(name, entry, path) for name, entry in header.items()}
    _check_cover(ranges, stamp[0] - data_start, path)
    return {
        name: StoredTensor(path, name, header[name]["dtype"], tuple(header[name]["shape"]), data_start + begin, stamp)
        for name, (begin, _) in ranges.items()
    }


def read(tensor: StoredTensor) -> NDArray[np.float32]:
    """A whole tensor as float32. Raises: as read_rows."""
    out = np.empty(tensor.shape, np.float32)
    read_rows(tensor, 0, out)
    return out


def read_rows(tensor: StoredTensor, first: int, out: NDArray[np.float32]) -> None:
    """Fill out, contiguous, with as many rows as fit: exact from F16, BF16 and F32; F64 is rounded to the nearest.

    Raises: OSError; ValueError for a file that changed since its header was read, and for a value that is not finite,
    or not in float32.
    """
    width = math.prod(tensor.shape[1:])
    out = out.reshape(-1, width)
    row_bytes = width * BITS[tensor.dtype] // 8
    at_once = max(1, PIECE // max(1, row_bytes))
    with open(tensor.path, "rb", buffering=0) as stream:
        if _stamp(stream) != tensor.stamp:
            raise ValueError(f"{tensor.path}: the file has changed since it was opened")
        stream.seek(tensor.start + first * row_bytes)
        for row in range(0, len(out), at_once):
            piece = out[row : row + at_once]
            _decode(_bytes(stream, len(piece) * row_bytes, tensor), tensor.dtype, piece)
            if not np.isfinite(piece).all():
                raise ValueError(f"{tensor.path}: tensor {tensor.name} holds a value that is not finite in float32")


def _decode(raw: NDArray[np.uint8], dtype: str, out: NDArray[np.float32]) -> None:
    values = raw.view(FLOATS[dtype]).reshape(out.shape)
    if dtype == "BF16":  # the upper half of a float32
        bits = out.view(np.uint32)
        bits[...] = values
        bits <<= 16
    else:
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite afterwards is refused
            out[...] = values


def _bytes(stream: BinaryIO, size: int, tensor: StoredTensor) -> NDArray[np.uint8]:
    raw = np.empty(size, np.uint8)
    done = 0
    while done < size:
        count = stream.readinto(memoryview(raw)[done:])  # type: ignore[attr-defined]
        if not count:
            raise ValueError(f"{tensor.path}: ends within tensor {tensor.name}")
        done += count
    return raw


def _stamp(stream: BinaryIO) -> tuple[int, int]:
    status = os.fstat(stream.fileno())
    return status.st_size, status.st_mtime_ns


def _header(stream: BinaryIO, path: Path, size: int) -> tuple[dict, int]:
    first = stream.read(8)
    length = int.from_bytes(first, "little")
    if len(first) < 8 or length > size - 8 or length > LARGEST_HEADER:
        if first[:4] == b"PK\x03\x04" or first[:1] == b"\x80":
            raise ValueError(f"{path}: pickled weights under the name of safetensors; they are never read")
        if first == b"version ":
            raise ValueError(f"{path}: a git-lfs pointer, not the weights; fetch them first")
        raise ValueError(f"{path}: not a whole safetensors file (header of {length} bytes in a file of {size})")
    data = stream.read(length)
    if not data.startswith(b"{"):
        raise ValueError(f"{path}: not a safetensors file (the header does not begin with a brace)")
    return parse_object(data, f"{path}: safetensors header"), 8 + length


def _entry(name: str, entry: object, path: Path) -> tuple[int, int]:
    if not name.isprintable():
        raise ValueError(f"{path}: the name {name!r} of a tensor does not print")
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"{path}: tensor {name}: the header must give dtype, shape and data_offsets")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in BITS:
        raise ValueError(f"{path}: tensor {name} has the unknown type {dtype!r}")
    if not _whole_numbers(shape) or not _whole_numbers(offsets) or len(offsets) != 2:
        raise ValueError(f"{path}: tensor {name}: shape and data_offsets must be lists of whole numbers")
    if (offsets[1] - offsets[0]) * 8 != math.prod(shape) * BITS[dtype]:
        raise ValueError(
            f"{path}: tensor {name}: bytes {offsets[0]} to {offsets[1]} do not fit shape {tuple(shape)} of {dtype}"
        )
    return offsets[0], offsets[1]


def _whole_numbers(value: object) -> bool:
    return isinstance(value, list) and all(type(n) is int and 0 <= n < 2**63 for n in value)


def _check_cover(ranges: dict[str, tuple[int, int]], size: int, path: Path) -> None:
    for name, (_, stop) in ranges.items():
        if stop > size:
            raise ValueError(f"{path}: cut off: tensor {name} ends at byte {stop} of {size}")
    end = 0
    for name, (begin, stop) in sorted(ranges.items(), key=lambda item: item[1]):
        if begin != end:
            what = "overlaps the one before" if begin < end else "leaves a hole before it"
            raise ValueError(f"{path}: tensor {name} {what} (it begins at byte {begin}, not {end})")
        end = stop
    if end != size:
        raise ValueError(f"{path}: {size - end} bytes after the last tensor")
