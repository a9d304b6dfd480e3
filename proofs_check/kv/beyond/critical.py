"""Critical points, infima, the box of Figure 2 and the routes to L = 0: what no paper states."""

from collections.abc import Sequence
from fractions import Fraction

import sympy as sp

from proofs_check.evidence.margin import Margin, same
from proofs_check.kv.landscape import box_checks as box
from proofs_check.kv.landscape.figure2 import IN_INVERSE, MINIMISER
from proofs_check.ledger.claim import Claim, Control, everywhere
from proofs_check.ledger.mathematical import ONCE, certified, exact, identities, mathematical, symbolic
from theory.landscape import critical_symbolic as c
from theory.landscape.symbolic import A, B
from theory.symbols import beta1, beta2, n_tokens

SOURCE = "KV shifting (both versions), Theorem 3.4, our addition"
EVERY_T = "interior position, any real T >= 4, L in the closed form of kv.eq10.corrected"
ON_BOX = "0 <= alpha1, beta1 <= 1, alpha2 = 1 - alpha1, beta2 = 1 - beta1"
OURS = {"is_correction": True}
SIGNS = (
    "dL/dbeta1 < 0 for alpha1 <= cut",
    "corner term > 0 for alpha1 >= cut",
    "other term > 0",
    "dL/dalpha1 > 0 at beta1 = 1, alpha1 <= cut",
)


def mixed_block(sign: int = 1) -> Margin:
    """No second derivative in alpha alone; the mixed block has determinant (2T - 1)/(T^3 (T + 1)), positive.

    A form that vanishes on a plane of R^4 and is regular has the signature (2, 2).
    """
    hessian, t = c.critical_hessian(), n_tokens
    expected = sign * (2 * t - 1) / (t**3 * (t + 1))
    return identities([*hessian[:2, :2], hessian[:2, 2:].det(), hessian.det()], [0, 0, 0, 0, expected, expected**2])


def induction_rates(first: int = 2) -> Margin:
    """D_c is affine in beta1 with slope -(B - 2A)/S and, twice, -(B - 1)/S: all fall where B > max(2A, 1)."""
    slopes = [sp.diff(gap, beta1) for gap in c.gaps()]
    bends = [sp.diff(gap, beta1, 2) for gap in c.gaps()]
    return identities([*slopes, *bends], [-(B - first * A), -(B - 1), -(B - 1), 0, 0, 0])


# For one more claim alpha is fixed, and v_c is the direction of class c: n_c - n_t = v_c . beta.
Row = tuple[Fraction, Fraction]


def directions(first: int = 2) -> Margin:
    """v_c . beta = n_c - n_t for the three classes."""
    planted = [(v[0] + (first - 2) * A, v[1]) for v in c.directions()]
    return identities([v[0] * beta1 + v[1] * beta2 for v in planted], c.gaps())


def window(factor: int = 2) -> Margin:
    """det(v_r, v_e) = q, the discriminant; q = (B - 1)^2 + (B - 2A)(1 - A) is positive where A <= 1/2 and B > 1.

    With beta1 = 1 and t = beta2, v_r . beta < 0 where t < (B - 2A)/(B - 1), v_e . beta < 0 where t > -(B - 1)/(1 - A),
    if A < 1 < B. The first bound exceeds the second by q/((B - 1)(1 - A)).
    """
    (r1, r2), (e1, e2), _ = c.directions()
    return identities([r1 * e2 - r2 * e1, (B - 1) ** 2 + (B - factor * A) * (1 - A)], [c.discriminant()] * 2)


def _half_plane(rows: Sequence[Row]) -> bool:
    """Do the vectors lie in an open half plane? One of them then has all others within a half turn to its left."""

    def left(v: Row, w: Row) -> bool:
        turn, along = v[0] * w[1] - v[1] * w[0], v[0] * w[0] + v[1] * w[1]
        return turn > 0 or (turn == 0 and along > 0)

    return any(all(left(v, w) for w in rows) for v in rows)


def enumerated(own: Fraction, previous: Fraction, others: bool, ties: bool = True) -> Margin:
    """The condition of the claim against a half-plane test. others: is T > 4, so that the third class has members?

    ties: with both boundary cases, B = 1 and q = 0.
    """
    q = c.discriminant(own, previous)
    if not ties:
        fails = own < 1 < previous and q < 0
    elif others:
        fails = previous == 1 or (own < 1 < previous and q <= 0)
    else:
        fails = q == 0 and own <= 1 <= previous
    return same(not fails, _half_plane(c.directions(own, previous)[: 3 if others else 2]))


EIGHTHS = [Fraction(i, 8) for i in range(1, 21)]
GRID = tuple({"own": a, "previous": b, "others": more} for more in (True, False) for a in EIGHTHS for b in EIGHTHS)

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.beyond.critical_point.saddle", SOURCE,
        "That point is a strict saddle of signature (2, 2) for every T >= 4: no second derivative in alpha alone, a "
        "mixed block of determinant (2T-1)/(T^3 (T+1)), so det of the Hessian is its square.",
        symbolic("the Hessian and its mixed block, all T", mixed_block, ONCE,
                 Control("a negative determinant", lambda: mixed_block(-1))),
        coverage=everywhere("The Hessian has T as a free symbol. It is regular and vanishes on the plane of alpha, so "
                            "that it has two eigenvalues of each sign."),
        hypotheses=(EVERY_T,), formula=r"\det\nabla^2L=\left(\frac{2T-1}{T^3(T+1)}\right)^2", **OURS,
    ),
    mathematical(
        "kv.beyond.box.minimiser", SOURCE,
        "For every real T >= 4 each (n_t - n_c)/S has its largest value on the box at (alpha1, beta1) = (0, 1), that "
        "of the edge tokens nowhere else: (0, 1) is the only minimiser of L.",
        *MINIMISER,
        hypotheses=(EVERY_T, ON_BOX),
        coverage=everywhere("u = 1/(T - 2) in [0, 1/2] is every real T >= 4, the box is the whole box, and each class "
                            "of tokens is bounded by itself."),
        formula=r"\mathrm{argmin}_{[0,1]^2}L=\{(0,1)\}\quad(T\ge 4)", **OURS,
    ),
    mathematical(
        "kv.beyond.box.minimum", SOURCE,
        "The least loss on the box is L_min = log(1 + e^{(2-e)/(T+e)} + (T-2) e^{(1-e)/(T+e)}) = log T - (e-1)/T + "
        "r/T^2 with 4.49 < r < e^2 for every T >= 4; r grows with T to e^2, so the constant is the best one.",
        symbolic("the logits at (0, 1), all T", box.corner_value, ONCE,
                 Control("at (0, 0)", lambda: box.corner_value(0))),
        symbolic("h(x) = L_min - log T at x = 1/T: h(0) = 0, h'(0) = 1 - e, h''(0) = 2 e^2", box.expansion_terms, ONCE,
                 Control("h'(0) = -1", lambda: box.expansion_terms(-1))),
        certified("h''' < 0 on [0, 1/4], so r = int (1 - t) h''(xt) dt falls in x from e^2", box.remainder_falls,
                  ONCE, Control("h''' > 0", lambda: box.remainder_falls(-1))),
        certified("r > 4.49 at T = 4", box.remainder_at_four, ONCE,
                  Control("r > 4.5", lambda: box.remainder_at_four("4.5"))),
        hypotheses=(EVERY_T,),
        coverage=everywhere("x = 1/T in [0, 1/4] is every real T >= 4; r falls in x from its limit at x = 0."),
        formula=r"L_{\min}=\log T-\frac{e-1}{T}+\frac{r}{T^2},\quad 4.49<r<e^2", **OURS,
    ),
    mathematical(
        "kv.beyond.box.kkt", SOURCE,
        "For every real T >= 4, (0, 1) is the only first-order (KKT) point of L on the box: descent can move on from "
        "any other point of the interior, the edges and the corners.",
        IN_INVERSE,
        symbolic("near (1, 0) both slopes vanish as u does; dL/dalpha1 is beta1 times one term plus u times another",
                 box.slope_splits, ONCE, Control("twice the first", lambda: box.slope_splits(2))),
        certified("for all u in [0, 1/2]: dL/dbeta1 < 0 where alpha1 <= 2/5, both terms of dL/dalpha1 > 0 where alpha1 "
                  ">= 2/5, dL/dalpha1 > 0 at beta1 = 1", box.slope_signs, tuple({"which": w} for w in SIGNS),
                  Control("opposite signs", lambda which: box.slope_signs(which, sign=-1)),
                  Control("cut at 7/10", lambda which: box.slope_signs(which, Fraction(7, 10)), ({"which": SIGNS[0]},)),
                  Control("cut at 1/10", lambda which: box.slope_signs(which, Fraction(1, 10)),
                          ({"which": SIGNS[1]},))),
        coverage=everywhere("u = 1/(T - 2) in [0, 1/2] is every real T >= 4, and the four signs leave (0, 1) alone."),
        hypotheses=(EVERY_T, ON_BOX), formula=r"\mathrm{KKT}(L,[0,1]^2)=\{(0,1)\}\quad(T\ge 4)", **OURS,
    ),
    mathematical(
        "kv.beyond.route.induction", SOURCE,
        "Induction: where e^{alpha2} > max(2 e^{alpha1}, 1), L -> 0 as beta1 -> infinity, for any beta2 and T >= 4.",
        symbolic("D_c is affine in beta1 with slopes -(B - 2A)/S and -(B - 1)/S", induction_rates, ONCE,
                 Control("B - A", lambda: induction_rates(1))),
        coverage=everywhere("Every D_c is affine in beta1 with a slope < 0, the other parameters and T being free."),
        hypotheses=(EVERY_T,), formula=r"e^{\alpha_2}>\max(2e^{\alpha_1},1):\ \lim_{\beta_1\to\infty}L=0", **OURS,
    ),
    mathematical(
        "kv.beyond.separable", SOURCE,
        "At fixed alpha, T >= 5: L -> 0 along some beta unless B = 1, or A < 1 < B and (2A-1)(1-A) >= (B-1)(B-A) (then "
        "A > 1/2 too); there L >= log 2 for all beta. At T = 4 it fails only on the curve (2A-1)(1-A) = (B-1)(B-A), "
        "A <= 1 <= B.",
        symbolic("n_c - n_t = v_c . beta", directions, ONCE, Control("3A", lambda: directions(3))),
        symbolic("the determinant of the directions of i and of the edge tokens is q = (B-1)(B-A) - (2A-1)(1-A) = "
                 "(B-1)^2 + (B-2A)(1-A)", window, ONCE, Control("3A", lambda: window(3))),
        exact("the condition against a half-plane test at A, B = 1/8 .. 5/2, T = 4 and T >= 5", enumerated, GRID,
              Control("without B = 1 and without equality", lambda **p: enumerated(**p, ties=False))),
        hypotheses=("whole T >= 4",),
        coverage=everywhere("For T >= 5 the others leave one sign to beta1, and none at B = 1. With |beta1| = 1 the "
                            "other two are affine in beta2. They are negative far enough to one side where B > 1, A >= "
                            "1 or B < 1, A <= 1, at beta2 = 0 where B < 1 < A, and on an interval of length q/((B-1)"
                            "(1-A)) where A < 1 < B. Where no beta separates, some n_c >= n_t. At T = 4 two "
                            "directions are separable unless they are opposite or one is 0."),
        formula=r"\inf_\beta L>0\iff B=1\text{ or }A<1<B,\ (2A-1)(1-A)\ge(B-1)(B-A)\quad(T\ge 5)", **OURS,
    ),
)
