"""A check: a permanent name, a sentence, and a generator of cases from the smallest on."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from proofs_check.conform.adapter import Adapter
from proofs_check.conform.case import Case
from proofs_check.conform.reference import Array

Cases = Callable[["Given"], Iterator[Case]]
Some = TypeVar("Some")
# Lengths around the edges of tiles of 16, 32, 64, 128 and 256; between them, and past them, they are drawn.
LENGTHS = (*range(1, 70), 95, 96, 97, 127, 128, 129, 160, 192, 193, 255, 256, 257, 300, 511, 512, 513)
WIDTHS = (4, 8, 16, 24, 32, 40, 64, 72, 80, 96, 112, 128, 160, 256)  # channels of a head
ROWS = (*range(2, 10), 16, 17, 33)


class Check(NamedTuple):
    """name: subject.property; says: what must hold; cases; needs: parameters without which the subject does not claim
    it; backend: the only one in which it makes sense."""

    name: str
    says: str
    cases: Cases
    needs: tuple[str, ...] = ()
    backend: str | None = None

    @property
    def subject(self) -> str:
        return self.name.split(".")[0]


class Given:
    """What a check's cases are made from: the adapter, the subject's name, and seeded numbers of its own."""

    def __init__(self, adapter: Adapter, check: Check, seed: int = 0, draw: int = 0) -> None:
        self.adapter, self.subject = adapter, check.subject
        self.draw = np.random.default_rng([seed, draw, zlib.crc32(check.name.encode())])

    def call(self, *given: object, **more: object) -> object:
        return self.adapter.call(self.subject, *given, **more)

    def normal(self, *shape: int, size: float = 1.0) -> Array:
        """Gaussian numbers as the adapter will see them, in its own precision."""
        return self.adapter.rounded(size * self.draw.standard_normal(shape))

    def takes(self, keyword: str) -> bool:
        return self.adapter.takes(self.subject, keyword)

    def between(self, least: int, most: int) -> int:
        """A whole number, both ends among them."""
        return int(self.draw.integers(least, most + 1))

    def one_of(self, these: Sequence[Some]) -> Some:
        return these[self.between(0, len(these) - 1)]
