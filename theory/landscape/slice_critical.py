"""Critical points of the loss on Figure 2's slice, all of R^2, as common zeros of two short expressions.

On the slice D_c = (p_c + q_c beta1) / S with weights w_c = count_c e^{D_c}; so dL/dbeta1 = 0 reads sum w q = 0, and
with it dL/dalpha1 = 0 reads sum w (beta1 K - R) = 0. Write A = e^{alpha1}, B = e^{1 - alpha1}. `Form` says the same in
x = e^{-alpha1}, where x = 0 stands for alpha1 = oo and B = e x.
"""

from typing import NamedTuple

import sympy as sp

from theory.landscape.slice_symbolic import OWN as A
from theory.landscape.slice_symbolic import PREVIOUS as B
from theory.landscape.slice_symbolic import exact_terms
from theory.landscape.symbolic import interior_table
from theory.symbols import alpha1, beta1, n_tokens

x = sp.Symbol("x", nonnegative=True)
PARTITION = 2 * A + B + n_tokens - 2
RISE = (2 * A - B) / PARTITION  # (dS/dalpha1) / S


class Classes(NamedTuple):
    """One entry each for the repeated token i, the edge tokens i - 1 and T, the others."""

    repeated: sp.Expr
    edge: sp.Expr
    other: sp.Expr


SLOPES = Classes(2 * A - 2 * B + 1, 2 - A - B, 1 - B)  # q: slopes of S D in beta1
K = Classes(4 * B - 1, 2 * (B - 1), 2 * B - 1)
R = Classes(B + RISE * (B - 1), RISE * (A - 1) - A, sp.S.Zero)


def weights() -> Classes:
    """count_c e^{D_c}."""
    return Classes(*(count * sp.exp(d) for count, d in exact_terms(interior_table())[1:]))


def combine(weight: Classes, coefficients: Classes) -> sp.Expr:
    return sum((w * c for w, c in zip(weight, coefficients, strict=True)), sp.S.Zero)


class Form(NamedTuple):
    """x S, D, x q, K and R as functions of x >= 0, beta1 and T."""

    partition: sp.Expr
    exponents: Classes
    slopes: Classes
    k: Classes
    r: Classes

    def first(self) -> sp.Expr:
        """x sum w q."""
        return combine(self.weights(), self.slopes)

    def second(self) -> sp.Expr:
        """sum w (beta1 K - R)."""
        return combine(self.weights(), Classes(*(beta1 * k - r for k, r in zip(self.k, self.r, strict=True))))

    def weights(self) -> Classes:
        counts = (1, 2, n_tokens - 4)
        return Classes(*(count * sp.exp(d) for count, d in zip(counts, self.exponents, strict=True)))


def form() -> Form:
    b = sp.E * x
    partition = 2 + b * x + (n_tokens - 2) * x
    slopes = Classes(2 - 2 * b * x + x, 2 * x - 1 - b * x, x - b * x)
    starts = Classes(b * x - x, 1 - x, sp.S.Zero)
    rise = (2 - b * x) / partition
    return Form(
        partition,
        Classes(*((p + beta1 * q) / partition for p, q in zip(starts, slopes, strict=True))),
        slopes,
        Classes(4 * b - 1, 2 * (b - 1), 2 * b - 1),
        Classes(b + rise * (b - 1), -(2 * b + n_tokens - 2) / partition - rise, sp.S.Zero),
    )


def conditions(tokens: sp.Expr = n_tokens) -> tuple[sp.Expr, sp.Expr]:
    """(x sum w q, sum w (beta1 K - R)): both zero exactly at the critical points, for x > 0 (alpha1 = -log x)."""
    return tuple(part.subs(n_tokens, tokens) for part in (form().first(), form().second()))


def to_alpha(expr: sp.Expr) -> sp.Expr:
    """The expression with x = e^{-alpha1} put in."""
    return expr.subs(x, sp.exp(-alpha1))
