"""A check: a permanent name, a sentence, and a generator of cases from the smallest on."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from proofs_check.conform.adapter import Adapter
from proofs_check.conform.case import Case
from proofs_check.conform.reference import Array

Cases = Callable[["Given"], Iterator[Case]]


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

    def __init__(self, adapter: Adapter, check: Check, seed: int = 0) -> None:
        self.adapter, self.subject = adapter, check.subject
        self.draw = np.random.default_rng([seed, zlib.crc32(check.name.encode())])

    def call(self, *given: object, **more: object) -> object:
        return self.adapter.call(self.subject, *given, **more)

    def normal(self, *shape: int, size: float = 1.0) -> Array:
        """Gaussian numbers as the adapter will see them, in its own precision."""
        return self.adapter.rounded(size * self.draw.standard_normal(shape))

    def takes(self, keyword: str) -> bool:
        return self.adapter.takes(self.subject, keyword)
