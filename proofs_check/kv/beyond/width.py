"""Theorem 3.4 at finite width, beyond the paper: mean and variance of the loss at order 1/d, and long sentences."""

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from math import prod

import numpy as np
import sympy as sp

from proofs_check.evidence.margin import Margin, at_most, close, same, worst
from proofs_check.evidence.tolerances import STANDARD_ERRORS
from proofs_check.ledger.claim import INSTANCES, SAMPLES, Control, Effort, Evidence
from proofs_check.ledger.mathematical import exact, mathematical, sampled
from proofs_check.oracles.width import Estimate, argmax_accuracy, pilot_count, simulate, slopes_of_loss
from theory.landscape import width_limit as limit
from theory.landscape.symbolic import B
from theory.landscape.width import finite_width, width_terms
from theory.symbols import PARAMETERS

SOURCE = "KV shifting (both versions), Section 3.2, Theorem 3.4, our addition"
GAUSSIAN = "embeddings iid N(0, 1/d)"
ACCURACY = ((8, 0.126), (32, 0.324), (128, 0.721), (512, 0.97))
HALF = Fraction(1, 2)


def _rationals(seed: int, count: int, positive: bool) -> list[Fraction]:
    rng = np.random.default_rng(seed)
    values = [Fraction(int(rng.integers(1, 30)), int(rng.integers(1, 30))) for _ in range(count)]
    return values if positive else [value if rng.random() < 0.5 else -value for value in values]


def _objects(values: Sequence[Fraction]) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _exact_terms(
    parameters: Sequence[Fraction], tokens: int, position: int, attention: Sequence[Fraction], share: Sequence[Fraction]
) -> tuple[Fraction, Fraction]:
    """The shipped kernel on fractions, both softmaxes replaced by the given weights."""
    given: Iterator[np.ndarray] = iter((_objects(attention), _objects(share)))
    arrays = [np.array(value, dtype=object) for value in parameters]
    mean_shift, variance = width_terms(arrays, tokens, position, lambda _: next(given))
    return mean_shift.item(), variance.item()


def exact_terms(tokens: int, position: int, off_diagonal: Fraction = HALF, diagonal: int = 2) -> Margin:
    """c1 and v1 of the kernel against exact second and first derivatives of the loss in every entry of G.

    `off_diagonal` is the weight of d2L/dG_jk^2 in c1, `diagonal` that of (dL/dG_jj)^2 in v1.
    """
    parameters = _rationals(7 * tokens + position, 4, positive=False)
    keys = _rationals(11 * tokens + position, tokens + 1, positive=True)
    powers = _rationals(13 * tokens + position, tokens, positive=True)
    mean_shift, variance = Fraction(0), Fraction(0)
    for pair in itertools.combinations_with_replacement(range(tokens), 2):
        first, second = slopes_of_loss(parameters, position, keys, powers, pair)
        equal = pair[0] == pair[1]
        mean_shift += second * (1 if equal else off_diagonal)
        variance += first**2 * (diagonal if equal else 1)
    found = _exact_terms(parameters, tokens, position, [k / sum(keys) for k in keys], [p / sum(powers) for p in powers])
    return worst([same(found[0], mean_shift), same(found[1], variance)])


def every_position(effort: Effort) -> list[dict[str, int]]:
    return [{"tokens": t, "position": i} for t in range(2, 5 if effort is Effort.QUICK else 7) for i in range(1, t + 1)]


def _limit(which: str, parameters: Sequence[Fraction], before: Fraction) -> sp.Rational:
    """The limit that `theory.landscape.width_limit` states, with `before` standing for e^{alpha2}."""
    formula = {"c1": limit.limiting_mean_shift, "v1": limit.limiting_variance}[which]()
    opaque = sp.Dummy("B")
    at = zip((*PARAMETERS, opaque), map(sp.Rational, (*parameters, before)), strict=True)
    return formula.subs(B, opaque).subs(dict(at))


def _constant_term(values: list[tuple[Fraction, Fraction]]) -> Fraction:
    """The value at 0 of the polynomial through the points, by Lagrange's formula."""
    total = Fraction(0)
    for x, y in values:
        total += y * prod((other / (other - x) for other, _ in values if other != x), start=Fraction(1))
    return total


_DEGREE = 8


def long_limit(which: str, seed: int, plant: int = 0) -> Margin:
    """lim T c1 or T v1 by exact interpolation in x = 1/T of the kernel, at random rational parameters and e^{alpha}.

    At limiting weights (a_k = x e^{score}, p_k = x) either is a Laurent polynomial in x: there are at most two sums
    over keys or tokens (x^-2), T is x^-1, and a term has at most six factors a, p, w. So x^3 times it has degree at
    most _DEGREE; one point more than that needs checks the degree, and its coefficients of 1, x, x^2 must vanish.
    """
    parameters = _rationals(seed, 4, positive=False)
    own, before = _rationals(seed + 1, 2, positive=True)
    position, rows = 5, []
    for tokens in range(12, 12 + _DEGREE + 3):
        x = Fraction(1, tokens)
        attention = [x] * (tokens + 1)
        attention[position - 1] = attention[tokens] = own * x
        attention[position] = before * x
        terms = _exact_terms(parameters, tokens, position, attention, [x] * tokens)
        rows.append((x, terms[("c1", "v1").index(which)] * tokens * x**3))
    margins = [same(_constant_term(rows[:-1]), _constant_term(rows[1:]))]  # the degree is as stated
    for _ in range(3):
        margins.append(same(_constant_term(rows), 0))
        rows = [(x, y / x) for x, y in rows]
    return worst([*margins, same(_constant_term(rows), _limit(which, parameters, before) + plant)])


def random_point(seed: int) -> tuple[int, int, tuple[float, ...]]:
    """T, i and the four parameters of one of the Monte-Carlo points."""
    rng = np.random.default_rng(seed)
    tokens = int(rng.integers(4, 13))
    position = int(rng.integers(1, tokens + 1))
    return tokens, position, (*rng.uniform(-0.5, 1.5, size=2), *rng.uniform(-1.0, 2.0, size=2))


@cache
def _simulated(seed: int, width: int) -> Estimate:
    tokens, position, parameters = random_point(seed)
    target = 0.07 * abs(float(finite_width(*parameters, tokens, position).mean_shift))
    count = pilot_count(parameters, position, tokens, width, target, seed)
    return simulate(parameters, position, tokens, width, count, seed)


def monte_carlo(seed: int, width: int, mean_factor: float = 1.0, variance_factor: float = 1.0) -> Margin:
    """Both estimates within three standard errors of `finite_width`, each error at most a tenth of the prediction."""
    tokens, position, parameters = random_point(seed)
    mean_shift, variance = (float(term) for term in finite_width(*parameters, tokens, position))
    found = _simulated(seed, width)
    return worst(
        [
            close(found.mean, mean_factor * mean_shift, STANDARD_ERRORS.times(found.mean_error)),
            close(found.variance, variance_factor * variance, STANDARD_ERRORS.times(found.variance_error)),
            at_most(found.mean_error, abs(mean_shift) / 10),
            at_most(found.variance_error, variance / 10),
        ]
    )


def monte_carlo_points(effort: Effort) -> list[dict[str, int]]:
    seeds = range(4) if effort is Effort.QUICK else range(10)
    return [{"seed": seed, "width": width} for seed in seeds for width in (256, 1024)]


def accuracy(tokens: int, width: int, expected: float, count: int = 1000, slack: float = 0.01) -> Margin:
    """Share of sentences (i uniform on 1..T-1) that the head alpha = (0, 1), beta = (1, 0) gets right by argmax."""
    share = argmax_accuracy((0.0, 1.0, 1.0, 0.0), tokens, width, count, seed=width)
    error = np.sqrt(max(expected * (1 - expected), 0.25 / count) / count)
    return at_most(abs(share - expected), STANDARD_ERRORS * float(error) + slack)


def _threshold(tokens: int, factor: float) -> int:
    """factor times 2 T log T / (e - 1)^2, a width."""
    return max(1, round(factor * 2 * tokens * math.log(tokens) / (math.e - 1) ** 2))


def _reach(tokens: int, factor: float, expected: float) -> Margin:
    return accuracy(tokens, _threshold(tokens, factor), expected, slack=0.1)


def _lengths(effort: Effort) -> list[dict[str, float]]:
    lengths = (8, 16) if effort is Effort.QUICK else (8, 16, 32, 64)
    shares = ((0.5, 0.33), (1.0, 0.5), (8.0, 0.95))
    return [{"tokens": t, "factor": f, "expected": e} for t in lengths for f, e in shares]


def _interpolated(which: str) -> Evidence:
    return exact(
        "exact interpolation in 1/T through the kernel on fractions, at random rational parameters and e^{alpha}",
        long_limit,
        lambda effort: [{"which": which, "seed": 10 * s} for s in range(1 if effort is Effort.QUICK else 10)],
        Control("off by one", lambda which, seed: long_limit(which, seed, plant=1)),
    )


CLAIMS = (
    mathematical(
        "kv.beyond.width.terms",
        SOURCE,
        "E L = L_inf + c1/d + O(d^-2) and Var L = v1/d + O(d^-2) with c1 = sum_j L_jj,jj + (1/2) sum_{j<k} L_jk,jk and "
        "v1 = 2 sum_j L_jj^2 + sum_{j<k} L_jk^2, derivatives in G at G = I, in closed form.",
        exact(
            "the kernel on fractions against exact jets of the loss in each entry of G; T = 2..4 (full: 2..6), every i",
            exact_terms,
            every_position,
            Control("weight 1 off the diagonal of c1", lambda **p: exact_terms(**p, off_diagonal=HALF * 2)),
            Control("weight 1 on the diagonal of v1", lambda **p: exact_terms(**p, diagonal=1)),
        ),
        sampled(
            "Monte Carlo with the linear term as control variate, d = 256 and 1024, 4 random points (full: 10): three "
            "standard errors, each at most 10 % of the prediction",
            monte_carlo,
            monte_carlo_points,
            Control("no shift of the mean", lambda **p: monte_carlo(**p, mean_factor=0.0)),
            Control("twice the shift", lambda **p: monte_carlo(**p, mean_factor=2.0)),
            Control("no variance", lambda **p: monte_carlo(**p, variance_factor=0.0)),
            Control("twice the variance", lambda **p: monte_carlo(**p, variance_factor=2.0)),
        ),
        formula=r"c_1=\sum_j\frac{\partial^2L}{\partial G_{jj}^2}"
        r"+\frac12\sum_{j<k}\frac{\partial^2L}{\partial G_{jk}^2}",
        hypotheses=(GAUSSIAN, "T >= 2, 1 <= i <= T"),
        coverage=INSTANCES,
        is_correction=True,
    ),
    mathematical(
        "kv.beyond.width.long_variance",
        SOURCE,
        "T v1 -> (beta1 + beta2)^2 as T grows: on the slice the noise of one sentence has standard deviation "
        "1/sqrt(d T), against a landscape of depth (e - 1)/T.",
        _interpolated("v1"),
        formula=r"\lim_{T\to\infty}T\,v_1=(\beta_1+\beta_2)^2",
        hypotheses=(GAUSSIAN, "4 <= i <= T - 4", "d -> infinity before T"),
        coverage=INSTANCES,
        is_correction=True,
    ),
    mathematical(
        "kv.beyond.width.long_mean",
        SOURCE,
        "T c1 -> (b1 + b2)^2/2 + alpha1 b1 + alpha2 b2 - e^{alpha2} (alpha1 b2 + alpha2^2 b1/2) as T grows.",
        _interpolated("c1"),
        formula=r"\lim_{T\to\infty}T\,c_1=\frac{(\beta_1+\beta_2)^2}{2}+\alpha_1\beta_1+\alpha_2\beta_2"
        r"-e^{\alpha_2}\left(\alpha_1\beta_2+\frac{\alpha_2^2\beta_1}{2}\right)",
        hypotheses=(GAUSSIAN, "4 <= i <= T - 4", "d -> infinity before T"),
        coverage=INSTANCES,
        is_correction=True,
    ),
    mathematical(
        "kv.beyond.width.argmax",
        SOURCE,
        "At T = 29 the head alpha = (0, 1), beta = (1, 0) is right by argmax in about 13, 32, 72, 97 % of the "
        "sentences at d = 8, 32, 128, 512; at d = 2 T log T / (e - 1)^2 in about half of them, T = 8 to 64.",
        sampled(
            "1000 sentences with fresh embeddings: three standard errors and a point of slack",
            accuracy,
            tuple({"tokens": 29, "width": d, "expected": e} for d, e in ACCURACY),
            Control("right always at d = 128", None, ({"tokens": 29, "width": 128, "expected": 1.0},)),
            Control("half as often", lambda tokens, width, expected: accuracy(tokens, width, expected / 2)),
        ),
        sampled(
            "at half, one and eight times d = 2 T log T / (e - 1)^2: near 1/3, 1/2 and 19/20 (within 0.1 and three "
            "standard errors), T = 8, 16 (full: to 64)",
            _reach,
            _lengths,
            Control("19/20 at that width already", None, ({"tokens": 16, "factor": 1.0, "expected": 0.95},)),
        ),
        formula=r"P(\text{argmax}=x_{i+1})\approx 0.13,\ 0.32,\ 0.72,\ 0.97\quad(d=8,\ 32,\ 128,\ 512)",
        hypotheses=(GAUSSIAN, "i uniform on 1..T-1"),
        coverage=SAMPLES,
        is_correction=True,
    ),
)
