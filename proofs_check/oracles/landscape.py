"""Brute-force attention over one-hot embeddings: the one-repeat task itself, sharing no formula with `theory`."""

import math
from fractions import Fraction

import numpy as np
import sympy as sp
from flint import arb

from proofs_check.oracles.alibi import ball
from theory.symbols import alpha1, alpha2, beta1, beta2


def sentence(tokens: int, position: int) -> list[int]:
    """x_1 .. x_T, x_i as token numbers 0 .. T - 1 (position is 1-based)."""
    return [*range(tokens), position - 1]


def one_hot_logits(a1: float, a2: float, b1: float, b2: float, tokens: int, position: int) -> np.ndarray:
    """Logits (T,) of the last token of the sentence, by dense attention over one-hot rows."""
    rows = np.eye(tokens)[sentence(tokens, position)]
    previous = np.vstack([np.zeros(tokens), rows[:-1]])
    scores = (a1 * rows + a2 * previous) @ rows[-1]
    weights = np.exp(scores - scores.max())
    return (weights / weights.sum()) @ (b1 * rows + b2 * previous)


def one_hot_loss(a1: float, a2: float, b1: float, b2: float, tokens: int, position: int) -> float:
    """Cross entropy of the token that followed the first occurrence of the repeated one."""
    values = one_hot_logits(a1, a2, b1, b2, tokens, position)
    target = [*sentence(tokens, position)][position]
    return math.log(sum(math.exp(v - values[target]) for v in values))


def symbolic_one_hot_logits(tokens: int, position: int) -> list[sp.Expr]:
    """The same by sympy: unnormalised weights and their sum, one term a pair of positions."""
    words = sentence(tokens, position)
    query = words[-1]
    weights = []
    for place, word in enumerate(words):
        score = alpha1 * int(word == query) + alpha2 * int(place > 0 and words[place - 1] == query)
        weights.append(sp.exp(score))
    total = sum(weights)
    rows = [sp.Integer(0)] * tokens
    for place, (word, weight) in enumerate(zip(words, weights, strict=True)):
        rows[word] += beta1 * weight / total
        if place:
            rows[words[place - 1]] += beta2 * weight / total
    return rows


def ball_one_hot_logits(
    a1: Fraction, a2: Fraction, b1: Fraction, b2: Fraction, tokens: int, position: int
) -> list[arb]:
    """The same in Arb balls at exact rational parameters."""
    words = sentence(tokens, position)
    weights = [
        (ball(a1 * (word == words[-1]) + a2 * (place > 0 and words[place - 1] == words[-1]))).exp()
        for place, word in enumerate(words)
    ]
    total = sum(weights, arb(0))
    rows = [arb(0)] * tokens
    for place, (word, weight) in enumerate(zip(words, weights, strict=True)):
        rows[word] += ball(b1) * weight / total
        if place:
            rows[words[place - 1]] += ball(b2) * weight / total
    return rows


def ball_one_hot_loss(a1: Fraction, a2: Fraction, b1: Fraction, b2: Fraction, tokens: int, position: int) -> arb:
    """Cross entropy of the successor as a ball."""
    rows = ball_one_hot_logits(a1, a2, b1, b2, tokens, position)
    target = rows[sentence(tokens, position)[position]]
    return sum(((row - target).exp() for row in rows), arb(0)).log()
