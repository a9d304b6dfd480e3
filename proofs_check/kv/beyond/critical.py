"""Critical points, infima, the box of Figure 2 and the routes to L = 0: what no paper states."""

from fractions import Fraction
from typing import Any

from proofs_check.kv.beyond import critical_checks as free
from proofs_check.kv.beyond import separation_checks as plane
from proofs_check.kv.landscape import box_checks as box
from proofs_check.kv.landscape.figure2 import IN_INVERSE, MINIMISER
from proofs_check.ledger.claim import Claim, Control, Effort, Evidence, everywhere
from proofs_check.ledger.mathematical import ONCE, certified, exact, mathematical, sampled, symbolic

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


def _box_points(effort: Effort) -> list[dict]:
    """A grid on the box without (0, 1)."""
    steps = 8 if effort is Effort.QUICK else 40
    grid = [(Fraction(i, steps), Fraction(j, steps)) for i in range(steps + 1) for j in range(steps + 1)]
    return [{"a1": a, "b1": b, "tokens": t} for t in (4, 5, 9, 64, 1024) for a, b in grid if (a, b) != (0, 1)]


def _tokens(effort: Effort) -> list[dict]:
    return [{"tokens": t} for t in range(4, 13 if effort is Effort.QUICK else 200)]


def _infimum(model: str, what: str, value: str, formula: str, *evidence: Evidence, **rest: Any) -> Claim:
    """inf L = log of the floor, approached along a ray and reached nowhere."""
    return mathematical(
        f"kv.beyond.infimum.{model}", SOURCE, f"{what}: inf L = {value} for every T >= 4, reached nowhere.", *evidence,
        hypotheses=(EVERY_T,), formula=formula, **OURS, **rest,
    )


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.beyond.critical_point.saddle", SOURCE,
        "That point is a strict saddle of signature (2, 2) for every T >= 4: no second derivative in alpha alone, a "
        "mixed block of determinant (2T-1)/(T^3 (T+1)), so det of the Hessian is its square.",
        symbolic("the Hessian and its mixed block, all T; a quotient of polynomials positive for T >= 4",
                 free.mixed_block, ONCE, Control("a negative determinant", lambda: free.mixed_block(-1))),
        symbolic("a congruence to [[0, I], [I, 0]], eigenvalues 1, 1, -1, -1", free.inertia, ONCE,
                 Control("K turned into -K", lambda: free.inertia(2))),
        coverage=everywhere("The Hessian has T as a free symbol; Sylvester's law gives the signature."),
        hypotheses=(EVERY_T,), formula=r"\det\nabla^2L=\left(\frac{2T-1}{T^3(T+1)}\right)^2", **OURS,
    ),
    _infimum(
        "kv_shift", "All four parameters, along an anti-induction ray", "0", r"\inf L=0",
        symbolic("e^L is 1 plus exponentials with counts >= 0, one of them > 0, all T", free.floor,
                 ({"model": "kv_shift"},), Control("2 plus", lambda model: free.floor(model, 1))),
        symbolic("along a ray those exponentials have rates < 0, all T", free.reached, ({"model": "kv_shift"},),
                 Control("the opposite ray", lambda model: free.reached(model, -1))),
        exact("attention over one-hot rows far out, in balls, within 1e-9 above inf L", free.attention_reaches,
              lambda effort: [{"model": "kv_shift", **p} for p in _tokens(effort)],
              Control("the infimum of another head", lambda model, tokens: free.attention_reaches(
                  model, tokens, "vanilla"))),
        coverage=everywhere("e^L - 1 is a sum of exponentials with counts >= 0, the parameters and T being free, and "
                            "each of them tends to 0 along the ray."),
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
        sampled("a feasible descent on a grid of the box", box.kkt, _box_points,
                Control("at (0, 1)", None, ({"a1": Fraction(0), "b1": Fraction(1), "tokens": 4},))),
        coverage=everywhere("u = 1/(T - 2) in [0, 1/2] is every real T >= 4, and the four signs leave (0, 1) alone."),
        hypotheses=(EVERY_T, ON_BOX), formula=r"\mathrm{KKT}(L,[0,1]^2)=\{(0,1)\}\quad(T\ge 4)", **OURS,
    ),
    mathematical(
        "kv.beyond.route.induction", SOURCE,
        "Induction: where e^{alpha2} > max(2 e^{alpha1}, 1), L -> 0 as beta1 -> infinity, for any beta2 and T >= 4.",
        symbolic("D_c is affine in beta1 with slopes -(B - 2A)/S and -(B - 1)/S", free.induction_rates, ONCE,
                 Control("B - A", lambda: free.induction_rates(1))),
        exact("L < 1e-6 by attention over one-hot rows, in balls, T = 20, beta1 = 5000", free.loss_between,
              tuple({"a1": a1, "a2": a2, "b1": "5000", "b2": b2, "tokens": 20, "low": "0", "high": "0.000001"}
                    for a1, a2, b2 in (("0", "1", "0"), ("0", "1", "9"), ("-1", "1/2", "-9"), ("1", "2", "0"))),
              Control("e^{alpha2} < 2 e^{alpha1}", points=({"a1": "1", "a2": "3/2", "b1": "5000", "b2": "0",
                                                        "tokens": 20, "low": "0", "high": "0.000001"},))),
        coverage=everywhere("Every D_c is affine in beta1 with a slope < 0, the other parameters and T being free."),
        hypotheses=(EVERY_T,), formula=r"e^{\alpha_2}>\max(2e^{\alpha_1},1):\ \lim_{\beta_1\to\infty}L=0", **OURS,
    ),
    mathematical(
        "kv.beyond.separable", SOURCE,
        "At fixed alpha, T >= 5: L -> 0 along some beta unless B = 1, or A < 1 < B and (2A-1)(1-A) >= (B-1)(B-A) (then "
        "A > 1/2 too); there L >= log 2 for all beta. At T = 4 it fails only on the curve (2A-1)(1-A) = (B-1)(B-A), "
        "A <= 1 <= B.",
        symbolic("n_c - n_t = v_c . beta", plane.directions, ONCE, Control("3A", lambda: plane.directions(3))),
        symbolic("a separating beta for each case, v_c . beta as products of known sign", plane.separated,
                 tuple({"case": case} for case in plane.SEPARATORS),
                 Control("beta2 of the other sign", lambda case: plane.separated(case, -1))),
        symbolic("otherwise a vanishing combination with weights >= 0: some n_c >= n_t", plane.balanced, ONCE,
                 Control("a sign", lambda: plane.balanced(-1))),
        symbolic("B = 1: the others tie with the target", plane.at_one, ONCE,
                 Control("B = 2", lambda: plane.at_one(2))),
        symbolic("(2A-1)(1-A) < (B-1)(B-A) where A <= 1/2 and B > 1", plane.above_half, ONCE,
                 Control("3A", lambda: plane.above_half(3))),
        symbolic("at T = 4 two classes are left, and the determinant of their directions is (B-1)(B-A) - (2A-1)(1-A)",
                 plane.two_classes, ONCE, Control("3A", lambda: plane.two_classes(3))),
        exact("the condition against a half-plane test at A, B = 1/8 .. 5/2, T = 4 and T >= 5", plane.enumerated,
              plane.GRID, Control("without B = 1 and without equality",
                                  lambda **p: plane.enumerated(**p, said=plane.without_ties))),
        hypotheses=("whole T >= 4",),
        coverage=everywhere("The cases exhaust A, B > 0: a separating beta, or a vanishing combination with weights >= "
                            "0; at T = 4 two directions are separable unless they are opposite or one is 0."),
        formula=r"\inf_\beta L>0\iff B=1\text{ or }A<1<B,\ (2A-1)(1-A)\ge(B-1)(B-A)\quad(T\ge 5)", **OURS,
    ),
)
