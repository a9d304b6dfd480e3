"""Margins over every row that Appendix K's generator returns for small pools."""

import random
from collections.abc import Sequence
from functools import cache

from dynamics.tasks.listing_k import listing_sample
from proofs_check.evidence.margin import Margin, less, same, worst
from proofs_check.kv.listings.appendix_k_tree import MID_VAL, all_rows, content, n_tokens

SOURCE = "KV shifting (both versions), Appendix K (first version: Appendix D)"

# The listing's names: what it reads apart from Python's own, and what its definition, arguments and statements bind.
READ = {
    *("random", "generate_array", "length", "min_val", "mid_val", "max_val"),
    *("lis", "array", "predict_positions", "di", "x"),
}
BOUND = READ - {"random"}

POOLS = [{"length": length, "tokens": tokens} for length in (3, 4, 5) for tokens in (2, 3, 4, 5)]
PRINTED_VOCABULARY = 8000


def unbound(imported: Sequence[str]) -> Margin:
    return same(tuple(sorted(READ & (BOUND | set(imported)))), tuple(sorted(READ)))


def drawn(tokens: int) -> tuple[int, ...]:
    """Every token that some row holds, for mid_val = 10, max_val = 11 + tokens and length = tokens."""
    return tuple(sorted({token for row, *_ in all_rows(tokens, tokens).rows for token in content(row)}))


def between(tokens: int, low: int, high: int) -> tuple[int, ...]:
    """mid_val + low, ..., max_val - high."""
    return tuple(range(MID_VAL + low, MID_VAL + 2 + tokens - high))


class Shown(Exception):
    """Carries the pool away at the first draw."""


class Watcher(random.Random):
    def shuffle(self, pool: list[int]) -> None:
        self.whole, self.largest = len(pool), max(pool)

    def choice(self, pool: Sequence[int]) -> int:
        raise Shown(self.whole, len(pool), self.largest)


def pools(length: int = 512, max_val: int = 8000) -> tuple[int, int, int]:
    """How many tokens the listing shuffles, how many it keeps to draw one row from, and the largest of all."""
    try:
        listing_sample(Watcher(), length, max_val=max_val)
    except Shown as shown:
        return shown.args
    raise RuntimeError("the listing drew nothing")


def answer(length: int, tokens: int, ahead: int = 1, repeated: bool = True) -> Margin:
    """In every row the last token is the one `ahead` of the first appearance of x_{T+1} (or of x_T)."""
    margins = []
    for row, (scored,), _ in all_rows(length, tokens).rows:
        start = row.index(row[scored]) if repeated else scored - 1
        margins.append(same(row[scored + 1], row[start + ahead]))
    return worst(margins)


def scored(length: int, tokens: int, after: int = 0) -> Margin:
    """The scored positions of every row are the single one of x_{T+1}, counted from 0."""
    return worst([same(scored, (n_tokens(row) + after,)) for row, scored, _ in all_rows(length, tokens).rows])


@cache
def padded(length: int, tokens: int, size: int | None = 512) -> Margin:
    """Every row is its content and then zeros, up to `size` (None: up to the argument length)."""
    wanted = length if size is None else size
    rows = [row for row, *_ in all_rows(length, tokens).rows]
    return worst([same(row, content(row) + (0,) * (wanted - len(content(row)))) for row in rows])


def ends(length: int, tokens: int) -> Margin:
    """A pass of the generator returns a row with positive chance, and never draws for ever."""
    found = all_rows(length, tokens)
    return worst([less(0, 1 - found.again - found.stuck), same(found.stuck, 0)])
