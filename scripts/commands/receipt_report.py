"""Receipts, promises and attacks as tables and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dynamics.comparison.local_errors import RAZOR, Local
from dynamics.razor.plan import RazorPlan
from dynamics.razor.plan_file import plan_text
from dynamics.razor.promise import NOTHING
from dynamics.razor.receipt import Receipt
from dynamics.razor.receipt_attack import Tally, rows

from .cli import aligned, json_text, wrapped

FORMAT, VERSION = "razor-receipt", 1
COLUMNS = ("layer", "forgetting", "measured", "bound", "from range", "bound/measured", "vacuous", "of range")
NOT_LOGITS = "local errors: each is about a layer's own inputs, and no bound on logits follows from their total"
PROMISED = ("what", "policy", "kept", "largest error", "mean error", "of the output", "nats a token")
UNITS = (
    "errors: shares of the diameter of a head's values; of the output: the largest over the head's mean output norm",
    "proved are the promised errors, in units of the diameter; all else, the loss too, is measured on this text",
    f"{RAZOR}: those that `heads` would keep whole; without this row it finds none",
)


def measured(
    plan: RazorPlan,
    found: Receipt,
    losses: tuple[float, float],
    error: float | None,
    rows: Sequence[tuple[str, Local]],
) -> tuple[str, str]:
    """The text and the JSON of receipts, of the losses with the whole cache and this one, and of a promise, if any."""
    layers = [_layer(found, layer) for layer in range(found.bound.shape[2])]
    table = [COLUMNS, *((str(i), *(_number(x) for x in row.values())) for i, row in enumerate(layers))]
    total, forgetful, steps = found.total_of_local_errors, int(found.forgetful.sum()), found.bound.shape[1]
    said = [
        *aligned(table), "",
        f"{found.violations} of {forgetful} bounds exceeded; bound / measured {_number(found.tightness)}",
        f"total of local errors a sequence, bound: {_number(float(total.mean()))}, measured: {_number(_total(found))}",
        NOT_LOGITS,
        "measured loss: {} nats a token with the whole cache, {} with this plan".format(
            *(_number(loss, ".4f") for loss in losses)
        ),
        *[f"this plan drops nothing in {steps} tokens"] * (not plan.drops(steps)),
    ]  # fmt: skip
    if rows:
        said += ["", f"promise: no head loses more than {error:g}", "", *_promise(rows), "", *UNITS]
    document = _document(plan, found, layers, error, rows) | {"losses": losses}
    return "\n".join(said), json_text(document, indent=1)


def _promise(rows: Sequence[tuple[str, Local]]) -> list[str]:
    """A row for each policy that forgets something, and a line for those that may not."""
    some = [(told, one) for told, one in rows if one.kept < 1]
    table = [(told, one.policy, *map(_number, one[1:-1]), _number(one.loss, ".4f")) for told, one in some]
    whole: dict[str, list[str]] = {}
    for told, one in rows:
        if one.kept == 1:
            whole.setdefault(told, []).append(one.policy)
    said = [wrapped(f"{told}: {NOTHING} by {'; '.join(names)}") for told, names in whole.items()]
    return said + [""] * bool(said and table) + aligned([PROMISED, *table]) * bool(table)


def _layer(found: Receipt, layer: int) -> dict[str, float]:
    """The numbers of a layer over the entries that forget; NaN where there are none."""
    part = type(found)(*(x[:, :, layer : layer + 1] for x in found))
    some = part.forgetful
    means = [float(x[some].mean()) if some.any() else math.nan for x in (part.measured, part.bound, part.ranged)]
    names = ("forgetting", "measured", "bound", "ranged", "tightness", "vacuous", "vacuous_range")
    return dict(zip(names, (float(some.mean()), *means, part.tightness, part.vacuous, part.vacuous_range), strict=True))


def _total(found: Receipt) -> float:
    return float(np.sqrt((found.measured**2).sum(-1)).sum((1, 2)).mean())


def _document(
    plan: RazorPlan, found: Receipt, layers: list[dict], error: float | None, rows: Sequence[tuple[str, Local]]
) -> dict[str, Any]:

    told = [{"what": what} | one._asdict() for what, one in rows]
    return {
        "format": FORMAT, "version": VERSION, "plan": json.loads(plan_text(plan)),
        "violations": found.violations, "tightness": found.tightness,
        "total_of_local_errors": found.total_of_local_errors.tolist(), "layers": layers,
        "bound": found.layers.tolist(),
        "promise": None if error is None else {"error": error, "rows": told},
    }  # fmt: skip


def attacked(tally: Tally, seed: int) -> tuple[str, str]:
    """The text and the JSON of an attack."""
    table = [("contexts", "steps", "closest", "closest to range")]
    table += [(kind, str(n), f"{near:.6f}", f"{ranged:.6f}") for kind, n, near, ranged in rows(tally)]
    said = f"{tally.violations} bounds exceeded in {tally.total} steps, seed {seed}"
    document = {"format": "razor-receipt-attack", "version": VERSION, "seed": seed, "steps": tally.total,
                "violations": tally.violations, "by_kind": {row[0]: list(row[1:]) for row in rows(tally)}}  # fmt: skip
    return "\n".join([*aligned(table), "", said, "closest: measured / bound, at most 1"]), json_text(document, indent=1)


def _number(x: float, form: str = ".3g") -> str:
    return "-" if math.isnan(x) else format(x, form)
