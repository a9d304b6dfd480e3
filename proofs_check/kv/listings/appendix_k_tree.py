"""Every row that Appendix K's generator can return, with its exact probability, found by answering its draws."""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from types import FunctionType
from typing import Any, NamedTuple

MID_VAL = 10


def generate_array(length=512, min_val=1, mid_val=10, max_val=8000):
    """The listing, word for word: `random` is bound nowhere."""
    lis = list(range(mid_val + 1, max_val))
    random.shuffle(lis)  # noqa: F821
    lis = lis[:length]
    array = []
    predict_positions = []
    di = {}
    while len(array) < length:
        x = random.choice(lis)  # noqa: F821
        if (len(array) == 0) or (x != array[-1]):
            if x not in di:
                if len(array) > 0:
                    di[array[-1]] = x
                di[x] = -1
                array.append(x)
            else:
                predict_positions.append(len(array))
                array.append(x)
                array.append(di[x])
                return array + [0] * (512 - len(array)), predict_positions[0:1]
    if len(predict_positions) == 0:
        return generate_array(length, min_val, mid_val, max_val)


def listing(**names: Any) -> FunctionType:
    """The listing beside these names and Python's own."""
    names["generate_array"] = FunctionType(
        generate_array.__code__, names, "generate_array", generate_array.__defaults__
    )  # fmt: skip
    return names["generate_array"]


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
def all_rows(length: int, tokens: int) -> Rows:
    """Outcomes of one pass of the listing for a pool of min(length, tokens), by walking the tree of its draws.

    A draw equal to the last token changes nothing, so the others are equally likely; where there is no other, the
    listing draws for ever.
    """
    pool, rows, mass = min(length, tokens), [], {"again": Fraction(0), "stuck": Fraction(0)}

    def walk(script: tuple[int, ...], share: Fraction) -> None:
        try:
            row, scored = listing(random=_Script(script))(length, max_val=MID_VAL + 1 + tokens)
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
