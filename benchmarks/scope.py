"""Logit ranges of a layer against low-rank and dense SVDs of each head, and against its Gram products alone.

40 random heads at d_model 5120, d_head 128, with gains. For the same digits the low-rank peer needs float64: it gets
its factors, gains included, outside of the timer, and a few heads stand for all. A dense SVD, float32, is timed at half
the width and scaled by the cubic law, which favours the peer: at the whole width it takes ten times as long, not eight.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.linalg import svdvals
from scipy.sparse.linalg import LinearOperator, svds

from benchmarks.row import Guard, Limit, Row, compare
from benchmarks.timing import interleave
from theory import alibi
from theory.alibi import grams

HEADS, D_HEAD, D_MODEL = 40, 128, 5120
QUICK = (4, 16, 128)
FEW = 2  # heads given to the low-rank SVD


def measure(quick: bool) -> Row:
    heads, d_head, d_model = QUICK if quick else (HEADS, D_HEAD, D_MODEL)
    w_q, w_k, gamma = layer(heads, d_head, d_model)
    weights, gains = [torch.from_numpy(w) for w in (w_q, w_k)], torch.from_numpy(gamma.astype(np.float32))
    room = torch.empty_like(weights[0])
    few = [(w_q[h] * gamma, w_k[h] * gamma) for h in range(FEW)]
    half = w_k[0, :, : d_model // 2].T @ w_q[0, :, : d_model // 2]
    variants = {
        "ours": lambda: grams.logit_ranges(w_q, w_k, gamma),
        "grams": lambda: [gram_products(torch.mul(w, gains, out=room)) for w in weights],
        "no gains": lambda: grams.logit_ranges(w_q, w_k, np.ones(d_model)),
        "bare": lambda: [gram_products(w) for w in weights],
        "svds": lambda: [low_rank(query, key) for query, key in few],
        "dense": lambda: svdvals(half, check_finite=False),
    }
    times = interleave(variants, 2 if quick else 5)
    comparisons = [
        compare(times, "svds", "scipy svds, low rank", 4.0, 5.0, scale=heads / FEW),
        compare(times, "dense", "dense SVD of every head", 1000.0, 4000.0, scale=heads * 8),
    ]
    limits = [
        Limit("the two float32 Gram products of W Gamma", times.ratio("ours", "grams"), 2.0),
        Limit("those of W alone, gains of 1", times.ratio("no gains", "bare"), 2.0),
    ]
    return Row("scope", comparisons, limits, guards(w_q, w_k, gamma, range(0, heads, max(1, heads // 4))))


def layer(heads: int, d_head: int, d_model: int) -> tuple[NDArray, NDArray, NDArray]:
    rng = np.random.default_rng(0)
    w_q, w_k = (np.float32(0.02) * rng.standard_normal((heads, d_head, d_model), np.float32) for _ in range(2))
    return w_q, w_k, np.exp(0.1 * rng.standard_normal(d_model))


def gram_products(scaled: torch.Tensor) -> torch.Tensor:
    return torch.bmm(scaled, scaled.transpose(1, 2))


def low_rank(query: NDArray, key: NDArray) -> float:
    """The largest singular value of key^T query, without forming it."""
    size = query.shape[1]
    product = LinearOperator(
        (size, size),
        matvec=lambda x: key.T @ (query @ x.ravel()),
        rmatvec=lambda x: query.T @ (key @ x.ravel()),
        dtype=query.dtype,
    )
    return float(svds(product, k=1, return_singular_vectors=False, rng=0)[0])


def guards(w_q: NDArray, w_k: NDArray, gamma: NDArray, chosen: range) -> list[Guard]:
    """Errors of a few heads against `alibi.logit_range`, by orthogonal factors in float64; `formats` adds biases."""
    found = grams.logit_ranges(w_q[chosen], w_k[chosen], gamma)
    true = [alibi.logit_range(w_q[h], w_k[h], gamma) for h in chosen]
    return [Guard("relative error against float64", float(np.abs(found / true - 1).max()), 1e-10)]
