"""Margins for Theorem 1: counterexamples in balls, worst contexts as identities, all contexts in one dimension."""

import itertools
from fractions import Fraction

import numpy as np
import sympy as sp
from flint import arb

from proofs_check.evidence.margin import (
    Margin,
    at_most,
    ball_above,
    ball_at_least,
    ball_below,
    ball_within,
    identity,
    same,
    worst,
)
from proofs_check.evidence.tolerances import KERNEL
from proofs_check.oracles.alibi import BallHead, ball, ball_scores, ball_softmax, ball_weights, printed_scope
from theory import alibi
from theory.lowering.precision import working

HALF = Fraction(1, 2)
E1 = ((1, 0), (0, 0))
# name: (head, spectral norm of the product, its logit range, target, other hidden states, distance, eps)
WITNESSES: dict[str, tuple] = {
    # W_Q W_K = W_Q^T W_K = -e1 e1^T: both readings of the product
    "two tokens": (BallHead("rms", (1, 0), (0, 0), E1, ((-1, 0), (0, 0)), 3), 1, 4, (-1, 0), (1, 0), 1, HALF),
    # W_Q W_K = 0 as printed, with LayerNorm, unit gains and a slope of ALiBi
    "product as printed": (
        BallHead("layer", (1, 1), (0, 0), ((0, -1), (0, 0)), ((0, 1), (0, 0)), HALF),
        0, 2, (1, -1), (-1, 1), 1, Fraction(61, 100),
    ),
    "RMSNorm, d = 2": (
        BallHead("rms", (1, 0), (0, 0), ((5, 0), (0, 0)), ((-1, 0), (0, 0)), HALF),
        5, 20, (-1, 0), (1, 0), 34, Fraction(1, 1000),
    ),
    "LayerNorm, d = 3": (
        BallHead("layer", (1, 0, 0), (0, 0, 0), ((40, 0, 0),), ((-1, 0, 0),), HALF),
        40, 160, (-2, 1, 1), (2, -1, -1), 174, Fraction(1, 1000),
    ),
    "equal gains, a bias": (
        BallHead("layer", (1, 1), (HALF, -HALF), ((-10, 10),), ((1, -1),), HALF),
        20, 120, (-1, 1), (1, -1), 214, Fraction(1, 1000),
    ),
    "eps = 1e-300, product as printed": (
        BallHead("layer", (1, 1), (0, 0), ((0, -1000), (0, 0)), ((0, 1), (0, 0)), HALF),
        0, 2000, (1, -1), (-1, 1), 1382, Fraction(1, 10**300),
    ),
}  # fmt: skip


def beyond(name: str, sharp: bool = False) -> Margin:
    """The target lies beyond the scope and yet weighs more than eps; `sharp` puts the corrected scope in its place."""
    head, norm, spread, target, other, distance, eps = WITNESSES[name]
    if sharp:
        factor = ball(1 / Fraction(eps) - 1) * (1 - (-ball(head.slope)).exp()) * ball(spread).exp()
        scope = (1 + factor).log() / ball(head.slope)
    else:
        scope = printed_scope(head, norm, eps)
    weight = ball_weights(head, [target, *[other] * distance])[0]
    further = ball_at_least(distance - scope, strict=True)
    heavier = ball_above(weight, eps)
    return worst([further, heavier], sides=heavier)


def ratio(name: str, factor: int) -> Margin:
    """The weight beyond the printed scope is at least `factor` eps."""
    head, _, _, target, other, distance, eps = WITNESSES[name]
    weight = ball_weights(head, [target, *[other] * distance])[0]
    return worst([beyond(name), ball_at_least(weight / ball(eps), factor)])


def every_context(n_tokens: int, product: Fraction, slope: Fraction, spread: int = 2) -> Margin:
    """All 2^n contexts of RMSNorm in one dimension, in balls: no weight above the bound, D = 2 |M|, D_s = D or 0."""
    head = BallHead("rms", (1,), (0,), ((product,),), ((1,),), slope)
    distance, margins = n_tokens - 1, []
    with working(256):
        wide = ball(spread * abs(product))
        rest = (ball(slope) * distance - (wide if product < 0 else 0)).exp()
        rest += sum(((ball(slope) * j - wide).exp() for j in range(1, distance)), arb(0))
        for signs in itertools.product((-1, 1), repeat=n_tokens):
            weight = ball_weights(head, [(s,) for s in signs])[0]
            # the bound is attained, and balls cannot tell equals apart: 1e-75 above it is still "at most"
            margins.append(ball_within(weight - 1 / (1 + rest), Fraction(1, 10**75)))
    return worst(margins)


def no_context_above(seed: int, factor: float = 1.0) -> Margin:
    """A random head and 40 contexts of random and extreme states: weight over bound, both norms, with and without b."""
    rng = np.random.default_rng(seed)
    d, d_head, n = int(rng.integers(2, 9)), int(rng.integers(1, 5)), 24
    norm, biased = ("rms", "layer")[seed % 2], seed % 4 < 2
    w_q, w_k = rng.standard_normal((2, d_head, d)) * rng.choice([0.2, 0.6])
    gamma, bias = rng.uniform(0.3, 2, d), rng.standard_normal(d) if biased else np.zeros(d)
    slope = float(rng.uniform(0.01, 1))
    wide = alibi.logit_range(w_q, w_k, gamma, bias, norm=norm)
    gap = min(wide, alibi.self_gap(w_q, w_k, gamma, bias, norm=norm))
    found = alibi.extremes(w_q, w_k, gamma, bias, norm=norm)
    excess = []
    for _ in range(40):
        raw = rng.standard_normal((n, d))
        raw = raw - raw.mean(axis=1, keepdims=True) if norm == "layer" else raw
        states = raw / np.sqrt((raw**2).mean(axis=1, keepdims=True)) * gamma + bias
        states[rng.random(n) < 0.4] = found.low
        states[: int(rng.integers(1, n))] = found.high
        states[-1] = found.query if rng.random() < 0.7 else states[-1]
        scores = states @ w_k.T @ (w_q @ states[-1]) / np.sqrt(d_head) - slope * np.arange(n - 1, -1, -1)
        weights = np.exp(scores - scores.max())
        weights = (weights / weights.sum())[::-1]
        bounds = [alibi.weight_bound(j, slope, factor * wide, factor * gap) for j in range(n)]
        excess.append(float((weights / np.array(bounds)).max()))
    return at_most(max(excess), 1.0, KERNEL)


def tight(product: Fraction, slope: Fraction, distance: int, spread: int = 2) -> Margin:
    """M = -product in one dimension attains the bound with D = 2 product: its worst context within 1e-75, in balls."""
    head = BallHead("rms", (1,), (0,), ((-product,),), ((1,),), slope)
    with working(256):
        weight = ball_weights(head, [(-1,), *[(1,)] * distance])[0]
        powers = sum(((ball(slope) * j).exp() for j in range(1, distance + 1)), arb(0))
        bound = 1 / (1 + ball(-spread * product).exp() * powers)
        return ball_within(abs(weight - bound), Fraction(1, 10**75))


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


def last_step(product: int, distance: int, slope: Fraction) -> Margin:
    """The weight exceeds e^{q_m.k_n - slope (m - n)}, its printed bound; d = 1, target -1, all others 1."""
    head = BallHead("rms", (1,), (0,), ((product,),), ((1,),), slope)
    hidden = [(-1,), *[(1,)] * distance]
    weight, score = ball_weights(head, hidden)[0], ball_scores(head, hidden)[0]
    return ball_above(weight, score.exp())


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
