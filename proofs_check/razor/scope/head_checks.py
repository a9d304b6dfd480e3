"""Margins for what the range of a head means beyond Theorem 1: rotations, groups of queries."""

from fractions import Fraction

import numpy as np
import sympy as sp
from flint import arb

from proofs_check.evidence.margin import Margin, at_most, ball_at_least, identity, less
from proofs_check.oracles.alibi import ball
from theory.alibi.rotary import rotary_range


def half_a_unit(printed: str) -> Fraction:
    """Half of the last decimal place of a number as printed: what rounding to it may have taken away."""
    return Fraction(1, 2 * 10 ** len(printed.partition(".")[2]))


def raw_product(w_q: tuple, w_k: tuple, turned: bool = True) -> Margin:
    """0 = ||W_Q^T W_K|| below the logit of x = y = e_1 after a quarter turn of the key, in integers."""
    q, k = sp.Matrix(w_q), sp.Matrix(w_k)
    quarter = sp.Matrix([[0, 1], [-1, 0]]) if turned else sp.eye(2)
    state = sp.Matrix([1, 0])
    bound = sum(entry**2 for entry in q.T * k)
    logit = (q * state).dot(quarter * k * state)
    return less(bound, logit)


def turned_pair(sign: int = 1) -> Margin:
    """|q|^2 |k|^2 - (q . R k)^2 is the square of q x R k."""
    a, b, c, d, angle = sp.symbols("a b c d angle", real=True)
    key = (sp.cos(angle) * c - sp.sin(angle) * d, sp.sin(angle) * c + sp.cos(angle) * d)
    cross = a * key[1] - sign * b * key[0]
    return identity((a**2 + b**2) * (c**2 + d**2) - (a * key[0] + b * key[1]) ** 2, cross**2)


def weighted(power: int = 2) -> Margin:
    q, k, w = sp.symbols("q k w", positive=True)
    return identity((w * q**2 + k**2 / w) / 2 - q * k, (w ** sp.Rational(1, power) * q - k / sp.sqrt(w)) ** 2 / 2)


def no_rotation_above(seed: int, factor: float = 1.0) -> Margin:
    """Largest spread of logits of one query over random keys and angles, against the bound."""
    rng = np.random.default_rng(seed)
    d, half = int(rng.integers(2, 7)), int(rng.integers(1, 4))
    w_q, w_k = rng.standard_normal((2, 2 * half, d))
    bias, key_bias = rng.standard_normal(d) * (seed % 2), rng.standard_normal(2 * half) * (seed % 2)
    pairs = ("halves", "neighbours")[seed % 3 == 0]
    raw = rng.standard_normal((200, d))
    states = raw / np.sqrt((raw**2).mean(axis=1, keepdims=True)) + bias
    queries, keys = states @ w_q.T, states @ w_k.T + key_bias
    if pairs == "neighbours":
        order = [*range(0, 2 * half, 2), *range(1, 2 * half, 2)]
        queries, keys = queries[:, order], keys[:, order]
    q, k = (x[:, :half] + 1j * x[:, half:] for x in (queries, keys))
    logits = (q.conj() @ (k * np.exp(1j * rng.uniform(0, 7, k.shape))).T).real / np.sqrt(2 * half)
    bound = rotary_range(w_q, w_k, np.ones(d), bias, None, key_bias, pairs=pairs)
    return at_most(float((logits.max(axis=1) - logits.min(axis=1)).max()), factor * bound)


def group_cost(n_heads: int, group: int, claimed: str) -> Margin:
    """group times the sum of the groups' largest 1/slope over the sum of all: as claimed, to half a digit."""
    inverse = [(ball(Fraction(8 * (h + 1), n_heads)) * arb(2).log()).exp() for h in range(n_heads)]
    shared = sum((inverse[h] for h in range(group - 1, n_heads, group)), arb(0)) * group
    ratio = shared / sum(inverse, arb(0))
    return ball_at_least(ball(half_a_unit(claimed)) - abs(ratio - ball(Fraction(claimed))))
