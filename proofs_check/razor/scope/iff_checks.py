"""Margins for the condition under which Theorem 1 is true: violations in balls, gaps of random heads, closed forms."""

from fractions import Fraction
from functools import cache

import numpy as np
import sympy as sp

from proofs_check.evidence.margin import Margin, at_most, ball_above, ball_at_least, different, identity, same, worst
from proofs_check.evidence.tolerances import ROUNDING
from proofs_check.oracles.alibi import BallHead, ball_weights, printed_scope
from theory import alibi
from theory.alibi.printed import printed_condition, violation
from theory.lowering.box import Outcome

HALF, EPS = Fraction(1, 2), Fraction(1, 1000)


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, str]:
    """Gains and a bias: of one size or not, absent, small or large; both norms."""
    rng = np.random.default_rng(seed)
    norm = ("rms", "layer")[seed % 2]
    d = int(rng.integers(2, 7))
    gamma = np.ones(d) if seed % 3 == 0 else np.exp(0.3 * rng.standard_normal(d))
    return gamma, rng.standard_normal(d) * rng.choice([0.0, 0.2, 1.0, 3.0]), norm


@cache
def both_ways(seed: int, stretch: float = 1.0) -> Margin:
    """Refuted: a head and a context above eps beyond L_h. Proved: ||M|| bound is above the gap of every head tried.

    `stretch` moves the bound 2 (||gamma||^2 + ||b||^2) on the second side.
    """
    gamma, bias, norm = drawn(seed)
    found = printed_condition(gamma, bias, norm)
    if found.outcome is Outcome.REFUTED:
        wrong = violation(found, 0.5, 1e-3)
        scope = alibi.printed_scope(wrong.w_q, wrong.w_k, gamma, bias, 0.5, 1e-3)
        return worst([at_most(scope, wrong.distance), at_most(1e-3, wrong.weight)])
    rng = np.random.default_rng([seed, 1])
    along = (found.y - found.x)[None]
    pairs = [(found.x[None], along), *(rng.standard_normal((2, 2, len(gamma))) for _ in range(4))]
    margins = []
    for w_q, w_k in pairs:
        norm_of = float(np.linalg.norm(w_q.T @ w_k, 2))
        reached = _reached_gap(w_q, w_k, gamma, bias, norm, found.x)
        margins.append(at_most(reached / norm_of, stretch * found.bound, ROUNDING))
    return worst(margins)


def _reached_gap(w_q, w_k, gamma, bias, norm: str, start: np.ndarray) -> float:
    """The excess of the best key over the own one at the head's extreme query and at `start`: attained, no bound."""
    extremes = alibi.extremes(w_q, w_k, gamma, bias, norm=norm)
    best = 0.0
    for query in (extremes.query, start):
        pull = gamma * (w_k.T @ (w_q @ query))
        pull = pull - pull.mean() if norm == "layer" else pull
        top = gamma * pull * np.sqrt(len(gamma)) / max(float(np.linalg.norm(pull)), 1e-300) + bias
        best = max(best, float((w_q @ query) @ (w_k @ (top - query))))
    return best


def violated(gamma: tuple, bias: tuple, norm: str, hidden: tuple, other: tuple, strength: int) -> Margin:
    """M = -c u u^T with u = hidden - other, of norm c ||u||^2: the weight at floor(L_h) + 1 in balls, against eps."""
    along = [Fraction(a) - Fraction(b) for a, b in zip(hidden, other, strict=True)]
    square = sum(a * a for a in along)
    head = BallHead(norm, gamma, bias, (tuple(strength * a for a in along),), (tuple(-a for a in along),), HALF)
    scope = printed_scope(head, strength * square, EPS)
    distance = int(float(scope.upper())) + 1
    weight = ball_weights(head, [other, *[hidden] * distance])[0]
    heavier = ball_above(weight, EPS)
    return worst([ball_at_least(distance - scope, strict=True), heavier], sides=heavier)


def rank_one(d: int, power: int = 1) -> Margin:
    """M = c x z^T/(|x||z|) has Frobenius norm c and x.M z = c |x||z|, for free vectors: no M of norm c has more."""
    x, z = sp.symbols(f"x0:{d}", real=True), sp.symbols(f"z0:{d}", real=True)
    c, size = sp.Symbol("c", positive=True), sp.sqrt(sum(e**2 for e in x)) * sp.sqrt(sum(e**2 for e in z))
    squares = sum((c * a * b / size**power) ** 2 for a in x for b in z)
    value = sum(a * (c * a * b / size) * b for a in x for b in z)
    return worst([identity(sp.simplify(squares), c**2), identity(sp.simplify(value), c * size)])


def odds_vanish(excess: int = 1) -> Margin:
    """At n <= L_h + 1, all nearer tokens like the query: e^{-c kappa} sum_{j<=n} e^{lj} <= e^{-c kappa} e^{ln}/(1 -
    e^{-l}) <= e^l e^{-c (kappa - R)}/(eps (1 - e^{-l})), which tends to 0 in c where kappa > R (`excess` 0: = R)."""
    rate, c, bound, over, eps = sp.symbols("l c R over eps", positive=True)
    reach = sp.exp(c * bound + rate) / eps  # e^{l (L_h + 1)}, L_h = (c R - ln eps)/l
    odds = sp.exp(-c * (bound + excess * over)) * reach / (1 - sp.exp(-rate))
    return identity(sp.limit(sp.simplify(odds), c, sp.oo), 0)


def one_size(sign: int = 1) -> Margin:
    """kappa = 2 r (r + beta) less the bound 2 (r^2 + beta^2) is 2 beta (r - beta): positive for 0 < beta < r only."""
    r, beta = sp.symbols("r beta", positive=True)
    return identity(2 * r * (r + beta) - 2 * (r**2 + beta**2), 2 * beta * (r - sign * beta))


def kappa_of_a_sphere(d: int, sign: int = 1) -> Margin:
    """States r u + beta e_1, |u| = |v| = 1: (r + beta)^2 less |x|^2 is r beta |u - e_1|^2 and 4 r^2 less |x - y|^2 is
    r^2 |u + v|^2, both 0 at u = e_1 = -v: kappa = 2 r (r + beta)."""
    r, beta = sp.symbols("r beta", positive=True)
    u, v = sp.symbols(f"u1:{d}", real=True), sp.symbols(f"v1:{d}", real=True)
    # first components by |u| = |v| = 1: squares of them are replaced
    u1, v1 = sp.symbols("u_first v_first", real=True)
    on_sphere = {u1**2: 1 - sum(e**2 for e in u), v1**2: 1 - sum(e**2 for e in v)}

    def reduced(value: sp.Expr) -> sp.Expr:
        return sp.expand(sp.expand(value).subs(on_sphere))

    size = (r * u1 + beta) ** 2 + r**2 * sum(e**2 for e in u)
    near = (u1 - 1) ** 2 + sum(e**2 for e in u)
    apart = r**2 * ((u1 - v1) ** 2 + sum((a - b) ** 2 for a, b in zip(u, v, strict=True)))
    mirrored = r**2 * ((u1 + v1) ** 2 + sum((a + b) ** 2 for a, b in zip(u, v, strict=True)))
    return worst(
        [
            identity(reduced((r + beta) ** 2 - size), reduced(sign * r * beta * near)),
            identity(reduced(4 * r**2 - apart), reduced(mirrored)),
        ]
    )


def kappa_squared(gamma: tuple, bias: tuple) -> Fraction:
    """sup ||x||^2 ||x - y||^2 for LayerNorm at d = 2, whose states are gamma (1, -1) + b and -gamma (1, -1) + b."""
    states = [tuple(Fraction(s * z * g) + b for z, g, b in zip((1, -1), gamma, bias, strict=True)) for s in (1, -1)]
    return max(
        sum(a * a for a in x) * sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) for x in states for y in states
    )


def two_states(gain: int, share: Fraction, second: int = 1) -> Margin:
    """LayerNorm at d = 2, gamma = gain (1, second), b = share gain (1, -1): kappa^2 over both states is that of the
    closed form, 4 r^2 (r + ||b||)^2 with r^2 = 2 gain^2 and ||b|| = share r; and kappa <= 2 (r^2 + ||b||^2) as said."""
    gamma, bias = (gain, second * gain), (share * gain, -share * gain)
    found, r_squared = kappa_squared(gamma, bias), Fraction(2 * gain**2)
    holds, said = found <= 4 * (r_squared * (1 + share**2)) ** 2, share == 0 or share >= 1
    closed = same(found, 4 * r_squared**2 * (1 + share) ** 2)
    return worst([closed, same(int(holds), int(said))])


def largest_gain(d: int, other: int = 2) -> Margin:
    """LayerNorm, free gains: tr P Gamma^2 P = (1 - 1/d) ||gamma||^2; and for d >= 3 the component of P Gamma^2 (e_1 -
    e_2) at 3 is -(g_1^2 - g_2^2)/d, which is 0 for a multiple of P. `other` = 1 asks the component at 2."""
    g = sp.symbols(f"g0:{d}", real=True)
    projection = sp.eye(d) - sp.ones(d, d) / d
    middle = projection * sp.diag(*[e**2 for e in g])
    across = middle * (sp.Matrix([1, -1] + [0] * (d - 2)))
    trace = identity((middle * projection).trace(), (1 - sp.Rational(1, d)) * sum(e**2 for e in g))
    return worst([trace, identity(across[other], -(g[0] ** 2 - g[1] ** 2) / d)])


def twice_the_size(plant: int = 0) -> Margin:
    """Without a bias -x is a state too: (2 m)^2 - (|x||x - y|)^2 >= 0 with |x - y| <= |x| + |y| <= 2 m, m the largest
    size and u, v >= 0 what the sizes fall short of it; 0 for y = -x of size m."""
    m, u, v = sp.symbols("m u v", nonnegative=True)
    gap = 2 * m * m - (m - u) * ((m - u) + (m - v))
    # (m - u) >= 0: the sum is (m - u)(u + v) + 2 m u
    return identity(gap + plant, (m - u) * (u + v) + 2 * m * u)


def equal_gains(d: int, norm: str, spread: int = 0) -> Margin:
    """Is P Gamma^2 P a multiple of P? For gains 1 it is; with the first moved by `spread` it is not (d >= 3; d >= 2).

    tr P Gamma^2 P = ||gamma||^2 rank(P)/d, so its largest eigenvalue is at least ||gamma||^2/d, with equality - kappa
    equal to the bound - only for a multiple of P. 0 where it is one.
    """
    ones = sp.ones(d, d) / d if norm == "layer" else sp.zeros(d, d)
    projection = sp.eye(d) - ones
    squares = sp.diag(*[(1 + spread) ** 2 if i == 0 else 1 for i in range(d)])
    middle = projection * squares * projection
    share = middle.trace() / projection.trace()
    return same(tuple(middle - share * projection), tuple(sp.zeros(d, d)))


def unequal_gains(d: int, norm: str, spread: int) -> Margin:
    """The same where it must fail: the matrix is no multiple of P."""
    found = equal_gains(d, norm, spread)
    return different(found.printed, found.true)
