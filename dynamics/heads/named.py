"""Name induction heads by their attention, then place their shift coefficients on the landscape.

The coefficients are defined up to a gauge. With keys k_t = alpha1 W_K x_t + alpha2 W_K x_{t-1}, any c != 0 turns
(alpha, W_K) into (c alpha, W_K / c) without changing the model, with or without RoPE (a linear map); the same holds for
(beta, W_V). Only the direction of (alpha1, alpha2) and of (beta1, beta2) up to sign means anything, so a head is never
named by their size, and |alpha2| > |alpha1| is a statement that no gauge can change.
"""

from typing import NamedTuple

import torch

from dynamics.model.decoder import InductionModel
from dynamics.tasks.task import Batch
from dynamics.training.evaluation import as_tensors, parts

THRESHOLD = 0.5


class HeadReport(NamedTuple):
    """One head, judged by its attention.

    successor: mean probability on x_{i+1} when x_{T+1} asks; is_induction: successor > 0.5; alpha, beta: effective
    coefficients (self, previous, ..); alpha_fixed, beta_fixed: the same after `fix_gauge`; place: (alpha1, beta1) on
    the landscape's plane, None off it; key_looks_back: |alpha2| > |alpha1|; value_stays: |beta1| > |beta2|.
    Layers and heads count from 0.
    """

    layer: int
    head: int
    successor: float
    is_induction: bool
    alpha: tuple[float, ...]
    beta: tuple[float, ...]
    alpha_fixed: tuple[float, ...]
    beta_fixed: tuple[float, ...]
    place: tuple[float, float] | None
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


def place_on_slice(coefficients: tuple[float, ...]) -> float | None:
    """Return c1 / (c1 + c2), the orbit's point on the slice c1 + c2 = 1 of Figure 2.

    Unlike fix_gauge this also serves unequal signs, where the point leaves [0, 1]. Returns: None where the orbit misses
    the slice (c1 + c2 = 0) or there are not two coefficients. A place close to the opposite signs' pole is far out.
    """
    if len(coefficients) != 2 or sum(coefficients) == 0:
        return None
    return coefficients[0] / sum(coefficients)


def successor_attention(model: InductionModel, batch: Batch, chunk: int = 512) -> list[torch.Tensor]:
    """Return per layer the mean over rows of the attention that x_{T+1} pays to x_{i+1}, (heads,) each in [0, 1].

    Raises: ValueError for a batch with answers that stand nowhere in their rows (3-grams, hops to nowhere).
    """
    if (batch.position < 0).any():
        raise ValueError("heads are named by their attention to the answer, and this task has rows without it")
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
    """Report every head of every layer, whether it is an induction head or not."""
    reports = []
    for layer, masses in enumerate(successor_attention(model, batch)):
        attention = model.blocks[layer].attention
        alphas, betas = attention.alpha_mix().tolist(), attention.beta_mix().tolist()
        group = len(masses) // len(alphas)  # query heads that share a key-value head, and so its coefficients
        for head, mass in enumerate(masses.tolist()):
            reports.append(_report(layer, head, mass, tuple(alphas[head // group]), tuple(betas[head // group])))
    return reports


def _report(layer: int, head: int, mass: float, alpha: tuple[float, ...], beta: tuple[float, ...]) -> HeadReport:
    alpha1, beta1 = place_on_slice(alpha), place_on_slice(beta)
    return HeadReport(
        layer=layer,
        head=head,
        successor=mass,
        is_induction=mass > THRESHOLD,
        alpha=alpha,
        beta=beta,
        alpha_fixed=fix_gauge(alpha),
        beta_fixed=fix_gauge(beta),
        place=None if alpha1 is None or beta1 is None else (alpha1, beta1),
        key_looks_back=_previous(alpha) > abs(alpha[0]),
        value_stays=abs(beta[0]) > _previous(beta),
    )


def _previous(coefficients: tuple[float, ...]) -> float:
    return abs(coefficients[1]) if len(coefficients) > 1 else 0.0
