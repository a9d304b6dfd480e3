"""How many critical points Figure 2's slice has, for every real T: none, one at the saddle-node, then two.

Near the fold write g = Y f for a constant matrix Y, f the two conditions of `theory.landscape.slice_critical`. If g1
grows with x and changes sign across the box `near()`, its zeros there are x = X(beta1, T), and the critical points are
the zeros of h(beta1, T) = g2(X, beta1, T). If h grows with T and is strictly concave in beta1, and the fold (h =
dh/dbeta1 = 0 at T_c) lies in the box, then h <= h(., T_c) <= 0 for T <= T_c, with equality at the fold alone: no
critical point there for T < T_c, one at T_c, and two beyond as long as h < 0 at both ends of the box (at the last T: h
grows with it).
"""

from fractions import Fraction
from functools import cache
from itertools import pairwise

import sympy as sp

from proofs_check.evidence.certified import nonzero_on, proved_on
from proofs_check.evidence.margin import Margin, ball_at_least, worst
from proofs_check.kv.beyond import slice_checks as slices
from proofs_check.kv.beyond.slice_checks import fold, none_on, strip, tail, without, x
from proofs_check.ledger.claim import Claim, Control, Effort, everywhere
from proofs_check.ledger.mathematical import certified, exact, mathematical
from theory.landscape.slice_critical import conditions
from theory.lowering.ball import BallFunction
from theory.lowering.box import Box, Exact, to_ball
from theory.symbols import beta1, n_tokens

SOURCE = "KV shifting (both versions), Section 3.2, Figure 2, our addition"
SLICE = "alpha2 = 1 - alpha1, beta2 = 1 - beta1, all of R^2; interior position, L in closed form (kv.eq10.corrected)"
TRUE = {"is_correction": True}
T_C = "10.8113"  # above the fold, by kv.beyond.slice.fold
AROUND = "|e^{-alpha1} - .3425| <= .04, |beta1 + .6348| <= .25"
KNOTS = ("11.2", "11.7", "12.5", "13.5", 15, 17, 20, 25, 30, 37, 45, 55, 67, 80, 100)
FAR = 10
CENTER = {x: Fraction(137, 400), beta1: Fraction(-1587, 2500)}
REACH = {x: Fraction(1, 25), beta1: Fraction(1, 4)}
TOKENS = (10, "11.2")
LAST = "11.2"  # the last T for which both critical points lie in `near()`
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
    if Fraction(low) <= first and last <= Fraction(high):
        return Margin(-1.0, str(fold()), "a critical point that is not regular")
    f1, f2 = conditions()
    turn = sp.diff(f1, x) * sp.diff(f2, beta1) - sp.diff(f1, beta1) * sp.diff(f2, x)
    far = max(FAR, int(Fraction(high) ** 2 / 80) + 1)
    whole = strip(low, high, far)
    edges = [whole.with_side(name, end, end) for name in (x.name, beta1.name) for end in whole[name]]
    inside = nonzero_on(whole, f1, f2, turn)
    return worst([inside, *map(none_on, edges), tail("B <= 1, beta1 <= -far", far, (low, high))])


def _below(effort: Effort) -> list[dict]:
    rows = [{"low": "10.5", "high": T_C}, {"low": 10, "high": "10.5"}]
    return rows[:1] if effort is Effort.QUICK else rows


def _above(effort: Effort) -> list[dict]:
    return [{"low": "10.9", "high": 11}] if effort is Effort.QUICK else [{"low": "10.8", "high": LAST}]


def _slabs(effort: Effort) -> list[dict]:
    rows = [{"low": low, "high": high} for low, high in pairwise(KNOTS)]
    return rows[4:5] if effort is Effort.QUICK else rows


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.beyond.slice.normal_form", SOURCE,
        "Near the saddle-node the critical points are the zeros of a function h(beta1, T) that grows with T and is "
        "strictly concave in beta1, with h = dh/dbeta1 = 0 at T_c: none for T < T_c, one at T_c, two for T_c < T <= "
        "11.2.",
        certified("signs of a slope and of the first and second derivatives of h, as found implicitly",
                  normal_form, tuple({"which": which} for which in PIECES),
                  Control("it falls", lambda which: normal_form(which, -1),
                          ({"which": "h grows with T"},))),
        exact("the saddle-node lies inside, by Krawczyk", fold_near, ({},),
              Control("1/3 further on", lambda: fold_near("1/3"))),
        exact("h < 0 at both ends in beta1, in balls", ends, ({"tokens": LAST},),
              Control("T = 11.5", points=({"tokens": "11.5"},))),
        hypotheses=(SLICE, AROUND, "10 <= T <= 11.2"),
        coverage=everywhere("The signs hold on the whole box in e^{-alpha1}, beta1 and T; h <= h(., T_c) <= 0 up to "
                            "T_c, and a concave h > 0 somewhere and < 0 at both ends has two zeros."),
        formula=r"\partial_Th>0,\qquad\partial_{\beta_1}^2h<0,\qquad h(T_c)=\partial_{\beta_1}h(T_c)=0",
        **TRUE,
    ),
    mathematical(
        "kv.beyond.slice.none", SOURCE,
        "For every real T with 4 <= T < T_c = 10.8112 the loss has no critical point on the slice, on all of R^2; at "
        "T_c it has one.",
        certified("branch and bound over e^{-alpha1} in [0, .7055], beta1 in [-10, 1/2] and T in [4, 10], re-checked; "
                  "the rest of the plane by the tails", slices.none, ({"low": 4, "high": 10},),
                  Control("T = 11", points=({"low": 11, "high": 11},))),
        certified("the same for T in [10, 10.8113], but for a neighbourhood of the saddle-node", none_elsewhere,
                  _below,
                  Control("a quarter of that, at T = 11", lambda low, high: none_elsewhere(11, 11, "1/4"))),
        hypotheses=(SLICE, "4 <= T <= T_c, real"),
        coverage=everywhere("Boxes in e^{-alpha1}, beta1 and T fill the strip for every real T, the tails are "
                            "kv.beyond.slice.tails, and the hole left about the fold is kv.beyond.slice.normal_form."),
        note="In the neighbourhood of the saddle-node by kv.beyond.slice.normal_form; T_c by kv.beyond.slice.fold.",
        formula=r"\nabla L\ne 0\quad(4\le T<T_c)",
        **TRUE,
    ),
    mathematical(
        "kv.beyond.slice.pair", SOURCE,
        "For every real T with T_c < T <= 100 the slice has exactly two critical points on R^2, both regular: a saddle "
        "and a minimum, as at T = 15.",
        certified("none for T in [10.8, 11.2] but in the neighbourhood of the saddle-node", none_elsewhere,
                  _above,
                  Control("a quarter of that, at T = 11", lambda low, high: none_elsewhere(11, 11, "1/4"))),
        certified("beyond, each critical point is regular and none leaves the strip, so their number stays",
                  steady, _slabs, Control("across T_c", points=({"low": "10.8", "high": 11},))),
        hypotheses=(SLICE, "T_c < T <= 100, real"),
        coverage=everywhere("Slabs in T fill [11.2, 100] and every critical point in them is regular, so that the "
                            "number at T = 15 (kv.beyond.slice.two) is that of all; below 11.2 the normal form."),
        note="In the neighbourhood of the saddle-node by kv.beyond.slice.normal_form; at T = 300 kv.beyond.slice.two "
        "counts two. With --quick only 10.9 <= T <= 11 and 15 <= T <= 17 are searched again.",
        formula=r"\#\{\nabla L=0\}=2\quad(T_c<T\le 100)",
        **TRUE,
    ),
)
