"""Logit ranges of a layer against low-rank and dense SVDs of each head, and against its Gram products alone.

40 random heads at d_model 5120, d_head 128, with gains. For the same digits the low-rank peer needs float64: it gets
its factors, gains included, outside of the timer, and a few heads stand for all. A dense SVD, float32, is timed at half
the width and scaled by the cubic law, which favours the peer: at the whole width it takes ten times as long, not eight.
A whole layer from a bfloat16 file, with norms and biases, all its ranges and diameters, less what reading it takes, is
measured against the Gram products of W_Q, W_K and W_V.
"""

import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file
from scipy.linalg import svdvals
from scipy.sparse.linalg import LinearOperator, svds

from benchmarks.row import Guard, Limit, Row, compare
from benchmarks.timing import Times, interleave
from dynamics.scope.ranges import layer_ranges
from dynamics.weights import safetensors_file
from dynamics.weights.layout import ROLES, Architecture, LayerLayout, Layout, Role, separate
from dynamics.weights.reader import Checkpoint
from theory import alibi
from theory.alibi import grams

HEADS, D_HEAD, D_MODEL = 40, 128, 5120
QUICK = (4, 16, 128)
FEW = 2  # heads given to the low-rank SVD
CHUNK = 3  # heads read at a time
KINDS = {"a layer's file, ALiBi, LayerNorm": ("layer", "alibi"), "a layer's file, RoPE, RMSNorm": ("rms", "rope")}


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
    with layer_files(heads, d_head, d_model) as of_files:
        times = interleave(variants | of_files, 2 if quick else 5)
    comparisons = [
        compare(times, "svds", "scipy svds, low rank", 4.0, 5.0, scale=heads / FEW),
        compare(times, "dense", "dense SVD of every head", 1000.0, 4000.0, scale=heads * 8),
    ]
    limits = [
        Limit("the two float32 Gram products of W Gamma", times.ratio("ours", "grams"), 2.0),
        Limit("those of W alone, gains of 1", times.ratio("no gains", "bare"), 2.0),
        *(Limit(name, beyond_reading(times, name), 2.5) for name in KINDS),
    ]
    return Row("scope", comparisons, limits, guards(w_q, w_k, gamma, range(0, heads, max(1, heads // 4))))


def layer(heads: int, d_head: int, d_model: int) -> tuple[NDArray, NDArray, NDArray]:
    rng = np.random.default_rng(0)
    w_q, w_k = (np.float32(0.02) * rng.standard_normal((heads, d_head, d_model), np.float32) for _ in range(2))
    return w_q, w_k, np.exp(0.1 * rng.standard_normal(d_model))


def gram_products(scaled: torch.Tensor) -> torch.Tensor:
    return torch.bmm(scaled, scaled.transpose(1, 2))


@contextmanager
def layer_files(heads: int, d_head: int, d_model: int) -> Iterator[dict[str, Callable[[], object]]]:
    """All ranges of a layer from its file by kind, reading alone, and three Gram products."""
    rng = torch.Generator().manual_seed(0)
    wide = {role: 0.02 * torch.randn(heads * d_head, d_model, generator=rng) for role in ROLES}
    biases = {f"{role}_bias": 0.1 * torch.randn(heads * d_head, generator=rng) for role in ROLES}
    norm_bias = 0.1 * torch.randn(d_model, generator=rng)
    ends = {"gamma": torch.exp(0.1 * torch.randn(d_model, generator=rng)), "norm_bias": norm_bias}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "layer.safetensors"
        save_file({name: tensor.bfloat16() for name, tensor in (wide | biases | ends).items()}, path)
        shapes = [wide[role].reshape(heads, d_head, d_model) for role in ROLES]
        found = {name: checkpoint(path, (heads, d_head, d_model), *kind) for name, kind in KINDS.items()}
        yield {
            **{name: lambda whole=whole: list(layer_ranges(whole, 0)) for name, whole in found.items()},
            "reading": partial(reading, next(iter(found.values())), heads),
            "three": lambda: [gram_products(w * ends["gamma"]) for w in shapes],
        }


def checkpoint(path: Path, shape: tuple[int, int, int], norm: Any, position: Any) -> Checkpoint:
    heads, d_head, d_model = shape
    slopes = tuple(alibi.slopes(heads)) if position == "alibi" else None
    sizes = Architecture("random", 1, heads, heads, d_head, d_model, norm, position, slopes, "halves", d_head**-0.5,
                         None)  # fmt: skip
    weights: dict[Role, str] = {role: role for role in ROLES}
    biases: dict[Role, str] = {role: f"{role}_bias" for role in ROLES}
    named = separate(weights, d_head), separate(biases, d_head)
    layer = LayerLayout(sizes, *named, "gamma", "norm_bias" if norm == "layer" else None)
    return Checkpoint(Layout((layer,), {}, {}), safetensors_file.tensors(path))


def reading(whole: Checkpoint, heads: int) -> None:
    for first in range(0, heads, CHUNK):
        for role in ROLES:
            whole.projection(0, role, first, min(first + CHUNK, heads))


def beyond_reading(times: Times, name: str) -> float:
    """What a layer takes beyond reading it, in units of its three Gram products."""
    rounds = zip(*(times.rounds[one] for one in (name, "reading", "three")), strict=True)
    return statistics.median((ours - read) / grams for ours, read, grams in rounds)


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
    """Errors of a few heads against `alibi.logit_range`, by orthogonal factors in float64."""
    found = grams.logit_ranges(w_q[chosen], w_k[chosen], gamma)
    true = [alibi.logit_range(w_q[h], w_k[h], gamma) for h in chosen]
    return [Guard("relative error against float64", float(np.abs(found / true - 1).max()), 1e-10)]
