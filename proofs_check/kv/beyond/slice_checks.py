"""Margins for the critical points of Figure 2's slice on all of R^2."""

from fractions import Fraction
from functools import cache

import numpy as np
import sympy as sp

from dynamics.flow.trajectories import gradient_flow
from proofs_check.evidence.certified import nonzero_on, proved_on, unique_zero
from proofs_check.evidence.margin import Margin, Undecided, at_most, ball_at_least, identity, same, worst
from proofs_check.ledger.mathematical import identities
from theory.landscape import slice_critical as critical
from theory.landscape.slice_symbolic import OWN as A
from theory.landscape.slice_symbolic import PREVIOUS as B
from theory.landscape.slice_symbolic import exact_terms, loss
from theory.landscape.symbolic import interior_table
from theory.lowering.ball import BallFunction, to_ball
from theory.lowering.box import Box, Exact
from theory.lowering.precision import working
from theory.symbols import alpha1, beta1, n_tokens

x = critical.x
RIGHT = "0.7055"  # beyond it alpha1 < .34894 and L falls with beta1
HALF = sp.Rational(1, 2)
rise = sp.Symbol("rise", nonnegative=True)  # (2A - B) / S, any number in [0, 1]
tangent = sp.Symbol("tangent", real=True)
Sides = tuple[float, float]


def condition(place: int, factor: int = 1) -> Margin:
    """Class by class: S dD/dbeta1 = q, and S dD/dalpha1 + beta1 (rise - 1) q = beta1 K - R; then the forms in x."""
    _, d = exact_terms(interior_table())[place + 1]
    q, k, r = critical.SLOPES[place], critical.K[place], critical.R[place]
    form = critical.form()
    along = critical.PARTITION * sp.diff(d, alpha1) + factor * beta1 * (critical.RISE - 1) * q
    in_x = [critical.to_alpha(part[place]) for part in (form.exponents, form.slopes, form.k, form.r)]
    slope = critical.PARTITION * sp.diff(d, beta1)
    return identities([slope, along, in_x[0], in_x[1] * A, *in_x[2:]], [q, beta1 * k - r, d, q, k, r])


def slope_forms(sign: int = 1) -> Margin:
    """The slopes of S D in beta1 as functions of A > 0: A q_i rises with A and is 0 where 2 A^2 + A = 2 e."""
    q_i, q_e, q_o = critical.SLOPES
    edge = A * (1 - 1 / A) ** 2 + (sp.E - 1) / A
    return identities([A * q_i, -q_e, q_o], [2 * A**2 + A - sign * 2 * sp.E, sign * edge, sign * (1 - B)])


def threshold(low: str, high: str) -> Margin:
    """2 x^2 + x - 2 e changes sign between x = e^low and e^high."""
    values = [2 * x * x + x - 2 * to_ball(1).exp() for x in (to_ball(low).exp(), to_ball(high).exp())]
    return worst([ball_at_least(-values[0], strict=True), ball_at_least(values[1], strict=True)])


def _in_x(coefficients: critical.Classes) -> list[sp.Expr]:
    """Coefficients in x = e^{-alpha1} and rise."""
    return [e.subs(critical.RISE, rise).subs(alpha1, -sp.log(x)) for e in coefficients]


MIDDLE = {x: ("0.3678", RIGHT), rise: (0, 1)}  # B >= 1: x >= 1/e > .3678; `rise` stands for any T >= 4


def tail(which: str, far: int = 10, tokens: tuple[Exact, Exact] = (4, 10)) -> Margin:
    """No critical point with x <= RIGHT outside -far <= beta1 <= 1/2; each piece says why."""
    q, k, r = (_in_x(c) for c in (critical.SLOPES, critical.K, critical.R))
    margins: list[Margin] = []
    if which == "rise":  # 0 <= rise < 1
        margins = [proved_on(Box({x: (0, RIGHT)}), 2 - sp.E * x**2),
                   identity(1 - critical.RISE, (2 * B + n_tokens - 2) / critical.PARTITION)]  # fmt: skip
    if which == "B >= 1, beta1 >= 1/2":  # each term of beta1 K - R grows with beta1 and is positive at 1/2
        box = Box(MIDDLE)
        margins = [proved_on(box, k[c] / 2 - r[c]) for c in range(3)]
        margins += [proved_on(Box({x: MIDDLE[x]}), term) for term in (k[0], k[2])]
    if which == "B <= 1, beta1 >= 1/2":  # w_i >= w_e / 2, so that sum w q > 0
        d_i, d_e, _ = (d for _, d in exact_terms(interior_table())[1:])
        gap = (B - A) + beta1 * (3 * A - B - 1)
        margins = [identity((d_i - d_e) * critical.PARTITION, gap),
                   identity(gap.subs(beta1, HALF), (A + B - 1) / 2)]  # fmt: skip
        margins += [identity(critical.SLOPES.repeated / 2 + critical.SLOPES.edge, sp.Rational(5, 2) - 2 * B)]
    if which == "B >= 1, beta1 <= -far":  # beta1 K - R + c q < 0 for each class; c leaves w_e with 2 beta1 (B - 1)
        c = r[1] / q[1]
        box = Box(MIDDLE)
        margins = [proved_on(box, -term) for term in (-far * k[0] - r[0] + c * q[0], -far * k[2] + c * q[2])]
    if which == "B <= 1, beta1 <= -far":  # sum w q / w_e grows with beta1 and is negative at -far
        form = critical.form()
        d, slopes = form.exponents, form.slopes
        total = sp.exp(d.repeated - d.edge) * slopes.repeated / 2 + slopes.edge
        total += (n_tokens - 4) / 2 * sp.exp(d.other - d.edge) * slopes.other
        margins = [proved_on(Box({x: (0, "0.368"), n_tokens: tokens}), -total.subs(beta1, -far))]
    return worst(margins)


def strip(low: Exact, high: Exact, far: int = 10) -> Box:
    """x in [0, RIGHT], beta1 in [-far, 1/2], T in [low, high]: what the tails leave."""
    return Box({x: (0, RIGHT), beta1: (-far, HALF), n_tokens: (low, high)})


def none_on(box: Box) -> Margin:
    """No critical point in a box of (x, beta1, T); one that is known to lie in there refutes it."""
    low, high = box[n_tokens.name]
    for place in (zero(*known) for known in KNOWN if low <= known[0] <= high):
        if not without(place, box):
            return Margin(-1.0, "none", str(place))
    return nonzero_on(box, *critical.conditions())


def none(low: Exact, high: Exact) -> Margin:
    """No critical point with x in [0, RIGHT], -10 <= beta1 <= 1/2 for any real T in [low, high]."""
    return none_on(strip(low, high))


def _around(a: str, b: str) -> Box:
    """A box about alpha1 = a, beta1 = b, in (x, beta1)."""
    middle = Fraction(str(round(float(np.exp(-float(a))), 4)))
    reach = Fraction(1, 20) if abs(float(b)) < 20 else Fraction(1)
    near = Fraction(1, 500)
    return Box({x: (middle - near, middle + near), beta1: (Fraction(b) - reach, Fraction(b) + reach)})


@cache
def zero(tokens: int, a: str, b: str) -> Box:
    """A small box about the only critical point near (a, b), in (x, beta1)."""
    return unique_zero(_around(a, b), *critical.conditions(sp.Integer(tokens)))


KNOWN = ((11, "1.1158", "-0.7714"), (15, "0.9768", "-0.2851"), (15, "1.3192", "-1.7223"))


@cache
def _local() -> BallFunction:
    """L and its second derivatives on the slice, as functions of alpha1, beta1 and T."""
    expr = loss(exact_terms(interior_table()))
    pairs = ((alpha1, alpha1), (alpha1, beta1), (beta1, beta1))
    return BallFunction([expr, *(sp.diff(expr, *pair) for pair in pairs)], (alpha1.name, beta1.name, n_tokens.name))


def point(tokens: int, a: str, b: str, kind: str, digits: int = 4) -> Margin:
    """Exactly one critical point near (a, b), within half a unit of the digits given, a saddle or a minimum."""
    inverse, place = zero(tokens, a, b).balls()
    alpha = -inverse.log()
    _, aa, ab, bb = _local()(alpha, place, to_ball(tokens))
    sign = 1 if kind == "minimum" else -1
    slack = to_ball(Fraction(6, 10**digits) / 10)
    near = [slack - abs(alpha - to_ball(a)), slack * max(1, abs(int(float(b)))) - abs(place - to_ball(b))]
    shape = [sign * (aa * bb - ab * ab), *([aa] if kind == "minimum" else [])]
    return worst([ball_at_least(ball, strict=True) for ball in (*near, *shape)])


def excess(tokens: int, a: str, b: str, low: str, high: str) -> Margin:
    """L - log T at the critical point near (a, b)."""
    inverse, place = zero(tokens, a, b).balls()
    found = _local()(-inverse.log(), place, to_ball(tokens))[0] - to_ball(tokens).log()
    return worst([ball_at_least(found - to_ball(low)), ball_at_least(to_ball(high) - found)])


@cache
def only_two(tokens: int, far: int, first: tuple[str, str], second: tuple[str, str]) -> Margin:
    """One critical point in each of two boxes, none in the rest of the strip; tails exclude the rest of the plane."""
    rest, holes = [strip(tokens, tokens, far)], [_around(*at) for at in (first, second)]
    for at, hole in zip((first, second), holes, strict=True):
        zero(tokens, *at)  # Undecided if it is not the only one there
        rest = [part for box in rest for part in without(box, hole)]
    found = worst([tail("B <= 1, beta1 <= -far", far, (tokens, tokens)), *map(none_on, rest)])
    if found.value >= 0 and without(*holes) != holes[:1]:
        raise Undecided("the two boxes meet: their critical points may be one")
    return found


def without(box: Box, hole: Box) -> list[Box]:
    """The box less the hole, as boxes; either has no end on sides that only the other names."""
    names = [name for name in box.names if name in hole.names]
    if any(box[n][1] <= hole[n][0] or hole[n][1] <= box[n][0] for n in names):
        return [box]
    parts = []
    for name in names:
        low, high = box[name]
        if low < hole[name][0]:
            parts.append(box.with_side(name, low, hole[name][0]))
        if hole[name][1] < high:
            parts.append(box.with_side(name, hole[name][1], high))
        box = box.with_side(name, max(low, hole[name][0]), min(high, hole[name][1]))
    return parts


@cache
def fold() -> Box:
    """A small box about the point where two critical points meet, (1, tangent) being in the kernel.

    That this zero is regular makes it a fold.
    """
    system = list(critical.conditions())
    system += [sp.diff(e, x) + tangent * sp.diff(e, beta1) for e in system]
    middle = {x: "0.34249", beta1: "-0.63479", n_tokens: "10.8112", tangent: "8.8321"}
    near = Fraction(1, 20000)
    return unique_zero(Box({s: (Fraction(m) - near, Fraction(m) + near) for s, m in middle.items()}), *system)


def fold_at(name: str, printed: str, tolerance: str) -> Margin:
    """|printed - enclosure| <= tolerance at the fold, for T, alpha1 or beta1."""
    with working(96):
        balls = dict(zip(fold().names, fold().balls(), strict=True))
        value = {"T": balls["n_tokens"], "beta1": balls["beta1"], "alpha1": -balls["x"].log()}[name]
        return ball_at_least(to_ball(tolerance) - abs(value - to_ball(printed)))


@cache
def share(tokens: int, a: Sides = (0.0, 1.0), b: Sides = (0.0, 1.0), steps: int = 10, around: float = 1.0) -> Margin:
    """Share of a grid of slice starts, corners included, whose free slice flow reaches loss 0.1 by t = 2e4.

    It is within .01 of `around`, and where that is 1 it is 1.
    """
    one, two = (part.ravel() for part in np.meshgrid(np.linspace(*a, steps + 1), np.linspace(*b, steps + 1)))
    rows = np.stack([one, 1 - one, two, 1 - two], axis=1)
    found = gradient_flow(rows, tokens, 2e4, times=[2e4], mode="slice", levels=[0.1], rtol=1e-6, atol=1e-8)
    reached = Fraction(int(np.sum(~np.isnan(found.level_times[0]))), len(rows))
    return same(reached, 1) if around == 1 else at_most(abs(reached - Fraction(str(around))), Fraction(1, 100))
