"""What the heads and layers of a model do at one moment, measured on the rows of a `Probe` in one pass a row.

The definitions are those of `dynamics.heads.scores` (copies), `dynamics.sinks` (importance, entropy, norms) and
`dynamics.model.coefficients`; nothing is defined here but the perplexity by length.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from dynamics.heads.scores import copy_sums
from dynamics.model.attention import KVShiftAttention
from dynamics.model.decoder import InductionModel
from dynamics.observed.probe import Probe
from dynamics.observed.undisturbed import undisturbed
from dynamics.sinks import passes, states
from dynamics.sinks.attention import Received, Seen, entropy, reading
from theory.records import comparable

Array = NDArray[np.float64]
Sums = Callable[[int, Tensor], Tensor]


@comparable
class Observed(NamedTuple):
    """Means over the probe's rows; NaN where a number is not finite.

    induction, echo, previous, first (layers, heads): of the copies, as `dynamics.heads.scores.HeadScores`. Of the text,
    or of the copies where there is none: sink (layers, heads), the importance a_1 of the first token, and entropy of
    the importance, as `dynamics.sinks.measured.HeadSinks`; drain (layers,), head_drain (layers, kv_heads) and peak
    (layers,), the first token's norm over the mean of the others, of values and of states, as `LayerStates` there;
    state_norm (layers,), the norm at the place where states are largest. copy_loss (repeats * k - 1,), text_loss
    (window - 1,): loss of each next token in nats, None where tokens see those after them or there is no text. alpha,
    beta (layers, kv_heads, window): effective coefficients of a model of ours that shifts, else None.
    """

    induction: Array
    echo: Array
    previous: Array
    first: Array
    sink: Array
    entropy: Array
    drain: Array
    head_drain: Array
    peak: Array
    state_norm: Array
    copy_loss: Array | None
    text_loss: Array | None
    alpha: Array | None
    beta: Array | None


def observe(model: nn.Module, probe: Probe) -> Observed:
    """Measure a model, in training or not; it is left as it was (`undisturbed`).

        probe = make_probe(model, text_tokens)
        print(observe(model, probe).induction)

    Args: model, an `InductionModel` or a model of transformers with a head, of `dynamics.hf.families`.
    Raises: ValueError for another model, and for attention over the keys of two layers.
    """
    sums = partial(copy_sums, k=probe.k, repeats=probe.repeats)
    with undisturbed(model):
        copies = _mean([_row(model, row, sums) for row in probe.copies])
        text = None if probe.text is None else _mean([_row(model, row) for row in probe.text])
        alpha, beta = coefficients(model)
    copied = np.moveaxis(copies["sums"] / ((probe.repeats - 1) * probe.k), -1, 0)
    echo, induction, previous, first = copied
    return Observed(
        induction, echo, previous, first, **_sinks(copies if text is None else text),
        copy_loss=copies.get("loss"), text_loss=None if text is None else text.get("loss"), alpha=alpha, beta=beta,
    )  # fmt: skip


def summary(model: nn.Module, probe: Probe) -> dict[str, Any]:
    """`observe` as a log holds it, by name: losses of prompts as a mean a repeat, of text as one."""
    found = observe(model, probe)._asdict()
    if found["copy_loss"] is not None:
        # The first target of a prompt has none before it: one fewer in the first repeat.
        repeats = np.split(found["copy_loss"], np.arange(1, probe.repeats) * probe.k - 1)
        found["copy_loss"] = [one.mean() for one in repeats]
    if found["text_loss"] is not None:
        found["text_loss"] = found["text_loss"].mean()
    return found


def coefficients(model: nn.Module) -> tuple[Array | None, Array | None]:
    """Effective alpha and beta of every key-value head, (layers, kv_heads, window), or None where nothing shifts."""
    if not isinstance(model, InductionModel) or model.config.shift == "none":
        return None, None
    layers = [cast(KVShiftAttention, block.attention) for block in model.blocks]
    alpha = torch.stack([attention.alpha_mix().detach() for attention in layers])
    beta = torch.stack([attention.beta_mix().detach() for attention in layers])
    return _array(alpha), _array(beta)


def _row(model: nn.Module, row: NDArray[np.int64], sums: Sums | None = None) -> dict[str, Array]:
    """Everything of one row, by name; layers first. sums: what is added up over blocks of weights, (heads, ..)."""
    tokens, sizes = torch.from_numpy(row).to(passes.device_of(model)), passes.sizes(model)
    received = [Received(sizes.n_heads, len(row), tokens.device) for _ in range(sizes.n_layers)]
    norms: dict[str, dict[int, Tensor]] = {"heads": {}, "values": {}, "states": {}}
    added: dict[tuple[int, int], Tensor] = {}

    def visit(layer: int, heads: slice, start: int, weights: Tensor) -> None:
        received[layer].add(heads, start, weights)
        if sums is not None:
            at = layer, heads.start
            added[at] = sums(start, weights) + added.get(at, 0)

    def values(layer: int, value: Tensor) -> None:
        norms["heads"][layer] = states.norms(value)
        norms["values"][layer] = states.norms(value.transpose(0, 1).flatten(1))  # of all heads side by side

    def leaving(layer: int, hidden: Tensor) -> None:
        norms["states"][layer] = states.norms(hidden[0])

    seen = Seen(values)
    with passes.through(model, reading(visit, seen)), passes.shown(model, leaving):
        loss = _losses(model, tokens, seen)
    found = {name: _array(torch.stack([of[layer] for layer in sorted(of)])) for name, of in norms.items()}
    found["importance"] = np.stack([of.importance() for of in received])
    if sums is not None:
        layers = [torch.cat([added[at] for at in sorted(added) if at[0] == layer]) for layer in range(sizes.n_layers)]
        found["sums"] = _array(torch.stack(layers))
    return found if loss is None else found | {"loss": loss}


def _losses(model: nn.Module, tokens: Tensor, seen: Seen) -> Array | None:
    """The loss of each next token in nats, (length - 1,); None where attention is not causal."""
    losses = []
    for start, logits in passes.logits(model, tokens):
        scored = tokens[start + 1 : start + 1 + len(logits)]
        losses.append(F.cross_entropy(logits[: len(scored)], scored, reduction="none"))
    return _array(torch.cat(losses)) if seen.causal else None


def _mean(rows: list[dict[str, Array]]) -> dict[str, Array]:
    return {name: np.mean([row[name] for row in rows], axis=0) for name in rows[0]}


def _sinks(means: dict[str, Array]) -> dict[str, Array]:
    """The fields of `Observed` that are about the first token, from norms and importance."""
    ratios = {"drain": "values", "head_drain": "heads", "peak": "states"}
    first = {name: states.first_over_others(torch.from_numpy(means[of])).numpy() for name, of in ratios.items()}
    return first | {
        "sink": means["importance"][..., 0],
        "entropy": entropy(means["importance"]),
        "state_norm": means["states"].max(-1),
    }


def _array(tensor: Tensor) -> Array:
    return tensor.double().cpu().numpy()
