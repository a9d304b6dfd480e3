"""Attention of trained ALiBi heads by distance, against the scopes: as printed, from spectral norms, and sharp."""

from collections.abc import Iterator
from typing import Annotated, NamedTuple

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from dynamics.comparison.policies import held_out
from dynamics.comparison.record import Settings
from dynamics.files.hashed import Hashed
from dynamics.files.manifest import Fraction01, Strict
from dynamics.files.shipped import FOLDER
from dynamics.model.attention_function import replaced
from dynamics.model.decoder import InductionModel
from dynamics.razor.eviction import causal_weights
from dynamics.tasks.corpus import Corpus
from dynamics.tasks.needles import Windows
from dynamics.training.text import text_losses
from theory import alibi

EPS = 1e-3
DIGITS = 4  # of a weight in the record
ROUNDING = 0.5 * 10.0 ** (1 - DIGITS)  # which a logarithm of it may be off by


class HeadScope(Strict):
    """One head: its bounds at EPS and what was measured.

    logit_range D and self_gap D_s as `theory.alibi` has them; printed, spectral, sharp: the scopes, in tokens;
    largest: the largest weight seen at each distance 0, 1, ..; reach: the least distance from which no weight exceeded
    EPS (the number of distances, where one still did at the last).
    """

    seed: int
    layer: int
    head: int
    slope: float
    logit_range: float
    self_gap: float
    printed: float
    spectral: float
    sharp: float
    reach: int
    largest: Annotated[tuple[Fraction01, ...], Field(min_length=1)]


class MeasuredScopes(Hashed):
    """All heads of all trained models, eps, and how many windows of which text were read."""

    shipped = FOLDER / "comparison" / "attention_by_distance.json"

    eps: float
    corpus: str
    windows: int
    context: int
    heads: tuple[HeadScope, ...]


class Excess(NamedTuple):
    """How far the measured weights of a head are above a bound, as logarithms: up to ROUNDING the bound holds."""

    log_excess: float
    distance: int


def largest_weights(model: InductionModel, windows: list[Windows]) -> np.ndarray:
    """The largest attention of each head to each distance over all windows, (layers, heads, longest), float64."""
    config, longest = model.config, max(batch.tokens.shape[1] for batch in windows) - 1
    found = np.zeros((config.n_layers, config.n_heads, longest))

    def watching(layer, query, key, value, *, scale, slopes):
        weights = causal_weights(query, key, scale, slopes)
        for distance, largest in enumerate(_diagonals(weights)):
            found[layer, :, distance] = np.maximum(found[layer, :, distance], largest)
        return weights @ value.repeat_interleave(query.shape[1] // key.shape[1], dim=1)

    with torch.no_grad(), replaced(model, watching):
        for batch in windows:
            text_losses(model, batch)
    return found


def head_scopes(model: InductionModel, seed: int, largest: np.ndarray) -> Iterator[HeadScope]:
    """The scopes of every head of an ALiBi model, beside its measured weights (layers, heads, length).

    Where keys are shifted, k'_j = a1 k_j + a2 k_{j-1}, a logit q.k'_j spreads by (|a1| + |a2|) D at most, and exceeds
    the query's own by a1 D_s + |a2| D at most, |a1| D for a1 D_s where a1 < 0: all bounds then hold with these, but
    neighbouring keys share a token and they need not be attained. (The missing key before the first is 0, which lies
    between the ends of q.k as the sphere is symmetric.) The printed and the spectral scope get W_K times |a1| + |a2|.
    Raises: ValueError for a model without ALiBi or one whose heads share keys.
    """
    config = model.config
    if config.position != "alibi" or config.n_kv_heads not in (None, config.n_heads) or not config.plain_logits:
        raise ValueError("the scopes are those of ALiBi heads, each with its own keys, projected and at most shifted")
    for layer, block in enumerate(model.blocks):
        gamma = block.attention_norm.weight.detach().double().cpu().numpy()
        w_q, w_k = (part.weight.detach().double().cpu().unflatten(0, (config.n_heads, -1)).numpy()
                    for part in (block.attention.q_proj, block.attention.k_proj))  # fmt: skip
        mixtures = block.attention.alpha_mix().detach().double().cpu().numpy()
        for head, slope in enumerate(alibi.slopes(config.n_heads)):
            own, size = mixtures[head, 0], float(np.abs(mixtures[head]).sum())
            given, seen = alibi.Head(w_q[head], w_k[head], gamma), largest[layer, head]
            spread, gap = alibi.logit_range(given), alibi.self_gap(given)
            given = given._replace(w_k=size * w_k[head])
            yield HeadScope(
                seed=seed, layer=layer, head=head, slope=slope, logit_range=size * spread,
                self_gap=float(max(own, 0.0) * gap + (size - max(own, 0.0)) * spread),
                printed=alibi.printed_scope(given, slope, EPS),
                spectral=alibi.spectral_scope(given, slope, EPS),
                sharp=alibi.scope(slope, size * spread, EPS),
                reach=int(np.flatnonzero(seen > EPS).max(initial=-1)) + 1,
                largest=tuple(float(f"{weight:.{DIGITS}g}") for weight in seen),
            )  # fmt: skip


def measure_scopes(settings: Settings, corpus: Corpus, models: dict[int, InductionModel]) -> MeasuredScopes:
    """Attention of the comparison's models, by seed, on the windows that the comparison measures."""
    windows = held_out(settings, corpus)
    heads = []
    for seed, model in models.items():
        heads += head_scopes(model, seed, largest_weights(model, list(windows)))
    rows = sum(len(batch.tokens) for batch in windows)
    return MeasuredScopes(eps=EPS, corpus=corpus.sha256, windows=rows, context=settings.context, heads=tuple(heads))


def bound_excess(head: HeadScope) -> Excess:
    """The largest ln(weight) - ln(bound) of a head over all distances >= 1, with the bound of D and D_s."""
    seen = np.array(head.largest[1:])
    bounds = [alibi.log_weight_bound(n, head.slope, head.logit_range, head.self_gap) for n in range(1, len(seen) + 1)]
    with np.errstate(divide="ignore"):
        excess = np.log(seen) - np.array(bounds)
    return Excess(float(excess.max()), int(excess.argmax()) + 1)


write_scopes, read_scopes = MeasuredScopes.write, MeasuredScopes.read


def _diagonals(weights: Tensor) -> Iterator[np.ndarray]:
    """The largest weight (heads,) at each distance from 0 on, of weights (batch, heads, length, length)."""
    for distance in range(weights.shape[-1]):
        yield weights.diagonal(-distance, -2, -1).amax((0, 2)).double().cpu().numpy()
