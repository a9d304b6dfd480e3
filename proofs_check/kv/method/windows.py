"""Footnote 10 of the KV-shifting paper: how the longer windows start, which Fig. 7b compares."""

from collections.abc import Sequence
from fractions import Fraction

import sympy as sp

from proofs_check.evidence.margin import Margin, identity, same
from proofs_check.ledger.claim import Claim, Control, everywhere
from proofs_check.ledger.mathematical import mathematical, symbolic
from theory.shift import initialisation as init

FOOTNOTE = "KV shifting (both versions), footnote 10 (as the final version numbers it)"
WINDOWS = [{"window": w} for w in (2, 3, 4)]
MOMENTS = {2: Fraction(2, 3), 3: Fraction(5, 6), 4: Fraction(3, 2)}
# Mean of the oldest coefficient, and its chance to be negative.
OLDEST = {2: (sp.S.Half, sp.S.Zero), 3: (sp.S.Zero, sp.S.Half), 4: (-sp.S.Half, sp.Rational(5, 6))}


def _sums_to_one(window: int, plus: int = 0) -> Margin:
    return identity(sum(init.coefficients(window)[1]) + plus, sp.Integer(1))


def _integral(polynomial: sp.Expr, uniforms: Sequence[sp.Symbol]) -> sp.Expr:
    return sp.integrate(sp.expand(polynomial), *((u, 0, 1) for u in uniforms))


def _second_moment(window: int, linear: int = 7) -> Margin:
    """E sum c^2 by integration, and as theory has it: n^2/4 - 7 n/12 + 1, n = w - 1; that is 2/3, 5/6, 3/2."""
    uniforms, row = init.coefficients(window)
    n = window - 1
    expected = Fraction(n * n, 4) - Fraction(linear * n, 12) + 1
    moments = _integral(sum(c**2 for c in row), uniforms), init.lagged_moment(window)
    return same((*moments, expected), (MOMENTS[window],) * 3)


def _oldest(window: int, mean: sp.Expr, negative: sp.Expr) -> Margin:
    """Mean of the oldest coefficient, and its chance to be negative: one less the volume of a corner simplex."""
    uniforms, row = init.coefficients(window)
    left = [(u, 0, 1 - sum(uniforms[:index])) for index, u in enumerate(uniforms)]
    return same((_integral(row[-1], uniforms), 1 - sp.integrate(1, *left[::-1])), (mean, negative))


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
            "iterated integrals against n^2/4 - 7 n/12 + 1, n = window - 1, windows 2, 3, 4",
            _second_moment,
            WINDOWS,
            Control("n/2 for 7 n/12", lambda window: _second_moment(window, 6)),
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
            lambda window: _oldest(window, *OLDEST[window]),
            WINDOWS,
            Control("never negative", lambda window: _oldest(window, OLDEST[window][0], sp.S.Zero)),
            Control("mean 1/window", lambda window: _oldest(window, sp.Rational(1, window), OLDEST[window][1])),
        ),
        is_correction=True,
        formula=r"P(\alpha_w<0)=1-\frac{1}{(w-1)!},\quad\mathbb{E}\,\alpha_w=\frac{3-w}{2},\quad w=2,3,4",
        coverage=ALL_THREE,
    ),
)
