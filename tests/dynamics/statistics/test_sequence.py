"""Confidence sequences: martingales by quadrature and enumeration, intervals by inversion, coverage under peeking."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, optimize, stats

from dynamics.statistics import sequence
from dynamics.statistics.sequence import gaussian_log_e, intervals, symmetric_log_e

METHODS = ("gaussian", "symmetric")
SHIPPED = Path(sequence.__file__).parents[1] / "shipped" / "sweeps"
streams = st.lists(st.integers(-50, 50), min_size=2, max_size=12).map(lambda values: np.array(values) / 8)


def quad(function, low, high):
    return integrate.quad(function, low, high, epsabs=0, epsrel=1e-10, limit=400)[0]


@pytest.mark.parametrize("past", [[1.0], [0.3, -2.0], [1.0, 1.5, 0.7, 2.0]])
@pytest.mark.parametrize("c", [0.5, 2.0])
def test_gaussian_e_is_a_martingale_of_the_ratios(past, c):
    """Given the ratios alone the next x is t_n times sqrt(V/n); given the x and sigma the mean is another."""
    n, squares = len(past), sum(x * x for x in past)
    now = math.exp(gaussian_log_e(past, 0.0, c)[-1])

    def mean(law):
        return quad(lambda x: math.exp(gaussian_log_e([*past, x], 0.0, c)[-1]) * law.pdf(x), -math.inf, math.inf)

    assert mean(stats.t(n, scale=math.sqrt(squares / n))) == pytest.approx(now, rel=1e-7)
    assert mean(stats.norm(scale=9.0)) != pytest.approx(now, rel=1e-2)


def test_gaussian_e_is_the_ratio_of_the_integrals_that_define_it():
    d, m, c = np.array([0.4, 1.9, -0.3]), 0.1, 0.8

    def at(effect):
        def inner(sigma):
            return math.exp(-(((d - m) / sigma - effect) ** 2).sum() / 2) * sigma ** -(len(d) + 1)

        return quad(inner, 0, 1) + quad(inner, 1, math.inf)

    mixed = quad(lambda effect: at(effect) * stats.norm.pdf(effect, scale=1 / c), -12 / c, 12 / c)
    assert gaussian_log_e(d, m, c)[-1] == pytest.approx(math.log(mixed / at(0.0)), rel=1e-8)


@given(streams, st.sampled_from([0.2, 0.01]), st.sampled_from([0.5, 1.0, 3.0]))
def test_gaussian_interval_is_the_inversion_of_e(d, alpha, c):
    low, high = intervals(d, alpha, "gaussian", c)
    for n, (a, b) in enumerate(zip(low, high, strict=True), 1):
        if math.isinf(a):
            far = d[:n].mean() + 1e7
            assert b == math.inf and (np.ptp(d[:n]) == 0 or gaussian_log_e(d[:n], far, c)[-1] < -math.log(alpha))
            continue
        excess = lambda m, n=n: gaussian_log_e(d[:n], m, c)[-1] + math.log(alpha)  # noqa: E731
        middle, step = d[:n].mean(), 2 * (b - a)
        assert optimize.brentq(excess, middle, middle + step) == pytest.approx(b, rel=1e-6, abs=1e-9)
        assert optimize.brentq(excess, middle - step, middle) == pytest.approx(a, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("sizes", [[1.0, 3.0, 2.0, 2.0, 0.5, 7.0], [0.0, 1.0, 1.0, 0.0, 4.0]])
def test_symmetric_e_is_a_martingale_of_mean_one_over_all_signs(sizes):
    signs = np.array(list(itertools.product([1, -1], repeat=len(sizes))))
    e = np.exp(symmetric_log_e(signs * sizes, 0.0, 0.7))
    assert e.mean(0) == pytest.approx(1, rel=1e-12)
    for n in range(1, len(sizes)):  # the mean over what comes next, given the first n signs, is what there is
        groups = e.reshape(2**n, -1, len(sizes))
        assert groups[:, :, n].mean(1) == pytest.approx(groups[:, 0, n - 1], rel=1e-12)


@given(streams, st.integers(-60, 60), st.sampled_from([0.3, 0.02]))
def test_symmetric_interval_is_the_inversion_of_e(d, place, alpha):
    """Also that E_n falls in m: what is excluded from below is exactly all m below the lower end."""
    m, level = place / 8 + 1 / 37, -math.log(alpha / 2)
    low, high = intervals(d, alpha, "symmetric")
    assert ((symmetric_log_e(d, m) >= level) == (m < low)).all()
    assert ((symmetric_log_e(-d, -m) >= level) == (m > high)).all()
    assert (symmetric_log_e(d, m) >= symmetric_log_e(d, m + 1 / 3) - 1e-12).all()


@pytest.mark.parametrize("method", METHODS)
def test_one_difference_excludes_nothing(method):
    assert np.array_equal(intervals([3.0], 0.5, method), [[-math.inf], [math.inf]])


def test_equal_differences():
    """Under "gaussian" they have probability 0 and exclude nothing; signs alone exclude what is not the value."""
    assert np.isinf(intervals([0.1] * 30, 0.05, "gaussian")).all()
    assert [end[-1] for end in intervals([0.1] * 30, 0.05, "symmetric")] == [0.1, 0.1]
    assert gaussian_log_e([0.1] * 3, 0.1).tolist() == [0, 0, 0]


@pytest.mark.parametrize("method", METHODS)
def test_very_large_and_very_small_differences(method):
    base = np.random.default_rng(2).standard_normal(12)
    for scale in (1e-170, 1e-120, 1e90):
        low, high = intervals(base * scale, 0.05, method)
        assert (low <= high).all()
        assert np.isfinite(gaussian_log_e(base * scale, 0.0)).all()


def test_how_few_differences_exclude_anything():
    first = {(m, a): next(n for n in range(1, 40) if sequence.can_exclude(n, a, m, 0.5)) for m in METHODS
             for a in (0.05, 0.005)}  # fmt: skip
    assert first == {("gaussian", 0.05): 4, ("gaussian", 0.005): 5, ("symmetric", 0.05): 6, ("symmetric", 0.005): 10}


# Coverage: 2,000 sequences of 40, looked at after every difference; the share that ever excludes the truth.

SEQUENCES, SEEDS = 2000, 40


def shipped_differences():
    """log(kv-shift/vanilla) of the held-out losses of 16 paired seeds of figure 9, less their mean."""
    curves = json.loads((SHIPPED / "figure-9.json").read_text("utf-8"))["curves"]
    last = {name: curve["loss"][-1] for name, curve in curves.items()}
    d = np.array([math.log(last[f"kv-shift.0.8K.seed-{k}"] / last[f"vanilla.0.8K.seed-{k}"]) for k in range(16)])
    return d - d.mean()


LAWS = {
    "gaussian": lambda rng, shape: rng.standard_normal(shape),
    "t3": lambda rng, shape: rng.standard_t(3, shape),
    "mixture": lambda rng, shape: rng.standard_normal(shape) * np.where(rng.random(shape) < 0.1, 10, 1),
    "shipped": lambda rng, shape: rng.choice(shipped_differences(), shape),
    "growing": lambda rng, shape: rng.standard_normal(shape) * np.geomspace(1, 10, shape[1]),
    "shrinking": lambda rng, shape: rng.standard_normal(shape) * np.geomspace(10, 1, shape[1]),
}
FAILING = {
    "two values": lambda rng, shape: rng.choice([-1.0, 1.0], shape) + 1e-6 * rng.standard_normal(shape),
    "exponential": lambda rng, shape: rng.exponential(1, shape) - 1,
    "lognormal": lambda rng, shape: np.exp(rng.standard_normal(shape)) - math.exp(0.5),
}


def missed(d, method, alpha=0.05, c=0.5):
    """Which of the sequences ever exclude their true mean 0."""
    if method == "gaussian":
        return (gaussian_log_e(d, 0.0, c) >= -math.log(alpha)).any(1)
    return np.any([symmetric_log_e(x, 0.0, c) >= -math.log(alpha / 2) for x in (d, -d)], axis=(0, 2))


def compatible(misses):
    """Whether so many misses are likely enough (one in a thousand) if each has probability 0.05 at most."""
    return stats.binom.sf(misses.sum() - 1, len(misses), 0.05) > 1e-3


def draw(law, count=SEQUENCES, seeds=SEEDS):
    return law(np.random.default_rng(0), (count, seeds))


MANY = [pytest.param(*size, marks=pytest.mark.deep) for size in ((1000, 300), (50_000, SEEDS))]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("count", "seeds"), [(SEQUENCES, SEEDS), *MANY])
def test_coverage_under_peeking(law, method, count, seeds):
    assert compatible(missed(draw(LAWS[law], count, seeds), method))


@pytest.mark.parametrize(
    ("law", "method", "share"),
    [
        ("two values", "gaussian", 0.139), ("exponential", "gaussian", 0.125), ("lognormal", "gaussian", 0.231),
        ("exponential", "symmetric", 0.095), ("lognormal", "symmetric", 0.197),
    ],
)  # fmt: skip
def test_coverage_where_the_assumption_fails_is_too_low_by_as_much_as_is_said(law, method, share):
    """The shares are those of 20,000 sequences; the docstring of `sequence` states them."""
    misses = missed(draw(FAILING[law]), method)
    assert not compatible(misses)
    assert misses.mean() == pytest.approx(share, abs=0.03)


def test_two_values_are_symmetric():
    assert compatible(missed(draw(FAILING["two values"]), "symmetric"))
