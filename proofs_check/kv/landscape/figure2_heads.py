"""Margins of what Section 3.2 says of heads at initialisation, and of the slice that Figure 2 draws."""

from fractions import Fraction

import numpy as np
import sympy as sp
from flint import acb, arb

from proofs_check.evidence.certified import proved_on
from proofs_check.evidence.margin import Margin, at_most, ball_at_least, identity, less, worst
from proofs_check.kv.landscape.figure2_checks import LINE, OWN, PREVIOUS, at, exact
from proofs_check.kv.landscape.theorem34_checks import closed_form
from theory.landscape import blow_up, slice_symbolic
from theory.landscape.grid import angle_between, slice_grid
from theory.landscape.printed import Slips, printed_grid
from theory.landscape.symbolic import interior_table
from theory.lowering.ball import to_ball
from theory.lowering.box import Box
from theory.symbols import alpha1, alpha2, beta1, beta2


def learns_faster(near: tuple[str, str], far: tuple[str, str]) -> Margin:
    """s* of the start `near` (alpha1, beta1) is certainly smaller than that of `far`."""
    first, second = (blow_up.blow_up_time(1 - Fraction(a), Fraction(b)) for a, b in (near, far))
    return ball_at_least(second - first, strict=True)


def nearer(near: tuple[str, str], far: tuple[str, str]) -> Margin:
    """`near` is the closer one to (0, 1) in Euclidean distance."""
    first, second = (Fraction(a) ** 2 + (1 - Fraction(b)) ** 2 for a, b in (near, far))
    return less(first, second)


def energy_kept(extra: sp.Expr = beta1 * 0) -> Margin:
    """beta1^2 / 2 - alpha2 - e^{-alpha2} along alpha2' = beta1 e^{alpha2}, beta1' = e^{alpha2} - 1, the limit flow."""
    first, second = (part.subs(alpha1, 1 - alpha2) for part in slice_symbolic.limit_flow())
    kept = blow_up.energy() + extra
    return identity(sp.expand(sp.diff(kept, alpha2) * -first + sp.diff(kept, beta1) * second), 0)


def radicand_grows(name: str, sign: int = 1) -> Margin:
    """The radicand grows with q and with b: its slopes are sums of terms that are >= 0 for q >= 1, b, u >= 0."""
    q, b, u = (sp.Dummy(text, positive=True) for text in "qbu")
    expr = blow_up.radicand(q, b, u)
    shown = {
        "q": 2 * q * b**2 + 4 * (q - 1) * u + 2 * u + sign * 2 * (u - 1 + sp.exp(-u)),
        "b": sign * 2 * q**2 * b,
    }
    return identity(sp.expand(sp.diff(expr, {"q": q, "b": b}[name]) - shown[name]), 0)


def right_at_corner(which: str, corner: tuple[int, int] = (0, 1)) -> Margin:
    """S times the lead of the target over another class, at a corner of the box (it does not depend on T)."""
    return ball_at_least(at(slice_symbolic.argmax_margins()[which], *map(Fraction, corner)), strict=True)


def region_identity(which: str, scale: int = 1) -> Margin:
    """The region where the target leads: beta1 > (B - 1)/(2B - 1 - 2A), below 1 just for alpha1 < (1 - log 2)/2."""
    lead = slice_symbolic.argmax_margins()["repeated"]
    edge = (PREVIOUS - 1) / (2 * PREVIOUS - 1 - 2 * OWN)
    pieces = {
        "boundary": (sp.simplify(lead.subs(beta1, edge)), sp.Integer(0)),
        "end": (sp.simplify((PREVIOUS - 2 * OWN).subs(alpha1, scale * (1 - sp.log(2)) / 2)), sp.Integer(0)),
        "edge tokens": (slice_symbolic.argmax_margins()["edge"], beta1 * (OWN + PREVIOUS - 2) + 1 - OWN),
        "first position": (_margins("first")["repeated"], scale * lead),
    }
    return identity(*pieces[which])


def _margins(case: str) -> dict[str, sp.Expr]:
    """S times the lead of the target over each class, in a family of positions, at symbolic T."""
    table = closed_form(case)
    target = table.classes[0].numerator
    return {c.name: sp.expand(slice_symbolic.on_slice(target - c.numerator)) for c in table.classes[1:]}


def last_margins(which: str, case: str = "last but one") -> Margin:
    """At i = T - 1 the leads over the edge token and the others are >= 0 on the box; the repeated token decides."""
    a, b, beta2_ = OWN, PREVIOUS, 1 - beta1
    shown = {
        "repeated": beta1 * (b - 2 * a) + beta2_ * (a - b),
        "edge": beta1 * (b - 1),
        "other": beta1 * (b - 1) + beta2_ * (a - 1),
    }
    return identity(sp.expand(_margins(case)[which] - shown[which]), 0)


LAST = {  # part: (end points of alpha1, sign of the slope in beta1 of the lead over the repeated token)
    "left": ("0", "4/25"),
    "right": ("1/2", "1"),
}


def last_regions(part: str) -> Margin:
    """The lead R = (2B - 3A) beta1 + A - B over the repeated token, affine in beta1.

    For alpha1 in (end, 1/2), end = (1 - log 2)/2, both ends A - B and B - 2A are negative; below it 2B - 3A > 0, so the
    region is beta1 > (B - A)/(2B - 3A); above 1/2 3A - 2B > 0, so it is beta1 < (A - B)/(3A - 2B).
    """
    if part in ("between", "turned"):
        # both ends have definite signs away from the roots, and are monotone in alpha1: B - 2A falls, A - B rises
        sign = 1 if part == "between" else -1
        rises = (-sign * sp.diff(PREVIOUS - 2 * OWN, alpha1), sp.diff(OWN - PREVIOUS, alpha1))
        signs = [proved_on(LINE, slope) for slope in rises]
        roots = [
            identity(sp.simplify((PREVIOUS - 2 * OWN).subs(alpha1, (1 - sp.log(2)) / 2)), 0),
            identity((OWN - PREVIOUS).subs(alpha1, sp.Rational(1, 2)), 0),
        ]
        return worst([*signs, *roots])
    slope = 2 * PREVIOUS - 3 * OWN
    return proved_on(Box({alpha1: LAST[part]}), slope if part == "left" else -slope)


def last_areas(part: str, low: str, high: str) -> Margin:
    """Areas of the two regions as balls."""
    if part == "left":
        end = (1 - arb(2).log()) / 2
        area = acb.integral(
            lambda a, _: 1 - ((1 - a).exp() - a.exp()) / (2 * (1 - a).exp() - 3 * a.exp()), 0, acb(end)
        ).real
    else:
        area = acb.integral(
            lambda a, _: (a.exp() - (1 - a).exp()) / (3 * a.exp() - 2 * (1 - a).exp()), acb("0.5"), 1
        ).real
    return worst([ball_at_least(area - to_ball(low)), ball_at_least(to_ball(high) - area)])


def edge_tokens_never_bind(least: str) -> Margin:
    """Where beta1 >= 7/10 the edge tokens trail for every alpha1 <= 4/25, which contains the region."""
    return proved_on(Box({alpha1: (0, "4/25"), beta1: (least, 1)}), slice_symbolic.argmax_margins()["edge"])


def region_area(low: str, high: str) -> Margin:
    """Area of the region, int_0^{(1 - log 2)/2} 1 - (B - 1)/(2B - 1 - 2A), as a ball."""
    end = (1 - arb(2).log()) / 2
    area = acb.integral(
        lambda a, _: 1 - ((1 - a).exp() - 1) / (2 * (1 - a).exp() - 1 - 2 * a.exp()), 0, acb(end)
    ).real
    return worst([ball_at_least(area - to_ball(low)), ball_at_least(to_ball(high) - area)])


def best_probability(tokens: int, low: str, high: str) -> Margin:
    """Probability of the right token at (0, 1)."""
    p = (-at(slice_symbolic.loss(exact(tokens)), Fraction(0), Fraction(1))).exp()
    return worst([ball_at_least(p - to_ball(low)), ball_at_least(to_ball(high) - p)])


def along_slice(place: int, parameter: str, sign: int = -1) -> Margin:
    """Each logit difference, hence the loss, varies along the slice by its slope in one parameter less the other's."""
    one, two = (alpha1, alpha2) if parameter == "alpha1" else (beta1, beta2)
    table = interior_table()
    difference = (table.classes[place].numerator - table.classes[0].numerator) / table.partition
    chain = slice_symbolic.on_slice(sp.diff(difference, one) + sign * sp.diff(difference, two))
    return identity(sp.diff(slice_symbolic.on_slice(difference), one), chain)


def opposite(place: int, parameter: str, sign: int = -1) -> Margin:
    """The slope of -D_c along the slice is minus that of D_c."""
    difference = slice_symbolic.exact_terms(interior_table())[place][1]
    symbol = alpha1 if parameter == "alpha1" else beta1
    return identity(sp.diff(-difference, symbol), sign * sp.diff(difference, symbol))


def constant_rest(tokens: int, degrees: float, slips: Slips) -> Margin:
    """Largest angle, on a grid, between descent with one constant for both O(T) and exact descent."""
    angle = angle_between(printed_grid(tokens - 4, slips, 101), slice_grid(tokens, 101))
    return at_most(float(np.degrees(angle).max()), degrees)
