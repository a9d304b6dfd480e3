"""Heads as matrices in an .npz file: read, and their scopes as a table and as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dynamics.files.arrays import read_arrays
from theory import alibi
from theory.checked import POSITIVE, SHARE, real, reals, shown

from .cli import aligned, jsonable, write_json
from .scope_report import BIASES, number

NEEDED, OPTIONAL = {"w_q", "w_k", "gamma"}, {"norm_bias", "query_bias", "norm", "slope"}
NAMES = "it must hold w_q, w_k and gamma, and may hold norm_bias, query_bias, norm and slope"
LARGEST = 2**30  # bytes of a file, and of all its arrays
COLUMNS = ("head", "slope", "range D", "self gap", "scope", "printed", "spectral")
LEGEND = (
    "range D: the most by which two logits of a query differ; self gap: the most by which one exceeds the query's own",
    "scope: its bound is valid; printed: RazorAttention's L_h, not valid in general; spectral: its valid repair",
)
SQUARE = (
    "the matrices are square, so their shapes do not tell W x from x @ W; they were read as W x, "
    "and the last column is the range D of x @ W",
)


def report(path: str, slope: float | None, eps: float, target: Path | None) -> str:
    """The text of a file of heads; the JSON is written to a target, if there is one.

    Raises: ValueError of one line for a bad file, OSError for none.
    """
    eps = real("eps", eps, SHARE)
    found = read_arrays(path, LARGEST)
    try:
        if wrong := (found.keys() - OPTIONAL) ^ NEEDED:
            raise ValueError(f"{shown(sorted(wrong))} missing or unknown: {NAMES}")
        rows = [_measured(head, one, eps) for head, one in _heads(found, slope)]
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    square = "logit_range_transposed" in rows[0]
    cells = [(str(head), *map(number, row.values())) for head, row in enumerate(rows)]
    widest = number(max(row["scope"] for row in rows))
    lines = [f"from distance {widest} on no token weighs more than {eps:g} in any head, whatever the context", ""]
    lines += [*aligned([COLUMNS + ("D of x @ W",) * square, *cells]), "", *LEGEND, *SQUARE * square, BIASES]
    if target is not None:
        heads = [{"head": head} | jsonable(row) for head, row in enumerate(rows)]
        content = {"matrices": path, "eps": eps, "arithmetic": BIASES.removeprefix("arithmetic: "), "heads": heads}
        write_json(target, content)
        lines.append(f"wrote {target}")
    return "\n".join(lines)


def _measured(head: alibi.Head, slope: float, eps: float) -> dict[str, Any]:
    """The numbers of a head; where d_head is d_model, the range of its transposed matrices too."""
    row = {"slope": slope} | alibi.head_scope(head, slope, eps)._asdict()
    if len(head.w_q) == len(head.gamma):
        row["logit_range_transposed"] = alibi.logit_range(head._replace(w_q=head.w_q.T, w_k=head.w_k.T))
    return row


def _heads(found: dict[str, Any], slope: float | None) -> list[tuple[alibi.Head, float]]:
    """Each head with its slope: one of w_q (d_head, d_model), or those of w_q (heads, d_head, d_model)."""
    if (slope is None) == ("slope" not in found):
        raise ValueError("the slope must be given once, in the file or by --slope")
    slopes = reals("slope", found.pop("slope", slope), POSITIVE)
    found["norm"] = str(found.get("norm", "rms"))
    names = [name for name in ("w_q", "w_k", "query_bias") if name in found]
    each = [found.pop(name) for name in names]
    each = each if each[0].ndim == 3 else [values[None] for values in each]
    each.append(slopes.ravel() if slopes.ndim else slopes.repeat(len(each[0])))
    if {values.shape[:1] for values in each} != {(max(1, len(each[0])),)}:
        shapes = f"got shapes {[values.shape for values in each]}"
        raise ValueError(f"{', '.join(names)}, slope must hold as many heads, at least one, {shapes}")
    return [(alibi.Head(**found, **dict(zip(names, one, strict=True))), at) for *one, at in zip(*each, strict=True)]
