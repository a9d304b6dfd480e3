"""Rotary embedding: which channels are pairs, by how much they turn, and where positions count from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proofs_check.conform import reference
from proofs_check.conform.adapter import PAIRS
from proofs_check.conform.case import ANGLE, Case
from proofs_check.conform.check import Check, Given

AXES = ("row", "head", "token", "channel")
BASE = 10000.0


def _case(given: Given, told: str, at: NDArray[np.int64], width: int, base: float = BASE, dims: int | None = None,
          heads: int = 2) -> Case:  # fmt: skip
    x, pairs = given.normal(len(at), heads, at.shape[1], width), given.adapter.pairs
    more = {} if dims is None else {"dims": dims}
    other = next(name for name in PAIRS if name != pairs)
    others = {
        f"those of pairs as {other}": reference.rotated(x, at, base, other, dims),
        "those turned the other way": reference.rotated(x, -at, base, pairs, dims),
        "those of positions from 0 on": reference.rotated(x, at - at.min(1, keepdims=True), base, pairs, dims),
    }
    told = f"{told}batch {len(at)}, {heads} heads of {width} channels, base {base:g}"
    return Case(told, lambda: given.call(x, at, base, **more), reference.rotated(x, at, base, pairs, dims), AXES,
                slack=4 * ANGLE * int(abs(at).max()), others=others)  # fmt: skip


def _positions(*rows: list[int]) -> Callable[[Given], Iterator[Case]]:
    def cases(given: Given) -> Iterator[Case]:
        for row in rows:
            for width in (4, 16):
                told = f"positions {_spelt(row)}, "
                yield _case(given, told, np.array([row]), width)

    return cases


def _spelt(row: list[int]) -> str:
    return ", ".join(map(str, row)) if len(row) < 4 else f"{row[0]}..{row[-1]}"


def _bases(given: Given) -> Iterator[Case]:
    for base in (100.0, 500000.0):
        yield _case(given, "positions 0..5, ", np.arange(6)[None], 8, base)


def _rows(given: Given) -> Iterator[Case]:
    for rows in ([[0, 1], [1, 2]], [[0, 1, 2], [0, 0, 1], [5, 6, 7]]):
        told = f"positions {' and '.join(','.join(map(str, row)) for row in rows)}, "
        yield _case(given, told, np.array(rows), 8)


def _partial(given: Given) -> Iterator[Case]:
    for dims in (4, 8):
        yield _case(given, f"{dims} of the channels turn, positions 0..4, ", np.arange(5)[None], 16, dims=dims)


def _relative(given: Given) -> Iterator[Case]:
    """q.k of rotated vectors is that of the same places moved on by 3, whatever the pairs are."""
    for width in (4, 8):
        q, k = given.normal(1, 1, 1, width), given.normal(1, 1, 1, width)

        def score(m: int, n: int, q: Any = q, k: Any = k) -> Any:
            found = [given.call(x, np.array([[at]]), BASE) for x, at in ((q, m), (k, n))]
            wrong = next((x for x in found if not isinstance(x, np.ndarray) or x.shape != q.shape), None)
            return np.sum(found[0] * found[1], axis=-1) if wrong is None else wrong

        told = f"score of a query at 5 with a key at 4, {width} channels, against places 2 and 1"
        expected = score(2, 1)
        yield Case(told, lambda s=score: s(5, 4), expected, AXES[:3], slack=32 * ANGLE * float(np.abs(q).sum()))


CHECKS = (
    Check("rope.start", "position 0 turns nothing", _positions([0])),
    Check(
        "rope.angles",
        "pair i of d channels turns by position * base^(-2i/d), in the pairs that the adapter names",
        _positions([1], [0, 1], list(range(8))),
    ),
    Check("rope.relative", "scores depend on the distance alone", _relative),
    Check(
        "rope.offset",
        "tokens after cached ones turn by their own positions",
        _positions([3], [7, 8], list(range(20, 26))),
    ),
    Check("rope.bases", "so it is for other bases", _bases),
    Check("rope.rows", "each row of a batch has positions of its own", _rows),
    Check(
        "rope.far",
        "positions of some thousands keep their angles: these are not formed in half precision",
        _positions([257], [1023, 1024], [4093, 4094, 4095]),
    ),
    Check("rope.partial", "of a partial rotation the first channels turn, the others stay", _partial, ("dims",)),
)
