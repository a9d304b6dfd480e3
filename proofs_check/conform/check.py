"""A check: a permanent name, a sentence, and a generator of cases from the smallest on."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, groupby, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from proofs_check.conform.adapter import Adapter
from proofs_check.conform.case import Case
from proofs_check.conform.reference import Array, Yes

Cases = Callable[["Given"], Iterator[Case]]
# Lengths around the edges of tiles of 16, 32, 64, 128 and 256; between them, and past them, they are drawn.
LENGTHS = (*range(1, 70), 95, 96, 97, 127, 128, 129, 160, 192, 193, 255, 256, 257, 300, 511, 512, 513)
WIDTHS = (4, 8, 16, 24, 32, 40, 64, 72, 80, 96, 112, 128, 160, 256)  # channels of a head
ROWS = (*range(2, 10), 16, 17, 33)
RUNS = (1, 2, 2, 3, 5, 9, 16, 17, 31, 32, 33, 63, 64, 65, 128, 129, 200, 257)  # lengths, where other sizes are drawn


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

    def one_of(self, these: Sequence[Any]) -> Any:
        return these[self.between(0, len(these) - 1)]

    def padded(self, rows: int, length: int) -> Yes:
        """Where tokens are (rows, length), with pads on their left; of several rows one has none."""
        pads = self.draw.integers(1, length, rows)
        pads[rows // 2 :][: rows > 1] = 0
        return np.arange(length) >= pads[:, None]

    def documents(self, rows: int, length: int) -> NDArray[np.int64]:
        """Of which document each token is (rows, length), in each row two or more."""
        starts = self.draw.random((rows, length)) < self.between(1, 8) / length
        starts[:, 0], starts[np.arange(rows), self.draw.integers(1, length, rows)] = False, True
        return starts.cumsum(1)

    def rows(self, length: int) -> int:
        """How many rows of this length, two or more."""
        return self.one_of([n for n in ROWS if n * length <= 2 * RUNS[-1]])


# A case of these features, so long, and wide too or not; none where they exclude one another.
Drawn = Callable[[Given, frozenset[str], int, bool], Iterator[Case]]


def drawn(case: Drawn, *features: str) -> Cases:
    """Cases of these features alone, short ones first."""

    def cases(given):
        for wide in (False, True):
            for length in RUNS[: None if wide else 6]:
                yield from case(given, frozenset(features), length, wide)

    return cases


def together(case: Drawn, features: Mapping[str, str | None]) -> Cases:
    """Every combination of these features, each with the parameter that it needs: two at a time and then more."""

    def cases(given):
        taken = [name for name, needed in features.items() if needed is None or given.takes(needed)]
        for wide, n in product((False, True), range(2, len(taken) + 1)):
            for some in combinations(taken, n):
                for length in (given.one_of(RUNS[:9]), given.one_of(RUNS[9:])) if wide else (given.between(1, 6),):
                    yield from case(given, frozenset(some), length, wide)

    return cases


def checks(subject: str, case: Drawn, features: Mapping[str, str | None], *rows: tuple[str, ...]) -> Iterator[Check]:
    """A check for each row, which is a property, its sentence and its features; and one for several features at once.

    features: those that are combined, each with the parameter that it needs.
    """
    for name, says, *asked in rows:
        needs = {features.get(feature) for feature in asked} - {None}
        yield Check(f"{subject}.{name}", says, drawn(case, *asked), tuple(needs))
    several = "so it is where several of these are asked for at once"
    yield Check(f"{subject}.together", several, together(case, features))


def spelt_chunks(chunks: Sequence[int]) -> str:
    """Their lengths in words; what comes several times is told once."""
    runs = ((n, len([*same])) for n, same in groupby(chunks))
    return "chunks of " + ", ".join(f"{n}{f' ({times} times)' * (times > 1)}" for n, times in runs)
