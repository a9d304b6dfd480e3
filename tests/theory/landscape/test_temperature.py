"""The temperature of an induction head at finite width: density, slope, optimum, bound."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from tests.theory.cases import refuses
from theory import landscape
from theory.landscape import temperature as t
from theory.lowering.numeric import numeric
from theory.symbols import alpha2, dim, n_tokens


def _slope_by_quadrature(temperature: float, width: int) -> float:
    """E[D / (1 + e^{-kappa D})] over r = |u|^2 and D given r, by scipy."""

    def inner(square: float) -> float:
        law = stats.norm(-square, np.sqrt(square / width))
        value, _ = integrate.quad(
            lambda m: m / (1 + np.exp(-temperature * m)) * law.pdf(m), *law.ppf([1e-14, 1 - 1e-14]), epsabs=1e-12
        )
        return value * stats.chi2(width).pdf(square * width) * width

    return integrate.quad(inner, 0, stats.chi2(width).ppf(1 - 1e-13) / width, epsabs=1e-9)[0]


def test_slope_encloses_an_independent_quadrature():
    temperature, width = 7, 4
    assert float(t.slope_in_temperature(temperature, width)) == pytest.approx(
        _slope_by_quadrature(temperature, width), abs=1e-7
    )


@pytest.mark.parametrize("width", [2, 4, 10])
def test_slope_changes_sign_at_twice_the_width(width):
    best = t.best_temperature(width)
    assert t.slope_in_temperature(best * Fraction(999, 1000), width) < 0
    assert t.slope_in_temperature(best, width).contains(0)
    assert t.slope_in_temperature(best * Fraction(1001, 1000), width) > 0


@pytest.mark.parametrize("width", [2, 6, 20])
def test_margin_density_has_mass_one_and_mean_minus_one(width):
    above, below = t.margin_density(width)
    mass = above.moment(0, arb(0)) + below.moment(0, arb(0))
    mean = above.moment(1, arb(0)) - below.moment(1, arb(0))
    assert abs(mass - 1) < 1e-12
    assert abs(mean + 1) < 1e-12


def test_slope_at_temperature_zero_is_half_the_mean_margin():
    assert abs(t.slope_in_temperature(0, 8) + arb("0.5")) < 1e-8


MOMENT = numeric(t.moment_generating(), (t.tilt, dim))
JENSEN = numeric(t.jensen_bound(), (t.kappa, dim, n_tokens))
INFINITE_WIDTH = numeric(t.infinite_width_loss(), (t.kappa, alpha2, n_tokens))


@given(width=st.integers(1, 40), shift=st.floats(-1.3, 1.3))
def test_moments_are_even_about_the_width(width, shift):
    assert MOMENT(width * (1 + shift), width) == pytest.approx(MOMENT(width * (1 - shift), width), rel=1e-9)


def test_moments_match_sampled_embeddings():
    rng = np.random.default_rng(0)
    width = 6
    target, other = rng.normal(size=(2, 200_000, width)) / np.sqrt(width)
    powers = np.exp(2 * ((target * other).sum(axis=1) - (target**2).sum(axis=1)))
    error = powers.std() / np.sqrt(len(powers))
    assert MOMENT(2, width) == pytest.approx(powers.mean(), abs=4 * error)


@given(kappa=st.floats(0.1, 2.3), width=st.integers(1, 50), tokens=st.integers(2, 100))
def test_jensen_bound_is_least_where_the_temperature_is_the_width(kappa, width, tokens):
    assert JENSEN(kappa * width, width, tokens) >= JENSEN(width, width, tokens) * (1 - 1e-12)


@given(kappa=st.floats(0.1, 50), gamma=st.floats(-2, 8), tokens=st.integers(4, 100))
def test_infinite_width_loss_is_the_landscape(kappa, gamma, tokens):
    found = INFINITE_WIDTH(kappa, gamma, tokens)
    assert landscape.loss(0.0, gamma, kappa, 0.0, tokens) == pytest.approx(found, abs=1e-10)


@pytest.mark.parametrize("tokens", [4, 29, 512])
def test_half_of_the_attention_needs_the_logarithm_of_the_length(tokens):
    share = numeric(t.attention_on_successor(), (alpha2, n_tokens))
    assert share(np.log(tokens), tokens) == pytest.approx(0.5)
    assert share(np.log(tokens) - 0.01, tokens) < 0.5 < share(np.log(tokens) + 0.01, tokens)


def test_margin_density_refuses_an_odd_or_empty_width():
    for width in (0, 3):
        refuses(lambda width=width: t.margin_density(width), f", got {width}")
