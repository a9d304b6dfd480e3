"""Margins of the claims on the box 0 <= alpha1, beta1 <= 1: all T >= 4 at once, as u = 1/(T - 2) lies in (0, 1/2]."""

from fractions import Fraction

import sympy as sp

from proofs_check.evidence.certified import proved_on
from proofs_check.evidence.margin import Margin, identity, worst
from proofs_check.ledger.mathematical import identities
from theory.landscape import critical_symbolic as c
from theory.landscape.slice_symbolic import OWN, PREVIOUS, exact_terms, on_slice
from theory.lowering.box import Box
from theory.symbols import alpha1, beta1, n_tokens

U = c.INVERSE
UNIT = (0, 1)
EVERY_T = (0, Fraction(1, 2))
CUT = Fraction(2, 5)
TOKENS = {n_tokens: 2 + 1 / U}
# e^L at (0, 1)
LEAST = 1 + sp.exp((2 - sp.E) / (n_tokens + sp.E)) + (n_tokens - 2) * sp.exp((1 - sp.E) / (n_tokens + sp.E))
NAMES = {OWN: sp.Symbol("own", positive=True), PREVIOUS: sp.Symbol("previous", positive=True)}


def in_inverse(index: int, shift: int = 0) -> Margin:
    """u S, the counts, D_c and S dD_c as they stand in u against the loss itself at T = 2 + 1/u, class by class."""
    partition = on_slice(c.TABLE.partition)
    count, gap = exact_terms(c.TABLE)[index + 1]
    slopes = [(partition * sp.diff(gap, p)).subs(TOKENS) for p in (alpha1, beta1)]
    found = [(partition.subs(TOKENS) + shift) * U, count.subs(TOKENS) * U, gap.subs(TOKENS), *slopes]
    expected = [
        c.slice_partition(),
        c.scaled_counts()[index],
        U * c.slice_gaps()[index] / c.slice_partition(),
        *(c.slope_terms(p)[index] for p in (alpha1, beta1)),
    ]
    return identities([sp.cancel((f - e).subs(NAMES)) for f, e in zip(found, expected, strict=True)], [0] * len(found))


def margins_by_class(index: int, plant: int = 0) -> Margin:
    """n_t - n_c on the slice: what bounds each of them by its value at beta1 = 1."""
    repeated, edge, other = (-gap for gap in c.slice_gaps())
    forms = [
        (repeated, beta1 * (PREVIOUS - 2 * OWN) + (1 - beta1) * (1 - PREVIOUS)),
        (edge, (PREVIOUS - 1) - (1 - beta1) * (OWN + PREVIOUS - 2)),
        (other, beta1 * (PREVIOUS - 1)),
    ]
    found, expected = forms[index]
    return identity(found, expected + plant * beta1)


def falls(which: str, sign: int = 1) -> Margin:
    """What else the proof needs, certified on the box and for every u: signs, and (B - 1)/S, (B - 2A)/S falling."""
    line, strip = Box({alpha1: UNIT}), Box({alpha1: UNIT, U: EVERY_T})
    scaled = c.slice_partition()

    def drop(top: sp.Expr) -> sp.Expr:
        return sp.expand(top * sp.diff(scaled, alpha1) - sp.diff(top, alpha1) * scaled)

    pieces = {
        "A + B > 2": (OWN + PREVIOUS - 2, line),
        "-d/da (B - 1)/S": (drop(PREVIOUS - 1), strip),
        "-d/da (B - 2A)/S": (drop(PREVIOUS - 2 * OWN), strip),
    }
    expr, box = pieces[which]
    return proved_on(box, sign * expr)


def corner_value(beta: int = 1) -> Margin:
    """At (0, 1): margins (e - 2, e - 1, e - 1) over S = T + e; so L is the closed form. B = 1 at alpha1 = 1."""
    at = {alpha1: 0, beta1: beta}
    margins = [(-gap).subs(at) for gap in c.slice_gaps()]
    total = sum((n * sp.exp(d) for n, d in exact_terms(c.TABLE)), sp.Integer(0)).subs(at)
    ends = [PREVIOUS.subs(alpha1, 1), total]
    return identities([*margins, *ends], [sp.E - 2, sp.E - 1, sp.E - 1, 1, LEAST])


def expansion_terms(first: sp.Expr = 1 - sp.E) -> Margin:
    """h(x) = L - log T at x = 1/T: the closed form; h(0) = 0, h'(0) = 1 - e, h''(0)/2 = e^2."""
    excess = c.minimum_excess()
    slopes = [sp.diff(excess, U, order).subs(U, 0) for order in (1, 2)]
    same_thing = identity(sp.exp(excess).subs(U, 1 / n_tokens), sp.expand(LEAST / n_tokens))
    return worst([same_thing, identities([excess.subs(U, 0), *slopes], [0, first, 2 * sp.exp(2)])])


def remainder_falls(sign: int = 1) -> Margin:
    """h''' < 0 for 0 <= x <= 1/4, so r(x) = (h - x h'(0))/x^2 = int (1 - t) h''(xt) dt falls from h''(0)/2 = e^2."""
    return proved_on(Box({U: (0, Fraction(1, 4))}), -sign * sp.diff(c.minimum_excess(), U, 3))


def remainder_at_four(low: str = "4.49") -> Margin:
    """r = 16 (h(1/4) + (e - 1)/4) at T = 4, where r is least, exceeds 4.49."""
    quarter = sp.Rational(1, 4)
    value = 16 * (c.minimum_excess().subs(U, quarter) + (sp.E - 1) * quarter) - sp.Rational(low)
    return proved_on(Box({alpha1: (0, 0)}), value)


def slope_splits(factor: int = 1) -> Margin:
    """u S Z dL/dalpha1 = beta1 (1 - 2u) e^{D_other} `other_slope` + u `corner_slope`, term by term."""
    difference = c.slope_terms(alpha1)[2] - factor * beta1 * c.other_slope()
    numbers = identities([n - U * k for n, k in zip(c.scaled_counts(), (1, 2), strict=False)], [0, 0])
    return worst([identity(sp.cancel(difference.subs(NAMES)), 0), numbers])


def slope_signs(which: str, cut: Fraction = CUT, sign: int = 1) -> Margin:
    """The four signs that leave (0, 1) alone; only the second and third together allow dL/dalpha1 = 0, at u = 0."""
    left, right = (0, cut), (cut, 1)
    pieces = {
        "dL/dbeta1 < 0 for alpha1 <= cut": (-c.scaled_slope(beta1), {alpha1: left, beta1: UNIT}),
        "corner term > 0 for alpha1 >= cut": (c.corner_slope(), {alpha1: right, beta1: UNIT}),
        "other term > 0": (c.other_slope(), {alpha1: UNIT}),
        "dL/dalpha1 > 0 at beta1 = 1, alpha1 <= cut": (c.scaled_slope(alpha1).subs(beta1, 1), {alpha1: left}),
    }
    expr, sides = pieces[which]
    return proved_on(Box({**sides, U: EVERY_T}), sign * expr)
