"""How far the heads of a checkpoint can see, bounded from their weights, and what a KV cache may forget.

All statements are about every context of post-norm states, so they are conservative: attention to real text is far more
local. A head is called local only where the bound of its weights says so. The largest logits are found in floats, whose
rounding `theory.alibi.grams_largest` estimates and does not prove. Certified ranges enclose them, where a range is
attained. The statements are about exact (real) arithmetic: a model run in bfloat16, with slope times position rounded
to it, can exceed them. Where a model rounds its biases in every format (Falcon), they are about its table of biases,
and about contexts no longer than the one asked for.
"""

from __future__ import annotations

import math
from enum import Enum
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dynamics.scope.bounded import Bounds, Rule, bounds_of
from dynamics.scope.ranges import Basis, HeadRange, layer_ranges
from dynamics.weights.reader import Checkpoint, SmallTensors, open_checkpoint
from theory import alibi
from theory.cache.dropped import output_error_bound
from theory.checked import SHARE, index, real

DEFAULT_CONTEXT = 4096


class Reach(Enum):
    """What a cache may do with a head."""

    LOCAL = "local: tokens outside of its window never weigh more than the mass in all"
    RETRIEVAL = "retrieval: no allowed window is proved to keep the mass at every length, so every token is kept"
    UNKNOWN = "unknown: without a slope no window is proved to keep the mass at every length, so every token is kept"
    MASKED = "masked: its layer attends to a window alone"


class Settings(NamedTuple):
    """eps of the per-token scopes; mass a local head may lose; window, the most tokens a local head may keep;
    context, in tokens; certified: ball arithmetic where ranges are attained."""

    eps: float
    mass: float
    window: int
    context: int
    certified: bool = False


class HeadScope(NamedTuple):
    """A query head. Distances in tokens, real: inf where there is no bound; None where there is no such statement.

    logit_range D and what it rests on; printed_scope: RazorAttention's L_h, not valid in general; spectral_scope: its
    repair from spectral norms; scope: no token from this distance on weighs more than eps; mass_window: the tokens
    outside of this window weigh at most the mass together; budget: tokens its key-value head keeps; dropped_mass and
    output_error: bounds on the weight dropped by that budget at the full context, and on the change of the head's
    output (before the output projection, from the same states before the layer); alpha, beta: KV shift (self,
    previous, ..), which mean nothing without the head's own gains; sink: a learned logit beside those of the tokens;
    rule: what scope, window and dropped mass follow from.
    """

    layer: int
    head: int
    kv_head: int
    slope: float | None
    logit_range: float
    basis: Basis
    printed_scope: float | None
    spectral_scope: float | None
    scope: float
    mass_window: float
    reach: Reach
    budget: int
    dropped_mass: float
    output_error: float
    alpha: tuple[float, ...] | None
    beta: tuple[float, ...] | None
    sink: float | None = None
    rule: Rule = Rule.RANGE


def settings(
    checkpoint: Checkpoint,
    eps: float,
    mass: float,
    window: int | None = None,
    context: int | None = None,
    certified: bool = False,
) -> Settings:
    """Defaults from the checkpoint: the longest context it was trained on, else 4096; a window of the whole context.

    Raises: ValueError of one line for eps or mass outside (0, 1), a window or context below 1, and for certified ranges
    of weights that are rounded as they are read.
    """
    eps, mass = real("eps", eps, SHARE), real("mass", mass, SHARE)
    context = checkpoint.architecture.max_length or DEFAULT_CONTEXT if context is None else context
    context = index("context", context, 1)
    window = context if window is None else index("window", window, 1)
    if certified and checkpoint.rounded:
        raise ValueError("float64 weights are rounded to float32 as they are read: their ranges cannot be certified")
    return Settings(eps, mass, window, context, certified)


def checkpoint_scopes(
    model: str | Path,
    eps: float,
    mass: float | None = None,
    *,
    window: int | None = None,
    context: int | None = None,
    certified: bool = False,
) -> list[HeadScope]:
    """Every query head of a checkpoint (a folder, or owner/name on the hub), layer by layer.

    mass None: as eps; the rest as `settings`. Raises: ValueError and OSError, of one line, as `open_checkpoint` does.
    """
    checkpoint = open_checkpoint(model)
    asked = settings(checkpoint, eps, eps if mass is None else mass, window, context, certified)
    layers = range(checkpoint.architecture.n_layers)
    return [head for layer in layers for head in layer_scopes(checkpoint, layer, asked)]


def layer_scopes(checkpoint: Checkpoint, layer: int, asked: Settings) -> list[HeadScope]:
    """Every query head of a layer; its key-value head keeps what the most demanding head of its group needs.

    Raises: ValueError and OSError as `Checkpoint` does.
    """
    small, sizes = checkpoint.small(layer), checkpoint.layer_architecture(layer)
    cap = asked.context if small.window is None else min(asked.context, small.window)
    ranges = layer_ranges(checkpoint, layer, asked.certified)
    found = [(head, bounds_of(head, sizes, asked.context, head.mixed)) for head in ranges]
    judged = [_judge(head, bounds, asked, cap, masked=cap < asked.context) for head, bounds in found]
    kept: dict[int, int] = {}
    for (head, _), (_, budget) in zip(found, judged, strict=True):
        kept[head.kv_head] = max(kept.get(head.kv_head, 0), budget)
    return [
        _scope(head, bounds, asked, reach, kept[head.kv_head], cap, small)
        for (head, bounds), (reach, _) in zip(found, judged, strict=True)
    ]


def _judge(head: HeadRange, bounds: Bounds, asked: Settings, cap: int, masked: bool) -> tuple[Reach, int]:
    """The verdict on a head, and the tokens it needs; cap, the tokens it can see."""
    if head.slope:
        window = bounds.window(head.logit_range, asked.mass)
        if window <= asked.window and window < cap:
            return Reach.LOCAL, math.ceil(window)
    if masked:
        return Reach.MASKED, cap
    return (Reach.RETRIEVAL if head.slope else Reach.UNKNOWN), cap


def _scope(
    head: HeadRange, bounds: Bounds, asked: Settings, reach: Reach, budget: int, cap: int, small: SmallTensors
) -> HeadScope:
    slope = head.slope or 0.0
    seen = math.inf if small.window is None else small.window
    dropped = bounds.dropped(head.logit_range, budget, cap)
    known = math.isfinite(head.value_diameter)
    return HeadScope(
        layer=head.layer,
        head=head.head,
        kv_head=head.kv_head,
        slope=head.slope,
        logit_range=head.logit_range,
        basis=head.basis,
        printed_scope=_printed(head, asked.eps, small) if head.slope else None,
        spectral_scope=None if head.spectral_range is None else alibi.scope(slope, head.spectral_range, asked.eps),
        scope=min(bounds.scope(head.logit_range, asked.eps), seen),
        mass_window=min(bounds.window(head.logit_range, asked.mass), seen),
        reach=reach,
        budget=budget,
        dropped_mass=dropped,
        output_error=float(output_error_bound(dropped, head.value_diameter)) if known else math.inf if dropped else 0.0,
        alpha=_row(small.alpha, head.kv_head),
        beta=_row(small.beta, head.kv_head),
        sink=head.sink,
        rule=bounds.rule,
    )


def _printed(head: HeadRange, eps: float, small: SmallTensors) -> float | None:
    """L_h as printed, None where it says nothing."""
    if head.product_norm is None or head.slope is None:
        return None
    return alibi.printed_scope_of_norm(head.product_norm, small.gamma, small.norm_bias, head.slope, eps)


def _row(mixture: np.ndarray | None, kv_head: int) -> tuple[float, ...] | None:
    return None if mixture is None else tuple(mixture[kv_head].tolist())
