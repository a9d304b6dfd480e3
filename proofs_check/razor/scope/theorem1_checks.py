"""Margins for the steps of Theorem 1's proof: exponentials of one query in balls, gaps as identities."""

from fractions import Fraction

import numpy as np
import sympy as sp
from flint import arb

from proofs_check.evidence.margin import (
    Margin,
    ball_above,
    ball_at_least,
    ball_below,
    ball_within,
    identity,
    same,
    worst,
)
from proofs_check.oracles.alibi import BallHead, ball, ball_scores, ball_softmax
from theory import alibi

HALF = Fraction(1, 2)
E1 = ((1, 0), (0, 0))

def own_term_is_summed(n_tokens: int, own: int = 1) -> Margin:
    """The denominator less e^{S_{m->m}} is the sum of the other exponentials: the own term is one of its terms."""
    scores = sp.symbols(f"s0:{n_tokens}", real=True)
    total = sum(sp.exp(s) for s in scores)
    return identity(total - own * sp.exp(scores[-1]), sum(sp.exp(s) for s in scores[:-1]))


def term_of_the_sum(slope: Fraction, own: bool = True) -> Margin:
    """The denominator of query m is at least e^{S_{m->m}}; without `own` e^{S_{n->n}} of another query is asked for."""
    head = BallHead("rms", (1, 1), (0, 0), E1, E1, slope)
    target, query = (1, 0), (0, 1)
    total = sum((s.exp() for s in ball_scores(head, [target, query])), arb(0))
    term = ball_scores(head, [query if own else target])[0].exp()
    return ball_at_least(total - term)


def below_one(product: int) -> Margin:
    """e^{q_m . k_m} < 1 although e^{q_m . q_m} >= 1, which is put in its place; d = 1, W_Q = product, W_K = x = 1."""
    value, square = ball(product).exp(), ball(product * product).exp()
    smaller = ball_below(value, 1)
    return worst([smaller, ball_at_least(square - 1)], sides=smaller)


def square_at_least_one(sign: int = 1) -> Margin:
    """q . q is a sum of squares, of the first coordinate and of all others; e^t >= 1 + t: convex, flat at 0."""
    first, others, t = sp.Symbol("q_1", real=True), sp.Symbol("rest", nonnegative=True), sp.Symbol("t", real=True)
    excess = sp.exp(t) - 1 - t
    return worst(
        [
            same(bool((sign * (first**2 + others)).is_nonnegative), True),
            identity(excess.subs(t, 0), 0),
            identity(sp.diff(excess, t).subs(t, 0), 0),
            same(bool(sp.diff(excess, t, 2).is_positive), True),
        ]
    )


def bounded_logits(factor: int = 2) -> Margin:
    """Own logit at least -B, the target's at most B, R >= 0 of all others: the weight falls short of e^{2B - ln} by a
    positive quotient, whatever R, and e^{2B - ln} tends to 0."""
    slope, bound, rest, n = sp.symbols("l B R n", positive=True)
    top = sp.exp(factor * bound - slope * n)
    weight = 1 / (1 + sp.exp(slope * n - 2 * bound) + rest)
    gap = top**2 * (1 + rest) / (1 + top * (1 + rest))
    return worst([identity(top - weight, gap), identity(sp.limit(top, n, sp.oo), 0)])


def dominated(strength: int, distance: int, slope: Fraction = HALF, share: Fraction = HALF) -> Margin:
    """q_m . k_n = 0, so that any slope dominates it, and the weight is still above `share`: all the rest is lower."""
    head = BallHead("rms", (1, 1), (0, 0), ((strength, 0),), ((-1, 0),), slope)
    weight = ball_softmax(ball_scores(head, [(0, 1), *[(1, 0)] * distance]))[0]
    return ball_above(weight, share)


def gap_by_chord(curve: int = 1) -> Margin:
    """D_s/d = max |S u| - u.S u over unit u, eigenvalues t in [-p, r]: |S u|^2 <= (r - p) u.S u + p r by the chord of
    t^2, which the two extreme eigenvectors reach; so it is z - (z^2 - p r)/(r - p) with |p| <= z <= |r|. That is
    (r + p)^2/(4(r - p)) less a square over r - p, and 2p less (z - p)(z + 2p - r)/(r - p)."""
    p, r, t, z = sp.symbols("p r t z", real=True)
    found = z - curve * (z**2 - p * r) / (r - p)
    return worst(
        [
            identity((r - p) * t + p * r - t**2, (t + p) * (r - t)),
            identity((r + p) ** 2 / (4 * (r - p)) - found, (z - (r - p) / 2) ** 2 / (r - p)),
            identity(2 * p - found, (z - p) * (z + 2 * p - r) / (r - p)),
        ]
    )


def symmetric_gap(low: int, high: int, formula: str = "both") -> Margin:
    """The certified D_s of a diagonal head, d = 3, against its closed form at eigenvalues low..high; within 1e-13."""
    d, p, r = 3, -low, high
    form = np.diag([float(low), (low + high) / 2, float(high)])
    inner = formula == "self" or (p > 0 and r <= 3 * p)
    true = Fraction(2 * d * p) if inner else Fraction(d * (r + p) ** 2, 4 * (r - p))
    found = alibi.certified_self_gap(np.eye(d), form, np.ones(d))
    value, near = ball(true) / ball(d).sqrt(), Fraction(1, 10**13)
    below, above = (ball(Fraction(end)) for end in found)
    return worst([ball_within(below - value, near), ball_within(value - above, near)])
