"""The sympy truth of Figure 2: the slice alpha2 = 1 - alpha1, beta2 = 1 - beta1, its large-T limit, the listed forms.

Source: KV shifting, Section 3.2 and Appendix L. Logit differences D_c = l_c - l_target and their counts come from
`theory.landscape.symbolic`; `Slips` and the constant `rest` (the paper's O(T)) from `theory.landscape.printed`.
"""

from functools import cache

import sympy as sp

from theory.landscape.printed import EXACT, Slips
from theory.landscape.symbolic import Table, interior_table
from theory.symbols import alpha1, alpha2, beta1, beta2, n_tokens

OWN = sp.exp(alpha1)
PREVIOUS = sp.exp(1 - alpha1)

Terms = list[tuple[sp.Expr, sp.Expr]]


def on_slice(expr: sp.Expr) -> sp.Expr:
    """The expression with alpha2 = 1 - alpha1 and beta2 = 1 - beta1 put in."""
    return expr.subs({alpha2: 1 - alpha1, beta2: 1 - beta1}, simultaneous=True)


def exact_terms(table: Table) -> Terms:
    """(count, D_c) of each class, the target (1, 0) first, on the slice."""
    target = table.classes[0].numerator
    return [(c.count, on_slice((c.numerator - target) / table.partition)) for c in table.classes]


def slipped_terms(rest: sp.Expr, slips: Slips = EXACT) -> Terms:
    """(weight, exponent relative to the target's) of Eq. 10 or of the listing on the slice; O(T) = `rest`."""
    partition = 2 * OWN + PREVIOUS + (rest if slips.rest_in_partition else rest + 2)
    a1, a2, beta = OWN / partition, PREVIOUS / partition, 1 - beta1
    target = a2 * beta1 + beta / partition
    edge = beta1 / partition + beta * (a2 if slips.alpha2_for_alpha1 else a1)
    repeated = 2 * a1 * beta1 + (a2 + beta if slips.sum_for_product else a2 * beta)
    others = sp.Integer(0) if slips.constant_rest else rest if slips.exponential_rest else 1 / partition
    weight = sp.Integer(1) if slips.exponential_rest else rest
    return [
        (sp.Integer(1), sp.Integer(0)),
        (sp.Integer(1), repeated - target),
        (sp.Integer(2), edge - target),
        (weight, others - target),
    ]


def loss(terms: Terms) -> sp.Expr:
    """log sum_c weight_c e^{D_c}."""
    return sp.log(sum(weight * sp.exp(exponent) for weight, exponent in terms))


def slope_sign(terms: Terms, symbol: sp.Symbol) -> sp.Expr:
    """An expression of the sign of dL / d symbol: sum_c weight_c D_c' e^{D_c}, the derivative times a positive sum."""
    return sum((weight * sp.diff(d, symbol) * sp.exp(d) for weight, d in terms), sp.Integer(0))


@cache
def full_leading_excess() -> sp.Expr:
    """lim T (L - log T) as T grows, in all four parameters: the derivative in 1/T at 0 of L - log T.

    With x = 1/T both S x and the sum of the counts times x are polynomials in x, so L - log T is analytic at x = 0.
    """
    x = sp.Dummy("x", nonnegative=True)
    table = interior_table()
    scaled = sp.expand(table.partition.subs(n_tokens, 1 / x) * x)
    target = table.classes[0].numerator
    total = sum(
        sp.expand(c.count * x).subs(n_tokens, 1 / x) * sp.exp((c.numerator - target) * x / scaled)
        for c in table.classes
    )
    return sp.simplify(sp.diff(sp.log(sp.expand(total)), x).subs(x, 0))


@cache
def leading_excess() -> sp.Expr:
    """The leading term of the excess loss (`full_leading_excess`) where alpha2 = 1 - alpha1 and beta2 = 1 - beta1."""
    return sp.simplify(on_slice(full_leading_excess()))


def limit_flow() -> tuple[sp.Expr, sp.Expr]:
    """Velocity (d alpha1, d beta1) / d s of gradient descent on the slice for time s = t / T, as T grows."""
    excess = leading_excess()
    return -sp.diff(excess, alpha1), -sp.diff(excess, beta1)


def conserved() -> sp.Expr:
    """beta1^2 + 2 alpha1 - 2 e^{alpha1 - 1}, constant along the limit flow."""
    return beta1**2 + 2 * alpha1 - 2 * sp.exp(alpha1 - 1)


@cache
def argmax_margins() -> dict[str, sp.Expr]:
    """S times (target's logit minus another class's) on the slice; all positive where the head is right."""
    table = interior_table()
    target = table.classes[0].numerator
    return {c.name: sp.expand(on_slice(target - c.numerator)) for c in table.classes[1:]}
