"""Margins of the claim on fixed alpha: some beta separates the target from all other classes, or none does.

Write v_c for the direction of class c, n_c - n_t = v_c . beta, and q for `discriminant`.
"""

from fractions import Fraction

import sympy as sp

from proofs_check.evidence.margin import Margin, identity, same
from proofs_check.ledger.mathematical import identities
from theory.landscape import critical_symbolic as c
from theory.landscape.symbolic import A
from theory.symbols import beta1, beta2

POSITIVE_A, POSITIVE_B = sp.symbols("A B", positive=True)
Q = c.discriminant(POSITIVE_A, POSITIVE_B)
V = c.directions(POSITIVE_A, POSITIVE_B)


def directions(first: int = 2) -> Margin:
    """v_c . beta = n_c - n_t for the three classes."""
    planted = [(v[0] + (first - 2) * A, v[1]) for v in c.directions()]
    return identities([v[0] * beta1 + v[1] * beta2 for v in planted], c.gaps())


# A beta for each case, and v_c . beta as products whose signs the case fixes.
SEPARATORS = {
    "B > 1, A >= 1": (
        (POSITIVE_B - 1, -2 * POSITIVE_A),
        (
            -POSITIVE_B * (POSITIVE_B - 1),
            -((POSITIVE_B - 1) ** 2) - 2 * POSITIVE_A * (POSITIVE_A - 1),
            -((POSITIVE_B - 1) ** 2),
        ),
    ),
    "B > 1 > A, q > 0": (
        (
            2 * (1 - POSITIVE_A) * (POSITIVE_B - 1),
            (POSITIVE_B - 2 * POSITIVE_A) * (1 - POSITIVE_A) - (POSITIVE_B - 1) ** 2,
        ),
        (-(POSITIVE_B - 1) * Q, -(1 - POSITIVE_A) * Q, -2 * (1 - POSITIVE_A) * (POSITIVE_B - 1) ** 2),
    ),
    "B < 1, A <= 1": (
        (-(1 - POSITIVE_B), POSITIVE_B),
        (
            -2 * POSITIVE_A * (1 - POSITIVE_B),
            -((1 - POSITIVE_B) ** 2) - POSITIVE_B * (1 - POSITIVE_A),
            -((1 - POSITIVE_B) ** 2),
        ),
    ),
    "B < 1 < A": (
        (sp.Integer(-1), sp.Integer(0)),
        (-(2 * POSITIVE_A - POSITIVE_B), -(1 - POSITIVE_B), -(1 - POSITIVE_B)),
    ),
}


def separated(case: str, sign: int = 1) -> Margin:
    """v_c . beta equals a product that is negative in this case, for each class."""
    beta, products = SEPARATORS[case]
    return identities([v[0] * beta[0] + sign * v[1] * beta[1] for v in V], products)


def balanced(sign: int = 1) -> Margin:
    """sum lambda_c v_c = 0 for lambda = (1 - A, B - 1, -q/(B - 1)): >= 0 where A < 1 < B and q <= 0."""
    weights = (1 - POSITIVE_A, POSITIVE_B - 1, -sign * Q / (POSITIVE_B - 1))
    return identities([sum(w * v[k] for w, v in zip(weights, V, strict=True)) for k in (0, 1)], [0, 0])


def at_one(previous: int = 1) -> Margin:
    """At B = 1 the third class ties with the target: v_o = 0; there q = (2A - 1)(A - 1)."""
    found = [*(entry.subs(POSITIVE_B, previous) for entry in V[2]), Q.subs(POSITIVE_B, previous)]
    return identities(found, [0, 0, (2 * POSITIVE_A - 1) * (POSITIVE_A - 1)])


def above_half(factor: int = 2) -> Margin:
    """q = (B - 1)^2 + (B - 2A)(1 - A): positive where A <= 1/2 and B > 1, so q <= 0 with A < 1 < B needs A > 1/2."""
    return identity(Q, (POSITIVE_B - 1) ** 2 + (POSITIVE_B - factor * POSITIVE_A) * (1 - POSITIVE_A))


def two_classes(factor: int = 2) -> Margin:
    """det(v_r, v_e) = q: at T = 4 the two directions are independent, so separable, wherever q is not 0."""
    (r1, r2), (e1, e2), _ = c.directions(POSITIVE_A, POSITIVE_B)
    return identity((r1 + (factor - 2) * POSITIVE_A) * e2 - r2 * e1, Q)


def _half_plane(rows: list[tuple[Fraction, Fraction]]) -> bool:
    """Do the vectors lie in an open half plane? One of them then has all others within a half turn to its left."""

    def left(v: tuple[Fraction, Fraction], w: tuple[Fraction, Fraction]) -> bool:
        turn, along = v[0] * w[1] - v[1] * w[0], v[0] * w[0] + v[1] * w[1]
        return turn > 0 or (turn == 0 and along > 0)

    return any(all(left(v, w) for w in rows) for v in rows)


def condition(own: Fraction, previous: Fraction, others: bool) -> bool:
    """Does the statement say that some beta separates? `others`: is T > 4, so that the third class has members?"""
    q = c.discriminant(own, previous)
    if not others:
        return not (q == 0 and own <= 1 <= previous)
    return previous != 1 and not (own < 1 < previous and q <= 0)


def without_ties(own: Fraction, previous: Fraction, others: bool) -> bool:
    """The same with both boundary cases, B = 1 and q = 0, left out."""
    return not (own < 1 < previous and c.discriminant(own, previous) < 0)


def enumerated(own: Fraction, previous: Fraction, others: bool, said=condition) -> Margin:
    """The condition against a half-plane test in rational arithmetic."""
    rows = [(Fraction(a), Fraction(int(b) if isinstance(b, sp.Integer) else b)) for a, b in c.directions(own, previous)]
    return same(said(own, previous, others), _half_plane(rows if others else rows[:2]))


GRID = tuple(
    {"own": Fraction(i, 8), "previous": Fraction(j, 8), "others": others}
    for others in (True, False)
    for i in range(1, 21)
    for j in range(1, 21)
)
