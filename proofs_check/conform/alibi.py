"""ALiBi: slopes for any number of heads, and biases up to a constant for each query, which a softmax does not see."""

from __future__ import annotations

import numpy as np

from proofs_check.conform import reference
from proofs_check.conform.attending import spelt
from proofs_check.conform.case import Case
from proofs_check.conform.check import LENGTHS, Check
from proofs_check.conform.reference import slopes

AXES = ("row", "head", "query", "key")
SENTENCE = "2^(-8h/n), the sentence of the paper and not the code that models with this many heads are trained with"
FAR = (700, 1025, 1100)  # from 257 on bfloat16 has no odd positions
POWERS = (1, 2, 4, 8, 16, 32, 64, 128)
OTHERS = tuple(n for n in range(3, 131) if n not in POWERS)


def _slopes(*counts: int):
    def cases(given):
        for n in counts:
            yield Case(f"{n} heads", lambda n=n: given.call(n), lambda n=n: slopes(n), ("head",), sizes={"heads": n},
                       mistakes=lambda n=n: {SENTENCE: reference.slopes_of_the_sentence(n)})  # fmt: skip

    return cases


def _case(given, heads, queries, keys, **pads):
    sizes, mask = {"heads": heads, "queries": queries, "keys": keys}, pads.get("mask", np.ones((1, keys), dtype=bool))
    shape = (len(mask), *sizes.values())
    real = reference.seen(queries, keys, mask) & mask[:, keys - queries :, None]

    def got():
        found = given.call(*sizes.values(), **pads)
        return _from_own(np.broadcast_to(found, shape)) if isinstance(found, np.ndarray) else found

    def expected():
        return np.broadcast_to(_from_own(reference.bias(heads, queries, keys)), shape)

    def mistakes():
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


def _from_own(bias):
    """Less that of the query's own key; a later key, which may be -inf, is not compared."""
    own = np.arange(bias.shape[-1] - bias.shape[-2], bias.shape[-1])
    with np.errstate(invalid="ignore"):  # an own key at -inf is then no number, which passes nowhere
        return bias - bias[..., np.arange(bias.shape[-2]), own][..., None]


def _sizes(sizes, *kinds: str, padded=False):
    """Pairs of heads and keys; kinds: how many of the keys are queries, which are all of them, one, or a chunk."""

    def cases(given):
        for heads, keys in sizes:
            queries = {"whole": keys, "decode": 1, "chunks": given.between(2, max(2, keys - 1))}
            for kind in kinds:
                if kind == "whole" or queries[kind] < keys:
                    pads = {"mask": given.padded(given.one_of((1, given.rows(keys))), keys)} if padded else {}
                    yield _case(given, heads, queries[kind], keys, **pads)

    return cases


ALL = ("whole", "decode", "chunks")
LADDER = [(1 + (1 < n < 300), n) for n in (*LENGTHS, *FAR)] + [(heads, n) for n in (5, 33, 64) for heads in POWERS]
UNUSUAL = [(heads, 4) for heads in (*OTHERS[:26], 40, 71, 112)] + [(12, 65), (20, 200), (71, 129), (3, 300)]
PADDED = [*enumerate((*range(2, 10), 17, 33, 65, 129, 257), 1)]
CHECKS = (
    Check("alibi_slopes.powers_of_two", "n heads, n = 1, 2, 4, .. 128, have the slopes 2^(-8h/n)", _slopes(*POWERS)),
    Check(
        "alibi_slopes.any_head_count",
        "other numbers of heads have the slopes of the authors' code, which models are trained with",
        _slopes(*OTHERS),
    ),
    Check(
        "alibi_bias.whole",
        "the bias is -slope times the distance, up to a constant for each query, at any length",
        _sizes(LADDER, "whole"),
    ),
    Check("alibi_bias.any_head_count", "so it is for head counts that are not powers of two", _sizes(UNUSUAL, *ALL)),
    Check(
        "alibi_bias.decode",
        "a single query after cached keys has the biases of its place in the whole",
        _sizes(LADDER, "decode"),
    ),
    Check("alibi_bias.chunks", "so have the queries of a chunk after cached keys", _sizes(LADDER, "chunks")),
    Check(
        "alibi_bias.left_padding",
        "so have rows of a batch with pads before them",
        _sizes(PADDED, *ALL, padded=True),
        ("mask",),
    ),
)
