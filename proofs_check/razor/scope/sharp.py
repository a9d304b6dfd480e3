"""The supremum of the attention at a distance where D_s < D, and where tokens may be masked."""

import math
from fractions import Fraction
from functools import cache

import numpy as np
import sympy as sp
from scipy.optimize import minimize

from proofs_check.evidence.margin import Margin, ball_within, close, identity, worst
from proofs_check.evidence.tolerances import ASCENT
from proofs_check.ledger.claim import Claim, Control, Effort, everywhere
from proofs_check.ledger.mathematical import ONCE, exact, mathematical, sampled, symbolic
from proofs_check.oracles.alibi import BallHead, ball, ball_weights
from theory import alibi
from theory.alibi.sharp import sharp_weight

THEOREM = "RazorAttention, Section 3.1, Theorem 1, completed"
SIZES = ((2, 1), (3, 3), (5, 2), (8, 4))


def _head(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, str]:
    rng = np.random.default_rng(seed)
    d, d_head = SIZES[seed % len(SIZES)]
    w_q, w_k = rng.standard_normal((2, d_head, d)) / math.sqrt(d)
    return w_q, w_k, np.exp(0.4 * rng.standard_normal(d)), ("rms", "layer")[seed % 2 if d > 2 else 0]


def _ascended(head, distance: int, slope: float, seed: int) -> float:
    """The largest weight in a whole context of distance + 1 tokens, by ascent over the query; keys at their best."""
    w_q, w_k, gamma, norm = head
    d = len(gamma)

    def states(raw: np.ndarray) -> np.ndarray:
        centred = raw - raw.mean() if norm == "layer" else raw
        return gamma * centred / math.sqrt(float((centred**2).mean()))

    def fall(raw: np.ndarray) -> float:
        query = states(raw)
        pull = gamma * (w_k.T @ (w_q @ query))
        best = states(pull) if float(np.abs(pull).max()) > 0 else query
        context = np.stack([best, *[-best] * (distance - 1), query])
        scores = context @ w_k.T @ (w_q @ query) / math.sqrt(len(w_q)) - slope * np.arange(distance, -1, -1)
        top = float(scores.max())
        return top + math.log(float(np.exp(scores - top).sum())) - float(scores[0])

    starts = np.random.default_rng(seed).standard_normal((8, d))
    return math.exp(-min(float(minimize(fall, s, method="BFGS", options={"gtol": 1e-8}).fun) for s in starts))


@cache
def supremum(seed: int, distance: int, claimed: str = "sharp") -> Margin:
    """The best context found by ascent over queries has the weight of the one-variable formula."""
    head, slope = _head(seed), 0.1
    wide = alibi.logit_range(*head[:3], norm=head[3])
    found = sharp_weight(distance, slope, *head) if claimed == "sharp" else alibi.weight_bound(distance, slope, wide)
    return close(found, _ascended(head, distance, slope, seed), ASCENT)


def between_the_bounds(shift: int = 0) -> Margin:
    """B(x) = e^{ln + s - v} + e^{-2v} S, S the sum of e^{lj} over j < n. A query with v - s = D_s has 2 v = D_s + t,
    t >= 0 (s >= -v): B is e^{-D_s}(e^{ln} + S) less e^{-D_s} S (1 - e^{-t}). Any query has v - s = D_s - u and 2 v =
    D - w: B is e^{ln - D_s} + e^{-D} S plus e^{ln - D_s}(e^u - 1) + e^{-D} S (e^w - 1)."""
    far, between, gap, wide = sp.symbols("far S D_s D", positive=True)  # far = e^{ln}
    t, u, w = sp.symbols("t u w", nonnegative=True)
    low = far * sp.exp(-gap) + between * sp.exp(-gap - t)
    high = far * sp.exp(u - gap) + between * sp.exp(w - wide)
    return worst(
        [
            identity(low, sp.exp(-gap) * (far + between + shift) - sp.exp(-gap) * between * (1 - sp.exp(-t))),
            identity(
                high - (far * sp.exp(-gap) + between * sp.exp(-wide)),
                far * sp.exp(-gap) * (sp.exp(u) - 1) + between * sp.exp(-wide) * (sp.exp(w) - 1),
            ),
        ]
    )


def falls_with_distance(sign: int = 1) -> Margin:
    """One step further B grows by e^{ln + s - v}(e^l - 1) + e^{-2v} e^{ln}, term by term positive."""
    slope, v, between = sp.symbols("l v S", positive=True)
    n, s = sp.symbols("n s", real=True)
    here = sp.exp(slope * n + s - v) + sp.exp(-2 * v) * between
    further = sp.exp(slope * (n + 1) + s - v) + sp.exp(-2 * v) * (between + sp.exp(slope * n))
    grown = sp.exp(slope * n + s - v) * (sp.exp(slope) - 1) + sign * sp.exp(slope * n - 2 * v)
    return identity(further - here, grown)


def masked_form(sign: int = 1) -> Margin:
    """R >= 0 of all unmasked others and an own logit u >= 0 above the lowest: the weight falls short of the bound by a
    positive quotient, 0 at u = R = 0."""
    bound, rest = sp.symbols("b R", nonnegative=True)  # b = e^{ln - D_s}
    u = sp.Symbol("u", nonnegative=True)
    weight = 1 / (1 + bound * sp.exp(u) + rest)
    gap = (bound * (sp.exp(u) - 1) + rest) / ((1 + bound) * (1 + bound * sp.exp(u) + rest))
    return identity(1 / (1 + bound) - weight, sign * gap)


def masked(distance: int, kept: int = 0) -> Margin:
    """With all between masked a negative head in one dimension, product -2 and slope 1/4, gives 1/(1 + e^{ln - D_s}),
    within 1e-13, in balls."""
    head = BallHead("rms", (1,), (0,), ((-2,),), ((1,),), Fraction(1, 4))
    weights = ball_weights(head, [(-1,), *[(1,)] * distance])
    weight = weights[0] / (weights[0] + sum(weights[-1 - kept :], ball(0)))
    bound = 1 / (1 + ball(Fraction(distance, 4) - 4).exp())
    return ball_within(abs(weight - bound), Fraction(1, 10**13))


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.thm1.supremum",
        THEOREM,
        "Without biases the supremum at distance n is 1/(1 + min_x [e^{ln + s - v} + e^{-2v} sum_{j<n} e^{lj}]), v the "
        "query's best and s its own logit; it falls with n and lies between the bounds at ranges D_s and (D, D_s).",
        symbolic(
            "the bracket between its two bounds, for free logits, distance and ranges",
            between_the_bounds,
            ONCE,
            Control("one more between", lambda: between_the_bounds(shift=1)),
        ),
        symbolic(
            "the bracket grows with the distance",
            falls_with_distance,
            ONCE,
            Control("a sign", lambda: falls_with_distance(sign=-1)),
        ),
        sampled(
            "against ascent over the queries of whole contexts, LayerNorm and RMSNorm, d = 2..8",
            supremum,
            lambda effort: [
                {"seed": s, "distance": n} for s in range(4 if effort is Effort.QUICK else 40) for n in (1, 8)
            ],
            Control("the bound with D_s = D", lambda seed, distance: supremum(seed, distance, claimed="bound")),
        ),
        coverage=everywhere(
            "Given the query the weight rises with the target's logit and falls with all others, which are free of "
            "each other: best key v, worst -v (the states are symmetric), its own s; what is left is the least of a "
            "bracket over queries, whose bounds and growth are shown for free numbers."
        ),
        formula=r"\sup a_{m\to m-n}=\frac{1}{1+\min_x[e^{ln+s-v}+e^{-2v}\sum_{j=1}^{n-1}e^{lj}]}",
        is_correction=True,
    ),
    mathematical(
        "razor.thm1.masked",
        THEOREM,
        "Where tokens between may be masked, the attention at distance n is at most 1/(1 + e^{ln - D_s}), attained.",
        symbolic(
            "the own token and any sum of other unmasked ones",
            masked_form,
            ONCE,
            Control("a sign", lambda: masked_form(sign=-1)),
        ),
        exact(
            "a negative head in one dimension with all between masked, in balls",
            masked,
            tuple({"distance": n} for n in (2, 8, 30)),
            Control("one token between kept", lambda distance: masked(distance, kept=1)),
        ),
        coverage=everywhere("All unmasked others enter as one free sum; some query has D_s, and all others masked."),
        formula=r"a_{m\to m-n}\le\frac{1}{1+e^{ln-D_s}}",
        is_correction=True,
    ),
)
