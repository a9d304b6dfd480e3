"""The temperature of an induction head at finite width: density, slope, optimum, bound."""


import numpy as np
import pytest
from flint import arb
from scipy import integrate, stats

from theory.landscape import temperature as t


def _slope_by_quadrature(temperature, width):
    """E[D / (1 + e^{-kappa D})] over r = |u|^2 and D given r, by scipy."""

    def inner(square):
        law = stats.norm(-square, np.sqrt(square / width))
        value, _ = integrate.quad(
            lambda m: m / (1 + np.exp(-temperature * m)) * law.pdf(m), *law.ppf([1e-14, 1 - 1e-14]), epsabs=1e-9
        )
        return value * stats.chi2(width).pdf(square * width) * width

    return integrate.quad(inner, 0, stats.chi2(width).ppf(1 - 1e-13) / width, epsabs=1e-8)[0]


def test_slope_encloses_an_independent_quadrature():
    temperature, width = 7, 4
    assert float(t.slope_in_temperature(temperature, width)) == pytest.approx(
        _slope_by_quadrature(temperature, width), abs=1e-7
    )


@pytest.mark.parametrize("width", [2, 6, 20])
def test_margin_density_has_mass_one_and_mean_minus_one(width):
    above, below = t.margin_density(width)
    mass = above.moment(0, arb(0)) + below.moment(0, arb(0))
    mean = above.moment(1, arb(0)) - below.moment(1, arb(0))
    assert abs(mass - 1) < 1e-12
    assert abs(mean + 1) < 1e-12
