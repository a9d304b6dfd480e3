"""Section 3.2 on heads at initialisation, and on the slice that Figure 2 draws."""

from fractions import Fraction

import numpy as np
import sympy as sp
from flint import acb, arb

from proofs_check.evidence.certified import proved_on
from proofs_check.evidence.margin import Margin, at_most, ball_at_least, identity, less, worst
from proofs_check.kv.landscape.figure2 import BOX, INTERIOR, SECTION, SLICE, at, exact_terms, kept
from proofs_check.kv.landscape.position_classes import closed_form
from proofs_check.ledger.claim import SAMPLES, Claim, Control, Nature, Severity, Verdict, everywhere
from proofs_check.ledger.mathematical import ONCE, certified, exact, mathematical, sampled, symbolic
from theory.landscape import blow_up, slice_symbolic
from theory.landscape.grid import angle_between, slice_grid
from theory.landscape.printed import EQUATION, Slips, printed_grid
from theory.landscape.slice_symbolic import OWN, PREVIOUS, on_slice
from theory.landscape.symbolic import interior_table
from theory.lowering.ball import to_ball
from theory.lowering.box import Box
from theory.symbols import alpha1, alpha2, beta1, beta2

ONE_CONSTANT = Slips(rest_in_partition=True, constant_rest=True)
NEAR, FAR = ("1/2", "1/2"), ("0", "1/4")
CLASSES = tuple({"which": name} for name in ("repeated", "edge", "other"))


def farther_but_sooner(near: tuple[str, str], far: tuple[str, str]) -> Margin:
    """`far` (alpha1, beta1) is at the larger distance of (0, 1), and its s* is certainly the smaller one."""
    starts = [(Fraction(a), 1 - Fraction(b)) for a, b in (near, far)]
    times = [blow_up.blow_up_time(1 - a, 1 - b) for a, b in starts]
    return worst([less(*(a**2 + b**2 for a, b in starts)), ball_at_least(times[0] - times[1], strict=True)])


def radicand_grows(name: str, sign: int = 1) -> Margin:
    """The radicand is q^2 beta1^2 by the conserved quantity, and grows with q and b: its slopes are sums of terms that
    are >= 0 for q >= 1, b, u >= 0."""
    q, b, u = (sp.Dummy(text, positive=True) for text in "qbu")
    expr = blow_up.radicand(q, b, u)
    rest = beta1**2 / 2 - blow_up.energy()
    gained = rest.subs(alpha2, sp.log(q) + u) - rest.subs(alpha2, sp.log(q))  # beta1^2 / 2 less b^2 / 2
    found, shown = {
        "q": (sp.diff(expr, q), 2 * q * b**2 + 4 * (q - 1) * u + 2 * u + 2 * (u - 1 + sp.exp(-u))),
        "b": (sp.diff(expr, b), 2 * q**2 * b),
        "beta1": (expr, q**2 * (b**2 + 2 * gained)),
    }[name]
    return identity(found, sign * shown)


def right_at_corner(which: str, corner: tuple[int, int] = (0, 1)) -> Margin:
    """S times the lead of the target over another class, at a corner of the box (it does not depend on T)."""
    return ball_at_least(at(slice_symbolic.argmax_margins()[which], *corner), strict=True)


def _margins(case: str) -> dict[str, sp.Expr]:
    """S times the lead of the target over each class, in a family of positions, at symbolic T."""
    target, *rest = closed_form(case).classes
    return {c.name: on_slice(target.numerator - c.numerator) for c in rest}


def region_identity(which: str, scale: int = 1) -> Margin:
    """The region where the target leads: beta1 > (B - 1)/(2B - 1 - 2A), below 1 just for alpha1 < (1 - log 2)/2."""
    leads = slice_symbolic.argmax_margins()
    pieces = {
        "boundary": (leads["repeated"].subs(beta1, (PREVIOUS - 1) / (2 * PREVIOUS - 1 - 2 * OWN)), sp.Integer(0)),
        "end": ((PREVIOUS - 2 * OWN).subs(alpha1, scale * (1 - sp.log(2)) / 2), sp.Integer(0)),
        "edge tokens": (leads["edge"], beta1 * (OWN + PREVIOUS - 2) + 1 - OWN),
        "first position": (_margins("first")["repeated"], scale * leads["repeated"]),
    }
    return identity(*pieces[which])


def last_margins(which: str, case: str = "last but one") -> Margin:
    """At i = T - 1 the leads over the edge token and the others are >= 0 on the box; the repeated token decides."""
    a, b, beta2_ = OWN, PREVIOUS, 1 - beta1
    shown = {
        "repeated": beta1 * (b - 2 * a) + beta2_ * (a - b),
        "edge": beta1 * (b - 1),
        "other": beta1 * (b - 1) + beta2_ * (a - 1),
    }
    return identity(_margins(case)[which], shown[which])


# the sides of alpha1 on which each is positive
LAST = {
    "B - 2A falls": (sp.diff(2 * OWN - PREVIOUS, alpha1), (0, 1)),
    "A - B rises": (sp.diff(OWN - PREVIOUS, alpha1), (0, 1)),
    "2B > 3A": (2 * PREVIOUS - 3 * OWN, (0, "4/25")),
    "3A > 2B": (3 * OWN - 2 * PREVIOUS, ("1/2", 1)),
}


def last_regions(which: str, sign: int = 1) -> Margin:
    """The lead R = (2B - 3A) beta1 + A - B over the repeated token, affine in beta1.

    A - B rises to 0 at alpha1 = 1/2, and B - 2A falls to 0 at end = (1 - log 2)/2: in between both ends of R are
    negative. Below `end` 2B - 3A > 0, so the region is beta1 > (B - A)/(2B - 3A); above 1/2 3A - 2B > 0, so it is
    beta1 < (A - B)/(3A - 2B).
    """
    expr, side = LAST[which]
    return proved_on(Box({alpha1: side}), sign * expr)


def edge_tokens_never_bind(least: str) -> Margin:
    """Where beta1 >= 7/10 the edge tokens trail for every alpha1 <= 4/25, which contains the region."""
    return proved_on(Box({alpha1: (0, "4/25"), beta1: (least, 1)}), slice_symbolic.argmax_margins()["edge"])


END = (1 - arb(2).log()) / 2
# of each region: its share of the line at alpha1 by A and B, and between which alpha1 it lies
AREAS = {
    "i <= T - 2": (lambda a, b: 1 - (b - 1) / (2 * b - 1 - 2 * a), 0, END),
    "left": (lambda a, b: 1 - (b - a) / (2 * b - 3 * a), 0, END),
    "right": (lambda a, b: (a - b) / (3 * a - 2 * b), 0.5, 1),
}


def area(part: str, low: str, high: str) -> Margin:
    """The area of a region as a ball."""
    share, start, end = AREAS[part]
    return _between(acb.integral(lambda x, _: share(x.exp(), (1 - x).exp()), acb(start), acb(end)).real, low, high)


def _between(found: arb, low: str, high: str) -> Margin:
    return worst([ball_at_least(found - to_ball(low)), ball_at_least(to_ball(high) - found)])


def best_probability(tokens: int, low: str, high: str) -> Margin:
    """Probability of the right token at (0, 1)."""
    return _between((-at(slice_symbolic.loss(exact_terms(tokens)), 0, 1)).exp(), low, high)


def along_slice(place: int, parameter: str, sign: int = -1) -> Margin:
    """Each logit difference, hence the loss, varies along the slice by its slope in one parameter less the other's."""
    one, two = (alpha1, alpha2) if parameter == "alpha1" else (beta1, beta2)
    table = interior_table()
    difference = (table.classes[place].numerator - table.classes[0].numerator) / table.partition
    chain = on_slice(sp.diff(difference, one) + sign * sp.diff(difference, two))
    return identity(sp.diff(on_slice(difference), one), chain)


def opposite(place: int, parameter: str, sign: int = -1) -> Margin:
    """The slope of -D_c along the slice is minus that of D_c."""
    difference = slice_symbolic.exact_terms(interior_table())[place][1]
    symbol = alpha1 if parameter == "alpha1" else beta1
    return identity(sp.diff(-difference, symbol), sign * sp.diff(difference, symbol))


def constant_rest(tokens: int, degrees: float, slips: Slips) -> Margin:
    """Largest angle, on a grid, between descent with one constant for both O(T) and exact descent."""
    angle = angle_between(printed_grid(tokens - 4, slips, 101), slice_grid(tokens, 101))
    return at_most(float(np.degrees(angle).max()), degrees)


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.fig2.closer", SECTION,
        "On the slice and as T grows, heads whose (alpha1, beta1) is closer to (0, 1) in both coordinates at "
        "initialisation learn faster: the limit flow takes a shorter time s*.",
        symbolic("s* falls with alpha2 and beta1: the radicand of its integrand, e^{2 alpha2} times beta1^2 by the "
                 "conserved quantity, grows with both, term by term", radicand_grows,
                 tuple({"name": name} for name in ("q", "b", "beta1")),
                 Control("a sign", lambda name: radicand_grows(name, -1))),
        symbolic("the conserved quantity from which the time follows", lambda: kept(on_slice(blow_up.energy())), ONCE,
                 Control("another quantity", lambda: kept(on_slice(blow_up.energy()) + beta1))),
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
        exact("distances, and s* as integrals of balls", farther_but_sooner, ({"near": NEAR, "far": FAR},),
              Control("the other way round", points=({"near": FAR, "far": NEAR},)),
              Control("a far one that is later", points=({"near": NEAR, "far": ("3/4", "1/2")},))),
        is_correction=True, coverage=everywhere("One pair of starts, its two times in balls."),
        formula=r"s^*(0,\frac{1}{4})<s^*(\frac{1}{2},\frac{1}{2})", hypotheses=(SLICE, "the limit flow, T -> infinity"),
    ),
    mathematical(
        "kv.fig2.untrained", "KV shifting (both versions), Section 3.2, after Figure 2",
        "With a good initialisation the model has induction capability before training.",
        exact("leads of the target at (0, 1)", right_at_corner, CLASSES,
              Control("the corner (1, 0)", lambda which: right_at_corner(which, (1, 0)), ({"which": "edge"},))),
        symbolic("the region: its lower boundary in beta1, its end in alpha1; the same at i = 1", region_identity,
                 tuple({"which": piece} for piece in ("boundary", "end", "edge tokens", "first position")),
                 Control("twice the end", lambda which: region_identity(which, 2))),
        certified("the tokens i - 1 and T do not bound it", edge_tokens_never_bind, ({"least": "7/10"},),
                  Control("beta1 >= 1/20", points=({"least": "1/20"},))),
        exact("its area, an integral of balls", area, ({"part": "i <= T - 2", "low": "0.02713", "high": "0.02715"},),
              Control("3 %", points=({"part": "i <= T - 2", "low": "0.03", "high": "0.04"},))),
        exact("probability of the right token at (0, 1), T = 30 (uniform: 0.0333)", best_probability,
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
        symbolic("margins at i = T - 1, T free: the repeated token decides", last_margins, CLASSES,
                 Control("those of i <= T - 2", lambda which: last_margins(which, "interior"))),
        certified("where the margin over the repeated token is certainly negative, and its two regions",
                  last_regions, tuple({"which": name} for name in LAST),
                  Control("turned round", lambda which: last_regions(which, -1))),
        exact("both areas, integrals of balls", area,
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
                 along_slice,
                 tuple({"place": place, "parameter": name} for place in (1, 2, 3) for name in ("alpha1", "beta1")),
                 Control("the sum, not the difference", lambda **point: along_slice(**point, sign=1))),
        formula=r"\frac{d}{d\alpha_1}L(\alpha_1,1-\alpha_1)=L_{\alpha_1}-L_{\alpha_2}", hypotheses=(SLICE, INTERIOR),
        reading="Descent restricted to the slice; the text does not say that free descent stays on it.",
        coverage=everywhere("T and both coordinates are free, on the closed form of kv.eq10.corrected."),
    ),
    mathematical(
        "kv.fig2.minus", SECTION,
        "The text draws the gradient of -L, caption and listing the descent direction of L: one and the same field.",
        symbolic("each logit difference of -L has the opposite slope along the slice", opposite,
                 tuple({"place": place, "parameter": name} for place in (1, 2) for name in ("alpha1", "beta1")),
                 Control("the gradient of L", lambda **point: opposite(**point, sign=1))),
        nature=Nature.TEXTUAL, coverage=everywhere("T and both coordinates are free."),
    ),
    mathematical(
        "kv.fig2.constant", SECTION,
        "One constant for O(T), put at T - 4, leaves the direction of descent nearly as it is.",
        sampled("largest angle to exact descent, 101 x 101 grid", constant_rest,
                tuple({"tokens": t, "degrees": d, "slips": ONE_CONSTANT} for t, d in ((4, 7.5), (12, 15), (104, 20))),
                Control("with alpha2 for alpha1 as Eq. 10 prints it: up to 180 degrees",
                        lambda tokens, degrees, slips: constant_rest(tokens, degrees, EQUATION))),
        hypotheses=(SLICE, BOX, "T = 4, 12, 104", INTERIOR), nature=Nature.EMPIRICAL, coverage=SAMPLES,
    ),
)  # fmt: skip
