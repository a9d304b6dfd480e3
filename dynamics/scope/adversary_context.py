"""Heads and contexts as an adversary sees them: raw points, post-norm states, and a plain softmax over the tokens.

Nothing here but the check of arguments is shared with the bounds under attack: norm, logits and softmax are written out
anew, in float64.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from theory.checked import reals

LARGEST = 1e150  # of a logit, so that its square does not overflow


@dataclass(frozen=True)
class Heads:
    """ALiBi heads of one shape: w_q, w_k (heads, d_head, d_model), gamma, norm_bias (heads, d_model), query_bias
    (heads, d_head), slope (heads,). norm is "rms" or "layer"; ball says that its epsilon is positive: ||z||^2 <= d.
    """

    w_q: Tensor
    w_k: Tensor
    gamma: Tensor
    norm_bias: Tensor
    query_bias: Tensor
    slope: Tensor
    norm: str
    ball: bool

    def __len__(self) -> int:
        return len(self.w_q)

    @property
    def width(self) -> int:
        """Components of a raw point: those of a state, and one more for how far inside of the ball it lies."""
        return self.gamma.shape[-1] + self.ball

    def head(self, index: int) -> Heads:
        """One of the heads, as a stack of one."""
        one = slice(index, index + 1)
        names = ("w_q", "w_k", "gamma", "norm_bias", "query_bias", "slope")
        return replace(self, **{name: getattr(self, name)[one] for name in names})


@dataclass(frozen=True)
class Context:
    """A context in which few states occur: words (n_words, d_model); tokens (n,) names the word of each position.

    distances (n,) to the query, which is the last token at distance 0; weights (n,), its attention to each.
    """

    words: Tensor
    tokens: Tensor
    distances: Tensor
    weights: Tensor

    @property
    def states(self) -> Tensor:
        """All post-norm states (n, d_model), oldest first."""
        return self.words[self.tokens]

    def weight(self, distance: int) -> float:
        """Attention to the token at this distance; 0 where there is none."""
        return float(self.weights[self.distances == distance].sum())

    def mass(self, window: int) -> float:
        """Total attention to distances >= window; at most 1, past which a sum of shares can round."""
        return min(1.0, float(self.weights[self.distances >= window].sum()))


def heads(
    w_q: ArrayLike,
    w_k: ArrayLike,
    gamma: ArrayLike,
    norm_bias: ArrayLike | None = None,
    query_bias: ArrayLike | None = None,
    norm: str = "rms",
    slope: ArrayLike = 0.0,
    ball: bool = False,
) -> Heads:
    """One head, or a stack of them where every array has one more axis in front.

    Args: w_q, w_k (d_head, d_model); gamma, norm_bias (d_model,); query_bias (d_head,), the biases None for 0; slope >=
    0, ALiBi's; norm "rms" or "layer"; ball, whether raw states so small that the norm's epsilon matters are allowed.
    Raises: ValueError for shapes that do not agree, numbers that are not finite, another norm, a negative slope, and
    for weights so large that the square of a logit could overflow.
    """
    if norm not in ("rms", "layer"):
        raise ValueError(f"unknown norm {norm!r}: choose rms or layer")
    query, key = _numbers("w_q", w_q), _numbers("w_k", w_k)
    query, key = (x[None] if x.ndim == 2 else x for x in (query, key))
    if query.ndim != 3 or query.shape != key.shape or not query.numel():
        raise ValueError(f"w_q and w_k must both be (d_head, d_model), got {tuple(query.shape)} and {tuple(key.shape)}")
    count, d_head, d_model = query.shape
    if norm == "layer" and d_model < 2:
        raise ValueError(f"d_model is {d_model}: LayerNorm needs at least 2")
    gains, bias = (
        _rows(n, v, count, d_model)
        for n, v in (("gamma", gamma), ("norm_bias", 0.0 if norm_bias is None else norm_bias))
    )
    shift = _rows("query_bias", 0.0 if query_bias is None else query_bias, count, d_head)
    slopes = _rows("slope", slope, count)
    if bool((slopes < 0).any()):
        raise ValueError(f"slope must be at least 0, got {float(slopes.min())}")
    stack = Heads(query, key, gains, bias, shift, slopes, norm, ball)
    if not (largest := _largest_logit(stack)) < LARGEST:
        raise ValueError(f"the weights are too large: a logit may reach {largest:g}, not below {LARGEST:g}")
    return stack


def states(stack: Heads, raw: Tensor) -> Tensor:
    """Post-norm states gamma z + b (heads, ..., d_model) of raw points (heads, ..., stack.width), none of them zero.

    z = sqrt(d) c / ||c||, c the raw point, less its mean for LayerNorm. In the ball a point of one more component
    is put on the sphere and that component left out.
    """
    d = stack.gamma.shape[-1]
    inside = raw[..., :d]
    for _ in range(2 * (stack.norm == "layer")):  # twice: a nearly constant point keeps a mean after the first
        inside = inside - inside.mean(-1, keepdim=True)
    whole = torch.cat([inside, raw[..., d:]], -1) if stack.ball else inside
    length = torch.linalg.vector_norm(whole, dim=-1, keepdim=True)
    shape = (len(stack), *[1] * (raw.ndim - 2), d)
    return stack.gamma.view(shape) * inside * (math.sqrt(d) / length) + stack.norm_bias.view(shape)


def query_vectors(stack: Heads, query: Tensor) -> Tensor:
    """W_K^T (W_Q x + b_Q) / sqrt(d_head) of states (heads, k, d_model), the same shape: times a key's state a logit."""
    asked = query @ stack.w_q.mT + stack.query_bias[:, None]
    return asked @ stack.w_k / math.sqrt(stack.w_q.shape[-2])


def attention(stack: Heads, query: Tensor, keys: Tensor, distances: Tensor) -> Tensor:
    """Weights (heads, k, n) of queries (heads, k, d_model) on key states (heads, k, n, d_model) at n distances."""
    logits = (keys @ query_vectors(stack, query)[..., None])[..., 0]
    return torch.softmax(logits - stack.slope[:, None, None] * distances, dim=-1)


def context(head: Heads, words: Tensor, tokens: Tensor, distances: Tensor) -> Context:
    """The context of a stack of one, its attention by a softmax over every explicit state."""
    found = attention(head, words[None, tokens[-1:]], words[None, None, tokens], distances)[0, 0]
    return Context(words, tokens, distances, found)


def random_contexts(stack: Heads, n_tokens: int, seed: int = 0) -> list[Context]:
    """One context of n_tokens independent states for each head, each uniform on its sphere (or in the ball)."""
    generator = torch.Generator().manual_seed(seed)
    raw = torch.randn(len(stack), n_tokens, stack.width, generator=generator, dtype=torch.float64)
    found, order = states(stack, raw), torch.arange(n_tokens)
    return [context(stack.head(i), found[i], order, order.flip(0)) for i in range(len(stack))]


def _largest_logit(stack: Heads) -> float:
    """A bound on every |logit|, by Frobenius norms: inf where one of its factors overflows."""
    d_head, d_model = stack.w_q.shape[-2:]
    reach = math.sqrt(d_model) * stack.gamma.abs().amax(-1) + _norms(stack.norm_bias)
    asked = _norms(stack.w_q.flatten(1)) * reach + _norms(stack.query_bias)
    found = asked * _norms(stack.w_k.flatten(1)) * reach / math.sqrt(d_head)
    return float(torch.nan_to_num(found, nan=math.inf, posinf=math.inf).max())


def _norms(rows: Tensor) -> Tensor:
    """Norms (heads,) whose squares may overflow or vanish."""
    size = rows.abs().amax(-1, keepdim=True)
    return size[:, 0] * torch.linalg.vector_norm(rows / torch.where(size > 0, size, 1.0), dim=-1)


def _numbers(name: str, values: Any) -> Tensor:
    return torch.from_numpy(reals(name, values).copy())


def _rows(name: str, values: Any, *shape: int) -> Tensor:
    found = _numbers(name, values)
    if tuple(found.shape) not in ((), shape, shape[1:]):
        raise ValueError(f"{name} has shape {tuple(found.shape)}: expected {shape[1:]}")
    return found.expand(shape).clone()
