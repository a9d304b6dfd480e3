"""When the printed theorem is true: no head beyond it where it is said to hold, a violation where it is not."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pytest import approx

from tests.theory.alibi.drawn_heads import weights_of
from tests.theory.cases import refuses
from theory import alibi
from theory.alibi.head import checked
from theory.alibi.printed import printed_condition, violation
from theory.alibi.printed_certified import decide
from theory.lowering.box import Outcome

PROVED, REFUTED, UNDECIDED = Outcome

EXAMPLES = settings(max_examples=40 if settings.get_current_profile_name() == "ci" else 2000)


@st.composite
def norms(draw):
    """Gains, bias and norm: often of one size, often without bias, often with a large one."""
    norm = draw(st.sampled_from(["rms", "layer"]))
    d = draw(st.integers(2 if norm == "layer" else 1, 6))
    number = st.floats(-2, 2).filter(lambda x: abs(x) > 1e-3)
    gamma = [draw(number)] * d if draw(st.booleans()) else draw(st.lists(number, min_size=d, max_size=d))
    scale = draw(st.sampled_from([0.0, 0.1, 1.0, 4.0]))
    bias = scale * np.array(draw(st.lists(st.floats(-1, 1), min_size=d, max_size=d)))
    return np.array(gamma), bias, norm


@EXAMPLES
@given(norms(), st.floats(0.01, 1), st.floats(1e-12, 0.999), st.integers(1, 4), st.integers(0, 10**6))
@example((np.ones(1), np.ones(1), "rms"), 1.0, 0.5, 1, 0)  # one of the two states is zero
# a root 113 powers of ten below its bracket
@example((np.array([0.75, 0.5]), np.array([6.6804867e-113, 1.0]), "rms"), 1.0, 0.5, 1, 0)
@example((np.array([2.0, 1.0, 1.0]), np.array([0.1, 0.0, 0.0]), "rms"), 1.0, 0.5, 1, 0)  # a simplex stops at a kink
@example((np.full(4, 1.5), np.zeros(4), "rms"), 1.0, 0.5, 1, 0)  # the first vector drawn lies in the head's span
def test_the_condition_is_right_where_it_holds_and_where_it_fails(case, slope, eps, d_head, seed):
    found = printed_condition(*case)
    kappa_is_reached(found, *case)
    if found.outcome is REFUTED:
        a_violation_is_at_hand(found, case, slope, eps)
    if found.outcome is PROVED:
        no_head_escapes(found, case, d_head, np.random.default_rng(seed))


def kappa_is_reached(found, gamma, bias, norm):
    """The ends of kappa are in order, and a pair of states reaches the lower one."""
    assert found.low <= found.high * (1 + 1e-9)
    assert np.linalg.norm(found.x) * np.linalg.norm(found.x - found.y) == approx(found.low)
    for state in (found.x, found.y):
        unit = (state - bias) / gamma
        assert unit @ unit == approx(len(unit))
        assert norm == "rms" or abs(unit.sum()) < 1e-6
    assert found.high <= found.low * (1 + 1e-3) + 1e-9


def a_violation_is_at_hand(found, case, slope, eps):
    gamma, bias, _ = case
    if found.low <= found.bound:  # exact arithmetic tells them apart, floats do not
        with pytest.raises(ValueError, match="less than rounding"):
            violation(found, slope, eps)
        return
    wrong = violation(found, slope, eps)
    scope = alibi.printed_scope(wrong.w_q, wrong.w_k, gamma, bias, slope, eps)
    assert wrong.distance > wrong.printed_scope == approx(scope, rel=1e-12) and wrong.weight > eps
    if wrong.distance > 2000:
        return
    head = {"w_q": wrong.w_q, "w_k": wrong.w_k, "gamma": gamma, "norm_bias": bias, "query_bias": None}
    states = np.stack([found.y] + [found.x] * wrong.distance)
    assert weights_of(head, slope, found.x, states)[0] == approx(wrong.weight, rel=1e-6)


def no_head_escapes(found, case, d_head, rng):
    """No head has a gap of its own beyond the printed scope's."""
    gamma, bias, norm = case
    pair = rng.standard_normal((2, d_head, len(gamma)))
    worst = found.x[None], (found.y - found.x)[None]
    for w_q, w_k in (pair, worst, (found.x[None], rng.standard_normal((1, len(gamma))))):
        product = np.linalg.norm(w_q.T @ w_k, 2)
        reached, _ = alibi.certified_self_gap(w_q, w_k, gamma, bias, norm=norm)
        assert reached * np.sqrt(len(w_q)) <= product * found.bound * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize(
    ("gamma", "bias", "norm", "outcome"),
    [
        ([1.0, -1.0, 1.0], None, "rms", PROVED),
        ([1.0, 1.0, -1.0], None, "layer", PROVED),
        ([3.0, 0.0], None, "layer", PROVED),
        ([1.0, 0.0], None, "rms", REFUTED),
        ([1.0, 1.0, 1.0], [0.1, 0.0, 0.0], "rms", REFUTED),
        ([1.0, 1.0, 1.0], [1.8, 0.0, 0.0], "rms", PROVED),
        ([1.0, 1.0], [0.5, -0.5], "layer", REFUTED),
        ([1.0, 1.0], [0.5, 0.5], "layer", PROVED),
        ([1.0, -1.0], [0.5, -0.5], "layer", PROVED),  # along gamma, though orthogonal to the ones
        ([1.0, -1.0], [0.5, 0.5], "layer", REFUTED),
        ([1.0, 1.0, -1.0], [0.1, 0.1, -0.1], "layer", PROVED),
        ([1.0, 1.0, 1.0, 1.0], [2.0, 0.0, 0.0, 0.0], "rms", PROVED),  # ||b|| = r, equal
        ([1.0, 1.0, 1.0, 1.0], [2.0 - 2.0**-51, 0.0, 0.0, 0.0], "rms", REFUTED),
        ([1.0, 1.0 + 2.0**-52], None, "rms", REFUTED),
        ([1e-200, 2e-200], [0.0, 1e-200], "rms", REFUTED),  # squares vanish
        ([0.0, 0.0], None, "layer", PROVED),
        ([2.0, 1.0], [5.0, 5.0], "rms", PROVED),
    ],
)
def test_named_cases_fall_as_proved(gamma, bias, norm, outcome):
    assert printed_condition(gamma, bias, norm).outcome is outcome


@given(norms(), st.floats(-2, 2), st.floats(-2, 2), st.floats(-1, 3))
def test_no_multiplier_makes_the_dual_less_than_a_pair_reaches(case, log_t, log_rho, log_m):
    gamma, bias, norm = case
    pair = np.random.default_rng(0).standard_normal((2, len(gamma)))
    if norm == "layer" and len(gamma) == 2:
        pair[1] = -pair[0]
    dual = tuple(float(np.exp(x)) for x in (log_t, log_rho, log_m))
    found = decide(checked([np.ones(len(gamma))], [np.ones(len(gamma))], gamma, bias, norm=norm), *pair, dual)
    assert not found.high < found.low
    if found.outcome is PROVED:
        assert not printed_condition(gamma, bias, norm).low > found.bound


@pytest.mark.parametrize("norm", ["rms", "layer"])
def test_a_multiplier_below_the_largest_curvature_certifies_nothing(norm):
    gamma, bias = np.array([2.0, 1.0, 0.5]), np.array([0.0, 3.0, 1.0])
    weights = checked([np.ones(3)], [np.ones(3)], gamma, bias, norm=norm)
    pair = np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0]])
    for m in (1e-3, 0.1, 1.0):
        assert not decide(weights, *pair, (1.0, 1.0, m)).high.is_finite()
    assert decide(weights, *pair, (1.0, 1.0, 50.0)).high.is_finite()


def test_violation_refuses_an_excess_below_rounding_and_gains_for_which_the_theorem_is_true():
    refuses(lambda: violation(printed_condition([1.0, 1.0 + 2.0**-52]), 0.5, 0.1), "less than rounding")
    refuses(lambda: violation(printed_condition([1.0, 1.0]), 0.5, 0.1), "there is no violation to build")
