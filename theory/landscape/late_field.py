"""The induction route as a flow with log beta1 as time, in variables that stay bounded as beta1 grows.

Write u = 1 / beta1, A = e^{alpha1}, c = e^{alpha2} u^2, g = e^{beta2} / u and r = beta2 u = u (log g - log beta1). Then
D_c + beta1 (less beta2 for the repeated token, with e^{beta2} = g u as a factor) and the slopes of D_c are rational in
them and regular at u = 0, and the common factor e^{-beta1} of all weights cancels in a ratio of slopes of the loss.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import sympy as sp

from theory.checked import whole
from theory.landscape.symbolic import A, B, interior_table
from theory.symbols import beta1, beta2

u, r = sp.Symbol("u", nonnegative=True), sp.Symbol("r", real=True)
own = sp.Symbol("own", nonnegative=True)  # A
c, g = sp.symbols("c g", positive=True)


class Term(NamedTuple):
    """A class of tokens: its weight; slopes of D_c in alpha1 over u A, in alpha2 over u, in beta1, in beta2 over u."""

    weight: sp.Expr
    slopes: tuple[sp.Expr, ...]


def late_terms(n_tokens: int) -> tuple[Term, ...]:
    """The token classes for one T >= 4, each with the weight e^{beta1} count_c e^{D_c} and the slopes of D_c.

    In the class of the repeated token the factor e^{beta2} = g u stands in the slopes and not in the weight.
    """
    return _late_terms(whole("n_tokens", n_tokens, 4))


@cache
def _late_terms(n_tokens: int) -> tuple[Term, ...]:
    table = interior_table(sp.Integer(n_tokens))
    target = table.classes[0].numerator
    b = sp.Symbol("b", positive=True)
    late = {b: c / u**2, beta1: 1 / u, beta2: r / u}
    terms = []
    for k in table.classes[1:]:
        repeated = k.name == "repeated"
        d = ((k.numerator - target) / table.partition).subs({A: own, B: b})
        weight = k.count * sp.exp(sp.cancel((d + beta1 - (beta2 if repeated else 0)).subs(late)))
        factor = g * u if repeated else sp.S.One
        slopes = sp.diff(d, own) / u, b * sp.diff(d, b) / u, sp.diff(d, beta1), sp.diff(d, beta2) / u
        terms.append(Term(weight, tuple(sp.cancel((factor * slope).subs(late)) for slope in slopes)))
    return tuple(terms)


def combination(n_tokens: int, coefficients: Sequence[sp.Expr], at: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    """sum_k coefficients[k] dL/d(parameter k), in the units of `Term` and up to a factor > 0, with `at` put in.

    The coefficient of each weight is simplified first, so that what cancels is gone before it is enclosed.
    """
    total = sp.S.Zero
    for weight, slopes in late_terms(n_tokens):
        share = sum((a * slope for a, slope in zip(coefficients, slopes, strict=True)), sp.S.Zero).subs(at)
        total += weight.subs(at) * (sp.apart(share, c) if share.has(c) else sp.factor(share))
    return total
