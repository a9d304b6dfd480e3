"""One attention layer on one-hot tokens, place by place, and all sentences of the family theorem."""

import itertools
import math
from collections.abc import Iterator, Sequence

Pair = tuple[float, float]
Matrix = Sequence[Sequence[float]]


def sentences(vocabulary: int, length: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """All sentences whose last token occurs once before, at p <= L - 2, each with x_{p+1}."""
    for x in itertools.product(range(vocabulary), repeat=length):
        before = [place for place in range(length - 1) if x[place] == x[-1]]
        if len(before) == 1 and before[0] <= length - 3:
            yield x, x[before[0] + 1]


def mixed(x: Sequence[int], place: int, kernel: Pair) -> dict[int, float]:
    """own x_t + previous x_{t-1} as entries of a row, x_0 = 0; places from 0."""
    row = {x[place]: kernel[0]}
    if place:
        row[x[place - 1]] = row.get(x[place - 1], 0.0) + kernel[1]
    return row


def attention(x: Sequence[int], query: Pair, key: Pair, match: Matrix) -> list[float]:
    """The weights of the last query."""
    asked, scores = mixed(x, len(x) - 1, query), []
    for place in range(len(x)):
        held = mixed(x, place, key)
        scores.append(sum(a * match[i][j] * b for i, a in asked.items() for j, b in held.items()))
    top = max(scores)
    weights = [math.exp(score - top) for score in scores]
    return [weight / sum(weights) for weight in weights]


def output(x: Sequence[int], query: Pair, key: Pair, value: Pair, match: Matrix, read: Matrix) -> list[float]:
    """Scores over the vocabulary at the last place."""
    found = [0.0] * len(read)
    for place, weight in enumerate(attention(x, query, key, match)):
        for token, share in mixed(x, place, value).items():
            found = [sum_ + weight * share * entry for sum_, entry in zip(found, read[token], strict=True)]
    return found
