"""What Appendix K's generator gives: of a call, and of every row that it returns for small pools."""

import random
from collections.abc import Sequence

from proofs_check.kv.listings.appendix_k_tree import MID_VAL, all_rows, content, listing, n_tokens

Row = tuple[int, ...]


def called(random_is_imported: bool = False) -> str:
    """What a call returns."""
    found = listing(**({"random": random.Random(0)} if random_is_imported else {}))()
    return "two lists" if [*map(type, found)] == [list, list] else "something else"


def drawn(pool: int) -> Row:
    """The tokens of all rows."""
    return tuple(sorted({token for row in rows(pool, pool) for token in content(row)}))


def between(pool: int, low: int = 0, high: int = 0) -> Row:
    """from mid_val + {low} to max_val - {high}."""
    return tuple(range(MID_VAL + low, MID_VAL + 2 + pool - high))


class Shown(Exception):
    """Carries the pool away at the first draw."""


class Watcher(random.Random):
    def shuffle(self, pool: list[int]) -> None:
        self.whole, self.largest = len(pool), max(pool)

    def choice(self, pool: Sequence[int]) -> int:
        raise Shown(self.whole, len(pool), self.largest)


def _shown(**arguments: int) -> tuple[int, int, int]:
    try:
        listing(random=Watcher())(**arguments)
    except Shown as shown:
        return shown.args
    raise RuntimeError("the listing drew nothing")


def pools(length: int = 512, max_val: int = 8000) -> tuple[int, int]:
    """How many tokens are shuffled, and of how many one row is drawn, for length = {length} and max_val = {max_val}."""
    return _shown(length=length, max_val=max_val)[:2]


def embeddings(max_val: int = 8000) -> int:
    """The rows of embeddings that the largest token needs, for max_val = {max_val}."""
    return _shown(max_val=max_val)[2] + 1


def last(length: int, pool: int) -> Row:
    """The last token of every row."""
    return tuple(content(row)[-1] for row in rows(length, pool))


def following(length: int, pool: int, ahead: int = 0) -> Row:
    """the token {ahead} places after the first appearance of the token before it."""
    return tuple(row[row.index(content(row)[-2]) + ahead] for row in rows(length, pool))


def scored(length: int, pool: int) -> tuple[Row, ...]:
    """The positions returned with every row, the first of a row being 1."""
    return tuple(tuple(place + 1 for place in scored) for _, scored, _ in all_rows(length, pool).rows)


def repeated(length: int, pool: int, after: int = 1) -> tuple[Row, ...]:
    """T + {after} alone, where x_1, .., x_T are the distinct tokens."""
    return tuple((n_tokens(row) + after,) for row in rows(length, pool))


def rows(length: int, pool: int) -> tuple[Row, ...]:
    """The rows."""
    return tuple(row for row, *_ in all_rows(length, pool).rows)


def filled(length: int, pool: int, size: int = 512) -> tuple[Row, ...]:
    """their tokens, then zeros up to {size} in all."""
    return tuple(content(row) + (0,) * (size - len(content(row))) for row in rows(length, pool))


def ends(length: int, pool: int) -> str | None:
    """What comes of a sentence without a repetition."""
    found = all_rows(length, pool)
    return "a row, in the end" if found.again + found.stuck < 1 and not found.stuck else None
