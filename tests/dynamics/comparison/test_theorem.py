"""The theorem's loss beside models that train: statistics of curves made by hand, tiny trainings, what is shipped."""

import numpy as np
import pytest
import torch

from dynamics.comparison.theorem import SCALAR, Run, follow, guess, line, plan, stays_below
from dynamics.experiments import Variant

STEPS = (0, 10, 20, 30, 40)
FALL, BUMP = np.array([(4.0, 3.0, 1.0, 0.5, 0.25), (4.0, 1.0, 3.0, 0.5, 0.25)])
ALIKE = 0.9  # Spearman's, of the two: two neighbours of five change places


def found(*pairs):
    runs = [Run(steps=STEPS, predicted=tuple(one), measured={"row": tuple(other)}) for one, other in pairs]
    return line(runs, 4.0)


def test_statistics_of_curves_made_by_hand():
    same, twice = found((FALL, FALL), (BUMP, BUMP)), found((FALL, 2 * FALL), (BUMP, 2 * BUMP))
    assert same.ratios == [(1, 1, 1)] * 2 and same.slope == pytest.approx((1, 1, 1)) and same.fails == "nothing"
    assert (same.other_rank.value, same.gain.value) == pytest.approx((ALIKE, 1 - ALIKE))
    assert twice.slope == pytest.approx((2, 2, 2)) and twice.ratios[0].value == pytest.approx((20 / 15 + 28 / 24) / 2)
    assert twice.reached == [2, 0] and twice.order == pytest.approx(1)
    rising = found((FALL[::-1], FALL), (FALL[::-1], BUMP))
    assert rising.rank.value == pytest.approx(-(1 + ALIKE) / 2) and rising.fails == "rank, slope, time"


def test_a_level_is_reached_where_the_curve_stays_below_it():
    curves = np.array([FALL, 2 * FALL, BUMP, 2 * BUMP, FALL + 2])
    np.testing.assert_allclose(stays_below(STEPS, curves, 2.0), [15, 20, 24, 28, np.nan])


def test_the_theorem_foresees_tiny_models_without_an_mlp():
    torch.set_num_threads(1)
    config, training = plan()["coupling"]
    setups = Variant(config, training.but(steps=200)), SCALAR
    runs = [[follow(setup, seed) for seed in range(2)] for setup in setups]
    alone, scalar = (line(two, guess(setup)) for two, setup in zip(runs, setups, strict=True))
    assert alone.rank.value > 0.9 and scalar.fails == "nothing"
    assert guess(setups[0]) == pytest.approx(1.5041111111502152) and runs[0][0].steps == tuple(range(0, 201, 4))
    np.testing.assert_allclose(runs[1][0].measured["row"], runs[1][0].predicted, rtol=0, atol=0.1)
