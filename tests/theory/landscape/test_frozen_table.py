"""Slopes of the loss in the two means of a frozen table, against brute force over all orders of the tokens."""

import itertools

import numpy as np
import pytest

from proofs_check.oracles.width import gram_loss
from tests.theory.cases import refuses
from theory.landscape.frozen_table import positions, table_deviation, table_terms
from theory.landscape.width import finite_width

PARAMETERS = (0.4, 0.9, 1.3, -0.6)


def average_loss(gram, law):
    """Mean over every order of the tokens and every position of the law."""
    orders = np.array(list(itertools.permutations(range(len(gram)))))
    stack = gram[orders[:, :, None], orders[:, None, :]]
    return np.mean([gram_loss(PARAMETERS, place, stack).mean() for place in positions(len(gram), law)])


@pytest.mark.parametrize(("tokens", "law"), [(2, "mean"), (4, "mean"), (5, "mean"), (4, "interior"), (6, "interior")])
def test_average_over_orders_sees_a_table_through_its_two_means(tokens, law):
    noise = np.random.default_rng(tokens).normal(size=(tokens, tokens))
    move = 1e-5 * (noise + noise.T)
    up, down = (average_loss(np.eye(tokens) + sign * move, law) for sign in (1, -1))
    trace = np.trace(move)
    means = trace / tokens, (move.sum() - trace) / (tokens * (tokens - 1))
    _, diagonal, off_diagonal = table_terms(*PARAMETERS, tokens, law)
    assert (up - down) / 2 == pytest.approx(means[0] * diagonal + means[1] * off_diagonal, rel=1e-5)


def test_mean_shift_is_the_average_of_finite_width_over_the_law():
    found = table_terms(*PARAMETERS, 9, "interior").mean_shift
    each = [finite_width(*PARAMETERS, 9, place).mean_shift for place in range(2, 8)]
    assert found == pytest.approx(np.mean(each), rel=1e-14)
    assert table_terms(*PARAMETERS, 9).mean_shift == pytest.approx(
        finite_width(*PARAMETERS, 9, "mean").mean_shift, rel=1e-14
    )


def test_deviations_are_those_of_gaussian_tables():
    tokens, width, draws = 5, 16, 40_000
    tables = np.random.default_rng(0).normal(size=(draws, tokens, width)) / np.sqrt(width)
    grams = tables @ tables.swapaxes(1, 2)
    trace = np.trace(grams, axis1=1, axis2=2)
    found = np.std(trace / tokens), np.std((grams.sum((1, 2)) - trace) / (tokens * (tokens - 1)))
    np.testing.assert_allclose(found, table_deviation(tokens, width), rtol=0.02)  # four standard errors


def test_a_law_of_interior_positions_needs_one():
    refuses(lambda: table_terms(*PARAMETERS, 3, "interior"), "n_tokens must be ")
