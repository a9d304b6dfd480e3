"""Read JSON of unknown origin: size, nesting, duplicate keys and non-numbers are checked before any value is used."""

import json
from pathlib import Path
from typing import Any, NoReturn

LARGEST = 64 << 20


def read_object(path: Path) -> dict[str, Any]:
    """Read a JSON object from a file. Raises: ValueError, one line, for anything else; OSError where it is absent."""
    if path.stat().st_size > LARGEST:
        raise ValueError(f"{path}: {path.stat().st_size} bytes are too many for a JSON file")
    return parse_object(path.read_bytes(), str(path))


def parse_object(data: bytes, what: str) -> dict[str, Any]:
    """Parse a JSON object in which no key stands twice. Raises: ValueError of one line that begins with `what`."""
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_without_duplicates, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:  # also UnicodeDecodeError and JSONDecodeError
        raise ValueError(f"{what}: not readable as JSON ({' '.join(str(error).split())})") from None
    if not isinstance(value, dict):
        raise ValueError(f"{what}: not a JSON object")
    return value


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise ValueError(f"{key!r} stands twice")
        result[key] = value
    return result


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")
