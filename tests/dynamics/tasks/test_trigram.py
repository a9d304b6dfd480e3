"""The 3-gram task: its table and rows against their definition and law."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dynamics.tasks.trigram import trigram_batch, trigram_table
from tests.dynamics.tasks.test_task import fits


@given(st.integers(0, 2**32), st.integers(1, 30), st.integers(12, 30), st.integers(2, 9), st.data())
def test_trigram_rows_end_in_a_pair_of_the_table_and_ask_for_its_third_token(seed, rows, vocab, length, data):
    pairs = data.draw(st.integers(1, (vocab - 11) ** 2))
    rng = np.random.default_rng(seed)
    table = trigram_table(rng, pairs, vocab)
    answers = {}
    for first, second, third in zip(*table, strict=True):
        assert (first, second) not in answers
        answers[first, second] = third
    assert len(answers) == pairs
    batch = trigram_batch(rng, rows, vocab, table, length)
    assert batch.tokens.shape == (rows, length)
    assert batch.tokens.min() >= 11
    assert max(batch.tokens.max(), batch.target.max()) < vocab
    for row, end, query, target, position in zip(*batch, strict=True):
        assert (end, query, position) == (length, length - 1, -1)
        assert target == answers[row[-2], row[-1]]


def test_trigram_tables_are_uniform_on_sets_of_pairs_and_answers():
    # Two tokens: 6 sets of 2 of the 4 pairs, with 4 possible answers each.
    drawn = [trigram_table(np.random.default_rng(seed), 2, 13) for seed in range(6000)]
    names = [tuple(sorted(zip(*(part.tolist() for part in table), strict=True))) for table in drawn]
    found = sorted(set(names))
    assert len(found) == 24
    fits([names.count(name) for name in found])


def test_trigram_rows_draw_every_pair_equally_often_after_uniform_tokens():
    table = trigram_table(np.random.default_rng(0), 10, 15)
    batch = trigram_batch(np.random.default_rng(1), 40_000, 15, table, 4)
    pairs = list(zip(table.first.tolist(), table.second.tolist(), strict=True))
    drawn = [pairs.index(pair) for pair in zip(batch.tokens[:, 2].tolist(), batch.tokens[:, 3].tolist(), strict=True)]
    before = (batch.tokens[:, :2] - 11) @ (4, 1)
    fits(np.bincount(np.array(drawn) * 16 + before, minlength=160))
