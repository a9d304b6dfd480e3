"""Margins for the limit d -> infinity of Theorem 3.4: how far the loss can move when the Gram matrix moves from I.

A sentence's loss depends on the embeddings by their Gram matrix G alone: scores s_k = alpha1 G_{i,x_k} + alpha2
G_{i,x_{k-1}}, attention a, read-out w_m = beta1 a{k: x_k = m} + beta2 a{k: x_{k-1} = m}, logits G w. Write D = G - I,
e = max |D_jk|, a = |alpha1| + |alpha2|, b = |beta1| + |beta2|. For every T, i and every matrix G, step by step:
  scores move by at most a e each, so their range by 2 a e, and the attention by tanh(2 a e/4) <= a e/2 of its mass;
  ||w||_1 <= b, and each w_m moves by at most b a e/2; a logit is sum_m D_jm w'_m + w'_j, so it moves by b e (1 + a/2);
  the loss, log sum_j e^{l_j - l_t}, moves by at most twice that: |L(G) - L(I)| <= b (2 + a) e.
Embeddings with iid N(0, 1/d) entries have E D = 0, E D_jj^2 = 2/d, E D_jk^2 = 1/d, so E e^2 <= K/d, K = T (T + 3)/2.
The loss along I + s D, 0 <= s <= 1, has a second derivative of at most
  b^2 e^2 (1 + a/2 + a e)^2 + 2 a b e^2 (2 + a + 2 a e)
(variance of the logits' slopes, at most the square of the largest; twice the largest second derivative of a logit), so
  |E L - L(I)| <= [b^2 (1 + a/2)^2 + 2 a b (1 + a)] K/d + a^2 b (1 + b) M^2/d^2,  M = T (3 T + 13)/2,
as E (sum D_jk^2)^2 <= M^2/d^2 by the fourth moments 12/d^2 + 48/d^3 and 3/d^2 + 6/d^3.
"""

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np
import sympy as sp
from flint import arb

from proofs_check.evidence.margin import Margin, ball_at_least, identity, worst
from proofs_check.kv.induction.exact_heads import ball
from proofs_check.kv.induction.general_checks import termwise, tilt
from proofs_check.ledger.claim import Effort, Point
from proofs_check.oracles.landscape import sentence

Matrix = Sequence[Sequence[Fraction]]
Parameters = tuple[Fraction, Fraction, Fraction, Fraction]


class _Sizes(NamedTuple):
    """a, b and e as above, exact."""

    key: Fraction
    value: Fraction
    gap: Fraction


def _sizes(parameters: Parameters, gram: Matrix) -> _Sizes:
    a1, a2, b1, b2 = parameters
    places = range(len(gram))
    gap = max(abs(gram[j][k] - int(j == k)) for j, k in itertools.product(places, places))
    return _Sizes(abs(a1) + abs(a2), abs(b1) + abs(b2), gap)


class Sentence(NamedTuple):
    """One sentence at a Gram matrix, in balls: its logits, loss and gradient."""

    logits: list[arb]
    loss: arb
    gradient: list[arb]


def evaluate(parameters: Parameters, gram: Matrix, position: int) -> Sentence:
    """Attention of the last token over all T + 1, place by place, and the slopes of the loss in the four scalars."""
    size = len(gram)
    words = sentence(size, position)
    query, target = words[-1], words[position]
    own = [gram[query][word] for word in words]
    before = [Fraction(0), *own[:-1]]
    a1, a2, b1, b2 = parameters
    weights = [ball(a1 * x + a2 * y).exp() for x, y in zip(own, before, strict=True)]
    total = sum(weights, arb(0))
    attention = [weight / total for weight in weights]

    def read(masses: Sequence[arb], one: Fraction, two: Fraction) -> list[arb]:
        """G w for the read-out w of these masses."""
        w = [arb(0)] * size
        for place, mass in enumerate(masses):
            w[words[place]] += ball(one) * mass
            if place:
                w[words[place - 1]] += ball(two) * mass
        return [sum((ball(g) * x for g, x in zip(row, w, strict=True)), arb(0)) for row in gram]

    def pulled(slopes: Sequence[Fraction]) -> list[arb]:
        """Slope of the attention where the scores have these slopes."""
        mean = sum((x * ball(c) for x, c in zip(attention, slopes, strict=True)), arb(0))
        return [x * (ball(c) - mean) for x, c in zip(attention, slopes, strict=True)]

    logits = read(attention, b1, b2)
    powers = [(logit - logits[target]).exp() for logit in logits]
    mass = sum(powers, arb(0))
    shares = [power / mass for power in powers]
    slopes = (
        read(pulled(own), b1, b2),
        read(pulled(before), b1, b2),
        read(attention, Fraction(1), Fraction(0)),
        read(attention, Fraction(0), Fraction(1)),
    )
    gradient = [
        sum((p * x for p, x in zip(shares, slope, strict=True)), arb(0)) - slope[target] for slope in slopes
    ]
    return Sentence(logits, mass.log(), gradient)


def identity_matrix(size: int) -> Matrix:
    return [[Fraction(int(j == k)) for k in range(size)] for j in range(size)]


def steps(divisor: int = 4, twice: int = 2) -> Margin:
    """What the steps add up to: a e of a score's range 2 a e moves, b of that a read-out, b e more a logit, twice L."""
    a, b, e = sp.symbols("a b e", nonnegative=True)
    mass = 2 * a * e / divisor  # tanh(w/4) <= w/4 at w = 2 a e
    logit = b * e + b * mass
    return worst(
        [
            termwise(),  # |alpha1 D + alpha2 D'| <= a e, and |sum_m D_jm w_m| <= e ||w||_1
            tilt(divisor),
            identity(logit, b * e * (1 + a / 2)),
            identity(twice * logit, b * (2 + a) * e),
        ]
    )


def loss_moves(parameters: Parameters, gram: Matrix, position: int, factor: Fraction = Fraction(1)) -> Margin:
    """|L(G) - L(I)| <= factor b (2 + a) e, in balls."""
    a, b, e = _sizes(parameters, gram)
    moved = evaluate(parameters, gram, position).loss - evaluate(parameters, identity_matrix(len(gram)), position).loss
    return ball_at_least(ball(factor * b * (2 + a) * e) - abs(moved))


def logits_move(parameters: Parameters, gram: Matrix, position: int, factor: Fraction = Fraction(1)) -> Margin:
    """Each logit moves by at most factor b (1 + a/2) e, in balls."""
    a, b, e = _sizes(parameters, gram)
    found, limit = (evaluate(parameters, g, position).logits for g in (gram, identity_matrix(len(gram))))
    bound = ball(factor * b * (1 + a / 2) * e)
    return worst([ball_at_least(bound - abs(x - y)) for x, y in zip(found, limit, strict=True)])


def gradient_bounds(a: Fraction, b: Fraction, e: Fraction) -> tuple[Fraction, Fraction]:
    """How far the slopes in alpha and in beta can move.

    A slope is sum_j (p_j - [j = t]) g_j, p the softmax of the logits, g_j the logits' slopes. The logits move by at
    most b (1 + a/2) e, so p by b (1 + a/2) e/2 of its mass, which moves the slope by that times the range of g; the
    rest is at most twice what a g_j moves. In beta g = G v for masses v of keys: |g| <= 1 + e, moving e (1 + a/2). In
    alpha g = G w for a read-out w of y = a (c - mean c), c_k an entry of row i of G, of range at most 1 at I and
    1 + 2 e: ||y||_1 <= 1/2 + e, and y moves by e (1 + 3 a (1 + 2 e)/2) in all; y sums to 0, so that no part of it
    holds, or moves, more than half: |g| <= b (1/2 + e)^2, moving b e (1 + e + 3 a (1 + 2 e)/4).
    """
    half, key = Fraction(1, 2), 1 + a / 2
    alpha = e * b * (b * key * (half + e) ** 2 + 2 * (1 + e) + 3 * a / 2 * (1 + 2 * e))
    return alpha, e * key * (b * (1 + e) + 2)


def gradient_moves(parameters: Parameters, gram: Matrix, position: int, factor: Fraction = Fraction(1)) -> Margin:
    """Each of the four slopes moves by at most factor times its bound, in balls."""
    alpha, beta = gradient_bounds(*_sizes(parameters, gram))
    found, limit = (evaluate(parameters, g, position).gradient for g in (gram, identity_matrix(len(gram))))
    bounds = (alpha, alpha, beta, beta)
    return worst(
        [ball_at_least(ball(factor * c) - abs(x - y)) for c, x, y in zip(bounds, found, limit, strict=True)]
    )


def curvature(parameters: Parameters, gram: Matrix, position: int, factor: Fraction = Fraction(1)) -> Margin:
    """(f(1) - 2 f(1/2) + f(0)) / (1/4) along I + s D is a value of f'': no larger than the bound, of either sign."""
    a, b, e = _sizes(parameters, gram)
    eye = identity_matrix(len(gram))
    half = [[(x + y) / 2 for x, y in zip(*rows, strict=True)] for rows in zip(gram, eye, strict=True)]
    f = [evaluate(parameters, g, position).loss for g in (eye, half, gram)]
    bound = b**2 * e**2 * (1 + a / 2 + a * e) ** 2 + 2 * a * b * e**2 * (2 + a + 2 * a * e)
    return ball_at_least(ball(factor * bound) - abs(4 * (f[0] - 2 * f[1] + f[2])))


def _moment(power: int) -> int:
    return 0 if power % 2 else int(sp.factorial2(power - 1)) if power else 1


@cache
def _entry(power: int, diagonal: bool) -> sp.Expr:
    """E D^power d^power for D_jj = sum (g^2 - 1)/d or D_jk = sum g h/d over d coordinates, power 2 or 4."""
    d = sp.Symbol("d", positive=True)

    def single(n: int) -> sp.Integer:
        if not diagonal:
            return sp.Integer(_moment(n) ** 2)
        return sp.Add(*(sp.binomial(n, k) * (-1) ** (n - k) * _moment(2 * k) for k in range(n + 1)))

    return d * single(2) if power == 2 else d * single(4) + 3 * d * (d - 1) * single(2) ** 2


def moments(spread: int = 2) -> Margin:
    """E D_jj^2 = 2/d, E D_jk^2 = 1/d, fourth moments as stated, and E sum_{j<=k} D_jk^2 = T (T + 3)/(2 d)."""
    d, size = sp.symbols("d T", positive=True)
    second = [_entry(2, diagonal) / d**2 for diagonal in (True, False)]
    fourth = [_entry(4, diagonal) / d**4 for diagonal in (True, False)]
    total = size * second[0] + size * (size - 1) / 2 * second[1]
    return worst(
        [
            identity(second[0], spread / d),
            identity(second[1], 1 / d),
            identity(fourth[0], 12 / d**2 + 48 / d**3),
            identity(fourth[1], 3 / d**2 + 6 / d**3),
            identity(total, size * (size + 3) / (2 * d)),
        ]
    )


def mean_bound(cross: int = 2) -> Margin:
    """Half the second derivative's bound, averaged, is at most the stated one: slack in squares and signs.

    (x + y)^2 <= 2 x^2 + 2 y^2, e^3 <= (e^2 + e^4)/2; then e^2 -> K/d, e^4 -> M^2/d^2, and 8 T + 3 T (T - 1)/2 = M
    bounds T sqrt(12 + 48/d) + T (T - 1)/2 sqrt(3 + 6/d) for d >= 1, as sqrt(60) <= 8 and sqrt(9) = 3.
    """
    a, b, e = sp.symbols("a b e", nonnegative=True)
    exact = b**2 * e**2 * (1 + a / 2 + a * e) ** 2 + 2 * a * b * e**2 * (2 + a + 2 * a * e)
    looser = 2 * b**2 * ((1 + a / 2) ** 2 * e**2 + a**2 * e**4) + 2 * a * b * ((2 + a) * e**2 + a * (e**2 + e**4))
    slack = b**2 * e**2 * (1 + a / 2 - a * e) ** 2 + 2 * a**2 * b * e**2 * (1 - e) ** 2
    constants = b**2 * (1 + a / 2) ** 2 + cross * a * b * (1 + a), a**2 * b * (1 + b)
    size = sp.Symbol("T", positive=True)
    return worst(
        [
            identity(looser - exact, slack),
            identity(looser / 2, constants[0] * e**2 + constants[1] * e**4),
            identity(8 * size + 3 * size * (size - 1) / 2, size * (3 * size + 13) / 2),
        ]
    )


def _matrix(rng: np.random.Generator, size: int, scale: int) -> Matrix:
    """A symmetric rational matrix near I: entries of D are multiples of 1/(8 scale) up to 1/scale."""
    d = [[Fraction(int(v), 8 * scale) for v in rng.integers(-8, 9, size)] for _ in range(size)]
    return [[d[min(j, k)][max(j, k)] + int(j == k) for k in range(size)] for j in range(size)]


def gram_points(effort: Effort) -> Iterator[Point]:
    """Every position at T = 2..5, parameters of order 1 and of order 10, matrices near and far from I."""
    for size in range(2, 6):
        for position in range(1, size + 1):
            for seed in range(2 if effort is Effort.QUICK else 10):
                rng = np.random.default_rng([size, position, seed])
                reach = 1 if seed % 2 else 10
                parameters = tuple(Fraction(int(v), 4) for v in rng.integers(-4 * reach, 4 * reach + 1, 4))
                gram = _matrix(rng, size, 1 if seed % 2 else 20)
                yield {"parameters": parameters, "gram": gram, "position": position}
    yield hard_point()


def hard_point(size: int = 12, position: int = 4) -> Point:
    """Nearly the whole bound: beta1 = 100, alpha = 0, so that token i has the whole share, and its row gains where the
    target's loses."""
    e = Fraction(1, 50)
    gram = [[Fraction(int(j == k)) for k in range(size)] for j in range(size)]
    i, t = position - 1, position
    for k in range(size):
        for row, sign in ((i, 1), (t, -1)):
            if {row, k} != {i, t}:
                gram[row][k] += sign * e
                if k != row:
                    gram[k][row] += sign * e
    parameters = (Fraction(0), Fraction(0), Fraction(1000), Fraction(0))
    return {"parameters": parameters, "gram": gram, "position": position}
