"""A trained model beside the model of Theorem 3.4: coordinates with gains, predicted losses, and what makes the gap.

Theorem 3.4's head has W_Q W_K = W_V W_O = I, so that only alpha and beta are left. A trained head brings its own
gains, and its coefficients mean nothing without them (the gauge of `dynamics.heads.named`). The products of gain and
coefficient are the same in every gauge. They take the place of alpha and beta in the theorem.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel, at
from dynamics.model.positions import rotate
from dynamics.tasks.induction import length_law
from dynamics.tasks.task import FIRST_TOKEN, Batch
from dynamics.training.evaluation import as_tensors
from theory import landscape

Array = NDArray[np.float64]
Pair = tuple[float, float]
RARE = 1e-9  # the chance of a length of rows that a mean leaves out
# What `stages` takes out of a model, one after the other, and the names of the differences.
STAGES = ("model", "row", "mlp", "norm", "heads")
GAPS = ("other tokens", "MLP", "final norm", "own embedding", "token table")


class ReadOut(NamedTuple):
    """What a head adds to a token's logit, less the mean over other tokens, when it attends to that token alone."""

    mean: float
    std: float


def outside(config: ModelConfig) -> list[str]:
    """Why the theorem does not describe a model, in words; empty where it does, up to the final norm."""
    found = {
        f"{config.n_layers} layers": config.n_layers != 1,
        f"shift {config.shift}": config.shift != "kv",
        f"window {config.window}": config.window != 2,
        "another attention than causal softmax over values of its own": not config.plain,
        f"place {config.place}": config.place != "heads",
        "MLP": config.mlp_width > 0,
    }
    return [reason for reason, applies in found.items() if applies]


def has_gains(config: ModelConfig) -> bool:
    """Whether gains are defined: the theorem describes the model, but for an MLP behind the heads."""
    return not set(outside(config)) - {"MLP"}


@torch.no_grad()
def gains(model: InductionModel, batch: Batch, most: int | None = None) -> list[Pair]:
    """How a head's W_Q W_K and W_V W_O compare with the theorem's identities: (key_gain, value_gain) a head.

    key_gain: the score of a token's query with its own unmixed key, less that with another token's; at the distances
        that x_{i+1} has from x_{T+1} in the batch. value_gain: what a token's unmixed value adds to the logit of that
        token, less what it adds to another's, before the MLP and the final norm (1/RMS is not a constant).
    Both are means over the vocabulary, or over `most` tokens spread evenly over it.
    Raises: ValueError for models other than one layer of shifted keys and values with window 2.
    """
    check(model.config)
    block, attention = model.blocks[0], model.blocks[0].attention
    count = model.config.vocab - FIRST_TOKEN
    tokens = torch.arange(FIRST_TOKEN, model.config.vocab, max(1, count // (most or count)))[:most]
    tokens = tokens.to(model.embedding.device)
    normed = block.attention_norm(model.embed(tokens[None]))
    group = attention.n_heads // attention.n_kv_heads
    size = (-1, attention.head_dim)
    query = attention.q_proj(normed).unflatten(-1, size)
    key, value = (
        projection(normed).unflatten(-1, size).repeat_interleave(group, dim=2)
        for projection in (attention.k_proj, attention.v_proj)
    )
    asking = attention.scale * _asking(query, attention, torch.from_numpy(batch.query_index - batch.position))
    out = attention.o_proj.weight.unflatten(1, size)
    readout = torch.einsum("yw,whd->yhd", model.embedding[tokens] * model.norm.weight, out)
    return list(zip(_own_less_other(asking, key[0]), _own_less_other(readout, value[0]), strict=True))


def check(config: ModelConfig) -> None:
    """Raises ValueError for a model without gains."""
    if has_gains(config):
        return
    found = (config.n_layers, config.shift, config.window)
    if found != (1, "kv", 2):
        raise ValueError(f"needs one layer, shift kv and window 2, got {found[0]}, {found[1]} and {found[2]}")
    raise ValueError("needs causal softmax attention over values of its own, shifted in each head")


def coordinates(gain: ArrayLike, alpha: ArrayLike, beta: ArrayLike) -> Array:
    """Each head's (key_gain alpha1, key_gain alpha2, value_gain beta1, value_gain beta2), (.., heads, 4).

    Args: gain (.., heads, 2), key and value; alpha, beta (.., key-value heads, 2), which groups of heads share.
    """
    gain, pairs = np.asarray(gain), [np.asarray(pair) for pair in (alpha, beta)]
    group = gain.shape[-2] // pairs[0].shape[-2]
    both = [np.repeat(pair, group, axis=-2) * gain[..., n : n + 1] for n, pair in enumerate(pairs)]
    return np.concatenate(both, axis=-1)


def theta(model: InductionModel, batch: Batch) -> Array:
    """`coordinates` of a model's heads, (heads, 4). Raises: ValueError as `gains`."""
    attention = model.blocks[0].attention
    mixed = (mix.detach().double().cpu().numpy() for mix in (attention.alpha_mix(), attention.beta_mix()))
    return coordinates(gains(model, batch), *mixed)


def predicted(theta: ArrayLike, pool: int) -> Array:
    """The theorem's loss of heads whose logits add, (..) for theta (.., heads, 4): a mean over the task's (T, i).

    With one head it is `theory.landscape.loss`. T has the law of rows drawn from `pool` tokens, i is uniform on
    1..T-1. For each head alone give theta[.., None, :].
    """
    heads = np.asarray(theta, dtype=np.float64)
    total, chance = np.zeros(heads.shape[:-2]), 0.0
    for size, weight in enumerate(length_law(pool)):
        if weight > RARE:
            total, chance = total + weight * predicted_at(heads, size), chance + weight
    return total / chance


def predicted_at(theta: ArrayLike, n_tokens: int) -> Array:
    """`predicted` for rows of one length T = n_tokens >= 2."""
    parts = np.moveaxis(np.asarray(theta, dtype=np.float64), -1, 0)
    # Positions 2..T-2 have the same loss.
    numbers = {1: 1, n_tokens - 1: 1} if n_tokens < 4 else {1: 1, 2: n_tokens - 3, n_tokens - 1: 1}
    total = np.zeros(parts.shape[1:-1])
    for place, number in numbers.items():
        logits = landscape.logits(*parts, n_tokens, place).sum(axis=-2)
        others = np.delete(logits - logits[..., place : place + 1], place, axis=-1)
        total += number * np.logaddexp(0.0, np.logaddexp.reduce(others, axis=-1))  # keeps the digits of small losses
    return total / (n_tokens - 1)


@torch.no_grad()
def stages(model: InductionModel, batch: Batch) -> dict[str, float]:
    """The mean loss of a model with gains, step by step nearer to the theorem's model, by the names of `STAGES`.

    model: as it is; row: only the row's own tokens compete; mlp: and no MLP; norm: and the final norm scales by its
    weight alone, not by 1/RMS; heads: and the scored token's own embedding is left out. What the theorem predicts for
    all heads together then differs by the tokens' own products, which the theorem takes for those of an identity.
    """
    check(model.config)
    tokens, query, target = as_tensors(batch, model.embedding.device)
    block, rows = model.blocks[0], torch.arange(len(tokens), device=model.embedding.device)
    added = head_outputs(model, tokens, query).flatten(1) @ block.attention.o_proj.weight.T
    hidden = full = model.embedding[tokens[rows, query]] + added
    if block.mlp is not None:
        full = hidden + block.feed_forward(hidden)
    states = (model.norm(full), model.norm(hidden), hidden * model.norm.weight, added * model.norm.weight)
    # x_{T+1} is x_i: the row's own tokens are those before it.
    later = torch.arange(tokens.shape[1], device=tokens.device) >= query[:, None]
    logits = [torch.einsum("rw,rlw->rl", state, model.embedding[tokens]).masked_fill(later, -torch.inf)
              for state in states]  # fmt: skip
    place = torch.from_numpy(batch.position).to(tokens.device)
    losses = [(states[0] @ model.unembedding.T, target), *((one, place) for one in logits)]
    found = [F.cross_entropy(one.double(), answer).item() for one, answer in losses]
    return dict(zip(STAGES, found, strict=True))


def head_outputs(model: InductionModel, tokens: Tensor, query: Tensor) -> Tensor:
    """What each head of a one-layer model hands to W_O at the scored token, (rows, heads, head_dim)."""
    attention = model.blocks[0].attention
    with _weight(attention.o_proj, torch.eye(attention.o_proj.in_features)):
        found = attention(model.blocks[0].read_by_attention(model.entering(tokens)), query_index=query)
    return found.squeeze(1).unflatten(-1, (attention.n_heads, attention.head_dim))


@torch.no_grad()
def read_out(model: InductionModel, batch: Batch, head: int, seed: int = 0) -> ReadOut:
    """What a head adds, through the MLP and the final norm, to the logit of the one token that it attends to.

    In each row the head's output is that of all attention on a random token, with another random token before it. The
    other heads stay as they are, and the comparison is the row without this head. Where the theorem holds the mean is
    value_gain beta1. Raises: ValueError as `gains`.
    """
    check(model.config)
    tokens, query, _ = as_tensors(batch, model.embedding.device)
    block, attention = model.blocks[0], model.blocks[0].attention
    drawn = np.random.default_rng(seed).integers(FIRST_TOKEN, model.config.vocab, (2, len(tokens)))
    put, before = torch.from_numpy(drawn).to(tokens.device)
    group = attention.n_heads // attention.n_kv_heads
    rows = slice(head // group * attention.head_dim, (head // group + 1) * attention.head_dim)
    values = [block.attention_norm(model.embed(one[:, None]))[:, 0] @ attention.v_proj.weight[rows].T
              for one in (put, before)]  # fmt: skip
    outputs = head_outputs(model, tokens, query)
    own = at(model.embed(tokens), query)[:, 0]
    logits = []
    for value in (sum(c * v for c, v in zip(attention.beta_mix()[head // group], values, strict=True)), 0.0):
        outputs[:, head] = value
        hidden = own + outputs.flatten(1) @ attention.o_proj.weight.T
        hidden = hidden if block.mlp is None else hidden + block.feed_forward(hidden)
        logits.append(model.norm(hidden) @ model.unembedding[FIRST_TOKEN:].T)
    gained = (logits[0] - logits[1]).double()
    on_it = gained.gather(1, put[:, None] - FIRST_TOKEN)[:, 0]
    difference = on_it - (gained.sum(1) - on_it) / (gained.shape[1] - 1)
    return ReadOut(difference.mean().item(), difference.std().item())


@contextmanager
def _weight(layer: nn.Linear, weight: Tensor) -> Iterator[None]:
    """Within, a layer has another weight; afterwards it has its own again, the same tensor."""
    held = layer.weight.data
    layer.weight.data = weight.to(held)
    try:
        yield
    finally:
        layer.weight.data = held


def _asking(query: Tensor, attention, distances: Tensor) -> Tensor:
    """The queries (x, heads, d) as keys meet them: the mean over the given distances of a query behind a key."""
    if attention.position != "rope":
        return query[0]
    total = torch.zeros((), device=query.device)
    for distance, number in zip(*distances.to(query.device).unique(return_counts=True), strict=True):
        total = total + number * rotate(query, distance.expand(1, query.shape[1]), attention.rope_base)[0]
    return total / len(distances)


def _own_less_other(left: Tensor, right: Tensor) -> list[float]:
    """Mean of <left(x), right(x)> less mean of <left(x), right(y)> over x != y, a head each; both (x, heads, d).

    The products over all pairs add up to the product of the sums, so that no pair is formed.
    """
    left, right, size = left.double(), right.double(), len(left)
    own, every = torch.einsum("xhd,xhd->h", left, right), torch.einsum("hd,hd->h", left.sum(0), right.sum(0))
    return (own / size - (every - own) / (size * (size - 1))).tolist()
