"""The flow against its large-T limit: the region of the lemma, its pieces and the time that follows."""

import math

import numpy as np
import pytest

from theory import landscape
from theory.landscape import learning_order as order
from theory.symbols import PARAMETERS, alpha2, beta1, n_tokens

POINT, TOKENS = (0.4, 2.0, 1.5, -0.2), 60


def values_at(point, tokens):
    """The parameters, and the shares of the repeated token, the edges and the others, from the logits."""
    powers = np.exp(landscape.logits(*point, tokens, 5))
    powers /= powers.sum()
    known = dict(zip((*PARAMETERS, n_tokens), (*point, tokens), strict=True))
    edge, other = powers[3] + powers[-1], powers[:3].sum() + powers[6:-1].sum()
    return known | {order.REPEATED: powers[4], order.EDGE: edge, order.OTHER: other}


@pytest.mark.parametrize(("symbol", "axis"), [(alpha2, 1), (beta1, 2)], ids=str)
def test_forms_at_the_true_shares_are_minus_the_gradient(symbol, axis):
    expected = -landscape.gradient(*POINT, TOKENS)[axis]
    for form in (order.velocity_forms()[symbol], order.slope_by_shares(symbol)):
        assert float(form.subs(values_at(POINT, TOKENS))) == pytest.approx(float(expected), rel=1e-10)


def test_brake_is_positive_inside_and_can_be_negative_outside():
    outside = (3.0, 0.1, 20.0, 0.0)
    for point, inside in ((POINT, True), (outside, False)):
        assert order.inside(*point, TOKENS) == inside == (order.brake().subs(values_at(point, TOKENS)) > 0)


BOUNDARY = [
    ((1.0001, 1, 1, 0), (0.9999, 1, 1, 0)),
    ((-0.694, 1, 1, 0), (-0.693, 1, 1, 0)),
    ((0, -1e-9, 1, 0), (0, 0, 1, 0)),
    ((0, 1, -1e-9, 0), (0, 1, 0, 0)),
    ((0, 1, 1, -0.2501), (0, 1, 1, -0.25)),
    ((0, 1, 31.4, 0), (0, 1, 31.3, 0)),  # 2 A beta1 against S = 60 + e
    ((0, 3, 0, 4.1), (0, 3, 0, 3.9)),  # e^3 beta2 against S = 60 + e^3
]


@pytest.mark.parametrize(("beyond", "within"), BOUNDARY, ids=str)
def test_region_ends_at_each_of_its_sides(beyond, within):
    assert not order.inside(*beyond, TOKENS) and order.inside(*within, TOKENS)


def test_speeds_are_the_gradient_and_the_limit():
    found = order.speeds(*POINT, np.array([60.0, 1e9]))
    down = -np.array([60.0, 1e9])[:, None] * landscape.gradient(*POINT, np.array([60.0, 1e9]))
    np.testing.assert_array_equal(np.stack([found.alpha2, found.beta1], -1), down[:, 1:3])
    np.testing.assert_allclose([found.alpha2[1], found.beta1[1]], [found.limit_alpha2, found.limit_beta1], rtol=1e-7)
    assert found.limit_alpha2 == pytest.approx(1.5 * math.e**2) and found.limit_beta1 == pytest.approx(math.e**2 - 1)


def test_constants_turn_positive_just_below_the_least_number_of_tokens():
    assert all(ball > 0 for ball in (*order.slack_above(44), order.slack_below(44)))
    assert order.slack_below(42) < 0
    assert order.slack_below(43) < order.slack_below(44)


def test_earliest_time_is_the_limit_less_a_logarithm():
    assert order.earliest(0.001, 1000, 0.1) == pytest.approx(1 - 1 / math.log(996 / math.expm1(0.1)))
