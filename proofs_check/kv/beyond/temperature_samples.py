"""Monte-Carlo margins of the claims on temperature, over fresh Gaussian embeddings."""

from functools import cache

import numpy as np

from proofs_check.evidence.margin import Margin, at_most, less
from proofs_check.oracles.width import gaussian_grams, gram_loss
from theory.landscape import temperature as t
from theory.symbols import dim, n_tokens


@cache
def _margins(tokens: int, width: int, seed: int, count: int = 20_000) -> np.ndarray:
    """Margins of T - 1 competitors (count, T - 1), by embeddings themselves."""
    rng = np.random.default_rng(seed)
    target = rng.normal(size=(count, width)) / np.sqrt(width)
    others = rng.normal(size=(count, tokens - 1, width)) / np.sqrt(width)
    return np.einsum("njd,nd->nj", others, target) - (target**2).sum(axis=1)[:, None]


def _three_sigma(values: np.ndarray) -> float:
    return 3 * float(values.std(ddof=1)) / float(np.sqrt(len(values)))


def sampled_slope(tokens: int, width: int, temperature: float, rising: bool) -> Margin:
    """Monte-Carlo slope of E L in kappa, above 0 (`rising`) or below it by more than three standard errors."""
    margins = _margins(tokens, width, seed=tokens + width)
    powers = np.exp(temperature * margins)
    slope = (powers * margins).sum(axis=1) / (1 + powers.sum(axis=1))
    mean = float(slope.mean())
    return less(_three_sigma(slope), mean if rising else -mean)


def sampled_bound(tokens: int, width: int, factor: float, share: float = 1.0) -> Margin:
    """Monte-Carlo E L at kappa = factor * d plus three standard errors is at most `share` of the Jensen bound."""
    losses = np.log1p(np.exp(factor * width * _margins(tokens, width, seed=tokens + width)).sum(axis=1))
    limit = float(t.jensen_bound().subs({t.kappa: factor * width, dim: width, n_tokens: tokens}))
    return at_most(float(losses.mean()) + _three_sigma(losses), share * limit)


def soft_attention(
    tokens: int, key_factor: float, read_factor: float, center: float = 1.1, count: int = 4000
) -> Margin:
    """d = 8, alpha = (0, gamma), beta = (kappa, 0): E L at gamma = kappa = center * d lies below that at the factors.

    The same embeddings at both, so the difference is known to within three standard errors.
    """
    width = 8
    best, other = (
        _soft_losses(tokens, width, key * width, read * width, count)
        for key, read in ((center, center), (key_factor, read_factor))
    )
    gap = other - best
    return less(_three_sigma(gap), float(gap.mean()))


@cache
def _soft_losses(tokens: int, width: int, gamma: float, temperature: float, count: int) -> np.ndarray:
    grams = gaussian_grams(np.random.default_rng(tokens), width, tokens, count)
    return gram_loss((0.0, gamma, temperature, 0.0), tokens // 2, grams)
