"""A result in one text file, its bytes recorded by a hash beside it, as sha256sum reads it."""

from pathlib import Path
from typing import ClassVar, Self

from dynamics.files.atomic import atomic_write_text, check_target, sha256_bytes
from dynamics.files.manifest import Strict


def write_hashed(path: str | Path, text: str) -> None:
    """Write the text, then `<file>.sha256`: interrupted in between, they do not fit and are refused.

    Raises: as `files.atomic_write_bytes`; where one of the two names cannot be written, neither is.
    """
    check_target(_beside(path))
    atomic_write_text(path, text)
    atomic_write_text(_beside(path), f"{sha256_bytes(text.encode())}  {Path(path).name}\n")


def read_hashed(path: str | Path) -> bytes:
    """Return the file's bytes. Raises OSError: a file is missing. ValueError: not the bytes that were recorded."""
    data = Path(path).read_bytes()
    if _beside(path).read_text("utf-8", errors="replace").split() != [sha256_bytes(data), Path(path).name]:
        raise ValueError(f"{path}: not the bytes whose sha256 {_beside(path).name} records")
    return data


def _beside(path: str | Path) -> Path:
    return Path(f"{path}.sha256")


class Hashed(Strict):
    """A record that is one file, with its hash beside it. A subclass may name the file that comes with the package
    (`shipped`), and what its JSON is broken at (`lines`), so that each part has a line.
    """

    shipped: ClassVar[Path | None] = None
    lines: ClassVar[str] = "},\n{"

    @classmethod
    def write(cls, path: str | Path, record: Self) -> None:
        """Write a record atomically, and its hash beside it. Raises: as `write_hashed`."""
        write_hashed(path, record.model_dump_json().replace(cls.lines.replace("\n", ""), cls.lines) + "\n")

    @classmethod
    def read(cls, path: str | Path | None = None) -> Self:
        """Read a record and check its hash; default, the one that comes with the package.

        Raises: OSError: a file is missing. ValueError, one plain line: no such record, a value out of range, or other
            bytes than its hash records.
        """
        path = path or cls.shipped
        return cls.parsed(read_hashed(path), str(path))
