"""Brute-force attention over one-hot embeddings: the one-repeat task itself, sharing no formula with `theory`."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

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


def _logits(parameters: Sequence[Any], exp: Callable[[Any], Any], tokens: int, position: int) -> list[Any]:
    """The same term by term, one a pair of positions: unnormalised weights over their sum."""
    a1, a2, b1, b2 = parameters
    words = sentence(tokens, position)
    pairs = list(zip(words, [None, *words[:-1]], strict=True))
    weights = [exp(a1 * int(word == words[-1]) + a2 * int(before == words[-1])) for word, before in pairs]
    total = sum(weights)
    read = [(share, held, weight) for (word, before), weight in zip(pairs, weights, strict=True)
            for share, held in ((b1, word), (b2, before))]  # fmt: skip
    return [sum(share * weight / total for share, held, weight in read if held == token) for token in range(tokens)]


def symbolic_one_hot_logits(tokens: int, position: int) -> list[sp.Expr]:
    """The logits by sympy."""
    return _logits((alpha1, alpha2, beta1, beta2), sp.exp, tokens, position)


def ball_one_hot_logits(
    a1: Fraction, a2: Fraction, b1: Fraction, b2: Fraction, tokens: int, position: int
) -> list[arb]:
    """The logits in Arb balls at exact rational parameters."""
    return _logits([ball(value) for value in (a1, a2, b1, b2)], arb.exp, tokens, position)


def ball_one_hot_loss(a1: Fraction, a2: Fraction, b1: Fraction, b2: Fraction, tokens: int, position: int) -> arb:
    """Cross entropy of the successor as a ball."""
    rows = ball_one_hot_logits(a1, a2, b1, b2, tokens, position)
    target = rows[sentence(tokens, position)[position]]
    return sum(((row - target).exp() for row in rows), arb(0)).log()
