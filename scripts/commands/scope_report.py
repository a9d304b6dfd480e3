"""The scopes of a checkpoint as a table and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from dynamics.scope.bounded import Rule
from dynamics.scope.heads import HeadScope, Reach, Settings
from dynamics.scope.ranges import Basis
from dynamics.scope.totals import Totals, totals
from dynamics.weights.reader import Checkpoint

from .cli import aligned, jsonable, wrapped

Layers = Sequence[Sequence["HeadScope"]]
COLUMNS = ("layer", "head", "slope", "range D", "printed", "spectral", "scope", "window", "reach", "KV tokens",
           "dropped <=", "error <=")  # fmt: skip
SHIFT = ("alpha", "beta")
ARITHMETIC = "arithmetic: the bounds are about exact (real) arithmetic"
BIASES = (
    f"{ARITHMETIC}; in bfloat16 transformers rounds slope times position, and a weight can exceed eps 90 times (32 "
    "heads, 4,096 tokens, slope 2^-1/2)"
)
POSITIONS = {"alibi": "ALiBi", "rope": "rotary"}
WORST_CASE = (
    "a cache that is right for every query must be large too: to an error e, with keys and values of norm 1 and "
    "queries up to norm r, it needs of the order of sqrt(d) exp(r) / e tokens in the worst case (arXiv 2605.05602)"
)
MEASURED = (
    "what can be measured: where attention goes, `sinks MODEL --text FILE`; what heads do, `heads MODEL`; what a cache "
    "policy costs, `compare MODEL --text FILE`"
)


class Rounded(NamedTuple):
    """A format of numbers, and of each (layer, head) that is run in it the scope and the range of logits."""

    arithmetic: str
    scopes: dict[tuple[int, int], float]
    ranges: dict[tuple[int, int], float]


def text(
    checkpoint: Checkpoint, layers: Layers, asked: Settings, part: bool = False, rounded: Rounded | None = None
) -> str:
    """A line a head, then the totals; of a part of the heads there are none."""
    shifted = any(head.alpha or head.beta for heads in layers for head in heads)
    rows = [COLUMNS + SHIFT * shifted, *(_row(head, shifted, asked.context) for heads in layers for head in heads)]
    if rounded is not None:
        found = (rounded.scopes[head.layer, head.head] for heads in layers for head in heads)
        cells = (f"in {rounded.arithmetic}", *(_tokens(scope, asked.context) for scope in found))
        rows = [(*row[:7], cell, *row[7:]) for row, cell in zip(rows, cells, strict=True)]
    said = [] if rounded is None else [_left(rounded, asked)]
    return "\n".join([*aligned(rows), "", *said, *_summary(checkpoint, layers, asked, part)])


def _left(rounded: Rounded, asked: Settings) -> str:
    """What rounding leaves to be said at this context."""
    scopes = list(rounded.scopes.values())
    told = sum(scope < asked.context for scope in scopes)
    rest = "; of the others rounding leaves nothing to say" * (told < len(scopes))
    where = f"as run in {rounded.arithmetic}, at a context of {asked.context}"
    return f"{where}: a scope below it for {told} of {len(scopes)} heads{rest}"


def _row(head: HeadScope, shifted: bool, context: int) -> tuple[str, ...]:
    distances = head.printed_scope, head.spectral_scope, head.scope, head.mass_window
    cells = (
        str(head.layer),
        str(head.head),
        number(head.slope),
        number(head.logit_range),
        *(_tokens(distance, context) for distance in distances),
        head.reach.name.lower(),
        str(head.budget),
        number(head.dropped_mass),
        number(head.output_error),
    )
    pairs = tuple(
        "-" if row is None else "(" + ", ".join(f"{c:+.3f}" for c in row) + ")" for row in (head.alpha, head.beta)
    )
    return cells + pairs * shifted


def _tokens(distance: float | None, context: int) -> str:
    """A distance in tokens; what lies beyond the context, finite or not, says nothing about it."""
    beyond = distance is not None and context < distance < math.inf
    return "> context" if beyond else number(distance)


def number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.6g}" if math.isfinite(value) else "no bound"


def _summary(checkpoint: Checkpoint, layers: Layers, asked: Settings, part: bool) -> list[str]:
    sizes, heads = checkpoint.architecture, [head for of_layer in layers for head in of_layer]
    kinds = (checkpoint.layer_architecture(layer).position for layer in range(sizes.n_layers))
    placed = " and ".join(POSITIONS.get(kind, kind) for kind in dict.fromkeys(kinds))
    lines = [
        f"{sizes.model_type}, {len(layers)} layers, {len(heads)}{' chosen' * part} heads, positions {placed}: "
        f"context {asked.context}, window at most {asked.window}, eps {asked.eps:g}, mass {asked.mass:g}",
        *(f"{sum(head.basis is basis for head in heads)} ranges D: {basis.value}" for basis in Basis
          if any(head.basis is basis for head in heads)),
        *(f"{sum(head.rule is rule for head in heads)} scopes: {rule.value}" for rule in Rule
          if any(head.rule is not Rule.RANGE for head in heads) and any(head.rule is rule for head in heads)),
    ]  # fmt: skip
    if sizes.rounded_biases:
        lines.append(f"biases are bfloat16 in every format: scopes and windows hold up to {asked.context} tokens")
    return lines + _vacuous(heads, asked) + ([] if part else _totals(checkpoint, layers, asked))


def _vacuous(heads: Sequence[HeadScope], asked: Settings) -> list[str]:
    """Of how many heads the weights say nothing at this context, why, and what to run instead.

    Source: Liberty, Andoni and Kleiner, Nearly optimal attention coresets, arXiv 2605.05602, the lower bound.
    """
    number = sum(head.scope > asked.context for head in heads)
    told = (
        f"the weights say nothing about {number} of {len(heads)} heads at this context: logits that lie D apart let a "
        "token at any distance weigh more than eps"
    )
    return [wrapped(line) for line in (told, WORST_CASE, MEASURED)] if number else []


def _totals(checkpoint: Checkpoint, layers: Layers, asked: Settings) -> list[str]:
    total = totals(checkpoint, layers, asked)
    return [
        *(f"{total.reaches[reach]} heads {reach.value}" for reach in Reach if total.reaches[reach]),
        *_saved(total),
        _arithmetic(checkpoint),
    ]


def _saved(total: Totals) -> list[str]:
    mib = [numbers * 2 / 2**20 for numbers in (total.kept_numbers, total.full_numbers)]
    if total.kept == total.full:
        return [f"nothing is forgotten: all {total.full} tokens x KV heads are kept ({mib[1]:.4g} MiB at 16 bits)"]
    return [
        f"cache: {total.kept} of {total.full} tokens x KV heads kept ({mib[0]:.4g} of {mib[1]:.4g} MiB at 16 bits), "
        f"{100 * (1 - total.kept / total.full):.2f} % saved",
        f"change of the heads' outputs (before the output projection, from the same states before the layer): at most "
        f"{total.output_error:.4g} in norm in any layer",
    ]


def _arithmetic(checkpoint: Checkpoint) -> str:
    return ARITHMETIC if checkpoint.architecture.slopes is None else BIASES


def document(
    model: str,
    checkpoint: Checkpoint,
    layers: Layers,
    asked: Settings,
    part: bool = False,
    rounded: Rounded | None = None,
) -> str:
    """JSON with the settings, totals (of a part of the heads null) and heads; null: no bound, or none of the kind."""
    content = {
        "model": model,
        "architecture": checkpoint.architecture._asdict(),
        "settings": asked._asdict(),
        "arithmetic": _arithmetic(checkpoint).removeprefix("arithmetic: "),
        "totals": None if part else _plain_totals(checkpoint, layers, asked),
        "heads": [_plain(head, asked, rounded) for heads in layers for head in heads],
    }
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


def _plain_totals(checkpoint: Checkpoint, layers: Layers, asked: Settings) -> dict[str, Any]:
    total = totals(checkpoint, layers, asked)
    return total._asdict() | {"reaches": {reach.name: number for reach, number in total.reaches.items()}}


def _plain(head: HeadScope, asked: Settings, rounded: Rounded | None) -> dict[str, Any]:
    values = head._asdict() | {"basis": head.basis.name, "reach": head.reach.name, "rule": head.rule.name}
    values["beyond_context"] = head.scope > asked.context
    if rounded is not None:
        values[f"scope_in_{rounded.arithmetic}"] = rounded.scopes[head.layer, head.head]
        values[f"logit_range_in_{rounded.arithmetic}"] = rounded.ranges[head.layer, head.head]
    return jsonable(values)
