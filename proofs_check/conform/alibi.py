"""ALiBi: slopes for any number of heads, and biases up to a constant for each query, which a softmax does not see."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from proofs_check.conform import reference
from proofs_check.conform.case import Case
from proofs_check.conform.check import Check, Given
from proofs_check.conform.reference import Array, Yes

AXES = ("head", "query", "key")
SENTENCE = "2^(-8h/n), the sentence of the paper and not the code that models with this many heads are trained with"


def _slopes(given: Given, counts: tuple[int, ...]) -> Iterator[Case]:
    for n in counts:
        others = {SENTENCE: reference.slopes_of_the_sentence(n)}
        yield Case(f"{n} heads", lambda n=n: given.call(n), reference.slopes(n), ("head",), others=others)


def _biases(given: Given, sizes: tuple[tuple[int, int, int], ...]) -> Iterator[Case]:
    for heads, queries, keys in sizes:
        expected = reference.bias(heads, queries, keys)
        causal = np.broadcast_to(reference.seen(queries, keys), expected.shape)
        told = f"{heads} heads, {queries} queries at the end of {keys} keys"
        others = {"zero throughout": np.zeros_like(expected), "of the wrong sign": _from_own(-expected)}
        yield Case(told, lambda s=(heads, queries, keys): _called(given, s), _from_own(expected), AXES, causal,
                   others=others)  # fmt: skip


def _called(given: Given, sizes: tuple[int, int, int]) -> object:
    got = given.call(*sizes)
    return _from_own(np.broadcast_to(got, sizes)) if isinstance(got, np.ndarray) else got


def _from_own(bias: Array) -> Array:
    """Less that of the query's own key; a later key, which may be -inf, is not compared."""
    own = np.arange(bias.shape[-1] - bias.shape[-2], bias.shape[-1])
    with np.errstate(invalid="ignore"):  # an own key at -inf is then no number, which passes nowhere
        return bias - bias[..., np.arange(bias.shape[-2]), own][..., None]


def _sign(given: Given) -> Iterator[Case]:
    """The sign of the difference of the biases of neighbouring keys, where the query sees both."""
    for heads, queries, keys in ((1, 1, 2), (2, 3, 3), (4, 2, 5)):
        own = np.arange(keys - queries, keys)
        both: Yes = np.broadcast_to(own[:, None] >= np.arange(1, keys), (heads, queries, keys - 1))

        def got(sizes: tuple[int, int, int] = (heads, queries, keys)) -> object:
            found = _called(given, sizes)
            with np.errstate(invalid="ignore"):  # of two later keys, both -inf
                return np.sign(np.diff(found)) if isinstance(found, np.ndarray) else found

        told = f"{heads} heads, {queries} queries at the end of {keys} keys, sign of the step"
        yield Case(told, got, np.ones(both.shape), ("head", "query", "step"), both)


def _padded(given: Given) -> Iterator[Case]:
    for pads, queries in (((0, 1), 3), ((2, 0, 1), 1), ((1, 3), 4)):
        heads, keys = 2, 4 + (queries > 3)
        mask = np.arange(keys) >= np.array(pads)[:, None]
        expected = np.broadcast_to(_from_own(reference.bias(heads, queries, keys)), (len(pads), heads, queries, keys))

        def got(sizes=(heads, queries, keys), mask=mask, shape=expected.shape) -> object:
            found = given.call(*sizes, mask=mask)
            return _from_own(np.broadcast_to(found, shape)) if isinstance(found, np.ndarray) else found

        real = reference.seen(queries, keys, mask)[:, None] & mask[:, None, keys - queries :, None]
        told = f"{heads} heads, {queries} queries at the end of {keys} keys, left pads {', '.join(map(str, pads))}"
        yield Case(told, got, expected, ("row", *AXES), np.broadcast_to(real, expected.shape))


CHECKS = (
    Check(
        "alibi_slopes.powers_of_two",
        "n heads, n = 1, 2, 4, .. 128, have the slopes 2^(-8h/n)",
        lambda given: _slopes(given, (1, 2, 4, 8, 16, 32, 64, 128)),
    ),
    Check(
        "alibi_slopes.any_head_count",
        "other numbers of heads have the slopes of the authors' code, which models are trained with",
        lambda given: _slopes(given, (3, 5, 6, 7, 9, 12, 20, 25, 40, 71, 112)),
    ),
    Check(
        "alibi_bias.whole",
        "the bias is -slope times the distance, up to a constant for each query",
        lambda given: _biases(given, ((1, 1, 1), (1, 2, 2), (2, 3, 3), (4, 7, 7), (8, 33, 33))),
    ),
    Check("alibi_bias.falls_with_distance", "a nearer key has the larger bias", _sign),
    Check(
        "alibi_bias.any_head_count",
        "so it is for head counts that are not powers of two",
        lambda given: _biases(given, ((3, 2, 2), (5, 3, 3), (6, 3, 3), (12, 4, 4))),
    ),
    Check(
        "alibi_bias.decode",
        "a single query after cached keys has the biases of its place in the whole",
        lambda given: _biases(given, ((1, 1, 2), (2, 1, 5), (8, 1, 33))),
    ),
    Check(
        "alibi_bias.chunks",
        "so have the queries of a chunk after cached keys",
        lambda given: _biases(given, ((1, 2, 3), (2, 2, 6), (4, 5, 8))),
    ),
    Check("alibi_bias.left_padding", "so have rows of a batch with pads before them", _padded, needs=("mask",)),
)
