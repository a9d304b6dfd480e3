"""Section 3.2, Figure 2: contour lines, directions of descent, heads at initialisation, for T >= 4."""

from proofs_check.kv.landscape import box_checks as box
from proofs_check.kv.landscape import figure2_checks as checks
from proofs_check.kv.landscape import figure2_heads as heads
from proofs_check.ledger.claim import (
    SAMPLES,
    Claim,
    Control,
    Effort,
    Interval,
    Nature,
    Sampled,
    Severity,
    Verdict,
    everywhere,
)
from proofs_check.ledger.mathematical import ONCE, certified, exact, mathematical, sampled, symbolic
from theory.landscape.printed import EQUATION, Slips
from theory.landscape.slice_symbolic import OWN, PREVIOUS, slipped_terms
from theory.symbols import beta1

SECTION = "KV shifting (both versions), Section 3.2, Figure 2"
BOX = "0 <= alpha1, beta1 <= 1"
INTERIOR = "2 <= i <= T - 2"
SLICE = "alpha2 = 1 - alpha1, beta2 = 1 - beta1"
ONE_CONSTANT = Slips(rest_in_partition=True, constant_rest=True)


def _area(tokens: int, parameter: str, low: str, high: str, depth: int) -> dict:
    return {"tokens": tokens, "parameter": parameter, "low": low, "high": high, "depth": depth}


def _small_areas(effort: Effort) -> list[dict]:
    rough = [_area(4, "beta1", "0.27", "0.30", 6), _area(4, "alpha1", "0.010", "0.017", 6)]
    fine = [_area(4, "beta1", "0.281", "0.287", 8), _area(4, "alpha1", "0.012", "0.014", 8)]
    return rough if effort is Effort.QUICK else rough + fine


def _equation(tokens: int):
    return slipped_terms(tokens - 4 + 0 * beta1, EQUATION)


# each first start is at least as close to (0, 1) in both coordinates
ORDERED = tuple(
    {"near": near, "far": far}
    for near, far in (
        (("0", "1"), ("0", "1/4")), (("0", "1"), ("1/2", "1")), (("1/4", "3/4"), ("1/2", "1/2")),
        (("1/2", "1/2"), ("1/2", "1/4")), (("1/2", "1/2"), ("3/4", "1/2")), (("3/4", "1/8"), ("1", "1/8")),
    )
)  # fmt: skip


CLASSES = tuple({"index": index} for index in range(3))
IN_INVERSE = symbolic("S in u = 1/(T - 2), D_c and its slopes", box.in_inverse, CLASSES,
                      Control("S + 1", lambda index: box.in_inverse(index, 1)))
DRAWN = (Interval("a1", 0.0, 1.0), Interval("b1", 0.0, 1.0), Interval("tokens", 4.0, 512.0))
MINIMISER = (
    symbolic("n_t - n_c: affine in beta1, at most B - 1, and at most the larger of 1 - B <= 0 and B - 2A",
             box.margins_by_class, CLASSES, Control("beta1 added", lambda index: box.margins_by_class(index, 1))),
    IN_INVERSE,
    certified("A + B > 2; (B - 1)/S and (B - 2A)/S fall in alpha1, for all u in [0, 1/2]: every T >= 4",
              box.falls, tuple({"which": w} for w in ("A + B > 2", "-d/da (B - 1)/S", "-d/da (B - 2A)/S")),
              Control("they rise", lambda which: box.falls(which, -1))),
    sampled("no loss on the box below that at (0, 1), T <= 512", box.not_below, Sampled(100, 4000, over=DRAWN),
            Control("below that at (0.05, 1)", lambda **p: box.not_below(**p, best_at=(0.05, 1.0)))),
)
EUCLID = ({"near": ("1/2", "1/2"), "far": ("0", "1/4")},)

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.fig2.sparser", SECTION,
        "As O(T) grows the contour lines become sparse.",
        symbolic("T (L - log T) tends to beta1 (1 - e^{1 - alpha1}), from 1 - e to 0", checks.leading, ONCE,
                 Control("alpha1 for 1 - alpha1", lambda: checks.leading(beta1 * (1 - OWN)))),
        certified("two values at the smaller T against a proved enclosure of the loss at the larger", checks.sparser,
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
        symbolic("T times the velocity tends to (-beta1 e^{1 - alpha1}, e^{1 - alpha1} - 1)", checks.flow, ONCE,
                 Control("a sign of the first part", lambda: checks.flow(beta1 * PREVIOUS)),
                 Control("alpha1 for 1 - alpha1", lambda: checks.flow(-beta1 * OWN))),
        sampled("mean speed over a 101 x 101 grid", checks.slower,
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
              checks.wrong_way, _small_areas,
              Control("T = 104", lambda **point: checks.wrong_way(**{**point, "tokens": 104})),
              Control("Eq. 10 as printed", lambda **point: checks.wrong_way(**point, terms=_equation))),
        hypotheses=(SLICE, "T = 4, 2 <= i <= T - 2"),
        note="At T = 4, i = 2 it moves beta1 away from 1 on 28.4 % of the box and alpha1 away from 0 on 1.3 %.",
        formula=r"|\{\partial_{\beta_1}L>0\}|=0.284,\quad|\{\partial_{\alpha_1}L<0\}|=0.013,\quad T=4",
        coverage=everywhere("The whole box is covered by cells, and those left undecided widen the bounds."),
    ),
    mathematical(
        "kv.fig2.consistent", SECTION,
        "When O(T) is large the direction of descent is relatively consistent.",
        symbolic("signs of both velocities of the limit flow", checks.limit_signs, ONCE,
                 Control("beta1 at rest at alpha1 = 0", lambda: checks.limit_signs(end=0)),
                 Control("alpha1 growing", lambda: checks.limit_signs(beta1 * PREVIOUS))),
        symbolic("the conserved quantity", checks.conserved, ONCE,
                 Control("beta1^2 alone", lambda: checks.conserved(beta1**2))),
        exact("T = 104: areas of the wrong sign", checks.wrong_way,
              (_area(104, "beta1", "0", "0.016", 6), _area(104, "alpha1", "0", "0.003", 6)),
              Control("T = 4", lambda **point: checks.wrong_way(**{**point, "tokens": 4}))),
        sampled("mean angle to the limit direction on a 101 x 101 grid", checks.near_limit,
                ({"tokens": 104, "degrees": 1.6}, {"tokens": 1000, "degrees": 0.2}),
                Control("T = 4", points=({"tokens": 4, "degrees": 1.6},))),
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
    mathematical(
        "kv.fig2.closer", SECTION,
        "On the slice and as T grows, heads whose (alpha1, beta1) is closer to (0, 1) in both coordinates at "
        "initialisation learn faster: the limit flow takes a shorter time s*.",
        exact("s* as integrals of balls, six pairs", heads.learns_faster, ORDERED,
              Control("closer only in Euclidean distance: (1/2, 1/2) against (0, 1/4)", points=EUCLID)),
        symbolic("s* falls with alpha2 and beta1: the radicand of its integrand grows with both, term by term",
                 heads.radicand_grows, ({"name": "q"}, {"name": "b"}),
                 Control("a sign", lambda name: heads.radicand_grows(name, -1))),
        symbolic("the conserved quantity from which the time follows", heads.energy_kept, ONCE,
                 Control("another quantity", lambda: heads.energy_kept(beta1))),
        verdict=Verdict.HOLDS_IF, severity=Severity.REPAIRABLE,
        note="Missing: closer in both coordinates, on the slice, T large. In Euclidean distance it fails "
             "(kv.fig2.closer.euclidean), in four parameters for some heads that do not become induction heads "
             "(kv.fig2.closer.free); at every T >= 4 it holds in the drawn box (kv.fig2.closer.every_t). That a head "
             "takes about s* T is computed (kv.beyond.time.rate); in a region it is proved that it takes no less "
             "(kv.beyond.time.lower).",
        formula=r"s^*=\int_0^\infty\frac{e^{-u}du}{\sqrt{e^{2\alpha_2}(\beta_1^2+2u)+2e^{\alpha_2}(e^{-u}-1)}}",
        hypotheses=(SLICE, BOX, "the limit flow, T -> infinity, time in units of T"),
        coverage=everywhere("The radicand of s* grows with both coordinates of every start in the box, symbols free."),
    ),
    mathematical(
        "kv.fig2.closer.euclidean", "KV shifting (both versions), Section 3.2, Figure 2, our addition",
        "Closer in Euclidean distance is not enough: in the limit flow (0, 1/4), at distance 3/4 of (0, 1), takes "
        "s* = 0.4367, less than (1/2, 1/2), at distance 0.707, with s* = 0.6378.",
        exact("s* as integrals of balls", lambda near, far: heads.learns_faster(far, near), EUCLID,
              Control("the other way round", heads.learns_faster)),
        exact("distances", heads.nearer, EUCLID,
              Control("the other way round", lambda near, far: heads.nearer(far, near))),
        is_correction=True, coverage=everywhere("One pair of starts, its two times in balls."),
        formula=r"s^*(0,\frac{1}{4})<s^*(\frac{1}{2},\frac{1}{2})", hypotheses=(SLICE, "the limit flow, T -> infinity"),
    ),
    mathematical(
        "kv.fig2.untrained", "KV shifting (both versions), Section 3.2, after Figure 2",
        "With a good initialisation the model has induction capability before training.",
        exact("leads of the target at (0, 1)", heads.right_at_corner,
              tuple({"which": name} for name in ("repeated", "edge", "other")),
              Control("the corner (1, 0)", lambda which: heads.right_at_corner(which, (1, 0)), ({"which": "edge"},))),
        symbolic("the region: its lower boundary in beta1, its end in alpha1; the same at i = 1", heads.region_identity,
                 tuple({"which": piece} for piece in ("boundary", "end", "edge tokens", "first position")),
                 Control("twice the end", lambda which: heads.region_identity(which, 2))),
        certified("the tokens i - 1 and T do not bound it", heads.edge_tokens_never_bind, ({"least": "7/10"},),
                  Control("beta1 >= 1/20", points=({"least": "1/20"},))),
        exact("its area, an integral of balls", heads.region_area, ({"low": "0.02713", "high": "0.02715"},),
              Control("3 %", points=({"low": "0.03", "high": "0.04"},))),
        exact("probability of the right token at (0, 1), T = 30 (uniform: 0.0333)", heads.best_probability,
              ({"tokens": 30, "low": "0.0350", "high": "0.0351"},),
              Control("a certain prediction", points=({"tokens": 30, "low": "0.5", "high": "1"},))),
        formula=r"\int_0^{(1-\log 2)/2}1-\frac{e^{1-a}-1}{2e^{1-a}-1-2e^a}\,da=0.02714",
        hypotheses=(SLICE, BOX, "i <= T - 2, d = infinity"),
        reading="The right token has the largest logit.",
        note="It has at (0, 1), and on 2.714 % of the box, at every T and position i <= T - 2.",
        coverage=everywhere("The leads over S do not depend on T, and their region is bounded in symbols."),
    ),
    mathematical(
        "kv.fig2.untrained.last", "KV shifting (both versions), Section 3.2, after Figure 2, our addition",
        "At i = T - 1 the right token has the largest logit on 12.66 % of the box instead: 2.81 % around (0, 1), and "
        "9.86 % where alpha1 > 1/2, for there the last key holds the answer x_T itself.",
        symbolic("margins at i = T - 1, T free: the repeated token decides", heads.last_margins,
                 tuple({"which": name} for name in ("repeated", "edge", "other")),
                 Control("those of i <= T - 2", lambda which: heads.last_margins(which, "interior"))),
        certified("where the margin over the repeated token is certainly negative, and its two regions",
                  heads.last_regions, ({"part": "between"}, {"part": "left"}, {"part": "right"}),
                  Control("between, turned round", lambda part: heads.last_regions("turned"))),
        exact("both areas, integrals of balls", heads.last_areas,
              ({"part": "left", "low": "0.0280", "high": "0.0281"},
               {"part": "right", "low": "0.0985", "high": "0.0986"}),
              Control("the share at i <= T - 2", points=({"part": "right", "low": "0", "high": "0.03"},))),
        is_correction=True, hypotheses=(SLICE, BOX, "i = T - 1, d = infinity"),
        formula=r"\int_0^{(1-\log 2)/2}1-\frac{B-A}{2B-3A}\,da+\int_{1/2}^{1}\frac{A-B}{3A-2B}\,da=0.1266",
        coverage=everywhere("The leads over S do not depend on T, and their regions are bounded in symbols."),
    ),
    mathematical(
        "kv.fig2.slice", SECTION,
        "The figure's contour lines and directions are those of L on the slice alpha2 = 1 - alpha1, beta2 = 1 - beta1.",
        symbolic("the slope of each logit difference along the slice is its slope in one parameter less the other's",
                 heads.along_slice,
                 tuple({"place": place, "parameter": name} for place in (1, 2, 3) for name in ("alpha1", "beta1")),
                 Control("the sum, not the difference", lambda **point: heads.along_slice(**point, sign=1))),
        formula=r"\frac{d}{d\alpha_1}L(\alpha_1,1-\alpha_1)=L_{\alpha_1}-L_{\alpha_2}", hypotheses=(SLICE, INTERIOR),
        reading="Descent restricted to the slice; the text does not say that free descent stays on it.",
        coverage=everywhere("T and both coordinates are free, on the closed form of kv.eq10.corrected."),
    ),
    mathematical(
        "kv.fig2.minus", SECTION,
        "The text draws the gradient of -L, caption and listing the descent direction of L: one and the same field.",
        symbolic("each logit difference of -L has the opposite slope along the slice", heads.opposite,
                 tuple({"place": place, "parameter": name} for place in (1, 2) for name in ("alpha1", "beta1")),
                 Control("the gradient of L", lambda **point: heads.opposite(**point, sign=1))),
        nature=Nature.TEXTUAL, coverage=everywhere("T and both coordinates are free."),
    ),
    mathematical(
        "kv.fig2.constant", SECTION,
        "One constant for O(T), put at T - 4, leaves the direction of descent nearly as it is.",
        sampled("largest angle to exact descent, 101 x 101 grid", heads.constant_rest,
                tuple({"tokens": t, "degrees": d, "slips": ONE_CONSTANT} for t, d in ((4, 7.5), (12, 15), (104, 20))),
                Control("with alpha2 for alpha1 as Eq. 10 prints it: up to 180 degrees",
                        lambda tokens, degrees, slips: heads.constant_rest(tokens, degrees, EQUATION))),
        hypotheses=(SLICE, BOX, "T = 4, 12, 104", INTERIOR), nature=Nature.EMPIRICAL, coverage=SAMPLES,
    ),
)  # fmt: skip
