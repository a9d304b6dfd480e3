"""Every row that Appendix K's generator can return, with its exact probability, found by answering its draws."""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from dynamics.tasks.listing_k import listing_sample

MID_VAL = 10


class _Asked(Exception):
    """The listing draws and the script has no answer left."""


class _DrawnAgain(Exception):
    """The listing starts over."""


class _Script:
    """Answers the listing's draws from a list of indices; shuffling leaves the order alone, for tokens are alike."""

    def __init__(self, answers: Sequence[int]) -> None:
        self.answers = list(answers)
        self.shuffled = False

    def shuffle(self, pool: list[int]) -> None:
        if self.shuffled:
            raise _DrawnAgain
        self.shuffled = True

    def choice(self, pool: Sequence[int]) -> int:
        if not self.answers:
            raise _Asked
        return pool[self.answers.pop(0)]


class Rows(NamedTuple):
    """rows: (padded row, scored indices, probability); again, stuck: probabilities to start over, to draw for ever."""

    rows: tuple[tuple[tuple[int, ...], tuple[int, ...], Fraction], ...]
    again: Fraction
    stuck: Fraction


@lru_cache(maxsize=32)
def all_rows(length: int, tokens: int, min_val: int = 1) -> Rows:
    """Outcomes of one pass of the listing for a pool of min(length, tokens), by walking the tree of its draws.

    A draw equal to the last token changes nothing, so the others are equally likely; where there is no other, the
    listing draws for ever.
    """
    pool, rows, mass = min(length, tokens), [], {"again": Fraction(0), "stuck": Fraction(0)}

    def walk(script: tuple[int, ...], share: Fraction) -> None:
        try:
            row, scored = listing_sample(_Script(script), length, min_val, MID_VAL, MID_VAL + 1 + tokens)
        except _DrawnAgain:
            mass["again"] += share
        except _Asked:
            answers = [answer for answer in range(pool) if not script or answer != script[-1]]
            if not answers:
                mass["stuck"] += share
            for answer in answers:
                walk((*script, answer), share / len(answers))
        else:
            rows.append((tuple(row), tuple(scored), share))

    walk((), Fraction(1))
    return Rows(tuple(rows), mass["again"], mass["stuck"])


def content(row: Sequence[int]) -> tuple[int, ...]:
    """The tokens of a row without its zeros."""
    return tuple(token for token in row if token)


def n_tokens(row: Sequence[int]) -> int:
    """T: the row is x_1 .. x_T, x_{T+1} = x_i, x_{i+1}."""
    return len(content(row)) - 2


def joint_law(length: int, tokens: int) -> dict[tuple[int, int], Fraction]:
    """P(T, i) of a returned row, i counted from 1 and drawn-again rows conditioned away."""
    found, law = all_rows(length, tokens), {}
    kept = sum(share for *_, share in found.rows)
    for row, (scored,), share in found.rows:
        key = (n_tokens(row), row.index(row[scored]) + 1)
        law[key] = law.get(key, Fraction(0)) + share / kept
    return law
