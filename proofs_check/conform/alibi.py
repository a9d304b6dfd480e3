"""ALiBi: slopes for any number of heads, and biases up to a constant for each query, which a softmax does not see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from proofs_check.conform import reference
from proofs_check.conform.attending import spelt
from proofs_check.conform.case import Case
from proofs_check.conform.check import LENGTHS, ROWS, Cases, Check, Given
from proofs_check.conform.reference import Array, Yes, slopes

AXES = ("row", "head", "query", "key")
SENTENCE = "2^(-8h/n), the sentence of the paper and not the code that models with this many heads are trained with"
FAR = (700, 1025, 1100)  # from 257 on bfloat16 has no odd positions
POWERS = (1, 2, 4, 8, 16, 32, 64, 128)
OTHERS = tuple(n for n in range(3, 131) if n not in POWERS)


def _slopes(counts: Sequence[int]) -> Cases:
    def cases(given: Given) -> Iterator[Case]:
        for n in counts:
            yield Case(f"{n} heads", lambda n=n: given.call(n), lambda n=n: slopes(n), ("head",), sizes={"heads": n},
                       mistakes=lambda n=n: {SENTENCE: reference.slopes_of_the_sentence(n)})  # fmt: skip

    return cases


def _case(given: Given, heads: int, queries: int, keys: int, mask: Yes | None = None) -> Case:
    sizes, pads = {"heads": heads, "queries": queries, "keys": keys}, {} if mask is None else {"mask": mask}
    shape = (1 if mask is None else len(mask), *sizes.values())
    real = reference.seen(queries, keys, mask) & (True if mask is None else mask[:, keys - queries :, None])

    def got() -> object:
        found = given.call(*sizes.values(), **pads)
        return _from_own(np.broadcast_to(found, shape)) if isinstance(found, np.ndarray) else found

    def expected() -> Array:
        return np.broadcast_to(_from_own(reference.bias(heads, queries, keys)), shape)

    def mistakes() -> dict[str, Array]:
        rounded = slopes(heads)[:, None, None] * reference.in_half(np.arange(keys), "bfloat16")
        return {
            "zero throughout": np.zeros(shape),
            "of the wrong sign": -expected(),
            f"of {SENTENCE}": expected() * (reference.slopes_of_the_sentence(heads) / slopes(heads))[:, None, None],
            "of positions rounded to bfloat16": _from_own(np.broadcast_to(rounded, shape)),
        }

    told = [spelt(*pad) for pad in pads.items()] + [f"{heads} heads, {queries} queries at the end of {keys} keys"]
    return Case(", ".join(told), got, expected, AXES, np.broadcast_to(real[:, None], shape), mistakes=mistakes,
                sizes={"rows": shape[0], **sizes})  # fmt: skip


def _from_own(bias: Array) -> Array:
    """Less that of the query's own key; a later key, which may be -inf, is not compared."""
    own = np.arange(bias.shape[-1] - bias.shape[-2], bias.shape[-1])
    with np.errstate(invalid="ignore"):  # an own key at -inf is then no number, which passes nowhere
        return bias - bias[..., np.arange(bias.shape[-2]), own][..., None]


def _queries(given: Given, keys: int) -> dict[str, int]:
    """How many of so many keys are queries: all of them, one, or a chunk."""
    return {"whole": keys, "decode": 1, "chunks": given.between(2, max(2, keys - 1))}


def _ladder(kind: str, least: int) -> Cases:
    def cases(given: Given) -> Iterator[Case]:
        sizes = [(1 + (1 < n < 300), n) for n in (*LENGTHS, *FAR)] + [(heads, 5) for heads in POWERS]
        sizes += [(heads, given.between(20, 70)) for heads in POWERS]
        for heads, keys in sizes:
            if keys >= least:
                yield _case(given, heads, _queries(given, keys)[kind], keys)

    return cases


def _any_head_count(given: Given) -> Iterator[Case]:
    for heads in (*OTHERS[:26], 40, 71, 112):
        for queries in _queries(given, 4).values():
            yield _case(given, heads, queries, 4)
    for heads, keys in ((12, 65), (20, 200), (71, 129), (3, 300)):
        for queries in _queries(given, keys).values():
            yield _case(given, heads, queries, keys)


def _padded(given: Given) -> Iterator[Case]:
    rows = [given.between(1, 3) for _ in range(14)]
    for many, keys in zip((*rows, *ROWS), (*range(2, 10), 17, 33, 65, 129, 257, 300, *[5] * len(ROWS)), strict=True):
        for queries in _queries(given, keys).values():
            yield _case(given, given.between(1, 8), queries, keys, given.padded(many, keys))


CHECKS = (
    Check("alibi_slopes.powers_of_two", "n heads, n = 1, 2, 4, .. 128, have the slopes 2^(-8h/n)", _slopes(POWERS)),
    Check(
        "alibi_slopes.any_head_count",
        "other numbers of heads have the slopes of the authors' code, which models are trained with",
        _slopes(OTHERS),
    ),
    Check(
        "alibi_bias.whole",
        "the bias is -slope times the distance, up to a constant for each query, at any length",
        _ladder("whole", 1),
    ),
    Check("alibi_bias.any_head_count", "so it is for head counts that are not powers of two", _any_head_count),
    Check(
        "alibi_bias.decode",
        "a single query after cached keys has the biases of its place in the whole",
        _ladder("decode", 2),
    ),
    Check("alibi_bias.chunks", "so have the queries of a chunk after cached keys", _ladder("chunks", 3)),
    Check("alibi_bias.left_padding", "so have rows of a batch with pads before them", _padded, needs=("mask",)),
)
