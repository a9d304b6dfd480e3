"""Footnote 10 of the KV-shifting paper: how the longer windows start, which Fig. 7b compares."""

from fractions import Fraction

import sympy as sp

from proofs_check.evidence.margin import Margin, identity, same
from proofs_check.ledger.claim import Claim, Control, everywhere
from proofs_check.ledger.mathematical import exact, mathematical, symbolic
from theory.shift import initialisation as init

FOOTNOTE = "KV shifting (both versions), footnote 10 (as the final version numbers it)"
WINDOWS = [{"window": w} for w in (2, 3, 4)]
MOMENTS = (Fraction(2, 3), Fraction(5, 6), Fraction(3, 2))
MEANS = (Fraction(1, 2), Fraction(0), Fraction(-1, 2))
NEGATIVES = (Fraction(0), Fraction(1, 2), Fraction(5, 6))
EQUAL_MOMENTS = (Fraction(2, 3),) * 3


def _sums_to_one(window: int, plus: int = 0) -> Margin:
    return identity(sum(init.coefficients(window)[1]) + plus, sp.Integer(1))


def _second_moment(window: int, expected: tuple[Fraction, ...]) -> Margin:
    """E sum c^2 by iterated integration against the listed value."""
    uniforms, row = init.coefficients(window)
    value = sum(c**2 for c in row)
    for u in uniforms:
        value = sp.integrate(sp.expand(value), (u, 0, 1))
    return same(Fraction(int(value.p), int(value.q)), expected[window - 2])


def _oldest(window: int, means: tuple[Fraction, ...], negatives: tuple[Fraction, ...]) -> Margin:
    """Mean of the oldest coefficient, and its chance to be negative: one less the volume of a corner simplex."""
    uniforms, row = init.coefficients(window)
    volume = sp.Integer(1)
    for index in range(len(uniforms) - 1, -1, -1):
        volume = sp.integrate(sp.expand(volume), (uniforms[index], 0, 1 - sum(uniforms[:index])))
    found = (init.expectation(row[-1], uniforms), 1 - Fraction(int(volume.p), int(volume.q)))
    return same(found, (means[window - 2], negatives[window - 2]))


def _moment_formula(window: int, linear: int = 7) -> Margin:
    """n^2/4 - 7 n/12 + 1 with n = w - 1, against the polynomial integrated term by term."""
    n = window - 1
    return same(init.lagged_moment(window), Fraction(n * n, 4) - Fraction(linear * n, 12) + 1)


ALL_THREE = everywhere("There are three windows, 2, 3 and 4, and each is integrated in full.")

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.fn10.sum",
        FOOTNOTE,
        "For KV shifting 2, alpha1 and alpha2 come from U(0, 1) and alpha3 = 1 - alpha1 - alpha2, and likewise for 3: "
        "the coefficients sum to one.",
        symbolic(
            "windows 2, 3, 4",
            _sums_to_one,
            WINDOWS,
            Control("a coefficient left over", lambda window: _sums_to_one(window, 1)),
        ),
        formula=r"\alpha_w=1-\alpha_1-\cdots-\alpha_{w-1}\Rightarrow\sum_{i=1}^{w}\alpha_i=1",
        coverage=ALL_THREE,
    ),
    mathematical(
        "kv.fn10.second_moment",
        f"{FOOTNOTE}, our addition",
        "The three windows do not start alike: E sum c^2, the factor on the variance of keys, is 2/3, 5/6, 3/2.",
        symbolic(
            "iterated integrals, windows 2, 3, 4",
            lambda window: _second_moment(window, MOMENTS),
            WINDOWS,
            Control("2/3 for all", lambda window: _second_moment(window, EQUAL_MOMENTS)),
        ),
        exact(
            "n^2/4 - 7 n/12 + 1, n = window - 1, windows 2..8",
            _moment_formula,
            [{"window": w} for w in range(2, 9)],
            Control("n/2 for 7 n/12", lambda window: _moment_formula(window, 6)),
        ),
        is_correction=True,
        formula=r"\mathbb{E}\sum_{i=1}^{w}\alpha_i^2=\frac{n^2}{4}-\frac{7n}{12}+1,\quad n=w-1\in\{1,2,3\}",
        coverage=ALL_THREE,
    ),
    mathematical(
        "kv.fn10.oldest",
        f"{FOOTNOTE}, our addition",
        "The oldest coefficient starts negative with chance 0, 1/2, 5/6 for windows 2, 3, 4; its mean is 1/2, 0, -1/2.",
        symbolic(
            "volume of the corner simplex by iterated integration",
            lambda window: _oldest(window, MEANS, NEGATIVES),
            WINDOWS,
            Control("never negative", lambda window: _oldest(window, MEANS, (Fraction(0),) * 3)),
            Control(
                "mean 1/window", lambda window: _oldest(window, tuple(Fraction(1, w) for w in (2, 3, 4)), NEGATIVES)
            ),
        ),
        is_correction=True,
        formula=r"P(\alpha_w<0)=1-\frac{1}{(w-1)!},\quad\mathbb{E}\,\alpha_w=\frac{3-w}{2},\quad w=2,3,4",
        coverage=ALL_THREE,
    ),
)
