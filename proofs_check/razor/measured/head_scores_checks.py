"""Margins for head scores: whole attention matrices, planted heads, exact counts, and the shipped models."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from proofs_check.evidence.margin import Margin, at_most, close, less, same, worst
from proofs_check.evidence.tolerances import KERNEL

if TYPE_CHECKING:
    from dynamics.heads.scores import HeadScores

K, REPEATS = 12, 4
POSITIONS = ("rope", "alibi", "none")
# Layers and heads of the models of Table 3 and Section 4.2, from their public configurations.
SHAPES = {
    "Qwen1.5-7B": (32, 32),
    "Qwen1.5-72B": (80, 64),
    "Llama2-7B": (32, 32),
    "Llama3-8B": (32, 32),
    "Baichuan2-13B": (40, 40),
    "GLM-9B": (40, 32),
}


def _matrices(model: Any, tokens: np.ndarray) -> np.ndarray:
    """The attention of every layer, (layers, heads, length, length)."""
    import torch

    hidden, found = model.embed(torch.from_numpy(tokens)[None]), []
    with torch.no_grad():
        for block in model.blocks:
            found.append(block.attention.weights(block.attention_norm(hidden))[0])
            hidden = block(hidden)
    return torch.stack(found).numpy()


def _looked_up(weights: np.ndarray, tokens: np.ndarray, after: int) -> np.ndarray:
    """Mean attention to the tokens `after` places after an earlier copy, found by comparing tokens."""
    place = np.arange(len(tokens))
    targets = (tokens[:, None] == tokens) & (place < place[:, None])
    targets = np.roll(targets, after, axis=1) & (place <= place[:, None])
    return (weights * targets).sum((-2, -1)) / (len(tokens) - K)


def against_matrices(seed: int, copy: int = 0, successor: int = 1) -> Margin:
    """Echo and induction by blocks against sums over whole matrices, on a random model with mixed keys and GQA."""
    import torch

    from dynamics.heads.scores import head_scores, repeated_prompt
    from dynamics.model.config import ModelConfig
    from dynamics.model.decoder import InductionModel

    config = ModelConfig(vocab=16, width=24, n_heads=4, n_kv_heads=2, n_layers=2, position=POSITIONS[seed % 3])
    model = InductionModel(config, torch.Generator().manual_seed(seed)).double()
    found = head_scores(model, k=K, repeats=REPEATS, seed=seed)
    tokens = repeated_prompt(16, K, REPEATS, seed)
    weights = _matrices(model, tokens)
    expected = [_looked_up(weights, tokens, after) for after in (copy, successor)]
    return close([found.echo, found.induction], expected, KERNEL.times(np.max(expected)))


def equal_copies(repeats: int, k: int, own: bool = True) -> Margin:
    """The echo score of a head that weighs the token (or not) and all its copies alike: 1 - (H_R - 1)/(R - 1)."""
    queries = [Fraction(t // k, t // k + own) for t in range(k, repeats * k)]
    harmonic = sum((Fraction(1, n) for n in range(2, repeats + 1)), Fraction(0))
    return same(1 - harmonic / (repeats - 1), sum(queries, Fraction(0)) / len(queries))


@lru_cache(maxsize=64)
def _known(seed: int) -> tuple[Any, HeadScores]:
    from dynamics.heads.scores import head_scores
    from dynamics.model.made.known_heads import random_known_model

    known = random_known_model(seed, vocab=16, length=REPEATS * K)
    return known, head_scores(known.model, k=K, repeats=REPEATS, seed=seed)


def planted(seed: int, mistake: str = "") -> Margin:
    """Every planted head is above one half in its score and every other head below."""
    known, scores = _known(seed)
    if mistake == "copy for successor":
        scores = scores._replace(induction=scores.echo)
    if mistake == "first layer only":
        scores = scores._make(np.where(np.arange(len(score))[:, None] == 0, score, 0.0) for score in scores)
    margins = []
    for name in ("echo", "induction", "previous"):
        heads, values = getattr(known, name), getattr(scores, name)
        margins += [less(0.5, value) for value in values[heads]] + [less(value, 0.5) for value in values[~heads]]
    return worst(margins)


def needs_no_echo(seed: int, silenced: str = "echo") -> Margin:
    """With the echo heads' queries and outputs at zero no head echoes, and the planted induction heads still do."""
    import torch

    from dynamics.heads.scores import head_scores
    from dynamics.model.made.known_heads import known_model

    known = known_model(seed, n_layers=3, n_kv_heads=2, length=REPEATS * K, position=("rope", "alibi")[seed % 2])
    with torch.no_grad():
        for layer, head in np.argwhere(getattr(known, silenced)):
            attention = known.model.blocks[layer].attention
            part = slice(head * attention.head_dim, (head + 1) * attention.head_dim)
            attention.q_proj.weight[part] = 0.0
            attention.o_proj.weight[:, part] = 0.0
    scores = head_scores(known.model, k=K, repeats=REPEATS)
    induction = at_most(0.95, float(scores.induction[known.induction].min()))
    return induction if silenced != "echo" else worst([induction, less(float(scores.echo.max()), 0.5)])


def kept(model: str, induction: int, echo: int, binary: bool = False) -> Margin:
    """Heads kept by induction and by echo, 14 % and 1 % rounded up."""
    from dynamics.heads.selection import kept_count

    n_heads = math.prod(SHAPES[model])
    found = [math.ceil(share * n_heads) if binary else kept_count(n_heads, share) for share in (0.14, 0.01)]
    return same((induction, echo), tuple(found))


@lru_cache(maxsize=8)
def _shipped(name: str) -> tuple[Any, np.ndarray]:
    """A shipped model, and which of its heads attend to the answer of its task."""
    from dynamics.heads.named import inspect
    from dynamics.training.checkpoint import shipped
    from dynamics.training.evaluation import heldout_batch

    model = shipped(name).model
    reports = inspect(model, heldout_batch(0, 128, model.config.vocab, 512))
    return model, np.array([report.attends for report in reports])


def _induction(name: str, k: int) -> np.ndarray:
    from dynamics.heads.scores import head_scores

    return head_scores(_shipped(name)[0], k=k, repeats=REPEATS).induction.ravel()


def shipped_names(name: str, k: int) -> Margin:
    """The heads whose induction score exceeds one half are those that attend to the answer of the induction task."""
    pairs = zip(_induction(name, k), _shipped(name)[1], strict=True)
    return worst([less(0.5, value) if is_one else less(value, 0.5) for value, is_one in pairs])


def no_name(name: str, k: int) -> Margin:
    """No head's induction score exceeds one half."""
    return less(float(_induction(name, k).max()), 0.5)
