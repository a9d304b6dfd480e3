"""Associative recall with many queries: rows against their definition, slots against successive drawing."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamics.tasks.mqar import POWER, _slots, key_value_border, mqar_batch
from tests.dynamics.tasks.test_task import fits, well_formed


@given(st.integers(0, 2**32), st.integers(1, 30), st.integers(13, 60), st.data())
def test_mqar_rows_obey_their_definition(seed, rows, vocab, data):
    pairs = data.draw(st.integers(1, (vocab - 11) // 2))
    length = 2 * data.draw(st.integers(2 * pairs, 2 * pairs + 8))
    batch = mqar_batch(np.random.default_rng(seed), rows, vocab, pairs, length)
    border = key_value_border(vocab)
    well_formed(batch, rows)
    for row, end, query, target, position in zip(*batch, strict=True):
        keys, values = row[: 2 * pairs : 2].tolist(), row[1 : 2 * pairs : 2].tolist()
        assert len({*keys}) == len({*values}) == pairs
        assert 11 <= min(keys) <= max(keys) < border <= min(values) <= max(values) < vocab
        assert 2 * pairs <= query < length
        assert (query - 2 * pairs) % 2 == 0
        assert target == dict(zip(keys, values, strict=True))[row[query]]
        assert position == 2 * keys.index(row[query]) + 1
        assert not row[end:].any()
        assert row[:end].min() >= 11
        assert row.max() < vocab


def test_mqar_slots_are_drawn_one_after_the_other_with_power_law_weights():
    space, power = 4, 0.3
    weight = [(slot + 1.0) ** (power - 1) for slot in range(space)]
    law = {}
    for first, second in permutations(range(space), 2):
        law[first, second] = weight[first] / sum(weight) * weight[second] / (sum(weight) - weight[first])
    assert sum(law.values()) == pytest.approx(1)
    drawn = Counter(map(tuple, _slots(np.random.default_rng(0), 50_000, 2, space, power).tolist()))
    fits([drawn[key] for key in law], [50_000 * p for p in law.values()])


def test_mqar_lengths_follow_the_law_of_the_slots():
    # One pair: the query's slot has chance g^(power-1) / sum.
    batch = mqar_batch(np.random.default_rng(2), 50_000, 40, pairs=1, length=12)
    weight = np.arange(1, 6) ** (POWER - 1)
    counts = np.bincount((batch.query_index - 2) // 2, minlength=5)
    fits(counts, 50_000 * weight / weight.sum())


def test_mqar_scores_every_query_equally_often_and_keys_and_values_are_uniform():
    batch = mqar_batch(np.random.default_rng(3), 40_000, 17, pairs=2, length=8)  # keys 11..13, values 14..16
    fits(np.bincount(batch.position // 2))
    drawn = Counter(map(tuple, batch.tokens[:, :4].tolist()))
    assert len(drawn) == 36
    fits(list(drawn.values()))


def test_mqar_other_queries_are_the_other_keys_unless_they_come_later():
    batch = mqar_batch(np.random.default_rng(4), 2000, 4000, pairs=3, length=12)
    for row, end in zip(batch.tokens, batch.lengths, strict=True):
        asked = row[6:end:2].tolist()  # three slots, all taken by the three keys
        assert len({*asked}) == len(asked)
        assert {*asked} <= {*row[:6:2].tolist()}


def test_mqar_fillers_are_uniform_tokens():
    batch = mqar_batch(np.random.default_rng(5), 20_000, 17, pairs=1, length=12)
    fillers = batch.tokens[batch.lengths == 11][:, 3:10:2]
    fits(np.bincount(fillers.flatten() - 11, minlength=6))
