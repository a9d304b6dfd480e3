"""Late on the induction route: how fast parameters grow, and a region that gradient flow, once inside, never leaves.

The region, for one T and beta1 >= 10^power: A = e^{alpha1} <= `most`, |g - (T - 2)| <= `eta` and
-eps <= c - (T - 1)/2 - A <= A^2/2 + eps, with c = e^{alpha2} / beta1^2 and g = e^{beta2} beta1. beta1 grows in it, and
at each wall the flow points inward, so that no path leaves it. `eps` and `eta` shrink with beta1 as its log over it.
"""

from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np
import sympy as sp

from proofs_check.evidence.certified import proved_on
from proofs_check.evidence.margin import Margin, at_most, identity, worst
from proofs_check.ledger.claim import Claim, Control, Effort, everywhere
from proofs_check.ledger.mathematical import certified, mathematical, sampled, symbolic
from theory.landscape.late_field import c, combination, g, own, r, u
from theory.landscape.late_rates import late_velocity
from theory.landscape.symbolic import interior_table
from theory.lowering.box import Box
from theory.symbols import alpha1, alpha2, beta1, beta2, n_tokens

SOURCE = "KV shifting (both versions), Section 3.2, Theorem 3.4, our addition"
FIGURE_2 = "KV shifting (both versions), Section 3.2, Figure 2, our addition"
WALLS = ("beta1 rises", "A falls", "c above", "c below", "g above", "g below")


class Region(NamedTuple):
    most: Fraction
    eps: Fraction
    eta: Fraction


def region(tokens: int, power: int) -> Region:
    most, eps, eta = {8: ("1/4", "1/100", "1/20"), 30: ("3/4", "1/20", "1/10")}[tokens]
    scale = Fraction(power, 4 * 10 ** (power - 4))
    return Region(Fraction(most), Fraction(eps) * scale, Fraction(eta) * scale)


def _sides(tokens: int, power: int, shift: int) -> tuple[dict, sp.Expr, sp.Expr]:
    """The box of u, r, A, c, g that holds the region, and c at its two walls, functions of A."""
    most, eps, eta = region(tokens, power)
    base = sp.Rational(tokens - 1, 2) + shift + own
    low, high = base - sp.Rational(eps), base + own**2 / 2 + sp.Rational(eps)
    # r = u (log g - log beta1), with log(beta1) / beta1 at most its value 2.3026 power / 10^power at the start
    box = {u: (0, Fraction(1, 10**power)), r: (Fraction(-24 * power, 10 ** (power + 1)), Fraction(4, 10**power)),
           own: (0, most), g: (tokens - 2 - eta, tokens - 2 + eta),
           c: (low.subs(own, 0), high.subs(own, sp.Rational(most)))}  # fmt: skip
    return box, low, high


@cache
def wall(which: str, tokens: int, power: int, shift: int = 0) -> Margin:
    """The flow points inward at one wall; `shift` is added to c throughout. Each velocity is times d beta1 / dt > 0."""
    box, low, high = _sides(tokens, power, shift)
    at, sign = {}, 1
    if which == "beta1 rises":
        row = (0, 0, -1, 0)
    elif which == "A falls":
        row = (1, 0, 0, 0)
    elif which in ("c above", "c below"):
        # along a wall c = w(A): dc - w'(A) dA > 0 or < 0, with dA = -A^2 d(1/A)
        at[c], sign = (high, 1) if which == "c above" else (low, -1)
        row = (-sp.diff(at[c], own) * own**2, c, -2 * c, 0)
    else:
        at[g], sign = (sp.Rational(box[g][1]), 1) if which == "g above" else (sp.Rational(box[g][0]), -1)
        row = (0, 0, 1, 1)
    expr = sign * combination(tokens, row, at)
    return proved_on(Box({s: side for s, side in box.items() if s not in at}), expr)


@cache
def growth(tokens: int, power: int, factor: int = 2) -> Margin:
    """d e^{-alpha1} / d log beta1 is within 1 % of 2 / c everywhere in the region."""
    box, _, _ = _sides(tokens, power, 0)
    few = sp.Rational(1, 50)
    rows = (-c, 0, -(factor + few), 0), (c, 0, factor - few, 0)
    return worst([proved_on(Box(box), combination(tokens, row, {})) for row in rows])


def enters(tokens: int, power: int, shift: int = 0) -> Margin:
    """The path that `theory.landscape.late_rates` follows from beta1 = 3 lies in the region at beta1 = 10^power."""
    from scipy.integrate import solve_ivp

    most, eps, eta = (float(x) for x in region(tokens, power))
    path = solve_ivp(late_velocity, (np.log(3), power * np.log(10)), [0.2, 2.0, 0.0], args=(tokens,), method="LSODA",
                     rtol=1e-9, atol=1e-11)  # fmt: skip
    a, b, d = np.exp(path.y[:, -1])
    gap = b / 100.0**power - (tokens - 1 + shift) / 2
    return worst([at_most(a, most), at_most(-eps, gap - a), at_most(gap - a, a * a / 2 + eps),
                  at_most(abs(d * 10.0**power - (tokens - 2)), eta)])  # fmt: skip


def limits(which: str, twist: int = 0) -> Margin:
    """The limits with T, c, g and A free: the field in u = 1/beta1, regular there, at u = 0 (see `late_field`)."""
    table, target = interior_table(), interior_table().classes[0].numerator
    b = sp.Symbol("b", positive=True)
    late = {b: c / u**2, beta1: 1 / u, beta2: r / u}
    total = sp.zeros(1, 4)
    for entry in table.classes[1:]:
        d = ((entry.numerator - target) / table.partition).subs({sp.exp(alpha1): own, sp.exp(alpha2): b})
        repeated = entry.name == "repeated"  # its weight has the factor e^{beta2} = g u, which its slopes take over
        rest = sp.cancel((d + beta1 - (beta2 if repeated else 0)).subs(late)).subs({u: 0, r: 0})
        slopes = [sp.diff(d, own) * own / u, b * sp.diff(d, b) / u, sp.diff(d, beta1), sp.diff(d, beta2) / u]
        factor = g * u if repeated else 1
        total += entry.count * sp.exp(rest) * sp.Matrix([[sp.cancel((factor * s).subs(late)) for s in slopes]])
    by1, by2, by3, by4 = (sp.cancel(slope).subs({u: 0, r: 0}) for slope in total)
    found = {"c": by2 / by3 - 2, "g": by4 / by3 + 1, "alpha1": -by1 / by3 / own}[which]
    wanted = {
        "c": (n_tokens - 1 + twist + 2 * own) / c - 2,
        "g": 1 - g / (n_tokens - 2 + twist),
        "alpha1": (2 + twist) / c,
    }[which]
    return identity(sp.cancel(found), sp.cancel(wanted))


def _places(effort: Effort) -> list[dict]:
    powers = (4,) if effort is Effort.QUICK else (4, 6)
    return [{"tokens": t, "power": k} for t in (8, 30) for k in powers]


def _walls(effort: Effort) -> list[dict]:
    return [{"which": which, **place} for place in _places(effort) for which in WALLS]


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.beyond.late.limit", FIGURE_2,
        "On the induction route put alpha2 = 2 log beta1 + log c, beta2 = -log beta1 + log g, A = e^{alpha1}: as beta1 "
        "grows d log c / d log beta1 -> (T - 1 + 2 A)/c - 2, d log g / d log beta1 -> 1 - g/(T - 2), d e^{-alpha1} / "
        "d log beta1 -> 2/c.",
        symbolic("the exact field in 1/beta1, regular at 1/beta1 = 0, with T, c, g and A free",
                 limits, tuple({"which": w} for w in ("c", "g", "alpha1")),
                 Control("T + 1, and 3 for 2", lambda which: limits(which, 1))),
        hypotheses=("interior position, T >= 4", "c, g, A fixed and positive"),
        coverage=everywhere("In 1/beta1, beta2/beta1, c, g and A the ratios are rational times exponentials, regular "
                            "at the limit; T, c, g and A are free symbols."),
        formula=r"\frac{d\log c}{d\log\beta_1}\to\frac{T-1+2A}{c}-2,"
        r"\quad\frac{d\log g}{d\log\beta_1}\to 1-\frac{g}{T-2},"
        r"\quad\frac{d\,e^{-\alpha_1}}{d\log\beta_1}\to\frac{2}{c}",
        is_correction=True,
    ),
    mathematical(
        "kv.beyond.late.remainder", SOURCE,
        "Put c = e^{alpha2} / beta1^2, g = e^{beta2} beta1, A = e^{alpha1}. Where beta1 >= 1e4, A <= 1/4, |g - (T - "
        "2)| <= 1/20, -eps <= c - (T - 1)/2 - A <= A^2/2 + eps with eps = 1/100 (T = 8; for T = 30: 3/4, 1/10, 1/20), "
        "gradient flow keeps these bounds for ever, while beta1 grows and e^{-alpha1} grows by (2 +- .02)/c for each "
        "unit of log beta1; from beta1 >= 1e6 on likewise with .015 of eps and of the bound on g. So alpha2 = 2 log "
        "beta1 + log((T - 1)/2 + A + R), -eps <= R <= A^2/2 + eps, and A falls as c / (2 log beta1).",
        certified("at each wall the exact field, in variables regular at beta1 = infinity, points inward", wall,
                  _walls, Control("c + 1", lambda **p: wall(**p, shift=1))),
        certified("slope of e^{-alpha1}", growth, _places,
                  Control("3 / c", lambda tokens, power: growth(tokens, power, 3))),
        sampled("the flow from beta1 = 3 is inside at beta1 = 1e4 and 1e6", enters,
                tuple({"tokens": t, "power": k} for t in (8, 30) for k in (4, 6)),
                Control("T + 1", lambda tokens, power: enters(tokens, power, 1))),
        hypotheses=("T = 8, 30", "beta1 >= 1e4", "interior position, four parameters"),
        coverage=everywhere("T = 8 and 30 are all that is stated; each wall is a box that holds beta1 = infinity, and "
                            "a region with every wall pointing inward is never left."),
        formula=r"\alpha_2=2\log\beta_1+\log\left(\frac{T-1}{2}+A+R\right),"
        r"\quad-\epsilon\le R\le\frac{A^2}{2}+\epsilon",
        is_correction=True,
    ),
)
