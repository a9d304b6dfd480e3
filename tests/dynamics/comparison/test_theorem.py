"""The theorem's loss beside models that train: statistics of curves made by hand, tiny trainings, what is shipped."""

import numpy as np
import pytest
import torch

from dynamics.comparison.theorem import SCALAR, Run, follow, guess, line, plan
from dynamics.experiments import Variant

FALL = (4.0, 3.0, 1.0, 0.5, 0.25)
DOUBLE = tuple(2 * loss for loss in FALL)
BUMP = (4.0, 1.0, 3.0, 0.5, 0.25)
ALIKE = 0.9  # Spearman's, of FALL and BUMP: two of five looks change places


def found(*pairs):
    steps = (0, 10, 20, 30, 40)
    runs = [Run(setting="", seed=0, steps=steps, predicted=one, measured={"row": other}) for one, other in pairs]
    return line(runs, 4.0)


def test_statistics_of_curves_made_by_hand():
    same, twice, rising = (found(pair, pair) for pair in ((FALL, FALL), (FALL, DOUBLE), (FALL[::-1], FALL)))
    assert (same.ratios, same.gain) == ([(1, 1, 1)] * 2, (0, 0, 0)) and same.fails == twice.fails == []
    assert twice.slope == twice.other_slope == pytest.approx((2, 2, 2))
    # The levels are 2 and .4: the double is at 2 at its third look, where the other is halfway, and stays above .4.
    assert twice.ratios[0] == pytest.approx((20 / 15,) * 3) and twice.reached == [2, 0]
    assert rising.rank == pytest.approx((-1, -1, -1)) and rising.fails == ["rank", "slope", "time"]


def test_a_stranger_is_the_next_seed_and_a_level_is_reached_where_the_curve_stays_below_it():
    three = found((FALL, FALL), (BUMP, BUMP), (DOUBLE, DOUBLE))
    assert three.other_rank.value == pytest.approx((2 * ALIKE + 1) / 3) and three.order == 1
    late = found((FALL, BUMP), (FALL, BUMP), (FALL, (4.0, 3.9, 3.8, 3.7, 3.6)))
    assert late.ratios[0] == pytest.approx((24 / 15,) * 3) and late.reached[0] == 2 and "time" in late.fails


def test_the_theorem_foresees_tiny_models_without_an_mlp_and_not_with_one(tmp_path):
    torch.set_num_threads(1)
    config, training = plan()["coupling"]
    short = training.model_copy(update={"steps": 200})
    setups = {width: Variant(config.model_copy(update={"mlp_width": width}), short) for width in (0, 64)}
    setups["scalar"] = SCALAR
    runs = [follow(str(name), setup, seed) for name, setup in setups.items() for seed in range(2)]
    alone, mlp, scalar = (line(runs[2 * n :][:2], guess(setup)) for n, setup in enumerate(setups.values()))
    assert alone.rank.value > 0.9 and "rank" in mlp.fails and scalar.fails == []
    assert guess(setups[0]) == pytest.approx(1.5041111111502152) and runs[0].steps == tuple(range(0, 201, 4))
    np.testing.assert_allclose(runs[4].measured["row"], runs[4].predicted, rtol=0, atol=0.1)
