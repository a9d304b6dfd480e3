"""Finite width by brute force: exact series of the Gram-matrix loss, and Monte Carlo over Gaussian embeddings.

It shares no formula with `theory.landscape.width`: derivatives are taken of the loss itself.
"""

from collections.abc import Sequence
from fractions import Fraction
from operator import mul
from typing import NamedTuple

import numpy as np
from flint import fmpq, fmpq_series

from proofs_check.oracles.landscape import sentence


def _exact(numbers: Sequence[Fraction]) -> list[fmpq]:
    return [fmpq(number.numerator, number.denominator) for number in map(Fraction, numbers)]


def _powers(exponents: Sequence[fmpq_series], at: Sequence[fmpq]) -> list[fmpq_series]:
    """exp of each series, with a number standing for exp of its constant term."""
    return [power * (series - series[0]).exp() for series, power in zip(exponents, at, strict=True)]


def slopes_of_loss(
    parameters: Sequence[Fraction],
    position: int,
    key_powers: Sequence[Fraction],
    token_powers: Sequence[Fraction],
    pair: tuple[int, int],
) -> tuple[Fraction, Fraction]:
    """First and second derivative of the loss in the entry G_jk = G_kj, at G = I, `pair` = (j, k) counted from 0.

    `key_powers` (T + 1) and `token_powers` (T) stand for the exponentials of scores and logits at G = I. Both
    derivatives are rational functions of them and of the parameters, so any positive rationals will do.
    """
    (a1, a2, b1, b2), keys, own = map(_exact, (parameters, key_powers, token_powers))
    words, places = sentence(len(own), position), range(len(own))
    one, entry = fmpq_series([1]), fmpq_series([0, 1])
    gram = [[one * int(m == n) + entry * int({m, n} == set(pair)) for n in places] for m in places]
    asked, pairs = gram[words[-1]], list(zip(words, [None, *words[:-1]], strict=True))
    scores = [a1 * asked[word] + (0 if before is None else a2 * asked[before]) for word, before in pairs]
    attended = _powers(scores, keys)
    shares = [[b1 * (word == m) + b2 * (before == m) for word, before in pairs] for m in places]
    read = [sum(map(mul, row, attended)) for row in shares]
    logits = [sum(map(mul, row, read)) / sum(attended) for row in gram]
    partition = sum(_powers(logits, own))
    loss = (partition / partition[0]).log() - logits[words[position]]
    first, second = (Fraction(int(x.p), int(x.q)) for x in (loss[1], 2 * loss[2]))
    return first, second


def gram_loss(parameters: Sequence[float], position: int, grams: np.ndarray) -> np.ndarray:
    """Loss of the one-repeat sentence for a stack of Gram matrices (n, T, T), shape (n,)."""
    a1, a2, b1, b2 = parameters
    tokens = grams.shape[-1]
    words = sentence(tokens, position)
    rows = np.eye(tokens)[words]
    previous = np.vstack([np.zeros(tokens), rows[:-1]])
    powers = np.exp(grams[:, words[-1]] @ (a1 * rows + a2 * previous).T)
    read = powers / powers.sum(axis=1, keepdims=True) @ (b1 * rows + b2 * previous)
    logits = np.einsum("nij,nj->ni", grams, read)
    return np.log(np.exp(logits - logits[:, [words[position]]]).sum(axis=1))


def gaussian_grams(rng: np.random.Generator, dim: int, tokens: int, count: int) -> np.ndarray:
    """Gram matrices of `tokens` iid N(0, I/dim) embeddings, by Bartlett's decomposition where dim >= tokens."""
    if dim < tokens:
        table = rng.normal(size=(count, tokens, dim))
        return table @ table.swapaxes(1, 2) / dim
    lower = np.tril(rng.normal(size=(count, tokens, tokens)), -1)
    lower[:, range(tokens), range(tokens)] = np.sqrt(rng.chisquare(dim - np.arange(tokens), size=(count, tokens)))
    return lower @ lower.swapaxes(1, 2) / dim


def gradient_in_gram(parameters: Sequence[float], position: int, tokens: int, step: float = 1e-5) -> np.ndarray:
    """Symmetric A with dL = <A, dG> / 2 to first order at G = I, by central differences."""
    units = np.eye(tokens)
    moves = (units[:, None, :, None] * units[None, :, None, :]).reshape(-1, tokens, tokens)
    moves = moves + moves.swapaxes(1, 2)
    up, down = (gram_loss(parameters, position, units + sign * step * moves) for sign in (1, -1))
    return ((up - down) / (2 * step)).reshape(tokens, tokens)


class Estimate(NamedTuple):
    """Monte-Carlo estimates of d (E L - L_inf) and d Var L, each with its standard error."""

    mean: float
    mean_error: float
    variance: float
    variance_error: float


_PLAIN = 800  # sentences for the variance: its standard error is then about 5 %, with no control variate needed
_PILOT = 2000
_CHUNK = 4096


def _residuals(
    parameters: Sequence[float], position: int, tokens: int, dim: int, count: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """L - L_inf for `count` draws of the embeddings, and the same less its linear term <A, G - I> / 2, of mean 0."""
    slope = gradient_in_gram(parameters, position, tokens)
    rng = np.random.default_rng(seed)
    limit = gram_loss(parameters, position, np.eye(tokens)[None])[0]
    losses, residuals = [], []
    for start in range(0, count, _CHUNK):
        grams = gaussian_grams(rng, dim, tokens, min(_CHUNK, count - start))
        losses.append(gram_loss(parameters, position, grams) - limit)
        residuals.append(losses[-1] - np.einsum("nij,ij->n", grams - np.eye(tokens), slope) / 2)
    return np.concatenate(losses), np.concatenate(residuals)


def pilot_count(parameters: Sequence[float], position: int, tokens: int, dim: int, error: float, seed: int) -> int:
    """How many draws bring the standard error of d (E L - L_inf) to `error`, judged from other draws."""
    _, residuals = _residuals(parameters, position, tokens, dim, _PILOT, seed + 10_000)
    return max(_PLAIN, int(np.ceil((dim * residuals.std() / error) ** 2)))


def simulate(parameters: Sequence[float], position: int, tokens: int, dim: int, count: int, seed: int) -> Estimate:
    """d (E L - L_inf) with the linear term as control variate, and d times the sample variance of the first draws."""
    losses, residuals = _residuals(parameters, position, tokens, dim, count, seed)
    mean_error = dim * residuals.std(ddof=1) / np.sqrt(count)
    plain = losses[:_PLAIN]
    squares = (plain - plain.mean()) ** 2
    variance_error = dim * squares.std(ddof=1) / np.sqrt(len(plain))
    return Estimate(
        float(dim * residuals.mean()), float(mean_error), float(dim * plain.var(ddof=1)), float(variance_error)
    )


def argmax_accuracy(parameters: Sequence[float], tokens: int, dim: int, count: int, seed: int) -> float:
    """Share of sentences, i uniform on 1..T-1, whose largest logit is that of x_{i+1}; fresh embeddings each time."""
    rng = np.random.default_rng(seed)
    hits = 0
    a1, a2, b1, b2 = parameters
    for _ in range(count):
        place = int(rng.integers(1, tokens))
        table = rng.normal(size=(tokens, dim)) / np.sqrt(dim)
        rows = table[sentence(tokens, place)]
        previous = np.vstack([np.zeros(dim), rows[:-1]])
        powers = np.exp((a1 * rows + a2 * previous) @ rows[-1])
        logits = table @ (powers @ (b1 * rows + b2 * previous))
        hits += int(logits.argmax() == place)
    return hits / count
