"""The sympy truth about critical points: the Hessian, the box in u = 1/(T - 2), the plane of directions.

Not in the papers. Write D_c = (n_c - n_t)/S for the logit of class c less the target's and w_c = count_c e^{D_c}, so
that L = log Z with Z = 1 + sum w_c. An interior position and a real T >= 4 throughout.
"""

from functools import cache

import sympy as sp

from theory.landscape.slice_symbolic import OWN, PREVIOUS, on_slice
from theory.landscape.symbolic import A, B, interior_table
from theory.symbols import PARAMETERS, alpha1, alpha2, beta1, beta2, n_tokens

INVERSE = sp.Symbol("inverse", nonnegative=True)  # u = 1/(T - 2), in [0, 1/2]
TABLE = interior_table()


def gaps() -> list[sp.Expr]:
    """n_c - n_t for the classes repeated, edge, other."""
    target, *rest = TABLE.classes
    return [c.numerator - target.numerator for c in rest]


def counts() -> list[sp.Expr]:
    return [c.count for c in TABLE.classes[1:]]


def at_critical(expr: sp.Expr) -> sp.Expr:
    """The expression at e^{alpha1} = 1 - 1/(2T), e^{alpha2} = 1 + 1/T, beta = 0."""
    own, previous = 1 - 1 / (2 * n_tokens), 1 + 1 / n_tokens
    return expr.subs({beta1: 0, beta2: 0}).subs({alpha1: sp.log(own), alpha2: sp.log(previous)})


@cache
def critical_hessian() -> sp.Matrix:
    """The Hessian of L at the critical point, order (alpha1, alpha2, beta1, beta2)."""
    loss = sp.log(1 + sum(n * sp.exp(gap / TABLE.partition) for n, gap in zip(counts(), gaps(), strict=True)))
    slopes = [sp.diff(loss, p) for p in PARAMETERS]
    upper = {(i, j): sp.cancel(at_critical(sp.diff(slopes[i], PARAMETERS[j]))) for i in range(4) for j in range(i, 4)}
    return sp.Matrix(4, 4, lambda i, j: upper[min(i, j), max(i, j)])


def slice_gaps() -> list[sp.Expr]:
    """`gaps` on the slice alpha2 = 1 - alpha1, beta2 = 1 - beta1; no T in them."""
    return [on_slice(gap) for gap in gaps()]


def slice_partition() -> sp.Expr:
    """u S on the slice."""
    return 1 + INVERSE * (2 * OWN + PREVIOUS)


def scaled_counts() -> list[sp.Expr]:
    """u times the counts, with T = 2 + 1/u."""
    return [INVERSE, 2 * INVERSE, 1 - 2 * INVERSE]


def slope_terms(symbol: sp.Symbol) -> list[sp.Expr]:
    """S dD_c / d symbol on the slice, in u."""
    rise = sp.diff(2 * OWN + PREVIOUS, symbol)
    return [sp.diff(gap, symbol) - INVERSE * gap * rise / slice_partition() for gap in slice_gaps()]


def _slope(symbol: sp.Symbol, numbers: list[sp.Expr]) -> sp.Expr:
    """sum number_c S dD_c e^{D_c} over the first classes, as many as there are numbers."""
    terms = zip(numbers, slope_terms(symbol), slice_gaps(), strict=False)
    return sum((n * slope * sp.exp(INVERSE * gap / slice_partition()) for n, slope, gap in terms), sp.Integer(0))


def scaled_slope(symbol: sp.Symbol) -> sp.Expr:
    """u S Z dL / d symbol on the slice, of the sign of the slope."""
    return _slope(symbol, scaled_counts())


def corner_slope() -> sp.Expr:
    """1/u of the repeated and edge terms of `scaled_slope` in alpha1: all that is left of it at beta1 = 0."""
    return _slope(alpha1, [sp.Integer(1), sp.Integer(2)])


def other_slope() -> sp.Expr:
    """The factor of beta1 in S dD_other / dalpha1; the rest of that term is (1 - 2u) e^{D_other} >= 0."""
    return PREVIOUS + INVERSE * (PREVIOUS - 1) * (2 * OWN - PREVIOUS) / slice_partition()


def minimum_excess() -> sp.Expr:
    """L - log T at (0, 1) of the box as a function of u = 1/T (not 1/(T - 2)): its expansion is that of the minimum."""
    scaled = 1 + sp.E * INVERSE
    repeated, rest = sp.exp((2 - sp.E) * INVERSE / scaled), sp.exp((1 - sp.E) * INVERSE / scaled)
    return sp.log(INVERSE + INVERSE * repeated + (1 - 2 * INVERSE) * rest)


def directions(own: sp.Expr = A, previous: sp.Expr = B) -> list[tuple[sp.Expr, sp.Expr]]:
    """(v_1, v_2) for the classes repeated, edge, other with n_c - n_t = v . beta; L -> 0 needs v . beta < 0 for all."""
    return [(2 * own - previous, previous - 1), (1 - previous, own - 1), (1 - previous, sp.Integer(0))]


def discriminant(own: sp.Expr = A, previous: sp.Expr = B) -> sp.Expr:
    """(B - 1)(B - A) - (2A - 1)(1 - A): where A < 1 < B, some beta separates the target exactly where it is > 0."""
    return (previous - 1) * (previous - own) - (2 * own - 1) * (1 - own)
