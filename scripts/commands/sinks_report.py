"""What is measured of a model's sinks as a table by layer and as JSON."""

from __future__ import annotations

import math

import numpy as np
from torch import nn

from dynamics.sinks.intervention import Effect
from dynamics.sinks.measured import Measured
from theory.sink import uniform_causal_entropy

from .cli import aligned, json_text

COLUMNS = ("layer", "entropy", "first", "sink", "weight", "range", "share", "drain", "peak", "alike", "rank", "top")
LEGEND = (
    "entropy: of what tokens are given, mean over heads, in nats, at most {most:.4g} (even attention: {even:.4g})",
    "first: mean weight of the first token, mean over heads (even attention: {first:.4g})",
    "sink, weight: the token that is given most, and what; share: what learned sink logits are given",
    "range: what the logits of some head must span for the first token's weight",
    "drain, peak: norm of the first token's value, of its state, over the mean of the others; alike: mean cosine",
    "rank, top: effective rank of the values' second moment, and the share of its largest eigenvalue",
)
KINDS = {
    "mask": "token {} of each window sees itself alone",
    "hide": "token {} of each window is hidden from all others",
    "replaced": "token {} of each window has the learned position of token {} in place of its own",
    "positions": "tokens {} and {} of each window have exchanged their learned positions",
    "tokens": "tokens {} and {} of each window are exchanged (the model adds no position to its states)",
}

# Where a change is none in a causal model: the place, from the end if negative, and why.
IDLE = {"mask": (0, "token {} sees itself alone already"), "hide": (-1, "no token comes after token {}")}


def text(model: nn.Module, found: Measured, effect: Effect | None) -> str:
    """A line a layer, what the columns are, and what a change did."""
    rows = [COLUMNS, *(_row(found, index) for index in range(len(found.layers)))]
    told = [] if effect is None else ["", *_told(effect, found.causal)]
    return "\n".join([*aligned(rows), "", *_summary(model, found), *_warned(found), *told])


def _row(found: Measured, index: int) -> tuple[str, ...]:
    heads, states = found.heads, found.states
    sink = states.sink[index]
    numbers = (
        heads.importance[index, :, sink].mean(),
        heads.needed_range[index].max(),
        heads.sink_share[index].mean(),
        states.drain[index],
        states.peak[index],
        states.similarity[index],
        states.rank[index],
        states.top[index],
    )
    means = (heads.entropy[index].mean(), heads.first[index].mean())
    cells = (*(f"{value:.4g}" for value in means), str(sink), *(f"{value:.4g}" for value in numbers))
    return (str(found.layers[index]), *cells)


def even(found: Measured) -> tuple[float, float]:
    """Entropy, and weight of the first token, of even attention over all tokens that are seen, in a full window."""
    length = found.window
    if not found.causal:
        return math.log(length), 1 / length
    return uniform_causal_entropy(length), float((1 / np.arange(1, length + 1)).mean())


def _summary(model: nn.Module, found: Measured) -> list[str]:
    entropy, first = even(found)
    legend = [line.format(most=math.log(found.window), even=entropy, first=first) for line in LEGEND]
    return [
        f"{kind(model)}, {_many(len(found.layers), 'layer')} of {_many(found.heads.first.shape[1], 'head')}, "
        f"{'causal' if found.causal else 'every token sees all'}: {_many(found.windows, 'window')} of {found.window} "
        f"tokens, {found.left_out} left out at the end",
        *legend,
    ]


def _warned(found: Measured) -> list[str]:
    mid = "{} of {} windows begin in the middle of a text: the columns of the first token depend on where"
    beyond = "positions from {0} on look untrained: their vectors are like random draws. --window {0} ends before them"
    told = [mid.format(found.mid_text, found.windows)] if found.mid_text else []
    return [*told, beyond.format(found.untrained)] if (found.untrained or found.window) < found.window else told


def _many(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def kind(model: nn.Module) -> str:
    """The model_type, "induction" for a model of ours."""
    return getattr(model.config, "model_type", "induction")


def _told(effect: Effect, causal: bool) -> list[str]:
    before, after = effect.weight_before.mean((0, 1)), effect.weight_after.mean((0, 1))
    weights = (
        f"{place}: {one:.4g} -> {other:.4g}" if one == one else f"{place}: no query comes after it"
        for place, one, other in zip(effect.places, before, after, strict=True)
    )
    moved = effect.moved.mean(0)
    lines = [
        f"loss {effect.loss_before.mean():.6g} -> {effect.loss_after.mean():.6g} nats a token",
        f"at the last token: KL {effect.divergence.mean():.4g} nats on the mean, "
        f"a logit changes by {effect.change.max():.4g} at most",
    ]
    return [
        KINDS[effect.kind].format(*effect.places),
        *(_idle(effect, causal) if not moved.any() else ()),
        *(["no head: there is no loss"] if np.isnan(effect.loss_before).all() else lines),
        f"last states: changed by {moved.mean():.4g} of their norm on the mean, by {moved.max():.4g} at token "
        f"{moved.argmax()}; neighbouring tokens differ by {effect.neighbours.mean():.4g}",
        f"mean weight from the others, of token {', '.join(weights)}",
    ]


def _idle(effect: Effect, causal: bool) -> list[str]:
    """That nothing has changed, and why, where the causal mask says it."""
    place, why = IDLE.get(effect.kind, (0, ""))
    known = causal and why and effect.places[0] == place % effect.window
    return ["nothing changes: " + (why if known else "all states are as before").format(effect.places[0])]


def document(name: str, model: nn.Module, found: Measured, effect: Effect | None) -> str:
    """JSON with all that was measured; rows of the arrays are layers; null: there is no such number."""
    content = {
        "model": name,
        "model_type": kind(model),
        "entropy_range": [0.0, math.log(found.window)],
        "even_entropy": even(found)[0],
        "even_first": even(found)[1],
        **{name: value for name, value in found._asdict().items() if name not in ("heads", "states")},
        "heads": found.heads._asdict(),
        "states": found.states._asdict(),
        "effect": None if effect is None else effect._asdict(),
    }
    return json_text(content)
