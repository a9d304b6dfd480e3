"""The induction task: its law against enumeration and against the listing, its rows against their definition."""

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamics.tasks.induction import induction_batch, length_law, length_law_exact, stopping_law_exact
from dynamics.tasks.listing_k import EndlessListingError, listing_sample
from tests.dynamics.tasks.test_task import fits, well_formed


def enumerated_law(pool: int) -> dict[tuple[int, int], Fraction]:
    """P(T, i) of the listing by walking its tree of draws, restarts included by conditioning; shares no formula."""
    reached: dict[tuple[int, int], Fraction] = {}

    def walk(row: tuple[int, ...], mass: Fraction) -> None:
        if len(row) == pool:
            return
        choices = [token for token in range(pool) if not row or token != row[-1]]
        for token in choices:
            share = mass / len(choices)
            if token in row:
                key = (len(row), row.index(token) + 1)
                reached[key] = reached.get(key, Fraction(0)) + share
            else:
                walk((*row, token), share)

    walk((), Fraction(1))
    total = sum(reached.values())
    return {key: mass / total for key, mass in reached.items()}


@pytest.mark.parametrize("pool", [3, 4, 5, 7])
def test_length_law_equals_enumeration_of_the_listing(pool):
    law = length_law_exact(pool)
    expected = {(n, i): law[n] / (n - 1) for n in range(2, pool) for i in range(1, n)}
    assert enumerated_law(pool) == expected


@given(st.integers(3, 80))
def test_length_laws_sum_to_one_and_agree(pool):
    stopping, law = stopping_law_exact(pool), length_law_exact(pool)
    assert sum(stopping) == sum(law) == 1
    assert law[pool] == 0 < stopping[pool]
    np.testing.assert_allclose(length_law(pool), [float(p) for p in law], rtol=1e-12, atol=0)


def test_length_law_of_the_paper_has_mean_29_and_median_27():
    law = length_law(512)
    lengths = np.arange(513)
    mean = law @ lengths
    assert mean == pytest.approx(29.003, abs=5e-4)
    assert np.sqrt(law @ (lengths - mean) ** 2) == pytest.approx(14.49, abs=5e-3)
    assert law[:27].sum() < 0.5 <= law[:28].sum()
    assert 1 - (mean + 2) / 512 == pytest.approx(0.9394, abs=1e-4)
    assert induction_batch(np.random.default_rng(1), 20_000).query_index.mean() == pytest.approx(mean, abs=0.4)


@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(14, 200), st.data())
def test_induction_batch_rows_obey_their_definition(seed, rows, vocab, data):
    pool = data.draw(st.integers(3, vocab - 11))
    batch = induction_batch(np.random.default_rng(seed), rows, vocab, pool)
    well_formed(batch, rows)
    for row, length, query, target, i in zip(*batch, strict=True):
        distinct = row[:query]
        assert 2 <= query < pool
        assert 1 <= i <= query - 1
        assert len(set(distinct.tolist())) == query
        assert distinct.min() >= 11
        assert distinct.max() < vocab
        assert row[query] == row[i - 1]
        assert target == row[i]
        assert not row[length:].any()


def test_induction_batch_tokens_are_uniform_on_distinct_tuples():
    # vocab 16: 5 tokens, so that nearly every row needs redrawing; 5*4*3 ordered triples at T = 3.
    batch = induction_batch(np.random.default_rng(2), 60_000, vocab=16, pool=5)
    rows = batch.tokens[batch.query_index == 3][:, :3] - 11
    counts = np.bincount(rows @ (25, 5, 1), minlength=125)
    counts = counts[counts > 0]
    assert len(counts) == 60
    fits(counts)


def test_induction_batch_small_case_equals_the_joint_law_of_enumeration():
    batch = induction_batch(np.random.default_rng(3), 50_000, vocab=17, pool=6)
    law = enumerated_law(6)
    pairs = list(zip(batch.query_index.tolist(), batch.position.tolist(), strict=True))
    counts = [pairs.count(key) for key in law]
    assert sum(counts) == len(pairs)
    fits(counts, [float(p) * len(pairs) for p in law.values()])


@pytest.mark.parametrize("length", [1, 2])
def test_listing_recurses_without_end_below_length_three(length):
    with pytest.raises(RecursionError):
        listing_sample(random.Random(0), length, 1, 10, 14)


def test_listing_draws_for_ever_from_a_pool_of_one_token():
    with pytest.raises(EndlessListingError, match="within 1000 draws"):
        listing_sample(random.Random(0), 5, 1, 10, 12, max_draws=1000)
