"""The sharp bounds: their closed forms, no violation, and attained where they are called sharp."""

import itertools

import mpmath as mp
import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from proofs_check.evidence.tolerances import KERNEL, ROUNDING
from proofs_check.oracles import induction as oracle
from tests.theory.cases import refuses
from theory import induction
from theory.induction.sharpness import COPY_ERROR_BOUNDS
from theory.symbols import copy_slope as copy_slope_symbol
from theory.symbols import dim as dim_symbol
from theory.symbols import sigma as sigma_symbol

DOMAINS = ("unit", "symmetric", "ball")
LOW = {"unit": 0.0, "symmetric": -1.0, "ball": -1.0}


def draw_tokens(rng, domain, count, length, dim):
    """Interior points, corners, alternating rows and runs of ends along one direction, the last two queried by high."""
    low, shape = LOW[domain], (count, length, dim)
    direction = np.eye(dim)[0] if domain == "ball" else np.ones(dim)
    ends = np.where(rng.random((count, length, 1)) < 0.5, low, 1.0) * direction
    phase = (np.arange(length)[:, None] + rng.integers(0, 2, (count, 1, 1))) % 2
    alternating = np.where(phase == 0, low, 1.0) * direction
    ends[:, -1], alternating[:, -1] = direction, direction
    inside, corners = rng.uniform(low, 1.0, shape), np.where(rng.random(shape) < 0.5, low, 1.0)
    if domain == "ball":
        inside, corners = inside / np.sqrt(dim), corners / np.sqrt(dim)
    return np.stack([inside, corners, ends, alternating])[rng.integers(0, 4, count), np.arange(count)]


def hunt(seed, count, factor=1.0):
    """Worst margin factor * bound - error over lengths 3..10 and three domains."""
    rng, worst = np.random.default_rng(seed), np.inf
    for domain, length, dim in itertools.product(DOMAINS, range(3, 11), (1, 2, 5)):
        each = -(-count // 72)
        x, product = draw_tokens(rng, domain, each, length, dim), 10.0 ** rng.uniform(-2, 2, each)
        sigma = product if domain == "ball" else dim / product
        product = 1.0 / sigma if domain == "ball" else product
        copy_slope = rng.uniform(0, 12, each) * (rng.random(each) < 0.9)
        balance = (1.0 - LOW[domain]) * product * (1.0 - np.exp(-copy_slope) * rng.uniform(0, 1, each))
        slope = np.stack([np.zeros(each), 10.0 ** rng.uniform(-3, 1.5, each), balance])
        slope = slope[rng.integers(0, 3, each), np.arange(each)]
        error = induction.induction_head(x, sigma, slope) - induction.two_layer_alibi(x, sigma, slope, copy_slope)
        bound = induction.copy_error_bound(dim, sigma, copy_slope, domain)
        worst = min(worst, np.min(factor * bound - np.abs(error).max(axis=-1)))
    return worst


def test_copy_error_bound_survives_twenty_thousand_configurations_and_one_percent_less_does_not():
    assert hunt(2, 20_000) >= -ROUNDING and hunt(2, 20_000, factor=0.99) < -1e-3


def test_network_bound_and_oracle_agree_far_below_rounding():
    """At p = 60 the error is 1e-25: only the oracle can see it, and it is the bound to the last digits."""
    for domain in DOMAINS:
        x, slope = induction.sharp_case(2, 0.05, 60.0, domain)
        rows = x.tolist()
        tf, ih = oracle.two_layer(rows, 0.05, slope, 60.0), oracle.induction_head(rows, 0.05, slope)
        ratio = abs(tf[0] - ih[0]) / mp.mpf(float(induction.copy_error_bound(2, 0.05, 60.0, domain)))
        assert abs(ratio - 1) <= KERNEL


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("spread", [0.01, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("dim", [1, 3])
def test_copy_error_bound_is_attained_in_the_limit(domain, spread, dim):
    """Error / bound -> 1 as p grows with d e^{-p} / sigma = spread fixed: no smaller function of spread would do."""
    gaps = []
    for copy_slope in (6.0, 10.0, 14.0):
        sigma = (1 if domain == "ball" else dim) * np.exp(-copy_slope) / spread
        x, slope = induction.sharp_case(dim, sigma, copy_slope, domain)
        error = induction.induction_head(x, sigma, slope) - induction.two_layer_alibi(x, sigma, slope, copy_slope)
        bound = induction.copy_error_bound(dim, sigma, copy_slope, domain)
        gaps.append(1.0 - np.abs(error).max() / bound)
    assert gaps[0] < 5e-3 and 0.0 < gaps[2] < gaps[1] / 30 < gaps[0] / 900


@given(st.sampled_from(DOMAINS), st.integers(1, 40), st.floats(1e-3, 1e3), st.floats(0, 40))
def test_copy_error_bound_equals_its_expression(domain, dim, sigma, copy_slope):
    values = {dim_symbol: dim, sigma_symbol: sp.Rational(sigma), copy_slope_symbol: sp.Rational(copy_slope)}
    exact = float(COPY_ERROR_BOUNDS[domain].xreplace(values).evalf(50))
    assert induction.copy_error_bound(dim, sigma, copy_slope, domain) == pytest.approx(exact, rel=KERNEL)


def test_printed_bound_is_at_least_eight_times_the_sharp_one():
    sigma, copy_slope = np.meshgrid(10.0 ** np.linspace(-3, 3, 13), np.linspace(0.01, 20, 40))
    printed = induction.printed_copy_error_bound(3, sigma, copy_slope)
    assert (printed >= 8 * induction.copy_error_bound(3, sigma, copy_slope, "unit")).all()
    assert induction.printed_copy_error_bound(3, 0.5, 1.0) == pytest.approx(24 / (np.e - 1), rel=KERNEL)


def ratio(tokens, product, slope, copy_slope=8.0):
    """|IH - TF| / ((d / sigma) e^{-p}) for tokens times the all-ones vector of R^2."""
    x, sigma = np.repeat(np.array(tokens, dtype=float)[:, None], 2, axis=1), 2.0 / product
    error = induction.induction_head(x, sigma, slope) - induction.two_layer_alibi(x, sigma, slope, copy_slope)
    return np.abs(error).max() / (product * np.exp(-copy_slope))


def test_lower_bounds_take_the_published_values():
    assert ratio((0, 1, 0, 1, 1), 3.0, 3.0) == pytest.approx(0.4992, abs=5e-5)
    assert ratio((0, 1, 0, 1, 1), 25.0, 25.0) == pytest.approx(0.4998, abs=5e-5)
    assert ratio((-1, 1, -1, 1, 1), 3.0, 6.0) == pytest.approx(1.9993, abs=5e-5)
    assert ratio((0, 1, 0, 1, 0, 1, 0, 1, 1), 0.5, 0.0) == pytest.approx(0.4325, abs=5e-5)
    for slope in (0.0, 0.5, 1.0):
        sharp = 0.25 / np.cosh(slope / 2) ** 2
        assert ratio((0, 1, 1, 0, 1), 40.0, slope, copy_slope=14.0) == pytest.approx(sharp, rel=1e-4)


@given(st.lists(st.tuples(st.floats(-6, 6), st.floats(-6, 6)), min_size=1, max_size=7))
def test_softmax_change_bound_is_never_violated(pairs):
    u, v = np.array(pairs).T
    distance = float(oracle.softmax_distance(u, v))
    assert distance <= induction.softmax_change_bound(u - v) + ROUNDING
    assert 2 * induction.softmax_change_bound(u - v) <= induction.printed_softmax_change_bound(u - v) * (1 + KERNEL)


@pytest.mark.parametrize("width", [1e-6, 0.1, 1.0, 10.0])
def test_softmax_change_bound_is_attained_by_two_balanced_positions(width):
    u = [width / 4, -width / 4]
    distance = float(oracle.softmax_distance(u, [-u[0], -u[1]]))
    assert induction.softmax_change_bound([width / 2, -width / 2]) == pytest.approx(distance, rel=KERNEL)


@given(st.integers(4, 12), st.data(), st.floats(0.05, 2), st.floats(0, 2))
def test_matched_discrepancy_bound_holds(length, data, sigma, slope):
    match = data.draw(st.integers(1, length - 2))
    x = np.eye(length)
    x[-1] = x[match - 1]
    bound = induction.matched_discrepancy_bound(length, match, sigma, slope)
    assert induction.discrepancy(x, sigma, slope).epsilon <= bound


def test_matched_discrepancy_takes_the_published_values():
    x = np.eye(20)
    x[-1] = x[6]
    for sigma, slope, epsilon, bound in (
        (0.3, 0, 0.0425, 0.0713),
        (0.1, 0, 9.07e-5, 9.08e-5),
        (0.1, 0.5, 0.0175, 0.0366),
    ):
        assert induction.discrepancy(x, sigma, slope).epsilon == pytest.approx(epsilon, rel=2e-3)
        assert induction.matched_discrepancy_bound(20, 7, sigma, slope) == pytest.approx(bound, rel=2e-3)


@given(st.integers(3, 12), st.floats(0.1, 5), st.one_of(st.just(0.0), st.floats(1e-6, 3)), st.integers(0, 2**32 - 1))
def test_ball_discrepancy_bound_holds_and_is_attained(length, sigma, slope, seed):
    x = np.random.default_rng(seed).normal(size=(length, 2))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    bound = induction.ball_discrepancy_bound(length, sigma, slope)
    assert induction.discrepancy(x, sigma, slope).epsilon <= bound + ROUNDING
    worst = np.array([[-1.0]] * (length - 2) + [[1.0]] * 2)
    assert induction.discrepancy(worst, sigma, slope).epsilon == pytest.approx(bound, abs=ROUNDING)


def test_ball_discrepancy_has_the_limit_of_its_docstring():
    odds = np.exp(2.0) * np.expm1(1e-3)
    assert induction.ball_discrepancy_bound(100_000, 1.0, 1e-3) == pytest.approx(odds / (1 + odds), rel=1e-9)


@given(st.integers(3, 12), st.data(), st.floats(0.02, 1), st.floats(0, 12))
def test_latest_successor_bound_holds(length, data, sigma, slope):
    match = data.draw(st.integers(1, length - 2))
    earlier = data.draw(st.lists(st.integers(1, match - 1), unique=True)) if match > 1 else []
    x = np.eye(length)
    for place in [*earlier, length]:
        x[place - 1] = x[match - 1]
    gap = match - max(earlier, default=0)
    # orthonormal values apart from the repeats: read the weight of token match + 1 from its own coordinate
    weight = induction.induction_head(x, sigma, slope)[match]
    assert weight >= induction.latest_successor_bound(length, match, gap, sigma, slope) - ROUNDING


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("copy_error_bound", (0, 1.0, 1.0, "unit"), "dim"),
        ("copy_error_bound", (1.5, 1.0, 1.0, "unit"), "dim"),
        ("copy_error_bound", (1, 0.0, 1.0, "unit"), "sigma"),
        ("copy_error_bound", (1, 1.0, -1.0, "ball"), "copy_slope"),
        ("printed_copy_error_bound", (1, 1.0, 0.0), "copy_slope"),
        ("printed_copy_error_bound", (1, -1.0, 1.0), "sigma"),
        ("softmax_change_bound", ([],), "at least one position"),
        ("matched_discrepancy_bound", (5, 4, 1.0, 0.0), "match"),
        ("matched_discrepancy_bound", (5, 0, 1.0, 0.0), "match"),
        ("ball_discrepancy_bound", (2, 1.0, 0.0), "length"),
        ("latest_successor_bound", (5, 4, 1, 1.0, 0.0), "match"),
        ("latest_successor_bound", (5, 3, 0, 1.0, 0.0), "gap"),
        ("latest_successor_bound", (5, 3, 1, 1.0, -1.0), "slope"),
    ],
)
def test_bad_bound_arguments_are_refused(name, arguments, text):
    refuses(lambda: getattr(induction, name)(*arguments), text)
