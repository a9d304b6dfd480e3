"""Margins for the number of critical points on Figure 2's slice as a function of a real T: none, then one, then two.

Near the fold write g = Y f for a constant matrix Y, f the two conditions of `theory.landscape.slice_critical`. If g1
grows with x and changes sign across the box `NEAR`, its zeros there are x = X(beta1, T), and the critical points are
the zeros of h(beta1, T) = g2(X, beta1, T). If h grows with T and is strictly concave in beta1, and the fold (h =
dh/dbeta1 = 0 at T_c) lies in the box, then h <= h(., T_c) <= 0 for T <= T_c, with equality at the fold alone: no
critical point there for T < T_c, one at T_c, and two beyond as long as h < 0 at both ends of the box (at the last T: h
grows with it).
"""

from fractions import Fraction
from functools import cache

import sympy as sp

from proofs_check.evidence.certified import nonzero_on, proved_on
from proofs_check.evidence.margin import Margin, ball_at_least, worst
from proofs_check.kv.beyond.slice_checks import fold, none_on, strip, tail, without, x
from theory.landscape.slice_critical import conditions
from theory.lowering.ball import BallFunction
from theory.lowering.box import Box, Exact, exact, to_ball
from theory.symbols import beta1, n_tokens

FAR = 10
CENTER = {x: Fraction(137, 400), beta1: Fraction(-1587, 2500)}
REACH = {x: Fraction(1, 25), beta1: Fraction(1, 4)}
TOKENS = (10, "11.2")
LAST = "11.2"  # the last T for which both critical points lie in `NEAR`
# Inverse of d(f1, f2) / d(x, T) at the fold, rounded; any regular matrix is allowed.
Y = sp.Matrix([["-851/10000", "-945/100000"], ["8563/1000", "-848/1000"]])


def near(low: Exact = TOKENS[0], high: Exact = TOKENS[1], shrink: Exact = 1) -> Box:
    reach = {s: r * Fraction(shrink) for s, r in REACH.items()}
    return Box({**{s: (CENTER[s] - reach[s], CENTER[s] + reach[s]) for s in CENTER}, n_tokens: (low, high)})


@cache
def _turned() -> tuple[sp.Expr, sp.Expr]:
    assert Y.det() != 0
    return tuple(Y * sp.Matrix(conditions()))


@cache
def normal_form(which: str, sign: int = 1) -> Margin:
    """One of the inequalities on `near()` that make the critical points there the zeros of a concave h (sign = 1)."""
    g1, g2 = _turned()
    slope, box = sp.diff(g1, x), near()
    if which == "g1 grows with x":
        return proved_on(box, sign * slope)
    if which == "g1 changes sign":
        low, high = (box.with_side("x", end, end) for end in box["x"])
        return worst([proved_on(low, -sign * g1), proved_on(high, sign * g1)])
    if which == "h grows with T":
        growth = sp.diff(g2, n_tokens) * slope - sp.diff(g2, x) * sp.diff(g1, n_tokens)
        return proved_on(box, sign * growth, slopes=False)
    return proved_on(box, -sign * _curvature(), slopes=False)


@cache
def _curvature() -> sp.Expr:
    """g1_x^3 d2h/dbeta1^2, by implicit differentiation twice."""
    g1, g2 = _turned()
    slope, along = sp.diff(g1, x), sp.diff(g1, beta1)
    bends = [
        sp.diff(g, beta1, 2) * slope**2 - 2 * sp.diff(g, x, beta1) * along * slope + sp.diff(g, x, 2) * along**2
        for g in (g1, g2)
    ]
    return slope * bends[1] - sp.diff(g2, x) * bends[0]


PIECES = ("g1 grows with x", "g1 changes sign", "h grows with T", "h is concave")


def ends(tokens: Exact) -> Margin:
    """h < 0 at both ends of `near()`, so that two critical points lie between them: g2 on a bracket of x = X."""
    margins = []
    for end in near()["beta1"]:
        place = {beta1: sp.Rational(end), n_tokens: sp.Rational(tokens)}
        g = BallFunction([e.subs(place) for e in _turned()], [x.name])
        low, high = near()["x"]
        for _ in range(10):
            middle = (low + high) / 2
            low, high = (middle, high) if g(to_ball(middle))[0] < 0 else (low, middle)
        margins += [ball_at_least(sign * g(to_ball(at))[0], strict=True) for sign, at in ((-1, low), (1, high))]
        margins.append(ball_at_least(-g(to_ball(low, high))[1], strict=True))
    return worst(margins)


def fold_near(shift: Exact = 0) -> Margin:
    """The fold lies in `near()`; `shift` moves it along beta1."""
    box, place = near(), fold()
    gaps = [min(place[name][0] - box[name][0], box[name][1] - place[name][1]) for name in ("x", "n_tokens")]
    low, high = (end + Fraction(shift) for end in place["beta1"])
    return Margin(float(min(*gaps, low - box["beta1"][0], box["beta1"][1] - high)), "fold", "inside the box")


@cache
def none_elsewhere(low: Exact, high: Exact, shrink: Exact = 1) -> Margin:
    """No critical point outside `near()` for any real T in [low, high]: in the strip, and by the tails beyond it."""
    parts = map(none_on, without(strip(low, high, FAR), near(low, high, shrink)))
    return worst([*parts, tail("B <= 1, beta1 <= -far", FAR, (low, high))])


@cache
def steady(low: Exact, high: Exact) -> Margin:
    """For real T in [low, high] each critical point is regular and none crosses the edge of the strip.

    So their number is the same for all these T: f1, f2 or det d(f1, f2)/d(x, beta1) is not 0 in the strip, f1 or f2 on
    its edge; beyond it, the tails. The fold, where all three vanish, refutes it.
    """
    first, last = fold()["n_tokens"]
    if exact(low) <= first and last <= exact(high):
        return Margin(-1.0, str(fold()), "a critical point that is not regular")
    f1, f2 = conditions()
    turn = sp.diff(f1, x) * sp.diff(f2, beta1) - sp.diff(f1, beta1) * sp.diff(f2, x)
    far = max(FAR, int(exact(high) ** 2 / 80) + 1)
    whole = strip(low, high, far)
    edges = [whole.with_side(name, end, end) for name in (x.name, beta1.name) for end in whole[name]]
    inside = nonzero_on(whole, f1, f2, turn)
    return worst([inside, *map(none_on, edges), tail("B <= 1, beta1 <= -far", far, (low, high))])
