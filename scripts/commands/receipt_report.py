"""Receipts, promises and attacks as tables and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dynamics.comparison.local_errors import Local
from dynamics.razor.plan import RazorPlan
from dynamics.razor.plan_file import plan_text
from dynamics.razor.receipt import Receipt
from dynamics.razor.receipt_attack import Tally, rows

from .cli import aligned

FORMAT, VERSION = "razor-receipt", 1
COLUMNS = ("layer", "forgetting", "measured", "bound", "from range", "bound/measured", "vacuous", "of range")
NOT_LOGITS = "local errors: each is about a layer's own inputs, and no bound on logits follows from their total"
PROMISED = ("what", "policy", "kept", "largest error", "mean error")


def measured(
    plan: RazorPlan, found: Receipt, error: float | None, rows: Sequence[tuple[str, Local]]
) -> tuple[str, str]:
    """The text and the JSON of receipts, and of a promise where there is one."""
    layers = [_layer(found, layer) for layer in range(found.bound.shape[2])]
    table = [COLUMNS, *((str(i), *(_number(x) for x in row.values())) for i, row in enumerate(layers))]
    total, forgetful = found.total_of_local_errors, int(found.forgetful.sum())
    said = [
        *aligned(table), "",
        f"{found.violations} of {forgetful} bounds exceeded; bound / measured {_number(found.tightness)}",
        f"total of local errors a sequence, bound: {_number(float(total.mean()))}, measured: {_number(_total(found))}",
        NOT_LOGITS,
    ]  # fmt: skip
    if rows:
        promise = [PROMISED, *((told, one.policy, *(_number(x) for x in one[1:])) for told, one in rows)]
        what = "errors: shares of the diameter of a head's values; only the promised ones are proved"
        said += ["", f"promise: no head loses more than {error:g}", "", *aligned(promise), "", what]
    return "\n".join(said), _json(_document(plan, found, layers, error, rows))


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
    return "\n".join([*aligned(table), "", said, "closest: measured / bound, at most 1"]), _json(document)


def _number(x: float) -> str:
    return "-" if math.isnan(x) else f"{x:.3g}"


def _json(document: dict[str, Any]) -> str:
    return json.dumps(_plain(document), indent=1, allow_nan=False) + "\n"


def _plain(x: Any) -> Any:
    """With null for what is not finite."""
    if isinstance(x, dict):
        return {key: _plain(value) for key, value in x.items()}
    if isinstance(x, list | tuple):
        return [_plain(value) for value in x]
    return None if isinstance(x, float) and not math.isfinite(x) else x
