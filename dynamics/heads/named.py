"""Heads by their attention to the successor, and the gauge of their shift coefficients.

The coefficients are defined up to a gauge. With keys k_t = alpha1 W_K x_t + alpha2 W_K x_{t-1}, any c != 0 turns
(alpha, W_K) into (c alpha, W_K / c) without changing the model, with or without RoPE (a linear map); the same holds for
(beta, W_V). Only the direction of (alpha1, alpha2) and of (beta1, beta2) up to sign means anything, so a head is never
named by their size, and |alpha2| > |alpha1| is a statement that no gauge can change.
"""

from typing import NamedTuple

import torch

from dynamics.model.config import PLACED, ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.tasks.task import Batch
from dynamics.training.evaluation import as_tensors, parts

THRESHOLD = 0.5


class HeadReport(NamedTuple):
    """One head, judged by its attention.

    successor: mean probability on x_{i+1} when x_{T+1} asks; attends: successor > 0.5; alpha, beta: effective
    coefficients (self, previous, ..); key_looks_back: |alpha2| > |alpha1|; value_stays: |beta1| > |beta2|.
    Layers and heads count from 0.
    """

    layer: int
    head: int
    successor: float
    attends: bool
    alpha: tuple[float, ...]
    beta: tuple[float, ...]
    key_looks_back: bool
    value_stays: bool


def fix_gauge(coefficients: tuple[float, ...]) -> tuple[float, ...]:
    """Scale coefficients to sum |c_j| = 1 with the largest in size positive (of equals, the first).

    Each gauge orbit {c v : c != 0} holds exactly one such vector. Where all signs agree it is also the orbit's only
    point on the slice sum c_j = 1 of Figure 2, and lies in its box. Returns: the vector; zeros stay zeros.
    """
    total = sum(abs(c) for c in coefficients)
    if total == 0:
        return coefficients
    largest = max(coefficients, key=abs)
    return tuple(c / (total if largest > 0 else -total) for c in coefficients)


def unnamed(config: ModelConfig, batch: Batch) -> str | None:
    """Why the heads of a model cannot be named by their attention on a batch, in words; None where they can."""
    if (batch.position < 0).any():
        return "on this task the answer does not always stand in the row"
    if config.place in PLACED:
        return f"the attention of a model whose shift is placed at {config.place!r} is not shown"
    return None


def successor_attention(model: InductionModel, batch: Batch, chunk: int = 512) -> list[torch.Tensor]:
    """Return per layer the mean over rows of the attention that x_{T+1} pays to x_{i+1}, (heads,) each in [0, 1].

    Raises: ValueError where heads cannot be named (`unnamed`).
    """
    if reason := unnamed(model.config, batch):
        raise ValueError(f"heads are named by their attention to the answer: {reason}")
    sums: list[torch.Tensor] | None = None
    with torch.no_grad():
        for piece in parts(batch, chunk):
            tokens, query, _ = as_tensors(piece, model.embedding.device)
            index = torch.from_numpy(piece.position).to(tokens.device)  # x_{i+1} stands at 0-based index i
            rows = torch.arange(len(index), device=tokens.device)
            found = [weights[rows, :, index].double().sum(0) for weights in model.attention_weights(tokens, query)]
            sums = found if sums is None else [total + new for total, new in zip(sums, found, strict=True)]
    return [total.cpu() / len(batch.lengths) for total in sums or []]


def inspect(model: InductionModel, batch: Batch) -> list[HeadReport]:
    """Report every head of every layer, whether it attends to the successor or not."""
    reports = []
    for layer, masses in enumerate(successor_attention(model, batch)):
        attention = model.blocks[layer].attention
        alphas, betas = attention.alpha_mix().tolist(), attention.beta_mix().tolist()
        group = len(masses) // len(alphas)  # query heads that share a key-value head, and so its coefficients
        for head, mass in enumerate(masses.tolist()):
            reports.append(_report(layer, head, mass, tuple(alphas[head // group]), tuple(betas[head // group])))
    return reports


def _report(layer: int, head: int, mass: float, alpha: tuple[float, ...], beta: tuple[float, ...]) -> HeadReport:
    looks_back, stays = _previous(alpha) > abs(alpha[0]), abs(beta[0]) > _previous(beta)
    return HeadReport(layer, head, mass, mass > THRESHOLD, alpha, beta, looks_back, stays)


def _previous(coefficients: tuple[float, ...]) -> float:
    return abs(coefficients[1]) if len(coefficients) > 1 else 0.0
