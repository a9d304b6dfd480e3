"""The remainder of the trained scalars against what is known of it by another way."""

import numpy as np
import pytest
import torch

from dynamics.scalar.prediction import response
from dynamics.scalar.remainder import Remainder, _classes, _entries, _loss, _paths, _slopes, remainder
from dynamics.scalar.study import HALVES
from proofs_check.oracles.width import gram_loss
from theory.landscape.frozen_table import table_terms

TOKENS, END = 6, 3.0
THETA = np.array([0.3, 0.9, 0.6, 0.2])


def test_its_mean_is_the_shift_that_the_response_predicts():
    found = remainder(HALVES, TOKENS, END, 0.01, 8).shift
    expected = response(HALVES, TOKENS, [END], "interior").shift[-1]
    np.testing.assert_allclose(found, expected, rtol=5e-3)


def test_loss_is_that_of_the_sentence_at_any_gram_matrix():
    rng, pairs = np.random.default_rng(0), _entries(TOKENS)
    entries = rng.normal(size=len(pairs)) / 5
    gram = np.eye(TOKENS)
    for (j, k), value in zip(pairs, entries, strict=True):
        gram[j, k] += value
        gram[k, j] += value * (j != k)
    for place in range(1, TOKENS):
        query, where = torch.eye(TOKENS, dtype=torch.float64)[place - 1], torch.tensor(pairs.T)
        found = _loss(torch.tensor(entries), torch.tensor(THETA), query, where)
        assert abs(float(found) - gram_loss(THETA, place, gram[None])[0]) < 1e-12


def test_diagonal_of_the_second_derivatives_gives_the_mean_of_the_loss():
    step = 1e-5
    _, bends = _slopes(THETA, TOKENS)
    weights = np.where(_entries(TOKENS)[:, 0] == _entries(TOKENS)[:, 1], 2.0, 1.0)
    found = (bends[:, np.diag(_classes(TOKENS))] * weights).sum(1) / 2
    moves = [THETA + sign * step * unit for unit in np.eye(4) for sign in (1, -1)]
    shifts = [float(table_terms(*at, TOKENS, "interior").mean_shift) for at in moves]
    np.testing.assert_allclose(found, (np.array(shifts[::2]) - shifts[1::2]) / (2 * step), atol=1e-8)


def test_sampled_variance_is_never_negative_and_vanishes_without_a_rate():
    variance, _ = _slopes(np.array(HALVES), TOKENS)
    assert np.linalg.eigvalsh(variance).min() > -1e-15
    assert (remainder(HALVES, TOKENS, END, 0.0, 8).sampling == 0).all()


def test_propagators_end_at_the_identity_and_follow_a_moved_start():
    times = np.linspace(0, END, 5)
    theta, moves = _paths(HALVES, TOKENS, times)
    np.testing.assert_allclose(moves[-1], np.eye(4), atol=1e-12)
    nudge = 1e-4 * np.array([1.0, -2.0, 0.5, 1.5])
    ends = [_paths(np.array(HALVES) + sign * nudge, TOKENS, times)[0][-1] for sign in (1, -1)]
    np.testing.assert_allclose((ends[0] - ends[1]) / 2, moves[0] @ nudge, rtol=1e-4)
    assert theta[0].tolist() == list(HALVES)


@pytest.mark.parametrize("width", [1, 64, 4096])
def test_share_is_that_of_a_sum(width):
    found = Remainder(np.array([0.1]), np.array([64.0]), np.array([0.0])).share(width)
    left = 0.1 + 64 / width
    assert found == pytest.approx(left / (1 + left))
