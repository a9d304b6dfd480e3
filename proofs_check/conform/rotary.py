"""Rotary embedding: which channels are pairs, by how much they turn, and where positions count from."""

from __future__ import annotations

import numpy as np

from proofs_check.conform import reference
from proofs_check.conform.adapter import PAIRS
from proofs_check.conform.case import ANGLE, Case
from proofs_check.conform.check import LENGTHS, WIDTHS, Check, checks

AXES = ("row", "head", "token", "channel")
HALF = ("bfloat16", "float16")
BASE = 10000.0
BASES = (100.0, 500.0, 1000.0, 5000.0, 100000.0, 500000.0, 1000000.0)
# Before tables end and where half precision skips whole numbers: of 8 bits each, so that it rounds what is added alone.
FAR = (256, 510, 1020, 2040, 4080, 8160, 8192, 10240, 16320, 32640)
FEATURES = {"far": None, "rows": None, "jumps": None, "base": None, "dims": "dims"}


def _case(given, at, width=8, heads=2, base=BASE, **dims: int):
    """Of tokens at positions `at` (rows, length)."""
    x, own = given.normal(len(at), heads, at.shape[1], width), given.adapter.pairs

    def turned(at=at, pairs=own):
        return reference.rotated(x, at, base, pairs, **dims)

    def rounded(*kinds: str):
        return {f"the numbers of positions rounded to {kind}": turned(reference.in_half(at, kind)) for kind in kinds}

    def mistakes():
        other = next(name for name in PAIRS if name != own)
        return rounded(*HALF) | {
            f"the numbers of pairs as {other}": turned(pairs=other),
            "the numbers turned the other way": turned(-at),
            "the numbers of positions from 0 on": turned(at - at.min(1, keepdims=True)),
        }

    part, largest = f"{dims['dims']} of the channels turn, " if dims else "", int(at.max())
    told = f"{part}positions {_spelt(at)}, batch {len(at)}, {heads} heads of {width} channels, base {base:g}"
    return Case(
        told, lambda: given.call(x, at, base, **dims), turned, AXES, slack=4 * ANGLE * largest, mistakes=mistakes,
        conventions=lambda: rounded(*{*HALF} & {given.adapter.dtype}),
        sizes={"rows": len(at), "heads": heads, "tokens": at.shape[1], "channels": width, "position": largest},
    )  # fmt: skip


def _spelt(at):
    if at.size < 9:
        return " and ".join(", ".join(map(str, row)) for row in at)
    steady = len(at) == 1 and (np.diff(at) == 1).all()
    return f"{at.min()}..{at.max()}" if steady else f"between {at.min()} and {at.max()}"


def _angles(given):
    for length in LENGTHS:
        yield _case(given, np.arange(length)[None])
    for width in (*range(4, 130, 2), *WIDTHS):
        yield _case(given, np.arange(3)[None], width)
    for heads in range(1, 33):
        yield _case(given, np.arange(3)[None], heads=heads)


def _drawn(given, features, length, wide):
    starts = FAR if "far" in features else range(240) if {"offset", "rows"} & features else (0,)
    at = given.draw.choice(starts, (given.rows(length) if "rows" in features else 1, 1))
    at = at + (np.arange(length) if length > 1 else given.draw.integers(1, 10, at.shape))
    if "jumps" in features:
        at = given.draw.permuted(at // 2 * 2, axis=1)
    width = given.one_of(WIDTHS[2:]) if wide else 16
    dims = {"dims": width * given.between(1, 4) // 4} if "dims" in features else {}
    base = given.one_of(BASES) if "base" in features else BASE
    yield _case(given, at, width, given.between(1, 8) if wide else 2, base, **dims)


CHECKS = (
    Check(
        "rope.angles",
        "pair i of d channels turns by position * base^(-2i/d), in the pairs that the adapter names, at any size",
        _angles,
    ),
    *checks(
        "rope", _drawn, FEATURES,
        ("offset", "tokens after cached ones turn by their own positions", "offset"),
        ("bases", "so it is for other bases", "base"),
        ("rows", "each row of a batch has positions of its own", "rows"),
        ("any_order", "positions may jump, come twice and fall", "jumps"),
        ("far", "positions of some thousands keep their angles: these are not formed in half precision", "far"),
        ("partial", "of a partial rotation the first channels turn, the others stay", "dims"),
    ),
)  # fmt: skip
