"""Mixing tables as files: one line of settings, one line a head, and the hash of the bytes in `<file>.sha256`."""

from pathlib import Path

from dynamics.files.hashed import read_hashed, write_hashed
from dynamics.files.manifest import Strict
from dynamics.heads.coupling import Mixing, MixingTable
from dynamics.model.config import ModelConfig
from dynamics.sweep.shipped import SHIPPED
from dynamics.training.settings import TrainConfig

DECIMALS = 6  # of a coefficient: what float32 holds


class Header(Strict):
    """The first line: what all heads share, and the held-out accuracy of each seed's model."""

    config: ModelConfig
    training: TrainConfig
    accuracy: dict[int, float]


def write_table(path: str | Path, table: MixingTable) -> None:
    """Write a table, its numbers rounded to six decimals, and its hash as sha256sum reads it. Raises: OSError."""
    header = Header(config=table.config, training=table.training, accuracy=table.accuracy)
    text = "\n".join([header.model_dump_json(), *(_rounded(row).model_dump_json() for row in table.heads)]) + "\n"
    write_hashed(path, text)


def read_table(path: str | Path) -> MixingTable:
    """Read a table; its bytes must be those that were recorded.

    Raises: OSError: a file is missing. ValueError, one line: bytes with another hash, a line that does not hold.
    """
    first, *rest = read_hashed(path).splitlines() or [b""]
    header = Header.parsed(first, str(path))
    heads = tuple(Mixing.parsed(line, str(path)) for line in rest)
    return MixingTable(**dict(header), heads=heads)


def shipped_table() -> MixingTable:
    """The heads of the `coupling` experiment that come with the package."""
    return read_table(SHIPPED / "coupling-heads.jsonl")


def _rounded(row: Mixing) -> Mixing:
    def short(value):
        if isinstance(value, float):
            return round(value, DECIMALS)
        return tuple(map(short, value)) if isinstance(value, tuple) else value

    return Mixing(**{name: short(getattr(row, name)) for name in Mixing.model_fields})
