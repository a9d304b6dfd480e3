"""Margins for a region of the induction route that gradient flow never leaves, with bounds for the other parameters.

The region, for one T and beta1 >= 10^power: A = e^{alpha1} <= `most`, |g - (T - 2)| <= `eta` and
-eps <= c - (T - 1)/2 - A <= A^2/2 + eps, with c = e^{alpha2} / beta1^2 and g = e^{beta2} beta1. beta1 grows in it, and
at each wall the flow points inward, so that no path leaves it. `eps` and `eta` shrink with beta1 as its log over it.
"""

from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np
import sympy as sp

from proofs_check.evidence.certified import proved_on
from proofs_check.evidence.margin import Margin, at_most, worst
from proofs_check.kv.beyond.slice_checks import _late
from theory.landscape.late_field import c, combination, g, own, r, u
from theory.lowering.box import Box

WALLS = ("beta1 rises", "A falls", "c above", "c below", "g above", "g below")


class Region(NamedTuple):
    most: Fraction
    eps: Fraction
    eta: Fraction


def region(tokens: int, power: int) -> Region:
    most, eps, eta = {8: ("1/4", "1/100", "1/20"), 30: ("3/4", "1/20", "1/10")}[tokens]
    scale = Fraction(power, 4 * 10 ** (power - 4))
    return Region(Fraction(most), Fraction(eps) * scale, Fraction(eta) * scale)


def _sides(tokens: int, power: int, shift: int) -> tuple[dict, sp.Expr, sp.Expr]:
    """The box of u, r, A, c, g that holds the region, and c at its two walls, functions of A."""
    most, eps, eta = region(tokens, power)
    base = sp.Rational(tokens - 1, 2) + shift + own
    low, high = base - sp.Rational(eps), base + own**2 / 2 + sp.Rational(eps)
    # r = u (log g - log beta1), with log(beta1) / beta1 at most its value 2.3026 power / 10^power at the start
    box = {u: (0, Fraction(1, 10**power)), r: (Fraction(-24 * power, 10 ** (power + 1)), Fraction(4, 10**power)),
           own: (0, most), g: (tokens - 2 - eta, tokens - 2 + eta),
           c: (low.subs(own, 0), high.subs(own, sp.Rational(most)))}  # fmt: skip
    return box, low, high


@cache
def wall(which: str, tokens: int, power: int, shift: int = 0) -> Margin:
    """The flow points inward at one wall; `shift` is added to c throughout. Each velocity is times d beta1 / dt > 0."""
    box, low, high = _sides(tokens, power, shift)
    at, sign = {}, 1
    if which == "beta1 rises":
        row = (0, 0, -1, 0)
    elif which == "A falls":
        row = (1, 0, 0, 0)
    elif which in ("c above", "c below"):
        # along a wall c = w(A): dc - w'(A) dA > 0 or < 0, with dA = -A^2 d(1/A)
        at[c], sign = (high, 1) if which == "c above" else (low, -1)
        row = (-sp.diff(at[c], own) * own**2, c, -2 * c, 0)
    else:
        at[g], sign = (sp.Rational(box[g][1]), 1) if which == "g above" else (sp.Rational(box[g][0]), -1)
        row = (0, 0, 1, 1)
    expr = sign * combination(tokens, row, at)
    return proved_on(Box({s: side for s, side in box.items() if s not in at}), expr)


@cache
def growth(tokens: int, power: int, factor: int = 2) -> Margin:
    """d e^{-alpha1} / d log beta1 is within 1 % of 2 / c everywhere in the region."""
    box, _, _ = _sides(tokens, power, 0)
    few = sp.Rational(1, 50)
    rows = (-c, 0, -(factor + few), 0), (c, 0, factor - few, 0)
    return worst([proved_on(Box(box), combination(tokens, row, {})) for row in rows])


def enters(tokens: int, power: int, shift: int = 0) -> Margin:
    """The path that `theory.landscape.late_rates` follows from beta1 = 3 lies in the region at beta1 = 10^power."""
    most, eps, eta = (float(x) for x in region(tokens, power))
    beta1 = 10.0**power
    alpha1, alpha2, beta2 = _late(tokens, beta1)[1]
    a, gap = np.exp(alpha1), np.exp(alpha2) / beta1**2 - (tokens - 1 + shift) / 2
    return worst([at_most(a, most), at_most(-eps, gap - a), at_most(gap - a, a * a / 2 + eps),
                  at_most(abs(np.exp(beta2) * beta1 - (tokens - 2)), eta)])  # fmt: skip
