"""Figure 2's slice on the whole plane: facts that no paper states."""

from collections.abc import Callable

from proofs_check.kv.beyond import slice_checks as checks
from proofs_check.ledger.claim import SAMPLES, Claim, Control, Effort, everywhere
from proofs_check.ledger.mathematical import ONCE, certified, exact, mathematical, sampled, symbolic

SOURCE = "KV shifting (both versions), Section 3.2, Figure 2, our addition"
SLICE = "alpha2 = 1 - alpha1, beta2 = 1 - beta1, all of R^2; interior position, L in closed form (kv.eq10.corrected)"
TRUE = {"is_correction": True}
PLACES = tuple({"place": k} for k in range(3))
ONE_OF_TWO = everywhere("It is enclosed at each T, with the signs of its Hessian. By kv.beyond.slice.two there is one "
                        "other critical point, which is of the other kind.")  # fmt: skip
SADDLE, MINIMUM = ("0.9768", "-0.2851"), ("1.3192", "-1.7223")
SADDLE50, MINIMUM50 = ("0.9830", "-0.0836"), ("1.5570", "-16.409")
SADDLE300, MINIMUM300 = ("0.9967", "-0.0146"), ("1.5830", "-233.92")


def _points(kind: str) -> tuple[dict, ...]:
    places = {"saddle": (SADDLE, SADDLE50, SADDLE300), "minimum": (MINIMUM, MINIMUM50, MINIMUM300)}[kind]
    return tuple({"tokens": t, "a": a, "b": b, "kind": kind} for t, (a, b) in zip((15, 50, 300), places, strict=True))


COUNTS = (
    {"tokens": 15, "far": 14, "first": SADDLE, "second": MINIMUM},
    {"tokens": 50, "far": 50, "first": SADDLE50, "second": MINIMUM50},
    {"tokens": 300, "far": 700, "first": SADDLE300, "second": MINIMUM300},
    {"tokens": 11, "far": 12, "first": ("1.1158", "-0.7714"), "second": ("1.0363", "-0.5273")},  # the slowest
)


def _grids(*tokens: int, **rest) -> Callable[[Effort], list[dict]]:
    return lambda effort: [{"tokens": t, "steps": 10 if effort is Effort.QUICK else 40, **rest} for t in tokens]


WIDE = {"a": (-2.0, 3.0), "b": (-6.0, 4.0)}
TAILS = ("rise", "B >= 1, beta1 >= 1/2", "B <= 1, beta1 >= 1/2", "B >= 1, beta1 <= -far", "B <= 1, beta1 <= -far")

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.beyond.slice.conditions", SOURCE,
        "On the slice a point is critical exactly where sum w q = 0 and sum w (beta1 K - R) = 0 over the three classes "
        "of tokens, with w = count e^D.",
        symbolic("class by class, all T: an invertible combination of the two slopes", checks.condition, PLACES,
                 Control("beta1 (rise - 1) q twice", lambda place: checks.condition(place, 2))),
        hypotheses=(SLICE, "T >= 4"),
        coverage=everywhere("alpha1, beta1 and T are free symbols; S dD/dalpha1 + beta1 (rise - 1) S dD/dbeta1 stands "
                            "for S dD/dalpha1, so that the two sums vanish together with the two slopes."),
        formula=r"\sum_c w_cq_c=0,\qquad \sum_c w_c(\beta_1K_c-R_c)=0",
        **TRUE,
    ),
    mathematical(
        "kv.beyond.slice.infimum", SOURCE,
        "The infimum of L on the slice is 0, approached as beta1 -> oo with alpha1 < .34894 (2 x^2 + x = 2 e at x = "
        "e^{alpha1}); for larger alpha1, and as beta1 -> -oo, L -> oo. There is no minimiser on R^2.",
        symbolic("the slopes of S D in beta1: A q_i = 2 A^2 + A - 2 e, which rises with A; -q_e = A (1 - 1/A)^2 + "
                 "(e - 1)/A > 0; q_o = 1 - e^{1 - alpha1}", checks.slope_forms,
                 ONCE, Control("other signs", lambda: checks.slope_forms(-1))),
        exact("2 x^2 + x = 2 e between alpha1 = .34893 and .34895", checks.threshold,
              ({"low": "0.34893", "high": "0.34895"},),
              Control("between .3490 and .3491", points=({"low": "0.3490", "high": "0.3491"},))),
        formula=r"2x^2+x=2e,\quad x=e^{\alpha_1}", hypotheses=(SLICE, "T >= 4"),
        coverage=everywhere("S D_c is affine in beta1, its slopes are these functions of alpha1 on R, free of T; below "
                            "the threshold all three fall, and L > 0 has no minimum where it tends to 0."),
        **TRUE,
    ),
    mathematical(
        "kv.beyond.slice.tails", SOURCE,
        "For every real T >= 4 every critical point of the slice has alpha1 > .348 and beta1 < 1/2, and beta1 > -10 "
        "where alpha1 <= 1. For T <= 10 there is none with alpha1 > 1 and beta1 <= -10 either.",
        certified("signs of the two conditions, piece by piece; the last piece for T <= 10", checks.tail,
                  tuple({"which": which} for which in TAILS),
                  Control("0 for -10", lambda which: checks.tail("B <= 1, beta1 <= -far", 0)),
                  Control("T to 200", lambda which: checks.tail("B <= 1, beta1 <= -far", 10, (4, 200)))),
        hypotheses=(SLICE, "T >= 4"),
        coverage=everywhere("The pieces are all that is excluded, alpha1 <= .348 by kv.beyond.slice.infimum; beta1 "
                            "goes by monotony, (2A - B)/S in [0, 1) stands for every T, and the boxes are compact in "
                            "e^{-alpha1} and T, e^{-alpha1} = 0 among them."),
        formula=r"\nabla L=0\;\Rightarrow\;\alpha_1>.348,\quad\beta_1<\frac{1}{2},\quad(\alpha_1\le1\Rightarrow"
        r"\beta_1>-10)",
        **TRUE,
    ),
    mathematical(
        "kv.beyond.slice.fold", SOURCE,
        "Two critical points are born in a saddle-node at T_c = 10.8112, (alpha1, beta1) = (1.0715, -.6348).",
        exact("regular zero of the conditions with a kernel vector, by Krawczyk in four unknowns", checks.fold_at, (
            {"name": "T", "printed": "10.81120246", "tolerance": "1/10000000"},
            {"name": "alpha1", "printed": "1.0715", "tolerance": "1/20000"},
            {"name": "beta1", "printed": "-0.6348", "tolerance": "1/20000"}),
            Control("T_c = 10.82", points=({"name": "T", "printed": "10.82", "tolerance": "1/1000"},))),
        hypotheses=(SLICE,),
        coverage=everywhere("One point, enclosed; as a regular zero it is a fold that is crossed as T grows."),
        formula=r"T_c=10.8112,\qquad (\alpha_1,\beta_1)=(1.0715,-.6348)",
        **TRUE,
    ),
    mathematical(
        "kv.beyond.slice.saddle", SOURCE,
        "One saddle: (.9768, -.2851) at T = 15, (.9830, -.0836) at T = 50, (.9967, -.0146) at T = 300.",
        exact("Krawczyk for the point, balls for the determinant of the Hessian", checks.point, _points("saddle"),
              Control("a minimum", lambda tokens, a, b, kind: checks.point(tokens, a, b, "minimum"))),
        hypotheses=(SLICE, "T = 15, 50, 300"),
        coverage=ONE_OF_TWO,
        formula=r"\nabla L=0,\qquad \det\nabla^2L<0",
        **TRUE,
    ),
    mathematical(
        "kv.beyond.slice.minimum", SOURCE,
        "One spurious local minimum with alpha1 > 1, beta1 < 0: (1.3192, -1.7223) at T = 15, (1.5570, -16.409) at 50, "
        "(1.5830, -233.92) at 300; its loss is log T + .0065 at 15 and log T - .22 at 300.",
        exact("Krawczyk for the point, balls for the Hessian", checks.point, _points("minimum"),
              Control("a saddle", lambda tokens, a, b, kind: checks.point(tokens, a, b, "saddle"))),
        exact("L - log T at the enclosed points", checks.excess, (
            {"tokens": 15, "a": MINIMUM[0], "b": MINIMUM[1], "low": "0.0064", "high": "0.0066"},
            {"tokens": 300, "a": MINIMUM300[0], "b": MINIMUM300[1], "low": "-0.225", "high": "-0.215"}),
            Control("at the saddle", lambda tokens, a, b, low, high: checks.excess(15, *SADDLE, low, high))),
        hypotheses=(SLICE, "T = 15, 50, 300"),
        coverage=ONE_OF_TWO,
        formula=r"\nabla L=0,\qquad \nabla^2L>0",
        **TRUE,
    ),
    mathematical(
        "kv.beyond.slice.two", SOURCE,
        "At T = 11, 15, 50 and 300 the slice has exactly two critical points on R^2.",
        exact("one zero in each of two boxes by Krawczyk, none in the rest of the strip that the tails leave",
              checks.only_two, lambda effort: COUNTS[:2] if effort is Effort.QUICK else COUNTS,
              Control("one point twice", lambda tokens, far, first, second:
                      checks.only_two(15, 14, SADDLE, ("0.9760", "-0.2840")), COUNTS[:1])),
        hypotheses=(SLICE, "T = 11, 15, 50, 300"),
        coverage=everywhere("At each T the boxes fill a strip of the plane, with its tail beta1 <= -far; the rest is "
                            "kv.beyond.slice.tails."),
        formula=r"\#\{\nabla L=0\}=2\quad(T=11,15,50,300)",
        **TRUE,
    ),
    mathematical(
        "kv.beyond.slice.basin", SOURCE,
        "Free gradient flow on the slice learns induction from every start of a grid of the box, corners and edges "
        "among them, at T = 4, 8, 15, 50, 200.",
        sampled("grids of 11 x 11 starts (full: 41 x 41), flowed to t = 2e4", checks.share,
                _grids(4, 8, 15, 50, 200), Control("of [-2, 3] x [-6, 4] at T = 15", points=({"tokens": 15, **WIDE},))),
        hypotheses=(SLICE, "0 <= alpha1, beta1 <= 1"),
        coverage=SAMPLES,
        formula=r"\lim_{t\to\infty}L=0",
        **TRUE,
    ),
    mathematical(
        "kv.beyond.slice.wide", SOURCE,
        "From [-2, 3] x [-6, 4] it learns induction from every start that was tried at T = 8, but from only 44 % at T "
        "= 15.",
        sampled("a grid of 11 x 11 starts (full: 41 x 41), corners and edges among it, at T = 8", checks.share,
                _grids(8, **WIDE), Control("T = 15", lambda tokens, **p: checks.share(15, **p))),
        sampled("the same at T = 15, within 1 percentage point", checks.share, _grids(15, around=0.44, **WIDE),
                Control("T = 8", lambda tokens, **p: checks.share(8, **p))),
        hypotheses=(SLICE, "-2 <= alpha1 <= 3, -6 <= beta1 <= 4"),
        coverage=SAMPLES,
        formula=r"[-2,3]\times[-6,4]",
        **TRUE,
    ),
)
