"""Margins of what Figure 2 shows: contour lines, directions of descent, the minimiser; the claims are in `figure2`."""

from fractions import Fraction

import numpy as np
import sympy as sp
from flint import arb

from proofs_check.evidence.certified import positive_area, proved_on
from proofs_check.evidence.margin import Margin, at_most, ball_at_least, identity, less, worst
from proofs_check.ledger.mathematical import identities
from theory.landscape import slice_symbolic
from theory.landscape.grid import angle_between, slice_grid
from theory.landscape.symbolic import interior_table
from theory.lowering.ball import BallFunction, to_ball
from theory.lowering.box import Box
from theory.symbols import alpha1, beta1

UNIT = Box({alpha1: (0, 1), beta1: (0, 1)})
LINE = Box({alpha1: (0, 1)})
OWN, PREVIOUS = slice_symbolic.OWN, slice_symbolic.PREVIOUS


def at(expr: sp.Expr, a: Fraction, b: Fraction) -> arb:
    return BallFunction([expr], ("alpha1", "beta1"))(to_ball(a), to_ball(b))[0]


def exact(tokens: int) -> slice_symbolic.Terms:
    return slice_symbolic.exact_terms(interior_table(sp.Integer(tokens)))


def leading(expected: sp.Expr = beta1 * (1 - PREVIOUS)) -> Margin:
    """T (L - log T) tends to beta1 (1 - e^{1 - alpha1}), which runs from 1 - e at (0, 1) to 0 at (1, 1)."""
    limit = slice_symbolic.leading_excess()
    ends = limit.subs({alpha1: 1, beta1: 1}) - limit.subs({alpha1: 0, beta1: 1})
    return identities([limit, ends], [expected, sp.E - 1])


def sparser(fewer: int, more: int) -> Margin:
    """max L - min L on the box is smaller for `more` tokens: two point values against a proved enclosure."""
    grid = slice_grid(more, 41).loss
    gap = (np.ptp(slice_grid(fewer, 41).loss) - np.ptp(grid)) / 5
    low, high = (sp.Rational(int(x * 1e6), 10**6) for x in (grid.min() - gap, grid.max() + gap))
    loss = slice_symbolic.loss(exact(more))
    inside = [proved_on(UNIT, loss - low), proved_on(UNIT, high - loss)]
    other = slice_symbolic.loss(exact(fewer))
    spread = at(other, Fraction(1), Fraction(0)) - at(other, Fraction(0), Fraction(1))
    return worst([*inside, ball_at_least(spread, Fraction(int((high - low).p), int((high - low).q)), strict=True)])


def flow(first: sp.Expr = -beta1 * PREVIOUS, second: sp.Expr = PREVIOUS - 1) -> Margin:
    """T times the slice descent tends to (-beta1 e^{1 - alpha1}, e^{1 - alpha1} - 1)."""
    return identities(slice_symbolic.limit_flow(), (first, second))


def slower(fewer: int, more: int) -> Margin:
    """The mean speed of descent over the box is smaller for `more` tokens."""
    speeds = [np.hypot(g.d_alpha1, g.d_beta1).mean() for g in (slice_grid(more, 101), slice_grid(fewer, 101))]
    return less(float(speeds[0]), float(speeds[1]))


def wrong_way(tokens: int, parameter: str, low: str, high: str, depth: int, terms=exact) -> Margin:
    """The area of the box where descent moves `parameter` away from (0, 1) lies in [low, high]."""
    symbol, sign = (alpha1, -1) if parameter == "alpha1" else (beta1, 1)
    least, most = positive_area(sign * slice_symbolic.slope_sign(terms(tokens), symbol), alpha1, beta1, depth)
    return worst([at_most(Fraction(low), least), at_most(most, Fraction(high))])


def limit_signs(first: sp.Expr = -beta1 * PREVIOUS, end: int = 1) -> Margin:
    """In the limit alpha1 never grows (its velocity is -beta1 e^{1 - alpha1}) and beta1 never falls on the box.

    The velocity of beta1 falls strictly from alpha1 = 0 on and ends at 0.
    """
    velocity = slice_symbolic.limit_flow()
    falls = proved_on(LINE, sp.expand(-sp.diff(velocity[1], alpha1)))
    return worst([identities([velocity[0], velocity[1].subs(alpha1, end)], [first, 0]), falls])


def conserved(quantity: sp.Expr | None = None) -> Margin:
    """beta1^2 + 2 alpha1 - 2 e^{alpha1 - 1} does not change along the limit flow."""
    kept = slice_symbolic.conserved() if quantity is None else quantity
    first, second = slice_symbolic.limit_flow()
    return identity(sp.diff(kept, alpha1) * first + sp.diff(kept, beta1) * second, 0)


def near_limit(tokens: int, degrees: float) -> Margin:
    """Mean angle between descent at T and its limit direction, on a 101 x 101 grid."""
    grid = slice_grid(tokens, 101)
    b = np.exp(1 - grid.alpha1)[:, None]
    limit = grid._replace(d_alpha1=b * grid.beta1, d_beta1=(1 - b) + 0 * grid.beta1)
    return at_most(float(np.degrees(angle_between(grid, limit)).mean()), degrees)
