"""The k-hop task: every answer by reading the row as the definition says, its law against enumeration."""

from collections import Counter
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dynamics.tasks.hop import NOWHERE, hop_batch
from tests.dynamics.tasks.test_task import fits, well_formed


def hop_by_text(text: str, start: int, k: int) -> int:
    """k hops in a string by searching backwards for the letter; -1 for nowhere."""
    at = start
    for _ in range(k):
        found = text[:at].rfind(text[at])
        if found < 0:
            return -1
        at = found + 1
    return at


@given(st.integers(0, 2**32), st.integers(1, 30), st.integers(3, 6), st.integers(2, 40), st.data())
def test_hop_rows_obey_their_definition(seed, rows, symbols, length, data):
    hops = data.draw(st.integers(0, 6))
    least = data.draw(st.none() | st.integers(0, hops))
    batch = hop_batch(np.random.default_rng(seed), rows, symbols, length, hops, least)
    well_formed(batch, rows)
    for row, end, query, target, position in zip(*batch, strict=True):
        k, text = row[0] - 11 - symbols, "".join(chr(97 + token - 11) for token in row[1:end])
        assert (hops if least is None else least) <= k <= hops
        assert 1 <= query <= length - 1
        assert not row[end:].any()
        assert {*text} <= {*"abcdef"[:symbols]}
        assert all(left != right for left, right in pairwise(text))
        place = hop_by_text(text, query - 1, k)
        assert position == (place + 1 if place >= 0 else -1)
        assert target == (row[place + 1] if place >= 0 else NOWHERE)


def test_hop_rows_have_the_law_of_the_definition():
    # 3 letters and rows of 5: query and letters by enumeration, k = 1 or 2.
    law: Counter = Counter()
    for query, k in product(range(1, 5), (1, 2)):
        texts = [t for t in product(range(3), repeat=query) if all(a != b for a, b in pairwise(t))]
        for text in texts:
            law[k, text] += Fraction(1, 8 * len(texts))
    assert sum(law.values()) == 1
    batch = hop_batch(np.random.default_rng(1), 40_000, 3, 5, hops=2, least_hops=1)
    seen = Counter(
        (int(row[0]) - 14, tuple((row[1:end] - 11).tolist()))
        for row, end in zip(batch.tokens, batch.lengths, strict=True)
    )
    assert set(seen) <= set(law)
    fits([seen[key] for key in law], [float(p) * 40_000 for p in law.values()])
