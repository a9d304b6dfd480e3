"""How many critical points Figure 2's slice has, for every real T: none, one at the saddle-node, then two."""

from itertools import pairwise

from proofs_check.kv.beyond import fold_checks as checks
from proofs_check.kv.beyond import slice_checks as slices
from proofs_check.ledger.claim import Claim, Control, Effort, everywhere
from proofs_check.ledger.mathematical import certified, exact, mathematical

SOURCE = "KV shifting (both versions), Section 3.2, Figure 2, our addition"
SLICE = "alpha2 = 1 - alpha1, beta2 = 1 - beta1, all of R^2; interior position, L in closed form (kv.eq10.corrected)"
TRUE = {"is_correction": True}
T_C = "10.8113"  # above the fold, by kv.beyond.slice.fold
NEAR = "|e^{-alpha1} - .3425| <= .04, |beta1 + .6348| <= .25"
KNOTS = ("11.2", "11.7", "12.5", "13.5", 15, 17, 20, 25, 30, 37, 45, 55, 67, 80, 100)
PIECES = tuple({"which": which} for which in checks.PIECES)


def _below(effort: Effort) -> list[dict]:
    rows = [{"low": "10.5", "high": T_C}, {"low": 10, "high": "10.5"}]
    return rows[:1] if effort is Effort.QUICK else rows


def _above(effort: Effort) -> list[dict]:
    return [{"low": "10.9", "high": 11}] if effort is Effort.QUICK else [{"low": "10.8", "high": checks.LAST}]


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
                  checks.normal_form, PIECES,
                  Control("it falls", lambda which: checks.normal_form(which, -1),
                          ({"which": "h grows with T"},))),
        exact("the saddle-node lies inside, by Krawczyk", checks.fold_near, ({},),
              Control("1/3 further on", lambda: checks.fold_near("1/3"))),
        exact("h < 0 at both ends in beta1, in balls", checks.ends, ({"tokens": checks.LAST},),
              Control("T = 11.5", points=({"tokens": "11.5"},))),
        hypotheses=(SLICE, NEAR, "10 <= T <= 11.2"),
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
        certified("the same for T in [10, 10.8113], but for a neighbourhood of the saddle-node", checks.none_elsewhere,
                  _below,
                  Control("a quarter of that, at T = 11", lambda low, high: checks.none_elsewhere(11, 11, "1/4"))),
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
        certified("none for T in [10.8, 11.2] but in the neighbourhood of the saddle-node", checks.none_elsewhere,
                  _above,
                  Control("a quarter of that, at T = 11", lambda low, high: checks.none_elsewhere(11, 11, "1/4"))),
        certified("beyond, each critical point is regular and none leaves the strip, so their number stays",
                  checks.steady, _slabs, Control("across T_c", points=({"low": "10.8", "high": 11},))),
        hypotheses=(SLICE, "T_c < T <= 100, real"),
        coverage=everywhere("Slabs in T fill [11.2, 100] and every critical point in them is regular, so that the "
                            "number at T = 15 (kv.beyond.slice.two) is that of all; below 11.2 the normal form."),
        note="In the neighbourhood of the saddle-node by kv.beyond.slice.normal_form; at T = 300 kv.beyond.slice.two "
        "counts two. With --quick only 10.9 <= T <= 11 and 15 <= T <= 17 are searched again.",
        formula=r"\#\{\nabla L=0\}=2\quad(T_c<T\le 100)",
        **TRUE,
    ),
)
