"""Section 3.2, Figure 2: contour lines, directions of descent, the minimiser, for T >= 4."""

from fractions import Fraction

import numpy as np
import sympy as sp
from flint import arb

from proofs_check.evidence.certified import positive_area, proved_on
from proofs_check.evidence.margin import Margin, at_most, identity, less, worst
from proofs_check.kv.landscape import box_checks as box
from proofs_check.ledger.claim import Claim, Control, Effort, everywhere
from proofs_check.ledger.mathematical import ONCE, certified, exact, identities, mathematical, sampled, symbolic
from theory.landscape import slice_symbolic
from theory.landscape.grid import slice_grid
from theory.landscape.printed import EQUATION
from theory.landscape.slice_symbolic import OWN, PREVIOUS
from theory.landscape.symbolic import interior_table
from theory.lowering.ball import BallFunction, to_ball
from theory.lowering.box import Box
from theory.symbols import alpha1, beta1

SECTION = "KV shifting (both versions), Section 3.2, Figure 2"
BOX = "0 <= alpha1, beta1 <= 1"
INTERIOR = "2 <= i <= T - 2"
SLICE = "alpha2 = 1 - alpha1, beta2 = 1 - beta1"
UNIT = Box({alpha1: (0, 1), beta1: (0, 1)})
LINE = Box({alpha1: (0, 1)})


def at(expr: sp.Expr, a: Fraction | int, b: Fraction | int) -> arb:
    return BallFunction([expr], ("alpha1", "beta1"))(to_ball(a), to_ball(b))[0]


def exact_terms(tokens: int) -> slice_symbolic.Terms:
    return slice_symbolic.exact_terms(interior_table(sp.Integer(tokens)))


def leading(expected: sp.Expr = beta1 * (1 - PREVIOUS)) -> Margin:
    """T (L - log T) tends to beta1 (1 - e^{1 - alpha1}), which runs from 1 - e at (0, 1) to 0 at (1, 1)."""
    limit = slice_symbolic.leading_excess()
    ends = limit.subs({alpha1: 1, beta1: 1}) - limit.subs({alpha1: 0, beta1: 1})
    return identities([limit, ends], [expected, sp.E - 1])


def sparser(fewer: int, more: int) -> Margin:
    """On the box L is less far above L(0, 1), its minimum, for `more` tokens than L(1, 0) is for `fewer`."""
    start, end = {alpha1: 1, beta1: 0}, {alpha1: 0, beta1: 1}
    spread, loss = (slice_symbolic.loss(exact_terms(tokens)) for tokens in (fewer, more))
    return proved_on(UNIT, spread.subs(start) - spread.subs(end) - (loss - loss.subs(end)))


def flow(first: sp.Expr = -beta1 * PREVIOUS, second: sp.Expr = PREVIOUS - 1) -> Margin:
    """T times the slice descent tends to (-beta1 e^{1 - alpha1}, e^{1 - alpha1} - 1)."""
    return identities(slice_symbolic.limit_flow(), (first, second))


def slower(fewer: int, more: int) -> Margin:
    """The mean speed of descent over the box is smaller for `more` tokens."""
    grids = (slice_grid(tokens, 101) for tokens in (more, fewer))
    return less(*(float(np.hypot(grid.d_alpha1, grid.d_beta1).mean()) for grid in grids))


def wrong_way(tokens: int, parameter: str, low: str, high: str, depth: int, terms=exact_terms) -> Margin:
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


def kept(quantity: sp.Expr) -> Margin:
    """The quantity does not change along the limit flow."""
    first, second = slice_symbolic.limit_flow()
    return identity(sp.diff(quantity, alpha1) * first + sp.diff(quantity, beta1) * second, 0)


def _area(tokens: int, parameter: str, low: str, high: str, depth: int) -> dict:
    return {"tokens": tokens, "parameter": parameter, "low": low, "high": high, "depth": depth}


def _small_areas(effort: Effort) -> list[dict]:
    rough = [_area(4, "beta1", "0.27", "0.30", 6), _area(4, "alpha1", "0.010", "0.017", 6)]
    fine = [_area(4, "beta1", "0.281", "0.287", 8), _area(4, "alpha1", "0.012", "0.014", 8)]
    return rough if effort is Effort.QUICK else rough + fine


def _equation(tokens: int) -> slice_symbolic.Terms:
    return slice_symbolic.slipped_terms(sp.Integer(tokens - 4), EQUATION)


CLASSES = tuple({"index": index} for index in range(3))
IN_INVERSE = symbolic("S in u = 1/(T - 2), D_c and its slopes", box.in_inverse, CLASSES,
                      Control("S + 1", lambda index: box.in_inverse(index, 1)))
MINIMISER = (
    symbolic("n_t - n_c: affine in beta1, at most B - 1, and at most the larger of 1 - B <= 0 and B - 2A",
             box.margins_by_class, CLASSES, Control("beta1 added", lambda index: box.margins_by_class(index, 1))),
    IN_INVERSE,
    certified("A + B > 2; (B - 1)/S and (B - 2A)/S fall in alpha1, for all u in [0, 1/2]: every T >= 4",
              box.falls, tuple({"which": w} for w in ("A + B > 2", "-d/da (B - 1)/S", "-d/da (B - 2A)/S")),
              Control("they rise", lambda which: box.falls(which, -1))),
)

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.fig2.sparser", SECTION,
        "As O(T) grows the contour lines become sparse.",
        symbolic("T (L - log T) tends to beta1 (1 - e^{1 - alpha1}), from 1 - e to 0", leading, ONCE,
                 Control("alpha1 for 1 - alpha1", lambda: leading(beta1 * (1 - OWN)))),
        certified("L - L(0, 1) on the box at the larger T stays below its value at (1, 0) at the smaller; L(0, 1) is "
                  "the least loss (kv.fig2.caption)", sparser,
                  ({"fewer": 4, "more": 8}, {"fewer": 4, "more": 12}, {"fewer": 12, "more": 104}),
                  Control("from T = 104 to 12", points=({"fewer": 104, "more": 12},))),
        formula=r"\lim_{T\to\infty}T(L-\log T)=\beta_1(1-e^{1-\alpha_1})", hypotheses=(SLICE, BOX, INTERIOR),
        reading="Lines at one spacing: the loss has a smaller range on the box.",
        note="The range shrinks from T = 4 to 8 and 12 and on to 104, and T (max L - min L) tends to e - 1.",
        coverage=everywhere("L - log T is analytic in 1/T at 0, so that its slope there is uniform on the box; the "
                            "sizes named are enclosed."),
    ),
    mathematical(
        "kv.fig2.slower", SECTION, "As O(T) grows convergence slows down.",
        symbolic("T times the velocity tends to (-beta1 e^{1 - alpha1}, e^{1 - alpha1} - 1)", flow, ONCE,
                 Control("a sign of the first part", lambda: flow(beta1 * PREVIOUS)),
                 Control("alpha1 for 1 - alpha1", lambda: flow(-beta1 * OWN))),
        sampled("mean speed over a 101 x 101 grid", slower,
                ({"fewer": 4, "more": 12}, {"fewer": 12, "more": 104}),
                Control("from T = 104 to 12", points=({"fewer": 104, "more": 12},))),
        formula=r"\lim_{T\to\infty}-T\nabla L=(-\beta_1e^{1-\alpha_1},e^{1-\alpha_1}-1)",
        hypotheses=(SLICE, BOX, INTERIOR), reading="The order of the velocity of descent, 1/T.",
        coverage=everywhere("The limit is an identity in both coordinates, uniform as L is analytic in 1/T."),
    ),
    mathematical(
        "kv.fig2.non_monotone", SECTION,
        "When O(T) is small descent may undergo a small non-monotone process.",
        exact("areas where the derivative has the wrong sign, between bounds of a quadtree of balls",
              wrong_way, _small_areas,
              Control("T = 104", lambda **point: wrong_way(**{**point, "tokens": 104})),
              Control("Eq. 10 as printed", lambda **point: wrong_way(**point, terms=_equation))),
        hypotheses=(SLICE, "T = 4, 2 <= i <= T - 2"),
        note="At T = 4, i = 2 it moves beta1 away from 1 on 28.4 % of the box and alpha1 away from 0 on 1.3 %.",
        formula=r"|\{\partial_{\beta_1}L>0\}|=0.284,\quad|\{\partial_{\alpha_1}L<0\}|=0.013,\quad T=4",
        coverage=everywhere("The whole box is covered by cells, and those left undecided widen the bounds."),
    ),
    mathematical(
        "kv.fig2.consistent", SECTION,
        "When O(T) is large the direction of descent is relatively consistent.",
        symbolic("signs of both velocities of the limit flow", limit_signs, ONCE,
                 Control("beta1 at rest at alpha1 = 0", lambda: limit_signs(end=0)),
                 Control("alpha1 growing", lambda: limit_signs(beta1 * PREVIOUS))),
        symbolic("the conserved quantity", lambda: kept(slice_symbolic.conserved()), ONCE,
                 Control("beta1^2 alone", lambda: kept(beta1**2))),
        exact("T = 104: areas of the wrong sign", wrong_way,
              (_area(104, "beta1", "0", "0.016", 6), _area(104, "alpha1", "0", "0.003", 6)),
              Control("T = 4", lambda **point: wrong_way(**{**point, "tokens": 4}))),
        formula=r"\frac{d}{ds}\left(\beta_1^2+2\alpha_1-2e^{\alpha_1-1}\right)=0", hypotheses=(SLICE, BOX, INTERIOR),
        reading="Nearly everywhere alpha1 falls and beta1 grows.",
        note="In the limit alpha1 falls where beta1 > 0 and beta1 grows where alpha1 < 1, along curves of constant "
             "beta1^2 + 2 alpha1 - 2 e^{alpha1 - 1}; only (1, 0) is at rest.",
        coverage=everywhere("The limit's signs and its conserved quantity hold in free symbols on the whole box."),
    ),
    mathematical(
        "kv.fig2.caption", SECTION,
        "The induction head is (alpha1, beta1) = (0, 1): for every T >= 4 it is the only minimiser of L on the box.",
        *MINIMISER,
        hypotheses=(SLICE, BOX, INTERIOR),
        reading="The head that the caption names is the lowest point of what the figure draws.",
        formula=r"\mathrm{argmin}_{[0,1]^2}L=(0,1)",
        coverage=everywhere("Each margin is affine in beta1 and falls with alpha1 at its best end, with T free; the "
                            "signs are certified on 0 <= alpha1 <= 1."),
    ),
)  # fmt: skip
